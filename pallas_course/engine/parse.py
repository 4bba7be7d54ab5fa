"""Lesson file to `Lesson`. Finds every fence and block, knows its line, and refuses what it does not know.

markdown-it finds the fences and says how deep each stands; the block lines (`/// word | title`) are matched here.
The page is rendered by another Markdown parser: `verify.py` compares what it shows with what was found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pallas_course.engine import fence, header, ladder, source
from pallas_course.engine.errors import LessonError, nearest
from pallas_course.engine.lesson import (
    NAME,
    Cell,
    Chunk,
    Close,
    Figure,
    Lesson,
    Location,
    Open,
    Part,
    Project,
    Prose,
    Reference,
)

FRONT_MATTER: dict[str, header.Check] = {
    "id": header.line,
    "title": header.line,
    "phase": header.phase,
    "minutes": header.positive_integer,
    "runs_on": header.line,
    "objectives": header.lines,
    "references": header.references,
}
FRONT_MATTER_OPTIONAL: dict[str, header.Check] = {"kernels": header.lines, "requires": header.lines}

# Block words with the options each needs. `main`, `record` and `ladder` are filled by the build.
BLOCKS: dict[str, dict[str, header.Check]] = {
    "predict": {},
    "reveal": {},
    "hint": {},
    "answer": {},
    "solution": {},
    "exercise": {"name": header.line},
    "figure": {**dict.fromkeys(("id", "kind", "data", "title"), header.line), "description": header.text},
    "main": {},
    "record": {},
    "ladder": {},
}
FILLED = ("figure", "main", "record", "ladder")

_FENCE_LIKE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})")
_BLOCK = re.compile(r"(?P<marker>/{3,})[ \t]*(?:(?P<word>[A-Za-z][\w-]*)[ \t]*(?:\|[ \t]*(?P<title>.*?))?)?[ \t]*")
_INDENTED_BLOCK = re.compile(r"[ \t>]+/{3,}[ \t]*[\w-]*[ \t]*(\||$)")


@dataclass
class _OpenBlock:
    """A block whose closing line has not been met."""

    part: Open
    options: dict[str, Any]
    options_at: dict[str, Location]
    held: int = 0  # reveals of a predict, solutions of an exercise


def parse(project: Project, lesson_id: str) -> Lesson:
    """Read `lessons_src/<lesson_id>/lesson.md`. Raises LessonError at the first thing that is wrong."""
    path = project.lessons / lesson_id / "lesson.md"
    name = project.relative(path)
    lines = source.read_lines(path, name)
    facts, places, body = _front_matter(lines, name)
    if facts["id"] != lesson_id:
        raise LessonError(
            places["id"],
            f"the lesson's id `{facts['id']}` is not its folder's name",
            f"write `id: {lesson_id}`, or rename the folder.",
        )
    if not NAME.fullmatch(lesson_id):
        raise LessonError(
            places["id"], f"`{lesson_id}` cannot be an address", "use lower-case letters, digits and hyphens."
        )
    recorded = ladder.known(project)
    for kernel in facts.get("kernels", ()):
        if kernel not in recorded:
            raise LessonError(
                places["kernels"],
                f"no evidence is recorded for a kernel `{kernel}`; recorded are: {', '.join(recorded) or 'none'}",
                f"correct the name, or run `pallas-course evidence {kernel}`.",
            )
    for other in facts.get("requires", ()):
        if other not in project.lesson_ids():
            raise LessonError(
                places["requires"],
                f"it requires `{other}`, which is no lesson",
                f"{nearest(other, project.lesson_ids())}.",
            )
    parts = tuple(_Reader(project, lesson_id, name, lines, body).parts())
    lesson = Lesson(
        path=name,
        id=lesson_id,
        title=facts["title"],
        phase=facts["phase"],
        minutes=facts["minutes"],
        runs_on=facts["runs_on"],
        objectives=tuple(facts["objectives"]),
        references=tuple(Reference(item["title"], item["url"]) for item in facts["references"]),
        kernels=tuple(dict.fromkeys(facts.get("kernels", ()))),
        lines=tuple(lines),
        parts=parts,
    )
    _check_whole(lesson)
    return lesson


def _front_matter(lines: list[str], name: str) -> tuple[dict[str, Any], dict[str, Location], int]:
    """Values, their lines, and the index of the first line after the front matter."""
    top = Location(name, 1)
    if lines[0].rstrip() != "---":
        raise LessonError(top, "no front matter", "start the file with `---`, its keys, and another `---`.")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise LessonError(top, "the front matter is not closed", "end it with a line `---`.")
    yaml_text = "\n".join(lines[1:end])
    values, places = header.read(
        yaml_text, Location(name, 2), "the front matter", FRONT_MATTER, FRONT_MATTER_OPTIONAL, top
    )
    return values, places, end + 1


class _Reader:
    """One pass over a lesson's body."""

    def __init__(self, project: Project, lesson_id: str, name: str, lines: list[str], body: int) -> None:
        self.project = project
        self.lesson_id = lesson_id
        self.name = name
        self.lines = lines
        self.body = body
        self.stack: list[_OpenBlock] = []

    def at(self, index: int) -> Location:
        return Location(self.name, index + 1)

    def parts(self) -> Iterator[Part]:
        fences = {found.at.line - 1: found for found in fence.find(self.name, self.lines, self.body)}
        index = self.body
        prose: list[str] = []
        prose_from = index
        while index < len(self.lines):
            line = self.lines[index]
            block = _BLOCK.fullmatch(line)
            if index not in fences and not block:
                self._refuse_lookalike(index)
                if not prose:
                    prose_from = index
                prose.append(line)
                index += 1
                continue
            if prose:
                yield from self._prose(prose_from, prose)
                prose = []
            if index in fences:
                self._refuse_content(index)
                yield fence.read(self.project, fences[index])
                index = fences[index].last
            else:
                assert block is not None
                found, index = self._block(index, block)
                yield from found
        if prose:
            yield from self._prose(prose_from, prose)
        if self.stack:
            raise self._unclosed(self.stack[-1])

    # Blocks

    def _block(self, index: int, match: re.Match[str]) -> tuple[list[Part], int]:
        """The parts of a block's opening or closing line, and the index of the line after it."""
        at, marker, word = self.at(index), match["marker"], match["word"]
        if not word:
            return self._close(at, marker), index + 1
        if word not in BLOCKS:
            raise LessonError(at, f"unknown block `{word}`", f"{nearest(word, BLOCKS)}.")
        if self.stack and len(marker) <= len(self.stack[-1].part.marker):
            outer = self.stack[-1].part
            raise LessonError(
                outer.at,
                f"the `{outer.word}` block is not closed before `{word}` at line {at.line}",
                f"add a line `{outer.marker}` above that, or write `{outer.marker}/ {word}` there "
                f"and `{outer.marker}/` where it ends.",
            )
        self._check_place(at, word)
        part = Open(at, marker, word, (match["title"] or "").strip())
        last = index + 1
        while last < len(self.lines) and re.match(r"( {4}|\t)\s*\S", self.lines[last]):
            last += 1
        if last > index + 1 and not BLOCKS[word]:
            raise LessonError(
                self.at(index + 1),
                f"`{word}` takes no options",
                "leave an empty line above, and start the text at the margin.",
            )
        options, places = header.read(
            "\n".join(line.expandtabs(4)[4:] for line in self.lines[index + 1 : last]),
            self.at(index + 1),
            f"the `{word}` block",
            BLOCKS[word],
            {},
            at,
        )
        if (
            last < len(self.lines)
            and self.lines[last].strip()
            and last > index + 1
            and not _BLOCK.fullmatch(self.lines[last])
        ):
            raise LessonError(
                self.at(last), f"text follows the options of `{word}` at once", "leave an empty line after the options."
            )
        self.stack.append(_OpenBlock(part, options, places))
        if word in ("main", "record", "ladder") and part.title:
            raise LessonError(
                at, f"`{word}` takes no title", f"write `{marker} {word}`, and the title above it as a heading."
            )
        if word in FILLED:
            return [], last
        opened: list[Part] = [part]
        if word == "solution":
            opened.append(self._solution(at))
        return opened, last

    def _check_place(self, at: Location, word: str) -> None:
        inside = [block.part.word for block in self.stack]
        parent = inside[-1] if inside else ""
        if parent in FILLED:
            raise LessonError(at, f"a `{parent}` block holds nothing", f"close `{parent}` before `{word}`.")
        if word == "predict" and "predict" in inside:
            raise LessonError(at, "a predict block stands in another", "close the outer one first.")
        for child, holder in (("reveal", "predict"), ("solution", "exercise")):
            if word != child:
                continue
            if parent != holder:
                raise LessonError(
                    at, f"a `{child}` stands outside `{holder}`", f"put it directly into its `{holder}` block."
                )
            self.stack[-1].held += 1
            if self.stack[-1].held > 1:
                raise LessonError(
                    at, f"a second `{child}` in the `{holder}` of {self.stack[-1].part.at}", "merge the two."
                )

    def _close(self, at: Location, marker: str) -> list[Part]:
        if not any(block.part.marker == marker for block in self.stack):
            raise LessonError(at, f"`{marker}` closes no open block", "remove the line, or open the block it closes.")
        block = self.stack[-1]
        if block.part.marker != marker:
            raise self._unclosed(block)
        self.stack.pop()
        word, opened = block.part.word, block.part
        for holder, child in (("predict", "reveal"), ("exercise", "solution")):
            if word == holder and not block.held:
                raise LessonError(
                    opened.at,
                    f"the `{holder}` block has no `{child}`",
                    f"add `{marker}/ {child}` and `{marker}/` in it.",
                )
        if word == "figure":
            return [self._figure(block)]
        if word in FILLED:
            return [opened]
        return [Close(at, marker, word)]

    def _unclosed(self, block: _OpenBlock) -> LessonError:
        part = block.part
        return LessonError(
            part.at, f"the `{part.word}` block is not closed", f"add a line `{part.marker}` where it ends."
        )

    def _figure(self, block: _OpenBlock) -> Figure:
        options, part = block.options, block.part
        if not part.title:
            raise LessonError(part.at, "the figure has no caption", "write `/// figure | The caption`.")
        name = options["id"]
        if name != self.lesson_id and not (name.startswith(f"{self.lesson_id}-") and NAME.fullmatch(name)):
            raise LessonError(
                block.options_at["id"],
                f"the figure's id `{name}` does not begin with the lesson's",
                f"write `id: {self.lesson_id}` or `id: {self.lesson_id}-<word>`.",
            )
        return Figure(
            part.at,
            name,
            options["kind"],
            options["data"],
            options["title"],
            options["description"].strip(),
            part.title,
        )

    def _solution(self, at: Location) -> Cell:
        exercise = self.stack[-2]
        name = exercise.options["name"]
        folder = self.project.lessons / self.lesson_id / "exercises" / name
        path = folder / "solution.py"
        where = exercise.options_at["name"]
        if not NAME.fullmatch(name) or not path.is_file():
            raise LessonError(
                where,
                f"there is no exercises/{name}/solution.py",
                "correct `name:`, or write that file in the lesson's folder.",
            )
        file = self.project.relative(path)
        code = "\n".join(source.read_lines(path, file))
        return Cell(
            at=where,
            id=name,
            kind="solution",
            prefix="",
            shown=_without_markers(code, file),
            chunks=(Chunk(code, Location(file, 1)),),
        )

    # Prose

    def _prose(self, first: int, lines: list[str]) -> Iterator[Part]:
        if self.stack and self.stack[-1].part.word in FILLED:
            extra = next((number for number, line in enumerate(lines) if line.strip()), None)
            if extra is not None:
                word = self.stack[-1].part.word
                raise LessonError(
                    self.at(first + extra),
                    f"a `{word}` block holds nothing but its options",
                    "indent an option by four spaces; move other text out of the block.",
                )
            return
        yield Prose(self.at(first), tuple(lines))

    def _refuse_content(self, index: int) -> None:
        if self.stack and self.stack[-1].part.word in FILLED:
            word = self.stack[-1].part.word
            raise LessonError(
                self.at(index), f"a `{word}` block holds nothing but its options", "move the fence out of the block."
            )

    def _refuse_lookalike(self, index: int) -> None:
        line = self.lines[index]
        if _FENCE_LIKE.match(line):
            raise LessonError(
                self.at(index),
                "this looks like a fence but is not read as one",
                "put it on a line of its own outside raw HTML and comments, with an empty line before it.",
            )
        if line.startswith("///"):
            raise LessonError(
                self.at(index),
                f"cannot read the block line `{line.strip()}`",
                "write `/// word | title`, or `///` to close.",
            )
        if _INDENTED_BLOCK.match(line):
            raise LessonError(self.at(index), "a block line is indented or quoted", "start it at the margin.")


