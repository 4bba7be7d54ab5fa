"""A lesson's figures, drawn from its record. A figure whose inputs did not change is read from its file, not drawn."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pallas_course.engine import figures, source
from pallas_course.engine.errors import LessonError, nearest
from pallas_course.engine.lesson import Figure, Lesson, Location, Project
from pallas_course.engine.record import Record

OWN = "own"  # the lesson's figures.py: draw(data, axes)

_STAMP = re.compile(r' data-stamp="([0-9a-f]*)"')


def path_of(project: Project, figure: Figure) -> Path:
    return project.figures / f"{figure.id}.svg"


def draw(project: Project, lesson: Lesson, record: Record, *, anew: bool) -> dict[str, str]:
    """The SVG text of each figure by its id. `anew`: draw all, whatever stands in the files."""
    return {figure.id: _figure(project, lesson, figure, record, anew) for figure in lesson.figures}


def _figure(project: Project, lesson: Lesson, figure: Figure, record: Record, anew: bool) -> str:
    if figure.kind not in figures.KINDS and figure.kind != OWN:
        raise LessonError(
            figure.at, f"unknown kind of figure `{figure.kind}`", f"{nearest(figure.kind, [*figures.KINDS, OWN])}."
        )
    own = project.lessons / lesson.id / "figures.py"
    if figure.kind == OWN and not own.is_file():
        raise LessonError(
            figure.at,
            f"there is no {project.relative(own)}",
            "write it with a function draw(data, axes), or use another kind.",
        )
    data = record.kept[figure.data]
    code = "\n".join(source.read_lines(own, project.relative(own))) if figure.kind == OWN else _kinds()
    inputs = json.dumps([figure.id, figure.kind, data, figure.title, figure.description]) + code
    names = {"name": figure.id, "title": figure.title, "description": figure.description}

    def make() -> str:
        if figure.kind == OWN:
            return figures.draw_with(_own(code, project.relative(own), figure), data, **names)
        return figures.draw(figure.kind, data, **names)

    try:
        return stamped(path_of(project, figure), inputs, make, anew=anew)
    except figures.FigureError as error:
        raise LessonError(figure.at, f"cannot draw `{figure.data}`: {error.problem}", f"{error.next_step}.") from error


def stamped(path: Path, inputs: str, make: Callable[[], str], *, anew: bool) -> str:
    """The SVG in the file `path` if it was made from these inputs and is whole, else what `make` draws."""
    if not anew and path.is_file():
        text = path.read_text("utf-8", "replace")
        if _stamp(inputs, _STAMP.sub("", text, count=1)) in _STAMP.findall(text[:1000]):
            return text
    svg = make()
    return svg.replace("<svg", f'<svg data-stamp="{_stamp(inputs, svg)}"', 1)


def _stamp(inputs: str, svg: str) -> str:
    return hashlib.sha256(f"{inputs}\0{svg}".encode()).hexdigest()[:16]


@cache
def _kinds() -> str:
    return Path(figures.__file__).read_text("utf-8")


def _own(code: str, name: str, figure: Figure) -> Callable[[Any, Any], None]:
    """The lesson's own draw function, with its errors turned into the line of figures.py that failed."""

    def fail(error: BaseException) -> LessonError:
        line = error.lineno if isinstance(error, SyntaxError) and error.filename == name else None
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == name:
                line = trace.tb_lineno
            trace = trace.tb_next
        return LessonError(
            Location(name, line or 1),
            f"drawing `{figure.id}` raised {type(error).__name__}: {getattr(error, 'msg', error)}",
            "mend the function at that line.",
        )

    space: dict[str, Any] = {"__name__": name}
    try:
        exec(compile(code, name, "exec", dont_inherit=True), space)
    except (Exception, SystemExit) as error:
        raise fail(error) from error
    function = space.get("draw")
    if not callable(function):
        raise LessonError(Location(name, 1), "it defines no function draw(data, axes)", "add the function.")

    def guarded(data: Any, axes: Any) -> None:
        try:
            function(data, axes)
        except (Exception, SystemExit) as error:
            raise fail(error) from error

    return guarded
