"""Three drawings of an output and its blocks, as SVG text: who owns what, in which order, and what is wrong."""

import html
import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

# In the units of the drawing, which is as wide as a phone; letters are 11 high.
_WIDTH, _MARGIN, _LINE = 320.0, 44.0, 15.0
_TALLEST, _LOWEST, _NARROWEST = 240.0, 40.0, 90.0
_LETTER = 7.0

Box = tuple[int, int]  # a block's first row and column


class _Sheet:
    """An output's last two axes with their numbers, and the blocks of its programs; of leading axes, one index."""

    def __init__(self, window: dict[str, Any], grid: list[int], leading: tuple[int, ...] = ()) -> None:
        shape, block = list(window["shape"]), list(window["block"])
        self.rank, self.grid, self.window = len(shape), grid, window
        self.leading = (leading + (0,) * self.rank)[: max(0, self.rank - 2)]
        self.rows, self.columns = (max(1, int(size)) for size in [1, 1, *shape][-2:])
        self.block = [1, 1, *block][-2], [1, 1, *block][-1]
        self.known = "begins" in window
        self.outside: list[int] = []  # programs whose block lies outside the output
        self.owners: dict[Box, list[int]] = {}
        for program, begin in enumerate(window.get("begins", ())):
            if any(at >= n or at + size <= 0 for at, n, size in zip(begin, shape, block, strict=True)):
                self.outside.append(program)
            elif all(at <= i < at + size for at, i, size in zip(begin[:-2], self.leading, block[:-2], strict=True)):
                top, left = [0, 0, *begin][-2:]
                self.owners.setdefault((top, left), []).append(program)
        self._measure()
        self.y0 = 2 * _LINE
        self.parts: list[str] = []
        self._head()

    def _measure(self) -> None:
        """Both sides to scale, unless blocks would then be too small for a number."""
        self.left = max(_MARGIN, _LETTER * len(str(self.rows)) + 8) if self.rank > 1 else _MARGIN
        room = _WIDTH - self.left - 1
        scale = min(room / self.columns, _TALLEST / self.rows, 24.0)
        wide, high = scale * self.columns, scale * self.rows
        down, across = (len({begin[axis] for begin in self.owners}) for axis in (0, 1))
        self.wide = min(room, max(wide, _NARROWEST, 46.0 * across))
        self.high = min(_TALLEST, max(high, _LOWEST, (32.0 if down < 8 else 17.0) * down)) if self.rank > 1 else _LOWEST
        self.to_scale = self.rank < 2 or math.isclose(self.wide / wide, self.high / high, rel_tol=0.02)

    def _head(self) -> None:
        name = self.window["name"]
        name = name if len(name) <= 20 else name[:19] + "…"
        sizes, blocks = (" × ".join(map(str, self.window[key])) for key in ("shape", "block"))
        self.size = f"{sizes} in blocks of {blocks}" if sizes else "a single value"
        if len(name) + len(self.size) > 48:
            self.text(0, 11, f"{name}: {sizes}")
            self.text(0, self.y0 - 4, f"in blocks of {blocks}")
            self.y0 += _LINE
        else:
            self.text(0, 11, f"{name}: {self.size}")
        if self.leading:
            self.text(0, self.y0 - 4, f"drawn: {name}[{', '.join(map(str, self.leading))}, :, :]")
            self.y0 += _LINE
        if not self.rank:
            self.y0 -= _LINE / 2
            return
        self.text(
            self.left,
            self.y0 - 4,
            ("columns →" if self.rank > 1 else "elements →") + ", not to scale" * (not self.to_scale),
        )
        self.y0 += _LINE
        for at in _spaced([(n, self.x(n)) for n in _edges(self.owners, 1, self.block[1], self.columns)], wide=True):
            self.text(self.x(at), self.y0 - 4, str(at), "end" if at == self.columns else "middle" if at else "start")
        if self.rank > 1:
            self.text(0, self.y0 - 4, "rows ↓")

            def beside(row: int) -> float:
                return self.y(row) + (4 if row else 8)  # clear of the line above

            for at in _spaced([(n, beside(n)) for n in _edges(self.owners, 0, self.block[0], self.rows)], wide=False):
                self.text(self.left - 4, beside(at), str(at), "end")

    def x(self, column: float) -> float:
        return self.left + self.wide * min(max(column, 0), self.columns) / self.columns

    def y(self, row: float) -> float:
        return self.y0 + self.high * min(max(row, 0), self.rows) / self.rows

    def text(self, x: float, y: float, words: str, anchor: str = "start", style: str = "") -> None:
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        self.parts.append(f"<text {place} {style}>{html.escape(words)}</text>")

    def rectangle(self, corners: tuple[float, float, float, float], style: str) -> None:
        x, y, right, bottom = corners
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" height="{bottom - y:.1f}" {style}/>')

    def corners(self, begin: Box) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of a block, cut at the output's edge."""
        top, left = begin
        return self.x(left), self.y(top), self.x(left + self.block[1]), self.y(top + self.block[0])

    def hatch(self, corners: tuple[float, float, float, float]) -> None:
        """Slanted lines, so that the meaning does not hang on a colour."""
        left, top, right, bottom = corners
        lines = []
        for c in np.arange(left - (bottom - top) + 4, right, 7.0):
            begin, end = max(left, float(c)), min(right, float(c) + bottom - top)
            lines.append(f"M{begin:.1f} {bottom - (begin - c):.1f}L{end:.1f} {bottom - (end - c):.1f}")
        self.parts.append(f'<path d="{"".join(lines)}" class="bad-line"/>')

    def ground(self) -> None:
        """The whole output, hatched where blocks do not cover it."""
        whole = (self.x(0), self.y(0), self.x(self.columns), self.y(self.rows))
        if self.known and self.unowned():
            self.hatch(whole)
        self.rectangle(whole, 'class="edge"')

    def blocks(self, shades: dict[Box, float]) -> None:
        for begin in self.owners:
            self.rectangle(self.corners(begin), 'class="paper"')
            self.rectangle(self.corners(begin), f'class="block" fill-opacity="{shades.get(begin, 0.15):.2f}"')

    def unowned(self) -> int:
        """How many of the drawn elements no block covers."""
        rows, columns = (
            _edges(self.owners, axis, self.block[axis], n) for axis, n in ((0, self.rows), (1, self.columns))
        )
        covered = np.zeros((len(rows) - 1, len(columns) - 1), bool)
        for top, left in self.owners:
            down = [top <= at < top + self.block[0] for at in rows[:-1]]
            covered |= np.outer(down, [left <= at < left + self.block[1] for at in columns[:-1]])
        return int((np.outer(np.diff(rows), np.diff(columns)) * ~covered).sum())

    def label(self, begin: Box, words: str) -> bool:
        """The words in the middle of a block, if they have room there."""
        left, top, right, bottom = self.corners(begin)
        if right - left < _LETTER * len(words) + 4 or bottom - top < 14:
            return False
        self.text((left + right) / 2, (top + bottom) / 2 + 4, words, "middle")
        return True

    def names(self, programs: list[int]) -> str:
        """``(1, 0–3)`` for programs that make a box of the grid, else the first and how many more."""
        if not self.grid:
            return "the only program"
        points = np.array(np.unravel_index(programs, self.grid)).T
        low, high = points.min(0), points.max(0)
        if len(programs) == math.prod((high - low + 1).tolist()):
            spans = [str(a) if a == b else f"{a}–{b}" for a, b in zip(low.tolist(), high.tolist(), strict=True)]
            return f"({', '.join(spans)}{',' * (len(spans) == 1)})"
        return f"({', '.join(map(str, points[0].tolist()))}) and {len(programs) - 1} more"

    def done(self, title: str, description: str, legend: Iterable[tuple[str, str]]) -> str:
        """The drawing with its legend: a kind of swatch and its words, one line each."""
        y = self.y0 + self.high + 8
        for kind, words in legend:
            swatch = (1.0, y + 2, 13.0, y + 13)
            if kind == "line":
                self.parts.append(f'<path d="M1 {y + 8:.1f}H13" class="way"/>')
            elif kind == "start":
                self.parts.append(f'<circle cx="7" cy="{y + 8:.1f}" r="4.5" class="start"/>')
            elif kind == "end":
                self.rectangle((3, y + 4, 11, y + 12), 'class="end"')
            elif kind == "wrong":
                self.rectangle(swatch, 'class="wrong"')
            elif kind:
                self.rectangle(swatch, 'class="block" fill-opacity="0.3"' if kind == "block" else 'class="edge"')
            if kind == "nobody":
                self.hatch(swatch)
            self.text(20 if kind else 0, y + 11, words)
            y += _LINE
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH:.0f} {y + 4:.0f}">'
            f"<title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>{''.join(self.parts)}</svg>"
        )


