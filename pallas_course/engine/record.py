"""`outputs.json`: what a lesson printed and kept, with the versions and the device that ran it.

A cell's stamp covers the code up to it and every project file that code imports. Prose edits change no stamp; a kernel
edit changes the stamps of what uses it. Versions, device and time are neither in a stamp nor compared.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pallas_course import records
from pallas_course.engine import source
from pallas_course.engine.errors import LessonError, UsageError
from pallas_course.engine.execute import Output, Run
from pallas_course.engine.lesson import Cell, Lesson, Location, Project

FORMAT = 1
RECORD_LIMIT = 1_000_000  # bytes
TIME = "%Y-%m-%dT%H:%M:%SZ"
TOLERANCE = 1e-6  # relative and absolute, for the floats in compared text and kept values

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_PATH = re.compile(r"(?<![\w.:/<])/(?:[A-Za-z_][\w.+@-]*/)+[\w.+@-]*|file:/\S*|\b[A-Z]:\\\\?\w[\w .-]*\\[^\s'\"]*")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?![\w.])")


@dataclass(frozen=True)
class Record:
    """A lesson's recorded run. `recorded`: time, versions, platform, backend, device. `main`: what main.py printed."""

    lesson: str
    recorded: dict[str, Any]
    verified_with: tuple[str, ...]
    stamps: dict[str, str]
    outputs: dict[str, Output]
    main: tuple[str, ...]

    @property
    def kept(self) -> dict[str, Any]:
        """Every kept value by its name (names are unique in a lesson)."""
        return {name: value for output in self.outputs.values() for name, value in output.kept.items()}

    def text(self) -> str:
        """The file's text: one value a line where a reviewer reads it."""
        cells = {}
        for name, output in self.outputs.items():
            cell: dict[str, Any] = {"stamp": self.stamps[name], "text": list(output.text)}
            if output.raised is not None:
                cell["raised"] = output.raised
            if output.kept:
                cell["kept"] = output.kept
            cells[name] = cell
        return (
            _json(
                {
                    "format": FORMAT,
                    "lesson": self.lesson,
                    "recorded": self.recorded,
                    "verified_with": list(self.verified_with),
                    "cells": cells,
                    "main": list(self.main),
                }
            )
            + "\n"
        )


def path_of(project: Project, lesson_id: str) -> Path:
    return project.lessons / lesson_id / "outputs.json"


