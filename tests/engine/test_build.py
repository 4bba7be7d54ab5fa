"""Several lessons, what the build removes, and what it needs around the lessons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pallas_course.engine import execute, parse, render, verify
from pallas_course.engine.errors import LessonError
from pallas_course.engine.lesson import Project
from pallas_course.engine.record import load
from tests.engine.tiny import FRONT, LESSON, PAGE, RECORD, TEXT, Book, cell, markdown


@pytest.fixture
def two(book: Book) -> Book:
    book.write(LESSON.replace("-01", "-02"), TEXT.replace("tiny-01", "tiny-02"))
    assert book.build().code == 0
    return book


@pytest.mark.parametrize("broken", ["/// hint\n", cell("1 / 0"), cell("print(object())"), "{{ use.five }}", "$x^{2$"])
def test_lesson_that_fails_at_any_stage_stops_no_other(broken: str, two: Book) -> None:
    second = LESSON.replace("-01", "-02")
    two.put(broken)
    two.swap("Here.", cell("print('new')"), second)
    built = two.build()
    assert built.code == 1
    assert built.err.count("  next: ") == 1
    assert '"new"' in two.read(RECORD.replace("-01", "-02"))
    assert "new" in two.read(PAGE.replace("-01", "-02"))
    assert '"new"' not in two.read(RECORD)


def test_every_lesson_that_fails_is_told(two: Book) -> None:
    two.put("/// hint\n")
    two.swap("Here.", cell("1 / 0"), LESSON.replace("-01", "-02"))
    assert two.build().err.count("  next: ") == 2


def test_pages_of_a_lesson_that_is_gone_are_removed(two: Book) -> None:
    two.swap("Doubling", "Twice", LESSON)
    (two.root / "lessons_src/tiny-02").rename(two.root / "lessons_src/_draft")
    before = two.build("tiny-01")
    assert (before.code, (two.root / "docs/lessons/tiny-02.md").exists()) == (0, True)
    built = two.build()
    assert built.code == 0
    assert sorted(path.name for path in (two.root / "docs/lessons").iterdir()) == ["tiny-01", "tiny-01.md"]
    assert "removed docs/lessons/tiny-02.md: no lesson makes it\n" in built.out


def test_main_of_a_lesson_that_lost_its_steps_is_removed(book: Book) -> None:
    book.write(LESSON, f"{FRONT}\n{cell('print(1)')}\n/// record\n///\n")
    built = book.build()
    assert (built.code, (book.root / "docs/lessons/tiny-01").exists()) == (0, False)


def test_project_without_lessons_has_nothing_to_do(tmp_path: Path, book: Book) -> None:
    empty = Book(tmp_path / "empty")
    empty.write("mkdocs.yml", book.read("mkdocs.yml"))
    assert empty.build().out == "0 lessons: nothing to do\n"
    assert empty.build("tiny-01").err.endswith("next: use one of: (lessons_src has no lesson)\n")


@pytest.mark.parametrize("config", ["", "- x", "markdown_extensions: [", "site_name: Pallas"])
def test_configuration_without_markdown_is_wrong_use(config: str, book: Book) -> None:
    book.write("mkdocs.yml", config)
    built = book.build()
    assert built.code == 2
    assert built.err.startswith("mkdocs.yml: cannot read its markdown_extensions: ")
    assert built.err.endswith("\n  next: restore the file.\n")


def test_process_that_does_not_start_is_told(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "START_LIMIT", 0.0)
    book.put(cell("print(1)"))
    built = book.build()
    assert built.code == 1
    assert f"{LESSON}:1: the lesson's process did not end within 0 s before its first cell\n" in built.err


def test_record_says_what_ran_the_lesson(book: Book) -> None:
    import platform

    import numpy

    book.put(cell("import numpy"))
    book.build()
    recorded = json.loads(book.read(RECORD))["recorded"]
    assert recorded["versions"] == {"python": platform.python_version(), "numpy": numpy.__version__}
    assert recorded["platform"] == f"{platform.system()} {platform.machine()}"
    assert (recorded["backend"], recorded["device"]) == (None, "cpu")


CHANGES = {
    "cell is not shown": (
        ("```python {.step #use}", "    ```python {.step #use}"),
        "18: `use` is not shown as a code block on the page",
    ),
    "cell is shown otherwise": (
        ("four = double(2)", "four = double(3)"),
        "18: `use` is shown otherwise than it was run on the page",
    ),
    "output is shown otherwise": (
        ("```text {.output #use-output", "```text {.output #use-outputs"),
        "18: `use-output` is not shown as a code block on the page",
    ),
    "another fence is shown": (
        ("Here.", "```python {.run #other}\nprint(1)\n```\n\nHere."),
        "1: the page shows a code block that is no fence of the lesson",
    ),
    "block line is shown": (
        ("Here.", "/// note | More"),
        "1: the page shows the block line `/// note | More` as text",
    ),
    "id is used twice": (
        ("Here.", '<a id="USE"></a>Here.'),
        "18: the page has the id `USE` twice; a heading's anchor may be the other one",
    ),
}


@pytest.mark.parametrize(("change", "says"), CHANGES.values(), ids=CHANGES)
def test_page_that_the_site_shows_otherwise_is_refused(change: tuple[str, str], says: str, book: Book) -> None:
    """Whatever makes the two Markdown readers differ, the page that comes out is compared."""
    project = Project(book.root)
    lesson, record = parse.parse(project, "tiny-01"), load(project, "tiny-01", replace=False)
    assert record is not None
    page = render.render(lesson, record, {}, [])
    verify.verify(markdown(book.root), lesson, page)
    assert change[0] in page.text
    changed = render.Page(page.text.replace(*change, 1), page.main, page.shown)
    with pytest.raises(LessonError) as refused:
        verify.verify(markdown(book.root), lesson, changed)
    assert str(refused.value).startswith(f"{LESSON}:{says}\n  next: ")