def _check_whole(lesson: Lesson) -> None:
    """Rules that need the whole lesson: unique ids and kept names, and the blocks the build fills."""
    first: dict[str, Location] = {}
    kept: dict[str, Location] = {}
    for part in lesson.parts:
        if isinstance(part, Cell | Figure):
            key = part.id.lower() if isinstance(part, Cell) else f"figure-{part.id}".lower()
            if key in first:
                raise LessonError(part.at, f"the id `{part.id}` is taken by {first[key]}", "rename one of the two.")
            first[key] = part.at
        if isinstance(part, Cell):
            for name in part.keep:
                if name in kept:
                    raise LessonError(
                        part.at, f"`{name}` is already kept by the cell at {kept[name]}", "keep it under another name."
                    )
                kept[name] = part.at
    for figure in lesson.figures:
        if figure.data not in kept:
            raise LessonError(
                figure.at,
                f"no cell keeps `{figure.data}`",
                f'add keep="{figure.data}" to the cell that makes it, or correct `data:`.'
                if not kept
                else f'{nearest(figure.data, kept)}, or add keep="{figure.data}" to the cell that makes it.',
            )
    filled = {
        "main": ("steps", lesson.steps),
        "record": ("cells", lesson.cells),
        "ladder": ("`kernels`", lesson.kernels),
    }
    for word, (what, wanted) in filled.items():
        found = [part for part in lesson.parts if isinstance(part, Open) and part.word == word]
        if len(found) > 1:
            raise LessonError(
                found[1].at, f"a second `{word}` block; the first is at {found[0].at}", "remove one of the two."
            )
        if wanted and not found:
            raise LessonError(
                lesson.start,
                f"the lesson has {what} but no `{word}` block",
                f"add the lines `/// {word}` and `///` where it belongs.",
            )
        if found and not wanted:
            raise LessonError(found[0].at, f"a `{word}` block in a lesson without {what}", "remove it.")


def _without_markers(code: str, file: str) -> str:
    """`code` without its solution markers. Raises LessonError when they do not pair up."""
    shown = []
    begun = 0
    for number, line in enumerate(code.split("\n"), 1):
        marker = line.strip()
        if marker == "### BEGIN SOLUTION":
            if begun:
                raise LessonError(
                    Location(file, number), f"a solution begins inside the one of line {begun}", "end that one first."
                )
            begun = number
        elif marker == "### END SOLUTION":
            if not begun:
                raise LessonError(
                    Location(file, number), "a solution ends that never began", "add `### BEGIN SOLUTION` above it."
                )
            begun = 0
        else:
            shown.append(line)
    if begun:
        raise LessonError(
            Location(file, begun), "the solution is not ended", "add `### END SOLUTION` after its last line."
        )
    return "\n".join(shown)