def _edges(owners: Iterable[Box], axis: int, size: int, whole: int) -> list[int]:
    found = {0, whole}
    for begin in owners:
        found |= {min(max(at, 0), whole) for at in (begin[axis], begin[axis] + size)}
    return sorted(found)


def _spaced(places: list[tuple[int, float]], *, wide: bool) -> list[int]:
    """Every first, second or third number, and the last, so that they can stand beside each other."""

    def apart(left: tuple[int, float], right: tuple[int, float]) -> bool:
        ends = 0.5 if right is not places[-1] else 1.0
        return right[1] - left[1] >= (
            _LETTER * (0.5 * len(str(left[0])) + ends * len(str(right[0]))) + 6 if wide else 12
        )

    for stride in range(1, len(places)):
        kept = [place for place in places[:-1:stride] if place is places[0] or apart(place, places[-1])]
        if all(apart(left, right) for left, right in pairwise(kept)):
            return [number for number, _ in [*kept, places[-1]]]
    return [places[0][0], places[-1][0]]


def _nobody(sheet: _Sheet) -> list[tuple[str, str]]:
    return [("nobody", f"owned by no program: {left:,} elements")] if (left := sheet.unowned()) else []


def _astray(sheet: _Sheet) -> list[tuple[str, str]]:
    if not sheet.outside:
        return []
    first = sheet.names(sheet.outside[:1])
    many = f"{len(sheet.outside)} programs write" if len(sheet.outside) > 1 else "1 program writes"
    return [("", f"{many} outside the output, first {first}")]


