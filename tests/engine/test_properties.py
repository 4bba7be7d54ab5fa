"""Any text in a fence, and any damage to a lesson file."""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown import Markdown

from pallas_course.engine import ladder, parse, render, verify
from pallas_course.engine.errors import LessonError
from pallas_course.engine.execute import Output, visible
from pallas_course.engine.lesson import Lesson, Project
from pallas_course.engine.record import Record
from tests.engine.tiny import FRONT, LESSON, NASTY, RECORDED, Book, code_blocks, markdown, new_book

FIXTURES = Path(__file__).parent / "book"
# Everything a fence could meet: markup of every parser on the way, and what editors and terminals leave behind.
MARKUP = [
    *NASTY.split("\n"),
    "```",
    "~~~",
    "///",
    "//// reveal",
    "    ",
    "\t",
    " ",
    "> ",
    "- ",
    "1. ",
    "$$",
    "{{ a.b }}",
]
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")) | st.sampled_from("\t`~/"), max_size=12)
LINES = st.lists(st.sampled_from(MARKUP) | TEXTS, max_size=12)
# What stands before a fence, and what opens that place.
PLACES = {
    "": "",
    "    ": "- item\n\n",
    "> ": "> quote\n>\n",
    ">     ": "> - item\n>\n",
    "    > ": "- item\n\n    > quote\n    >\n",
}


@functools.cache
def book() -> Book:
    book = new_book(Path(tempfile.mkdtemp()) / "book")
    for folder in ("shelf", "pallas_course"):
        shutil.copytree(FIXTURES / folder, book.root / folder)
    shutil.copytree(FIXTURES / "lessons_src/blocks-01/exercises", book.root / "lessons_src/tiny-01/exercises")
    (book.root / "lessons_src/cells-01").mkdir()  # a lesson that another one requires
    return book


@functools.cache
def site() -> Markdown:
    return markdown(book().root)


def read(text: str) -> Lesson:
    book().write(LESSON, text.encode("utf-8", "surrogatepass"))
    return parse.parse(Project(book().root), "tiny-01")


def shown(lesson: Lesson, outputs: dict[str, Output]) -> dict[str, str]:
    """The code blocks of the lesson's page. Raises LessonError where they are not those of the lesson."""
    figures = {figure.id: "<svg></svg>" for figure in lesson.figures}
    page = render.render(
        lesson,
        Record("tiny-01", RECORDED, (), {}, outputs, ()),
        figures,
        ladder.markdown(Project(book().root), lesson.kernels),
    )
    verify.verify(site(), lesson, page)
    return code_blocks(site().reset().convert(page.text.split("---\n", 2)[2]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    code=LINES,
    said=st.text(st.characters() | st.sampled_from("\n\x1b`/#<"), max_size=60),
    before=st.sampled_from([*PLACES]),
)
def test_code_and_output_reach_the_page_byte_for_byte(code: list[str], said: str, before: str) -> None:
    code = [line.rstrip(" ") for line in code] if before.startswith(">") else code
    ticks = "`" * 20
    fence = "".join(f"{before}{line}\n" for line in (f"{ticks}python {{.run #cell}}", *code, ticks))
    lesson = read(f"{FRONT}\n{PLACES[before]}{fence}\n/// record\n///\n")
    output = tuple(line.rstrip() for line in visible(said).split("\n"))

    blocks = shown(lesson, {"cell": Output(output)})

    assert blocks["cell"].rstrip("\n") == "\n".join(code).rstrip("\n")
    assert blocks["cell-output"].rstrip("\n") == "\n".join(output).rstrip("\n")
    assert [chunk.code for chunk in lesson.cells[0].chunks] == ["".join(f"{line}\n" for line in code)]


def fixtures() -> list[str]:
    texts = []
    for path in sorted(FIXTURES.rglob("lesson.md")):
        name = path.parent.name
        texts.append(path.read_text(encoding="utf-8").replace(name, "tiny-01"))
    return texts


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A fixture lesson with some lines lost, doubled, swapped, cut, indented, quoted or put in."""
    lines = draw(st.sampled_from(fixtures())).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        word = draw(st.sampled_from(MARKUP) | st.text(max_size=8))
        half = line[: len(line) // 2]
        changes = [[], [line, line], [half], [line[1:]], [f"    {line}"], [f"> {line}"], [word, line], [line + word]]
        lines[at : at + 1] = draw(st.sampled_from(changes))
        if len(lines) > 1 and draw(st.booleans()):
            one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
            lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def check_damaged(text: str) -> None:
    """The lesson is refused with a line of its own, or the page shows all its cells as they would be run."""
    try:
        lesson = read(text)
        outputs = {cell.id: Output((cell.id,), dict.fromkeys(cell.keep, 1)) for cell in lesson.cells}
        blocks = shown(lesson, outputs)
    except LessonError as refused:
        error: LessonError | None = refused
    else:
        error = None
    if error is None:
        for cell in lesson.cells:
            name = f"solution-{cell.id}" if cell.kind == "solution" else cell.id
            assert blocks[name].rstrip("\n") == cell.shown.rstrip("\n")
    else:
        assert 1 <= error.at.line <= text.count("\n") + text.count("\r") + 1
        assert error.problem
        assert error.next_step


def test_undamaged_lessons_are_shown() -> None:
    for text in fixtures():
        lesson = read(text)
        assert shown(lesson, {cell.id: Output((), dict.fromkeys(cell.keep, 1)) for cell in lesson.cells})


@settings(max_examples=250, deadline=None, derandomize=True)
@given(text=damaged())
def test_damaged_lesson_is_refused_with_its_line_or_shows_what_it_runs(text: str) -> None:
    check_damaged(text)
