"""Three drawings of an output and its blocks, as SVG text: who owns what, in which order, and what is wrong."""

import html
from typing import Any

import numpy as np

_WIDTH, _HEIGHT, _EDGE = 560.0, 340.0, 20.0
_NAMED = 80  # blocks; more would not leave room for a number in each


class _Sheet:
    """An output's last two axes, to scale, and the blocks that programs visit; of leading axes, the first index."""

    def __init__(self, window: dict[str, Any], grid: list[int], title: str, description: str) -> None:
        shape, block = ([1, 1, *window[name]][-2:] for name in ("shape", "block"))
        self.rows, self.columns = (max(1, size) for size in shape)
        begins = np.array(window["begins"], np.int64).reshape(-1, len(window["shape"]))
        leading = np.all(begins[:, :-2] == 0, axis=1) if begins.shape[1] > 2 else np.ones(len(begins), bool)
        padded = np.concatenate([np.zeros((len(begins), 2), np.int64), begins], axis=1)[:, -2:]
        self.grid, self.block = grid, block
        self.programs: dict[tuple[int, int], list[int]] = {}
        for program in np.flatnonzero(leading):
            self.programs.setdefault((int(padded[program, 0]), int(padded[program, 1])), []).append(int(program))
        scale = min(_WIDTH / self.columns, _HEIGHT / self.rows)
        self.wide, self.high = max(60.0, scale * self.columns), max(24.0, scale * self.rows)
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {self.wide + 2 * _EDGE:.0f} '
            f'{self.high + 2 * _EDGE:.0f}" width="{self.wide + 2 * _EDGE:.0f}"><title>{html.escape(title)}</title>'
            f"<desc>{html.escape(description)}</desc>",
            f'<rect x="{_EDGE}" y="{_EDGE}" width="{self.wide:.1f}" height="{self.high:.1f}" fill="none" '
            'stroke="var(--bad)" stroke-dasharray="3 3"/>',
            f'<text x="{_EDGE}" y="{_EDGE - 6}">{self.rows} × {self.columns}, blocks {block[0]} × {block[1]}</text>',
        ]

    def x(self, column: float) -> float:
        return float(_EDGE + self.wide * min(max(column, 0), self.columns) / self.columns)

    def y(self, row: float) -> float:
        return float(_EDGE + self.high * min(max(row, 0), self.rows) / self.rows)

    def box(self, begin: tuple[int, int], fill: str, label: str = "") -> None:
        top, left = begin
        x, y = self.x(left), self.y(top)
        wide, high = self.x(left + self.block[1]) - x, self.y(top + self.block[0]) - y
        if wide <= 0 or high <= 0:
            return
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{fill}" stroke="var(--line)"/>'
        )
        if label and wide > 7 * len(label) and high > 11:
            self.parts.append(
                f'<text x="{x + wide / 2:.1f}" y="{y + high / 2 + 4:.1f}" text-anchor="middle">'
                f"{html.escape(label)}</text>"
            )

    def boxes(self, labels: bool) -> None:
        for begin, programs in self.programs.items():
            odd = sum(at // size for at, size in zip(begin, self.block, strict=True)) % 2
            name = ",".join(str(int(i)) for i in np.unravel_index(programs[0], self.grid)) if self.grid else "0"
            more = f" +{len(programs) - 1}" if len(programs) > 1 else ""
            self.box(begin, "var(--two)" if odd else "var(--one)", name + more if labels else "")

    def done(self) -> str:
        return "".join([*self.parts, "</svg>"])


def owner_map(window: dict[str, Any], grid: list[int]) -> str:
    """Each block with the first program that owns it, and how many more do; what nobody owns stays empty."""
    description = "Each rectangle is one block of the output, named by its program. Empty ground has no owner."
    sheet = _Sheet(window, grid, "Owner map", description)
    sheet.boxes(labels=len(sheet.programs) <= _NAMED)
    return sheet.done()


def visit_order(window: dict[str, Any], grid: list[int], order: list[list[int]]) -> str:
    """A line through the blocks in the order of the recorded grid points; empty where they do not fit the grid."""
    sheet = _Sheet(window, grid, "Visit order", "A line joins the blocks in the order in which programs visit them.")
    where = {program: begin for begin, programs in sheet.programs.items() for program in programs}
    if any(len(point) != len(grid) or any(i >= n for i, n in zip(point, grid, strict=True)) for point in order):
        return ""
    visited = [where.get(int(np.ravel_multi_index(point, grid)) if grid else 0) for point in order]
    sheet.boxes(labels=False)
    centres = []
    for begin in visited:
        if begin is None:
            continue
        end = [
            min(at + size, whole)
            for at, size, whole in zip(begin, sheet.block, (sheet.rows, sheet.columns), strict=True)
        ]
        centres.append((sheet.x((begin[1] + end[1]) / 2), sheet.y((begin[0] + end[0]) / 2)))
    if centres:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in centres)
        sheet.parts.append(f'<polyline points="{points}" fill="none" stroke="var(--ink)" stroke-width="1.5"/>')
        sheet.parts.append(f'<circle cx="{centres[0][0]:.1f}" cy="{centres[0][1]:.1f}" r="5" fill="var(--good)"/>')
        sheet.parts.append(f'<circle cx="{centres[-1][0]:.1f}" cy="{centres[-1][1]:.1f}" r="5" fill="var(--bad)"/>')
    return sheet.done()


def wrong_region(window: dict[str, Any], grid: list[int], region: tuple[tuple[int, int], ...]) -> str:
    """The blocks, and over them the smallest rectangle with the wrong elements of the first wrong block."""
    sheet = _Sheet(window, grid, "Wrong region", "The wrong elements of the first wrong block, over all blocks.")
    sheet.boxes(labels=False)
    (top, bottom), (left, right) = [(0, 1), (0, 1), *region][-2:]
    x, y = sheet.x(left), sheet.y(top)
    sheet.parts.append(
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(2.0, sheet.x(right) - x):.1f}" '
        f'height="{max(2.0, sheet.y(bottom) - y):.1f}" fill="var(--bad)" '
        'fill-opacity="0.35" stroke="var(--bad)" stroke-width="2"/>'
    )
    return sheet.done()