def owner_map(window: dict[str, Any], grid: list[int], leading: tuple[int, ...] = ()) -> str:
    """Each block with the programs that own it; what nobody owns is hatched. Empty where blocks are not known."""
    sheet = _Sheet(window, grid, leading)
    if not sheet.known:
        return ""
    last = max(1, max((programs[0] for programs in sheet.owners.values()), default=1))
    sheet.ground()
    sheet.blocks({begin: 0.15 + 0.55 * programs[0] / last for begin, programs in sheet.owners.items()})
    named = [sheet.label(begin, sheet.names(programs)) for begin, programs in sheet.owners.items()]
    count = math.prod(grid)
    legend = []
    if any(named):
        shared = any(len(programs) > 1 for programs in sheet.owners.values())
        what = "a block, with the programs that write it" if shared else "a block, with the program that owns it"
        legend.append(("block", f"{what}: {_axes(grid)}" if grid else "a block"))
    elif sheet.owners:
        legend.append(("block", f"a block; of {count} programs, the first is the palest"))
    legend += _nobody(sheet) + _astray(sheet)
    description = f"Output {window['name']}, {sheet.size}. {count} programs, {len(sheet.owners)} blocks drawn. "
    return sheet.done("Owner map", description + _told(legend), legend)


def _axes(grid: list[int]) -> str:
    return f"({', '.join('ijklmnop'[: len(grid)])}{',' * (len(grid) == 1)})"


def _told(legend: list[tuple[str, str]]) -> str:
    return " ".join(f"{words[:1].upper()}{words[1:]}." for _, words in legend)


