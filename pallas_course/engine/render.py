"""Lesson and record to the Markdown that MkDocs reads. Pure: text in, text out."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pallas_course.engine.errors import LessonError
from pallas_course.engine.execute import Output, main_text
from pallas_course.engine.lesson import (
    Cell,
    Close,
    Figure,
    Lesson,
    Listing,
    Location,
    Open,
    Prose,
)
from pallas_course.engine.record import TIME, Record

# Blocks the build fills have no lines of their own on the page; the others keep their words, declared in mkdocs.yml.
_REFERENCE = re.compile(r"\{\{ *([\w-]+)\.(\w+) *\}\}|\{\{ [^{}]* \}\}")
_MARKUP = re.compile(r"[`<>&*$\\{}|~#\x00-\x1f]|///|\]\(")
_FRONT = "---\ntitle: {title}\ndescription: {description}\n---\n"


@dataclass(frozen=True)
class Shown:
    """A code block the page must show: what `verify.py` looks for. `at`: the line to name when it is not there."""

    id: str
    text: str
    at: Location


@dataclass(frozen=True)
class Page:
    """A lesson's page, its main.py (empty without steps), and the code blocks the page must show."""

    text: str
    main: str
    shown: tuple[Shown, ...]


def render(lesson: Lesson, record: Record, figures: dict[str, str], ladder: list[str]) -> Page:
    """The page of `lesson` with the outputs of `record`, the SVG text of each figure by id, and its ladder's lines."""
    return _Writer(lesson, record, figures, ladder).page()


