"""`--check`: what a fresh run says against what is committed. Writes nothing."""

from __future__ import annotations

import difflib
from pathlib import Path

from pallas_course.engine import draw
from pallas_course.engine.lesson import Lesson, Project
from pallas_course.engine.record import Record, differing


def drift_of_outputs(lesson: Lesson, old: Record | None, new: Record) -> list[str]:
    """One message for each cell whose run no longer says what is recorded."""
    if old is None:
        return [f"{lesson.start}: the lesson has no record"]
    messages = []
    places = {cell.id: cell.at for cell in lesson.cells}
    for name in differing(old, new):
        at = places.get(name, lesson.start)
        messages.append(
            f"{at}: `{name}` does not say what is recorded\n{_diff(_said(old, name), _said(new, name), name)}"
        )
    if not messages and list(old.stamps) != list(new.stamps):
        messages.append(f"{lesson.start}: the record's cells stand in another order")
    for name in new.stamps:
        if not messages and old.stamps[name] != new.stamps[name]:
            messages.append(f"{places[name]}: `{name}` or something it imports changed since it was recorded")
    return messages


def drift_of_files(project: Project, lesson: Lesson, files: dict[Path, str]) -> list[str]:
    """One message for each committed file that differs from what the record gives. An absent page is no drift."""
    messages = []
    places = {draw.path_of(project, figure): figure.at for figure in lesson.figures}
    for path, text in files.items():
        at, name = places.get(path, lesson.start), project.relative(path)
        if path.is_file():
            there = path.read_bytes().decode("utf-8", "replace")
            if there != text:
                diff = _diff(there.splitlines(), text.splitlines(), name)
                messages.append(f"{at}: {name} is not what the record gives\n{diff}")
        elif not path.is_relative_to(project.pages):
            messages.append(f"{at}: {name} is missing")
    return messages


def drift_of_tables(project: Project, pages: dict[Path, str]) -> list[str]:
    """One message for each page of recorded verdicts that differs from the records. An absent page is no drift."""
    messages = []
    for path, text in pages.items():
        name = project.relative(path)
        if not path.is_file() and not path.is_relative_to(project.tables):
            messages.append(f"{name}:1: the figure is missing")
        there = path.read_bytes().decode("utf-8", "replace") if path.is_file() else text
        if there != text:
            diff = _diff(there.splitlines(), text.splitlines(), name)
            messages.append(f"{name}:1: the page is not what the records give\n{diff}")
    return messages


def _said(record: Record, name: str) -> list[str]:
    if name not in record.outputs:
        return list(record.main) if name == "main.py" else []
    output = record.outputs[name]
    kept = [f"{key} = {value!r}" for key, value in output.kept.items()]
    return [*output.text, *([output.raised] if output.raised else []), *kept]


def _diff(old: list[str], new: list[str], name: str, most: int = 40) -> str:
    lines = list(difflib.unified_diff(old, new, f"recorded {name}", f"now {name}", lineterm="", n=1))
    rest = [f"... {len(lines) - most} more lines"] if len(lines) > most else []
    return "\n".join(f"    {line[:200]}" for line in lines[:most] + rest)
