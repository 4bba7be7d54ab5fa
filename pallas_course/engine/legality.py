"""The two figures of block shapes: which a TPU takes, and how much fast memory they need. Drawn from one record."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pallas_course import fingerprint
from pallas_course.engine import draw, figures, ladder
from pallas_course.engine.errors import LessonError
from pallas_course.engine.figures import BG, CAT, CAT_TEXT, FG, HATCH, MUTED, WIDTH, _box, _rules, _sheet, _text
from pallas_course.engine.lesson import Location, Project

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACCEPTED, LOWERING, COMPILER = "accepted", "refused by lowering", "refused by the compiler"
LIGHT, DARK, BAR = 0, 3, 4  # places in the categories' palette
MIB = 1 << 20
KEYS = ("kernel", "source", "rows", "limits", "shape", "versions", "date")

BLOCKS = """\
A block that no TPU takes is refused by lowering, before any chip is named. What lowering accepts goes to the compiler
of each chip. No block here spans an axis of the matrix, which would be another way to be accepted.
"""
MEMORY = """\
A kernel's blocks live in the chip's vector memory, VMEM. Each is there twice, so that the next can arrive while this
one is worked on. The need follows from the block alone. The compiler has the last word.
"""


def svgs(project: Project, *, anew: bool) -> dict[Path, str]:
    """The figures by their files; empty without a record. Raises LessonError where the record no longer fits."""
    data = read(project)
    if not data:
        return {}
    made = {}
    for name, title, text, kind in (
        ("evidence-blocks", "Which block shapes a TPU takes", described(data), blocks),
        ("evidence-vmem", "VMEM need of large blocks", needed(data), memory),
    ):
        path = project.figures / f"{name}.svg"
        inputs = json.dumps([name, title, text, data["rows"], data["limits"]]) + _code()
        make: Callable[[], str] = partial(
            figures.finished, partial(kind, data), name=name, title=title, description=text
        )
        made[path] = draw.stamped(path, inputs, make, anew=anew)
    return made


def read(project: Project) -> dict[str, Any]:
    """The record of block shapes; empty where there is none."""
    path = project.verdicts / "legality.json"
    if not path.is_file():
        return {}
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if data["format"] > ladder.FORMAT:
            raise ValueError(f"format {data['format']} is newer than this engine, which reads {ladder.FORMAT}")
        data = {key: data[key] for key in KEYS}
        fits = data["source"] == fingerprint.of_kernel(project.kernels, data["kernel"])
    except (ValueError, KeyError, TypeError) as error:
        said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise LessonError(
            Location(project.relative(path), 1),
            f"the record cannot be read: {said}",
            "run `pallas-course evidence legality`.",
        ) from error
    if not fits:
        module = project.relative(project.kernels / f"{data['kernel']}.py")
        raise LessonError(
            Location(module, 1),
            "the kernel changed since its block shapes were recorded",
            "run `pallas-course evidence legality`.",
        )
    return data


def section(data: dict[str, Any], svgs: dict[Path, str]) -> list[str]:
    """The lines of the page of verdicts that show the figures and the reasons of refusals."""
    rows, columns = data["shape"]
    made = f"Recorded {ladder.day(data['date'])}, with {ladder.with_versions(data['versions'])}."
    captions = {
        "evidence-blocks": f"Blocks of `{data['kernel']}` on a {rows} × {columns} matrix: accepted, or refused by whom",
        "evidence-vmem": "Two buffers for each of three blocks, against the memory a chip gives a kernel unasked",
    }
    shown = {
        name: [
            f'<figure class="course-figure" id="figure-{name}" markdown="block">',
            "<div>",
            *next(svg for path, svg in svgs.items() if path.stem == name).strip("\n").split("\n"),
            "</div>",
            f'<figcaption markdown="span">{caption}</figcaption>',
            "</figure>",
            "",
        ]
        for name, caption in captions.items()
    }
    return [
        "## Which block shapes a TPU takes",
        "",
        BLOCKS,
        *shown["evidence-blocks"],
        *_refusals(data, "map"),
        "## How much memory a block needs",
        "",
        MEMORY,
        *shown["evidence-vmem"],
        *_refusals(data, "vmem"),
        made,
        "",
    ]


def _refusals(data: dict[str, Any], part: str) -> list[str]:
    """Each reason for which blocks were refused, once, with its chips and blocks."""
    told: dict[str, dict[str, set[tuple[int, int]]]] = {}
    for row in data["rows"]:
        if row["part"] == part and row.get("reason"):
            where = told.setdefault(ladder.short(row["reason"]), {})
            where.setdefault(ladder.CHIPS.get(row["chip"], row["chip"]), set()).add((row["block"][0], row["block"][1]))
    lines = []
    for reason, where in told.items():
        places = [
            f"{chip}, {len(found)} block shape{'s' * (len(found) != 1)}"
            if len(found) > 4
            else f"{chip}, blocks {', '.join(map(str, sorted(found)))}"
            for chip, found in where.items()
        ]
        lines.append(f"- {'; '.join(places)}: {ladder.plain(reason)}")
    return ["What was refused, and why:", "", *lines, ""] if lines else []


def answers(data: dict[str, Any]) -> dict[tuple[str, str], dict[tuple[int, int], str]]:
    """(dtype, chip) → block → accepted, refused by lowering, refused by the compiler."""
    found: dict[tuple[str, str], dict[tuple[int, int], str]] = {}
    for row in data["rows"]:
        if row["part"] != "map" or row["chip"] != "tpu":
            continue
        block, dtype = (row["block"][0], row["block"][1]), row["dtype"]
        for chip in data["limits"]:
            said = _compiled(data, "map", dtype, list(block), chip)
            found.setdefault((dtype, chip), {})[block] = said
    return found


def described(data: dict[str, Any]) -> str:
    """The map in words, for a reader who cannot see it."""
    parts = []
    for (dtype, chip), cells in answers(data).items():
        rows = sorted({r for (r, _), said in cells.items() if said == ACCEPTED})
        columns = sorted({c for (_, c), said in cells.items() if said == ACCEPTED})
        whole = all(cells[row, column] == ACCEPTED for row in rows for column in columns)
        shapes = f"rows {_list(rows)} and columns {_list(columns)}"
        if not whole:
            shapes = ", ".join(str(block) for block, said in cells.items() if said == ACCEPTED)
        parts.append(f"{dtype} on {chip}: accepted with {shapes}" if rows else f"{dtype} on {chip}: none accepted")
    return "; ".join(parts) + ". Every other block is refused."


def needed(data: dict[str, Any]) -> str:
    """The VMEM figure in words."""
    parts = []
    for block, size in _sizes(data).items():
        said = ", ".join(f"{chip} {_compiled(data, 'vmem', 'float32', list(block), chip)}" for chip in data["limits"])
        parts.append(f"({block[0]}, {block[1]}) needs {size / MIB:g} MiB: {said}")
    return "; ".join(parts) + "."


def blocks(data: dict[str, Any]) -> Figure:
    """One small map per dtype and chip: rows of a block down, columns across."""
    found = answers(data)
    dtypes, chips = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    rows, columns = (sorted({block[place] for block in next(iter(found.values()))}) for place in (0, 1))
    wide, high, left, gap, top, over = 22.0, 16.0, 28.0, 14.0, 42.0, 18.0
    each = top + high * len(rows) + 10
    figure, axes = _sheet(over + each * len(dtypes) + 52)
    for down, dtype in enumerate(dtypes):
        for across, chip in enumerate(chips):
            x0, y0 = left + across * (wide * len(columns) + left + gap - 10), over + top + down * each
            _text(axes, x0, y0 - 26, f"{dtype}, {ladder.CHIPS[chip]}", ha="left", bold=True)
            for c, column in enumerate(columns):
                _text(axes, x0 + (c + 0.5) * wide, y0 - 6, str(column), color=MUTED)
            for r, row in enumerate(rows):
                _text(axes, x0 - 5, y0 + (r + 0.5) * high + 3.6, str(row), ha="right", color=MUTED)
                for c, column in enumerate(columns):
                    _mark(axes, x0 + c * wide, y0 + r * high, wide, high, found[dtype, chip][row, column])
    _text(axes, 6, 11, "block rows ↓  block columns →", ha="left", color=MUTED)
    seen = {said for cells in found.values() for said in cells.values()}
    for place, said in enumerate(said for said in (ACCEPTED, LOWERING, COMPILER) if said in seen):
        y = over + each * len(dtypes) + 6 + 16 * place
        _mark(axes, left, y - 2, 22, 13, said)
        _text(axes, left + 28, y + 8.5, said, ha="left")
    return figure


def memory(data: dict[str, Any]) -> Figure:
    """A bar per block, as long as its VMEM need, across the chips' limits; beside it what each chip's compiler said."""
    sizes, limits = _sizes(data), data["limits"]
    left, top, step, room = 78.0, 44.0, 24.0, 74.0
    scale = (WIDTH - left - room - 8) / max(*sizes.values(), *(limit * MIB for limit in limits.values()))
    bottom = top + step * len(sizes)
    figure, axes = _sheet(bottom + 40)
    _text(axes, 6, 11, "block ↓  VMEM need in MiB →", ha="left", color=MUTED)
    places = {chip: WIDTH - room + 6 + 34 * place for place, chip in enumerate(limits)}
    for chip, x in places.items():
        _text(axes, x + 14, top - 6, chip, color=MUTED)
    for place, (block, size) in enumerate(sizes.items()):
        y = top + place * step
        _text(axes, left - 6, y + 13, f"{block[0]} × {block[1]}", ha="right")
        _box(axes, left, y + 3, size * scale, step - 8, facecolor=CAT[BAR], edgecolor=FG, linewidth=1)
        _text(axes, left + 5, y + 14, f"{size / MIB:g}", ha="left", color=CAT_TEXT[BAR])
        for chip, x in places.items():
            said = _compiled(data, "vmem", "float32", list(block), chip)
            _mark(axes, x, y + 3, 28, step - 8, said)
    for chip, limit in limits.items():
        x = left + limit * MIB * scale
        _rules(axes, [((x, top - 2), (x, bottom))], FG, 1.6)
        _text(axes, x, top - 6, f"{chip} {limit}", bold=True)
    for place, said in enumerate((ACCEPTED, COMPILER)):
        x = 6 + place * 100
        _mark(axes, x, bottom + 14, 22, 13, said)
        _text(axes, x + 27, bottom + 24, said, ha="left")
    return figure


def _mark(axes: Any, x: float, y: float, wide: float, high: float, said: str) -> None:
    """A cell's answer, told apart by lightness, hatching and a cross: no colour is needed to read it."""
    if said == ACCEPTED:
        _box(axes, x, y, wide, high, facecolor=CAT[LIGHT], edgecolor=FG, linewidth=1)
    elif said == LOWERING:
        _box(axes, x, y, wide, high, facecolor=BG, edgecolor=HATCH, linewidth=0, hatch="/////")
        _box(axes, x, y, wide, high, facecolor="none", edgecolor=FG, linewidth=1)
    else:
        _box(axes, x, y, wide, high, facecolor=CAT[DARK], edgecolor=FG, linewidth=1)
        _text(axes, x + wide / 2, y + high / 2 + 3.6, "×", color=CAT_TEXT[DARK], bold=True)


def _compiled(data: dict[str, Any], part: str, dtype: str, block: list[int], chip: str) -> str:
    """What became of a block on a chip; what lowering refused was handed to no compiler."""
    for row in data["rows"]:
        if (row["part"], row["dtype"], row["block"], row["chip"]) == (part, dtype, block, chip):
            return ACCEPTED if row["status"] == "pass" else COMPILER
    return LOWERING


def _sizes(data: dict[str, Any]) -> dict[tuple[int, int], int]:
    return {(row["block"][0], row["block"][1]): row["vmem_bytes"] for row in data["rows"] if "vmem_bytes" in row}


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _code() -> str:
    return Path(__file__).read_text("utf-8") + Path(figures.__file__).read_text("utf-8")