class _Writer:
    def __init__(self, lesson: Lesson, record: Record, figures: dict[str, str], ladder: list[str]) -> None:
        self.lesson = lesson
        self.record = record
        self.figures = figures
        self.ladder = ladder
        self.lines: list[str] = []
        self.shown: list[Shown] = []
        self.held: list[list[Cell] | None] = []  # per open predict: cells whose output waits; None once it is revealed
        self.words: list[str] = []
        self.main, _ = main_text(lesson) if lesson.steps else ("", [])

    def page(self) -> Page:
        lesson = self.lesson
        summary = f"{lesson.title}: {lesson.objectives[0]}"
        self.add(_FRONT.format(title=_yaml(lesson.title), description=_yaml(summary)).rstrip("\n"))
        self.add(f"# {lesson.title}")
        number, _, name = lesson.phase.partition(" · ")
        phase = f"Phase {number}: {name}"
        minutes = f"about {lesson.minutes} minute{'s' * (lesson.minutes != 1)}"
        facts = html.escape(f"{phase} · {minutes} · {lesson.runs_on}", quote=False)
        self.add(f'<p class="lesson-meta">{facts}</p>')
        self.add("## What you will be able to do", "", *[f"- {objective}" for objective in lesson.objectives])
        for part in lesson.parts:
            if isinstance(part, Prose):
                self.add(*(self.filled(line, part.at.line + number) for number, line in enumerate(part.lines)))
            elif isinstance(part, Listing):
                self.listing(part)
            elif isinstance(part, Cell):
                self.cell(part)
            elif isinstance(part, Figure):
                self.figure(part)
            elif isinstance(part, Open):
                self.open(part)
            else:
                self.close(part)
        references = [f"- [{reference.title}]({reference.url})" for reference in lesson.references]
        self.add(*(["## Primary references", "", *references] if references else []))
        text = re.sub(r"\A\n+", "", "\n".join(self.lines)) + "\n"
        return Page(text, self.main, tuple(self.shown))

    def add(self, *lines: str) -> None:
        """Lines, with exactly one empty line before them."""
        kept = list(lines)
        while kept and not kept[0].strip():
            kept.pop(0)
        if self.lines and self.lines[-1].strip():
            self.lines.append("")
        self.lines.extend(kept)

    def fence(self, prefix: str, info: str, code: str) -> None:
        """A fence longer than any run of its character in the code, so that no code can end it."""
        longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
        ticks = "`" * max(3, longest + 1)
        body = [f"{prefix}{line}" if line else prefix.rstrip() for line in code.removesuffix("\n").split("\n")]
        if self.lines and self.lines[-1].strip(" >"):
            self.lines.append(prefix.rstrip())
        self.lines += [f"{prefix}{ticks}{info}", *body, f"{prefix}{ticks}", prefix.rstrip()]

    def cell(self, cell: Cell) -> None:
        title = cell.title
        if cell.of:
            path = cell.chunks[0].at.path
            title = f"{title} · {path}" if title else path
        attribute = f' title="{title}"' if title else ""
        name = _anchor(cell)
        self.code(cell.prefix, f"python {{.{cell.kind} #{name}{attribute}}}", name, cell.shown, cell.at)
        waiting = self.held[-1] if self.held else None
        if waiting is None or "reveal" in self.words:
            self.output(cell, cell.prefix)
        else:
            waiting.append(cell)

    def output(self, cell: Cell, prefix: str) -> None:
        output = self.record.outputs[cell.id]
        lines = _whole(output)
        if lines:
            title = "Recorded output" if output.raised is None else "Recorded output: the error it is meant to raise"
            name = f"{_anchor(cell)}-output"
            self.code(prefix, f'text {{.output #{name} title="{title}"}}', name, "\n".join(lines), cell.at)

    def listing(self, listing: Listing) -> None:
        self.shown.append(Shown("", listing.code, listing.at))
        self.fence(listing.prefix, listing.language, listing.code)

    def code(self, prefix: str, info: str, name: str, text: str, at: Location) -> None:
        self.shown.append(Shown(name, text, at))
        self.fence(prefix, info, text)

    def figure(self, figure: Figure) -> None:
        caption = self.filled(figure.caption, figure.at.line)
        self.add(
            f'<figure class="course-figure" id="figure-{figure.id}" markdown="block">',
            "<div>",
            *self.figures[figure.id].strip("\n").split("\n"),
            "</div>",
            f'<figcaption markdown="span">{caption}</figcaption>',
            "</figure>",
            "",
        )

    def open(self, part: Open) -> None:
        if part.word == "main":
            self.write_main(part)
        elif part.word == "record":
            self.write_record(part)
        elif part.word == "ladder":
            self.add(*self.ladder)
        else:
            title = self.filled(part.title or part.word.capitalize(), part.at.line)
            self.add("", f"{part.marker} {part.word} | {title}", "")
            self.words.append(part.word)
            if part.word == "predict":
                self.held.append([])
            elif part.word == "reveal":
                for cell in self.held[-1] or []:
                    self.output(cell, "")
                self.held[-1] = None

    def close(self, part: Close) -> None:
        self.add("", part.marker, "")
        self.words.pop()
        if part.word == "predict":
            self.held.pop()

    def write_main(self, part: Open) -> None:
        lines = self.main.count("\n")
        self.add(f'[Download main.py]({self.lesson.id}/main.py){{ .download download="main.py" }}')
        self.add("", f"{part.marker} details | The whole main.py, {lines} lines", "")
        self.code("", "python {.main #main-py}", "main-py", self.main, part.at)
        self.add("", part.marker, "")
        title = "Recorded output of main.py, run alone in a process of its own"
        self.code(
            "",
            f'text {{.output #main-py-output title="{title}"}}',
            "main-py-output",
            "\n".join(self.record.main),
            part.at,
        )

    def write_record(self, part: Open) -> None:
        recorded = self.record.recorded
        versions = recorded["versions"]
        time = datetime.strptime(recorded["time"], TIME)
        rows = {
            "Run": f"{time.day} {time:%B %Y, %H:%M} UTC",
            **{name: versions[key] for key, name in _NAMES.items() if key in versions},
            "Platform": recorded["platform"],
            "Device": f"{recorded['device']} (JAX backend: {recorded['backend']})"
            if recorded["backend"]
            else recorded["device"],
        }
        self.add("| What | Recorded |", "| --- | --- |", *[f"| {name} | {value} |" for name, value in rows.items()], "")
        text = [line for cell in self.lesson.cells for line in _whole(self.record.outputs[cell.id])]
        ending = f"PASS: {self.lesson.id}"
        # Closed: it answers predictions that the reader may not have made yet.
        self.add("", f"{part.marker} details | Everything the cells of this page printed, in order", "")
        self.code("", "text {.output #recorded-run}", "recorded-run", "\n".join([*text, ending]), part.at)
        self.add("", part.marker, "")

    def filled(self, line: str, number: int) -> str:
        """`line` with each `{{ cell.kept }}` replaced by its recorded value."""

        def value(match: re.Match[str]) -> str:
            cell, name = match[1], match[2]
            if name is None:
                raise LessonError(
                    Location(self.lesson.path, number),
                    f"`{match[0]}` names no kept value",
                    "write {{ cell.name }}: a cell's id and a name in its `keep`.",
                )
            output = self.record.outputs.get(cell)
            if output is None or name not in output.kept:
                known = [f"{key}.{item}" for key, found in self.record.outputs.items() for item in found.kept]
                raise LessonError(
                    Location(self.lesson.path, number),
                    f"no cell recorded `{cell}.{name}`",
                    f'add keep="{name}" to the cell, or use one of: {", ".join(known) or "nothing is kept yet"}.',
                )
            text = _plain(output.kept[name])
            if markup := _MARKUP.search(text):
                raise LessonError(
                    Location(self.lesson.path, number),
                    f"`{cell}.{name}` holds `{markup[0]}`, which could turn into markup: `{text}`",
                    "keep a number, a list of numbers or plain words for it.",
                )
            return text

        return _REFERENCE.sub(value, line)


_NAMES = {"python": "Python", "jax": "JAX", "jaxlib": "jaxlib", "numpy": "NumPy"}


def _anchor(cell: Cell) -> str:
    """The cell's id on the page. An exercise often has its heading's name, so its solution needs another."""
    return f"solution-{cell.id}" if cell.kind == "solution" else cell.id


def _whole(output: Output) -> list[str]:
    return [*output.text, *([output.raised] if output.raised is not None else [])]


def _plain(value: Any) -> str:
    """A kept value as prose shows it: a text as it is, a list in parentheses, the rest as Python writes it."""
    return f"({', '.join(map(_plain, value))})" if isinstance(value, list) else str(value)


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
