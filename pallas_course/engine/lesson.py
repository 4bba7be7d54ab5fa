"""The values a lesson is made of. Frozen; nothing here reads, runs or writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""What a lesson, a cell, an exercise or a figure may be called: its name is part of an address."""


@dataclass(frozen=True)
class Project:
    """Where a course keeps its files. `root` holds `lessons_src/`, `figures/`, `docs/` and `mkdocs.yml`."""

    root: Path

    @property
    def lessons(self) -> Path:
        return self.root / "lessons_src"

    @property
    def figures(self) -> Path:
        return self.root / "figures"

    @property
    def kernels(self) -> Path:
        return self.root / "pallas_course" / "kernels"

    @property
    def verdicts(self) -> Path:
        return self.kernels / "evidence"

    @property
    def museum(self) -> Path:
        return self.root / "pallas_course" / "evidence" / "museum"

    @property
    def tables(self) -> Path:
        return self.root / "docs" / "generated"

    @property
    def pages(self) -> Path:
        return self.root / "docs" / "lessons"

    def relative(self, path: Path) -> str:
        """`path` as it is written in messages: relative to the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def lesson_ids(self) -> list[str]:
        """Folders of `lessons_src/`, sorted; hidden and private ones (leading `.` or `_`) are not lessons."""
        if not self.lessons.is_dir():
            return []
        return sorted(
            folder.name for folder in self.lessons.iterdir() if folder.is_dir() and folder.name[0] not in "._"
        )


@dataclass(frozen=True)
class Location:
    """A line of a file, as messages name it: `lessons_src/kernels-01/lesson.md:20`."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Chunk:
    """Code to run, with the place it was written, so that a traceback shows that place."""

    code: str
    at: Location


@dataclass(frozen=True)
class Prose:
    """Markdown lines, kept as they are."""

    at: Location
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """A fence that is shown and never run (`text`, `console`, ...)."""

    at: Location
    prefix: str
    language: str
    code: str


@dataclass(frozen=True)
class Cell:
    """Code that is run and shown.

    kind: `step` (also a part of main.py), `run`, or `solution` (an exercise's solution file).
    prefix: what stands before each of its lines on the page, when it is inside a quote or a list.
    shown: the code as the reader sees it; `chunks`: the same code as it is run.
    """

    at: Location
    id: str
    kind: str
    prefix: str
    shown: str
    chunks: tuple[Chunk, ...]
    title: str = ""
    of: str = ""
    raises: str = ""
    warns: str = ""
    keep: tuple[str, ...] = ()
    timeout: float = 120.0


@dataclass(frozen=True)
class Figure:
    """A drawing made from a kept value: `data` is the name the value was kept under."""

    at: Location
    id: str
    kind: str
    data: str
    title: str
    description: str
    caption: str


@dataclass(frozen=True)
class Open:
    """The opening line of a block; `marker` is its run of slashes."""

    at: Location
    marker: str
    word: str
    title: str


@dataclass(frozen=True)
class Close:
    """The closing line of a block."""

    at: Location
    marker: str
    word: str


Part = Prose | Listing | Cell | Figure | Open | Close


@dataclass(frozen=True)
class Reference:
    title: str
    url: str


@dataclass(frozen=True)
class Lesson:
    """One parsed lesson file. `parts` are in document order."""

    path: str
    id: str
    title: str
    phase: str
    minutes: int
    runs_on: str
    objectives: tuple[str, ...]
    references: tuple[Reference, ...]
    kernels: tuple[str, ...]
    lines: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def start(self) -> Location:
        return Location(self.path, 1)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(part for part in self.parts if isinstance(part, Cell))

    @property
    def steps(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == "step")

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(part for part in self.parts if isinstance(part, Figure))