def load(project: Project, lesson_id: str, *, replace: bool) -> Record | None:
    """The committed record, or None when there is none; with `replace`, also when the file is no record.

    Raises LessonError for a file that is no record, and always for one that a newer version wrote.
    """
    path = path_of(project, lesson_id)
    name = project.relative(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        newer = data["format"] > FORMAT
        found = None if newer else _record(lesson_id, data)
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if replace:
            return None
        raise LessonError(
            Location(name, getattr(error, "lineno", 1)),
            f"the record cannot be read: {type(error).__name__}: {error}",
            f"run `python build_figures.py --force {lesson_id}` to record it anew.",
        ) from error
    if newer:
        raise LessonError(
            Location(name, 1),
            f"the record has format {data['format']}; this version reads {FORMAT}",
            "update the course's tools, or delete the file and run again.",
        )
    return found


def _record(lesson_id: str, data: Any) -> Record:
    recorded = data["recorded"]
    datetime.strptime(recorded["time"], TIME)
    for place, keys in ((recorded, ("platform", "backend", "device")), (recorded["versions"], ("python",))):
        for key in keys:
            place[key]
    return Record(
        lesson=lesson_id,
        recorded=recorded,
        verified_with=_texts(data["verified_with"]),
        stamps={cell: str(body["stamp"]) for cell, body in data["cells"].items()},
        outputs={
            cell: Output(_texts(body["text"]), dict(body.get("kept", {})), body.get("raised"))
            for cell, body in data["cells"].items()
        },
        main=_texts(data["main"]),
    )


def stamps(project: Project, lesson: Lesson) -> dict[str, str]:
    """Each cell's stamp, in lesson order."""
    found = {}
    before = hashlib.sha256(f"format {FORMAT} of {lesson.id}".encode())
    for cell in lesson.cells:
        code = [chunk.code for chunk in cell.chunks]
        before.update(json.dumps([cell.kind, cell.id, code, cell.raises, cell.warns, cell.keep]).encode())
        files: set[Path] = set()
        for text in code:
            files |= source.imported_files(project, text)
        for file in sorted(files):
            before.update(project.relative(file).encode() + b"\0" + file.read_bytes())
        found[cell.id] = before.hexdigest()[:16]
    return found


def why_stale(project: Project, lesson: Lesson, record: Record | None) -> str:
    """Why the lesson must run again; empty when its record is fresh."""
    if record is None:
        return "it has no record"
    now = stamps(project, lesson)
    if list(now) != list(record.stamps):
        return "its cells are not those of its record"
    changed = next((cell for cell in now if now[cell] != record.stamps[cell]), None)
    return f"cell `{changed}`, or something it imports, changed" if changed else ""


def make(project: Project, lesson: Lesson, run: Run, old: Record | None) -> Record:
    """The record of `run`: `old` itself when the run says the same.

    Raises LessonError for output that would differ on another machine or is too large.
    """
    for cell in lesson.cells:
        _refuse(cell, run.outputs[cell.id])
    new = Record(
        lesson=lesson.id,
        recorded={"time": datetime.now(UTC).strftime(TIME), **run.facts},
        verified_with=(),
        stamps=stamps(project, lesson),
        outputs=run.outputs,
        main=run.main,
    )
    size = len(new.text().encode())
    if size > RECORD_LIMIT:
        largest = max(lesson.cells, key=lambda cell: len(repr(run.outputs[cell.id])))
        raise LessonError(
            largest.at,
            f"the record takes {size // 1000} KB, more than {RECORD_LIMIT // 1000}; most of it is cell `{largest.id}`",
            "print or keep less in that cell.",
        )
    if old is not None and [*old.stamps.items()] == [*new.stamps.items()] and not differing(old, new):
        return old
    return new


def differing(old: Record, new: Record) -> list[str]:
    """Ids of the cells (and `main.py`) whose recorded result is not the same, floats compared with TOLERANCE."""
    cells = [
        cell
        for cell in {**old.outputs, **new.outputs}
        if not _same_output(old.outputs.get(cell), new.outputs.get(cell))
    ]
    return cells + ([] if same_text(old.main, new.main) else ["main.py"])


def same_text(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two texts agree: floats within TOLERANCE, everything else exactly."""
    first, second = "\n".join(one), "\n".join(other)
    if first == second:
        return True
    if _NUMBER.split(first) != _NUMBER.split(second):
        return False
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in pairs)


def write_whole(path: Path, text: str) -> bool:
    """Write `text` to `path` unless it is there already; whole or not at all. True when the file changed."""
    try:
        return records.replace(path, text)
    except OSError as error:
        raise UsageError(
            f"{path.name}: cannot write it: {error.strerror}", "make room or make the folder writable, then run again."
        ) from error


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError("a list of texts")
    return tuple(value)


def _same_output(old: Output | None, new: Output | None) -> bool:
    if old is None or new is None:
        return False
    return (
        same_text(old.text, new.text)
        and same_text([old.raised or ""], [new.raised or ""])
        and (old.raised is None) == (new.raised is None)
        and _same_value(old.kept, new.kept)
    )


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same_value(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same_value, one, other))
    return bool(one == other)


def _refuse(cell: Cell, output: Output) -> None:
    """Raise for text that differs from run to run or machine to machine."""
    printed = [("prints", text) for text in (*output.text, output.raised or "")]
    for verb, text in [*printed, *(("keeps", text) for text in _strings(output.kept))]:
        address = _ADDRESS.search(text)
        if address:
            raise LessonError(
                cell.at,
                f"cell `{cell.id}` {verb} `{address[0]}`: an address differs on every run",
                "let it say what the object holds; write a hexadecimal number without its 0x.",
            )
        path = _PATH.search(text)
        if path:
            raise LessonError(
                cell.at,
                f"cell `{cell.id}` {verb} `{path[0]}`: an absolute path differs on every machine",
                "let it say the file's name alone.",
            )


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []


def _json(value: Any, indent: int = 0) -> str:
    """JSON a reviewer can read: text one line a line, numbers in rows."""
    flat = json.dumps(value, ensure_ascii=False)
    texts = isinstance(value, list) and any(isinstance(item, str) for item in value) and len(value) > 1
    nested = isinstance(value, dict) and any(isinstance(item, dict) for item in value.values())
    if (
        not isinstance(value, dict | list)
        or not value
        or (len(flat) + indent <= 120 and not texts and not nested and indent)
    ):
        return flat
    inner = "\n" + " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {_json(item, indent + 2)}" for key, item in value.items()]
        return "{" + inner + f",{inner}".join(items) + "\n" + " " * indent + "}"
    items = [_json(item, indent + 2) for item in value]
    return "[" + inner + f",{inner}".join(items) + "\n" + " " * indent + "]"