def visit_order(window: dict[str, Any], grid: list[int], order: list[list[int]], leading: tuple[int, ...] = ()) -> str:
    """A line through the blocks in the order of the recorded grid points; empty where they do not fit the grid."""
    sheet = _Sheet(window, grid, leading)
    fits = all(len(point) == len(grid) and all(i < n for i, n in zip(point, grid, strict=True)) for point in order)
    where = {program: begin for begin, programs in sheet.owners.items() for program in programs}
    steps = [int(np.ravel_multi_index(point, grid)) if grid else 0 for point in order] if fits else []
    visits: dict[Box, list[int]] = {}
    for number, program in enumerate(steps, 1):
        if program in where:
            visits.setdefault(where[program], []).append(number)
    if not visits:
        return ""
    again = [begin for begin, numbers in visits.items() if numbers[-1] - numbers[0] >= len(numbers)]
    sheet.ground()
    sheet.blocks({})
    for begin in again:
        sheet.rectangle(sheet.corners(begin), 'class="wrong"')
    numbered = all(
        sheet.corners(begin)[2] - sheet.corners(begin)[0] > _LETTER * len(_numbers(numbers)) + 6
        and sheet.corners(begin)[3] - sheet.corners(begin)[1] >= 30
        for begin, numbers in visits.items()
    )
    centres = []
    for program in steps:
        if program in where:
            left, top, right, bottom = sheet.corners(where[program])
            centres.append(((left + right) / 2, top + (bottom - top) * (0.68 if numbered else 0.5)))
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in [centres[0], *(b for a, b in pairwise(centres) if a != b)])
    sheet.parts.append(f'<path d="M{way}" class="way"/>')
    if numbered:
        for begin, numbers in visits.items():
            left, top, _, _ = sheet.corners(begin)
            sheet.text(left + 4, top + 13, _numbers(numbers), style='class="step"')
    (x, y), (u, v) = centres[0], centres[-1]
    sheet.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="start"/>')
    side = 4 if (x, y) != (u, v) else 2.5
    sheet.rectangle((u - side, v - side, u + side, v + side), 'class="end"')
    count = sum(map(len, visits.values()))
    told = "the visits in order, by number" if numbered else f"the visits in order: {count}"
    legend = [("line", told if count > 1 else "the only visit")]
    legend += [("start", "the first"), ("end", "the last" + ", where the run ended" * (len(order) < math.prod(grid)))]
    if again:
        legend.append(("wrong", f"left and visited again: {len(again)} block{'s' * (len(again) > 1)}"))
    legend += _nobody(sheet)
    description = f"Output {window['name']}, {sheet.size}, as the simulated TPU visits its blocks. "
    return sheet.done("Visit order", description + _told(legend), legend)


def _numbers(numbers: list[int]) -> str:
    """``1–4`` or ``1, 5``: runs of visit numbers, the first two."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs[:2]]
    return ", ".join(said) + ", …" * (len(runs) > 2)


def wrong_region(window: dict[str, Any], grid: list[int], region: tuple[tuple[int, int], ...]) -> str:
    """The blocks, and over them the smallest rectangle with the wrong elements of the first wrong block."""
    sheet = _Sheet(window, grid, tuple(low for low, _ in region[:-2]))
    sheet.ground()
    sheet.blocks({})
    (top, bottom), (left, right) = [(0, 1), (0, 1), *region][-2:]
    corners = sheet.x(left), sheet.y(top), sheet.x(right), sheet.y(bottom)
    if min(corners[2] - corners[0], corners[3] - corners[1]) < 6:
        x, y = (corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2
        across, along = max(8.0, (corners[2] - corners[0]) / 2 + 4), max(8.0, (corners[3] - corners[1]) / 2 + 4)
        sheet.parts.append(f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{across:.1f}" ry="{along:.1f}" class="ring"/>')
    sheet.rectangle(
        (corners[0], corners[1], max(corners[2], corners[0] + 2), max(corners[3], corners[1] + 2)), 'class="wrong"'
    )
    spans = ", ".join(str(low) if high == low + 1 else f"{low}:{high}" for low, high in region)
    legend = [("wrong", f"the first wrong elements: [{spans}]" if region else "the value is wrong")]
    if sheet.known:
        owners = [
            program
            for begin, programs in sheet.owners.items()
            if begin[0] <= top < begin[0] + sheet.block[0] and begin[1] <= left < begin[1] + sheet.block[1]
            for program in programs
        ]
        if owners:
            legend.append(("block", f"a block; the wrong one is of program {sheet.names(owners)}"))
        legend += _nobody(sheet)
    description = f"Output {window['name']}, {sheet.size}. "
    return sheet.done("First wrong region", description + _told(legend), legend)
