"""Drawing a lesson's recorded data as SVG that can stand inside a page.

A figure's colours are CSS variables, so that one inline picture follows the page's light and dark palettes; their light
values are the fallbacks, so that the file alone looks right too. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 340
"""Width of every figure in its own units; one unit is one pixel on a page 340 pixels wide."""
TEXT = 10
"""Smallest text in those units: 9.6 pixels where a phone leaves 328 pixels to the figure."""
MAX_CATEGORIES = 12
MAX_TILES = 6  # per side
MAX_CELLS = 32  # per side

# Searched, not chosen by eye: even places are light and odd ones dark, so neighbours in reading order differ without
# colour too; every pair differs by 4 in lightness and by 19 (CIE 1976) under each simulated kind of colour blindness.
_CATEGORIES = [
    *("#dcd15f", "#495a45", "#eeafb8", "#77010d", "#82b7fe", "#8f5102"),  # yellow, moss, pink, crimson, sky, brown
    *("#f58d6e", "#2b7496", "#a5f9ad", "#3e409e", "#68ecfe", "#5b3557"),  # coral, teal, mint, indigo, cyan, plum
]
# The same in both palettes, so that prose can name a tile's colour.
_SHARED = {f"--fig-cat-{i}": colour for i, colour in enumerate(_CATEGORIES)} | {
    f"--fig-cat-text-{i}": "#ffffff" if i % 2 else "#000000" for i in range(MAX_CATEGORIES)
}
PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "--fig-fg": "#1a1a1a",
        "--fig-muted": "#595959",
        "--fig-bg": "#ffffff",
        "--fig-hatch": "#767676",
        **_SHARED,
    },
    "dark": {
        "--fig-fg": "#e8e9ed",
        "--fig-muted": "#b4b8c5",
        "--fig-bg": "#1e2129",
        "--fig-hatch": "#8b90a0",
        **_SHARED,
    },
}

# What is drawn with, and the variable that takes its place. A lesson's own drawing needs only matplotlib's names.
FG, BG, MUTED, HATCH = "#000000", "#ffffff", "#808080", "#c0c0c0"  # black, white, gray, silver
CAT = [f"#ca70{i:02x}" for i in range(MAX_CATEGORIES)]  # C0 to C11
CAT_TEXT = [f"#7e47{i:02x}" for i in range(MAX_CATEGORIES)]
_VARIABLES = {FG: "--fig-fg", BG: "--fig-bg", MUTED: "--fig-muted", HATCH: "--fig-hatch"}
_VARIABLES |= {colour: f"--fig-cat-{i}" for i, colour in enumerate(CAT)}
_VARIABLES |= {colour: f"--fig-cat-text-{i}" for i, colour in enumerate(CAT_TEXT)}

# Verdana has the widths of DejaVu Sans, which the layout is computed with; the system fonts after it are narrower.
_FONTS = "'DejaVu Sans', Verdana, system-ui, sans-serif"
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", _XLINK)


class FigureError(ValueError):
    """Data or a drawing no figure can be made of: what is wrong and what to do instead, on one line."""

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__(f"{problem}; {next_step}")
        self.problem = problem
        self.next_step = next_step


def css() -> str:
    """The style rules that give every figure variable its value under the site's two palettes."""
    rules = (("default", PALETTES["light"]), ("slate", PALETTES["dark"]))
    return "".join(
        f'[data-md-color-scheme="{scheme}"] {{\n'
        + "".join(f"  {variable}: {value};\n" for variable, value in palette.items())
        + "}\n"
        for scheme, palette in rules
    )


def draw(kind: str, data: object, *, name: str, title: str, description: str) -> str:
    """Draw recorded data as one of `KINDS`; `name` prefixes every id. The same arguments give the same bytes.

    Raises FigureError for a kind that does not exist and for data the kind cannot draw.
    """
    if kind not in KINDS:
        raise FigureError(f"there is no figure kind {kind!r}", f"use one of: {', '.join(KINDS)}")
    return _render(lambda: KINDS[kind](data), name, title, description)


def draw_with(function: Callable[[Any, Axes], object], data: object, *, name: str, title: str, description: str) -> str:
    """Let `function(data, axes)` draw on matplotlib axes 340 by 240 units large, then finish the SVG as `draw` does.

    Its colours are black, white, gray, silver (hatching) and C0 to C11, which become the site's. Raises FigureError for
    another colour, a raster image, or text smaller than 10 units; what the function raises passes through.
    """

    def make() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH / 72, 240 / 72), layout="constrained")
        function(data, figure.add_subplot())
        return figure

    return _render(make, name, title, description)


def finished(make: Callable[[], Figure], *, name: str, title: str, description: str) -> str:
    """The SVG of a figure that `make` draws on a sheet of its own, with this module's colours and text."""
    return _render(make, name, title, description)


# ---------------------------------------------------------------------------------------------------------------- kinds


def _tiles(data: object) -> Figure:
    """Padded storage cut into one tile per program: who owns what, and which cells are padding.

    `data` holds `logical`, `padded`, `block` and `grid`: pairs (rows, columns).
    """
    pairs = _read_tiles(data)
    (rows, columns), (all_rows, all_columns) = pairs["logical"], pairs["padded"]
    (block_rows, block_columns), (grid_rows, grid_columns) = pairs["block"], pairs["grid"]
    left, top, line, room = 12 + _text_width(str(all_rows - 1)), 32, 12, 54
    tile_width = (WIDTH - left - 8) / grid_columns

    rows_of = [_span(i * block_rows, min((i + 1) * block_rows, rows)) for i in range(grid_rows)]
    columns_of = [_span(j * block_columns, min((j + 1) * block_columns, columns)) for j in range(grid_columns)]
    tiles = [(i, j) for i in range(grid_rows) for j in range(grid_columns)]
    for form in (_long, _short):
        labels = [form(program, (i, j), rows_of[i], columns_of[j]) for program, (i, j) in enumerate(tiles)]
        widths = [max(_text_width(text, bold=k == 0) for k, text in enumerate(label)) + 6 for label in labels]
        if max(widths) <= tile_width - 2:
            break
    else:
        raise FigureError(
            f"the labels of {grid_columns} tiles do not fit side by side", "keep a grid with fewer columns"
        )
    note = "In a tile: program, grid (i, j), rows r, columns c" if form is _short else ""
    # The last row of tiles is made high enough for a label beside the padding, where that does not make a tower of it.
    last_rows = rows - (grid_rows - 1) * block_rows
    tile_height = min(max(60, room * block_rows / last_rows), max(60, 330 / grid_rows))
    cell_width, cell_height = tile_width / block_columns, tile_height / block_rows
    width, height = all_columns * cell_width, all_rows * cell_height

    legend = [
        ("matrix", f"logical matrix ({rows}, {columns})"),
        ("tile", f"block ({block_rows}, {block_columns}), one per program"),
    ]
    if (rows, columns) != (all_rows, all_columns):
        legend.append(("padding", f"padding to ({all_rows}, {all_columns})"))
    places, legend_height = _flow([_text_width(text) + 26 for _, text in legend], left, 18)
    below = top + height + 14
    figure, axes = _sheet(below + legend_height + (line if note else 0))

    def padding(x: float, y: float, w: float, h: float) -> None:
        if w > 0 and h > 0:
            _box(axes, x, y, w, h, facecolor=BG, edgecolor=HATCH, linewidth=0, hatch="/////")

    inner_width, inner_height = columns * cell_width, rows * cell_height
    padding(left + inner_width, top, width - inner_width, height)
    padding(left, top + inner_height, inner_width, height - inner_height)
    if min(cell_width, cell_height) >= 8:
        _rules(axes, _lattice(left, top, cell_width, cell_height, all_rows, all_columns), MUTED, 0.4)
    _rules(axes, _lattice(left, top, tile_width, tile_height, grid_rows, grid_columns), FG, 1)
    _box(axes, left, top, inner_width, inner_height, facecolor="none", edgecolor=FG, linewidth=2.6)

    for (i, j), label, label_width in zip(tiles, labels, widths, strict=True):
        x = left + j * tile_width + _middle(inner_width - j * tile_width, tile_width, label_width)
        y = top + i * tile_height + _middle(inner_height - i * tile_height, tile_height, room)
        _box(axes, x - label_width / 2, y - 24, label_width, 48, facecolor=BG, linewidth=0)
        for k, text in enumerate(label):
            _text(axes, x, y - 15 + k * line, text, bold=k == 0)

    _axis_names(axes, "row", "column")
    _ticks(axes, left, top, [str(c) for c in range(all_columns)], cell_width, block_columns)
    _ticks(axes, left, top, [str(r) for r in range(all_rows)], cell_height, block_rows, down=True)
    for (mark, text), (x, y) in zip(legend, places, strict=True):
        y += below
        if mark == "padding":
            padding(x, y, 18, 12)
            _box(axes, x, y, 18, 12, facecolor="none", edgecolor=MUTED, linewidth=0.4)
        else:
            _box(axes, x, y, 18, 12, facecolor="none", edgecolor=FG, linewidth=2.6 if mark == "matrix" else 1)
        _text(axes, x + 23, y + 9.5, text, ha="left")
    _text(axes, left, below + legend_height + 8, note, ha="left", color=MUTED)
    return figure


def _long(program: int, tile: tuple[int, int], rows: str, columns: str) -> list[str]:
    return [f"program {program}", f"grid {tile}", _plural("row", rows), _plural("column", columns)]


def _short(program: int, tile: tuple[int, int], rows: str, columns: str) -> list[str]:
    return [str(program), str(tile), f"r {rows}", f"c {columns}"]


def _plural(word: str, span: str) -> str:
    return f"{word}s {span}" if "–" in span else f"{word} {span}"


def _categories(data: object) -> Figure:
    """A matrix of labels: each value its own colour, each connected region outlined and named, no order implied.

    `data` holds `kind` ("heatmap"), `values` (rows of whole numbers), `unit` (what a value is), `rows` and `columns`
    (their names), `xlabel` and `ylabel`.
    """
    values, unit, rows, columns, xlabel, ylabel = _read_categories(data)
    place = {value: slot for slot, value in enumerate(sorted({v for row in values for v in row}))}
    left, top = 12 + max(map(_text_width, rows)), 32
    cell_width = min(44, (WIDTH - left - 8) / len(columns))
    cell_height = max(12, min(30, cell_width * 1.1, 360 / len(rows)))
    height = len(rows) * cell_height

    swatch = max(22, max(_text_width(str(value)) for value in place) + 8)
    places, legend_height = _flow([swatch] * len(place), left, 20, gap=4)
    figure, axes = _sheet(top + height + 34 + legend_height)

    for value, slot in place.items():
        runs = [
            (left + run[0] * cell_width, top + r * cell_height, len(run) * cell_width, cell_height)
            for r, row in enumerate(values)
            for run in _runs(row, value)
        ]
        _area(axes, runs, CAT[slot])
    _rules(axes, list(_lattice(left, top, cell_width, cell_height, len(rows), len(columns))), BG, 0.5)
    _rules(axes, list(_borders(values, left, top, cell_width, cell_height)), FG, 1.8)
    for region in _regions(values):
        value = values[region[0][0]][region[0][1]]
        r0, r1, c0, c1 = _inside(region)
        free, text = (c1 - c0) * cell_width, _text_width(str(value), bold=True)
        if text + 2 > free:
            raise FigureError(
                f"the label {value} does not fit into its region, {c1 - c0} of {len(columns)} columns wide",
                "keep a smaller example, with fewer columns or wider regions",
            )
        size = 14 if text * 1.4 + 4 < free and (r1 - r0) * cell_height > 20 else TEXT
        x, y = left + (c0 + c1) / 2 * cell_width, top + (r0 + r1) / 2 * cell_height
        ground = min(text * size / TEXT + 4, free - 2)  # the lines of the cells stop short of the digits
        _box(axes, x - ground / 2, y - 0.5 * size, ground, size, facecolor=CAT[place[value]], linewidth=0)
        _text(axes, x, y + 0.36 * size, str(value), color=CAT_TEXT[place[value]], bold=True, size=size)

    _axis_names(axes, ylabel, xlabel)
    _ticks(axes, left, top, columns, cell_width)
    _ticks(axes, left, top, rows, cell_height, down=True)
    _text(axes, left, top + height + 24, unit, ha="left")
    for (value, slot), (x, y) in zip(place.items(), places, strict=True):
        y += top + height + 32
        _box(axes, x, y, swatch, 15, facecolor=CAT[slot], edgecolor=FG, linewidth=1)
        _text(axes, x + swatch / 2, y + 11.2, str(value), color=CAT_TEXT[slot])
    return figure


KINDS: dict[str, Callable[[object], Figure]] = {"tiles": _tiles, "categories": _categories}


# ----------------------------------------------------------------------------------------------------------------- data


def _read_tiles(data: object) -> dict[str, tuple[int, int]]:
    keep = "keep a dict of four pairs (rows, columns): logical, padded, block and grid"
    fields = _fields(data, ("logical", "padded", "block", "grid"), keep)
    pairs = {}
    for key, value in fields.items():
        if not isinstance(value, list | tuple) or len(value) != 2 or not all(_whole(n) and n > 0 for n in value):
            raise FigureError(f"{key} is {value!r}, not two positive whole numbers", keep)
        pairs[key] = (value[0], value[1])
    for axis, word in enumerate(("rows", "columns")):
        logical, padded, block, grid = (pairs[key][axis] for key in ("logical", "padded", "block", "grid"))
        if padded != block * grid:
            raise FigureError(
                f"{grid} blocks of {block} {word} are {block * grid}, but {padded} {word} are padded",
                "keep the padded shape that block and grid make",
            )
        if not padded - block < logical <= padded:
            raise FigureError(
                f"{logical} logical {word} need {-(-logical // block)} blocks of {block}, but the grid has {grid}",
                "keep the grid that just covers the logical shape",
            )
        if grid > MAX_TILES:
            raise FigureError(
                f"a grid of {grid} {word} is too fine to read", f"keep a grid of at most {MAX_TILES} by {MAX_TILES}"
            )
    return pairs


def _read_categories(data: object) -> tuple[list[list[int]], str, list[str], list[str], str, str]:
    keep = "keep a dict of kind 'heatmap', values, unit, rows, columns, xlabel and ylabel"
    fields = _fields(data, ("kind", "values", "unit", "rows", "columns", "xlabel", "ylabel"), keep)
    if fields["kind"] != "heatmap":
        raise FigureError(f"kind is {fields['kind']!r}", "keep 'heatmap' there")
    values = fields["values"]
    matrix = "keep values as a list of rows, each a list of as many whole numbers"
    if not isinstance(values, list) or not values or not all(isinstance(row, list) and row for row in values):
        raise FigureError("values is not a list of rows, or one of them is empty", matrix)
    for number, row in enumerate(values):
        if len(row) != len(values[0]):
            raise FigureError(f"row {number} of values holds {len(row)} values, row 0 holds {len(values[0])}", matrix)
        for value in row:
            if not _whole(value):
                raise FigureError(f"row {number} of values holds {value!r}, which is no whole number", matrix)
    for key, length in (("rows", len(values)), ("columns", len(values[0]))):
        names = fields[key]
        if not isinstance(names, list) or not all(isinstance(n, str) or _whole(n) for n in names):
            raise FigureError(
                f"{key} is {names!r}, not a list of names", f"keep one string or whole number for each of the {key}"
            )
        if len(names) != length:
            raise FigureError(
                f"{key} names {len(names)} {key}, values has {length}", f"keep one name for each of the {key}"
            )
        if length > MAX_CELLS:
            raise FigureError(
                f"{length} {key} are too many to read", f"keep a smaller example, of at most {MAX_CELLS} {key}"
            )
        if long := [name for name in names if _text_width(str(name)) > 60]:
            raise FigureError(f"the name {long[0]!r} in {key} is too long", "keep names of at most nine letters there")
    texts = [fields[key] for key in ("unit", "xlabel", "ylabel")]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise FigureError(f"unit, xlabel and ylabel are {texts!r}", "keep as each of them a text for the reader")
    if _text_width(texts[0]) > WIDTH - 90 or _text_width(texts[1] + texts[2]) > WIDTH - 60:
        raise FigureError(f"unit, xlabel and ylabel are too long for their lines: {texts!r}", "keep fewer words there")
    distinct = len({value for row in values for value in row})
    if distinct > MAX_CATEGORIES:
        raise FigureError(
            f"{distinct} different values cannot be told apart by colour",
            f"keep a smaller example, with at most {MAX_CATEGORIES} of them",
        )
    rows, columns = ([str(name) for name in fields[key]] for key in ("rows", "columns"))
    return values, texts[0], rows, columns, texts[1], texts[2]


def _fields(data: object, keys: tuple[str, ...], keep: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise FigureError(f"the data are a {type(data).__name__}, not a dict", keep)
    if missing := [key for key in keys if key not in data]:
        raise FigureError(f"the data lack {', '.join(missing)}", keep)
    if unknown := [str(key) for key in data if key not in keys]:
        raise FigureError(f"the data hold {', '.join(unknown)}, which the figure has no use for", keep)
    return {key: data[key] for key in keys}


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _span(start: int, stop: int) -> str:
    return f"{start}–{stop - 1}" if stop - start > 1 else str(start)


def _middle(valid: float, tile: float, label: float) -> float:
    """Where a tile's label is centred: in the valid part if it fits, else in the padding, else over both."""
    if valid >= min(label, tile):
        return min(valid, tile) / 2
    return (valid + tile) / 2 if tile - valid >= label else tile / 2


def _runs(row: Sequence[int], value: int) -> Iterator[range]:
    """The stretches of `row` that hold `value`, as ranges of columns."""
    start = None
    for column, found in enumerate([*row, None]):
        if found == value and start is None:
            start = column
        elif found != value and start is not None:
            yield range(start, column)
            start = None


def _regions(values: list[list[int]]) -> Iterator[list[tuple[int, int]]]:
    """Cells of one value that touch along an edge, region by region, each in reading order."""
    left = {(r, c) for r in range(len(values)) for c in range(len(values[0]))}
    for cell in sorted(left):
        if cell not in left:
            continue
        left.remove(cell)
        region = [cell]
        for r, c in region:
            for near in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if near in left and values[near[0]][near[1]] == values[r][c]:
                    left.remove(near)
                    region.append(near)
        yield sorted(region)


def _inside(region: list[tuple[int, int]]) -> tuple[int, int, int, int]:
    """The rectangle of rows and columns (r0, r1, c0, c1) where a region's label goes: its own, or its longest run."""
    rows, columns = [r for r, _ in region], [c for _, c in region]
    r0, r1, c0, c1 = min(rows), max(rows) + 1, min(columns), max(columns) + 1
    if len(region) == (r1 - r0) * (c1 - c0):
        return r0, r1, c0, c1
    runs = []
    for r in range(r0, r1):
        inside = [1 if (r, c) in region else 0 for c in range(c1)]
        runs += [(r, run) for run in _runs(inside, 1)]
    middle = sum(rows) / len(rows)
    r, run = max(runs, key=lambda found: (len(found[1]), -abs(found[0] - middle)))
    return r, r + 1, run.start, run.stop


# -------------------------------------------------------------------------------------------------------------- drawing

_Segment = tuple[tuple[float, float], tuple[float, float]]


def _sheet(height: float) -> tuple[Figure, Axes]:
    """A figure whose data coordinates are its own units, from the top left corner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 72, height / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    return figure, axes


def _text_width(text: str, *, bold: bool = False) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=TEXT, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _text(axes: Axes, x: float, y: float, text: str, *, ha: str = "center", bold: bool = False, **style: Any) -> None:
    # On its baseline: any other alignment would write the metrics of this machine's font into the file.
    weight = "bold" if bold else "normal"
    axes.text(x, y, text, ha=ha, va="baseline", weight=weight, parse_math=False, **style)


def _box(axes: Axes, x: float, y: float, width: float, height: float, **style: Any) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, height, joinstyle="miter", clip_on=False, **style))


def _area(axes: Axes, boxes: list[tuple[float, float, float, float]], colour: str) -> None:
    """Boxes filled as one shape: no hairline shows where they touch."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    outlines = [Path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], closed=True) for x, y, w, h in boxes]
    axes.add_patch(PathPatch(Path.make_compound_path(*outlines), facecolor=colour, linewidth=0, clip_on=False))


def _rules(axes: Axes, segments: Sequence[_Segment], colour: str, width: float) -> None:
    """Straight lines drawn as one path."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    lines = Path.make_compound_path(*(Path(segment) for segment in segments))
    style = {"facecolor": "none", "edgecolor": colour, "linewidth": width, "capstyle": "projecting", "clip_on": False}
    axes.add_patch(PathPatch(lines, **style))


def _lattice(x: float, y: float, width: float, height: float, rows: int, columns: int) -> list[_Segment]:
    """Every line of a lattice of cells of `width` by `height`, its frame included."""
    right, bottom = x + columns * width, y + rows * height
    across: list[_Segment] = [((x, y + r * height), (right, y + r * height)) for r in range(rows + 1)]
    down: list[_Segment] = [((x + c * width, y), (x + c * width, bottom)) for c in range(columns + 1)]
    return across + down


def _borders(values: list[list[int]], x: float, y: float, width: float, height: float) -> Iterator[_Segment]:
    """The cell edges that part two different values, and the frame."""
    rows, columns = len(values), len(values[0])
    for r in range(rows + 1):
        for c in range(columns):
            if r in (0, rows) or values[r - 1][c] != values[r][c]:
                yield (x + c * width, y + r * height), (x + (c + 1) * width, y + r * height)
    for c in range(columns + 1):
        for r in range(rows):
            if c in (0, columns) or values[r][c - 1] != values[r][c]:
                yield (x + c * width, y + r * height), (x + c * width, y + (r + 1) * height)


def _flow(
    widths: Sequence[float], left: float, line: float, gap: float = 12
) -> tuple[list[tuple[float, float]], float]:
    """Where things of these widths start, set like words in lines from `left`, and the height of all lines."""
    places, x, y = [], left, 0.0
    for width in widths:
        if x > left and x + width > WIDTH - 4:
            x, y = left, y + line
        places.append((x, y))
        x += width + gap
    return places, y + line


def _axis_names(axes: Axes, down: str, across: str) -> None:
    _text(axes, 6, 11, f"{down} ↓", ha="left", color=MUTED)
    _text(axes, 6 + _text_width(f"{down} ↓") + 14, 11, f"{across} →", ha="left", color=MUTED)


def _ticks(
    axes: Axes, left: float, top: float, names: list[str], step: float, block: int | None = None, *, down: bool = False
) -> None:
    """Name every cell along one edge, or the first of each block (or every few) where all would run into each other."""
    room = TEXT + 1 if down else max(map(_text_width, names)) + 3
    every = 1 if step >= room else block or int(-(-room // step))
    for index in range(0, len(names), every):
        along = (index + 0.5) * step
        x, y, ha = (left - 6, top + along + 3.6, "right") if down else (left + along, top - 6, "center")
        _text(axes, x, y, names[index], ha=ha, color=MUTED)


# ----------------------------------------------------------------------------------------------------------- finishing


def _render(make: Callable[[], Figure], name: str, title: str, description: str) -> str:
    import matplotlib
    from matplotlib.rcsetup import cycler

    ours: dict[Any, Any] = {
        "svg.hashsalt": "course",
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": TEXT,
        "axes.titlesize": TEXT,
        "axes.prop_cycle": cycler(color=CAT),
        "grid.color": HATCH,
        "legend.edgecolor": MUTED,
        "hatch.linewidth": 0.8,
    }
    svg = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a reader's own matplotlibrc must not change a course's figures
        matplotlib.rcParams.update(ours)
        make().savefig(svg, format="svg")
    return _finish(svg.getvalue(), name, title, description)


def _finish(svg: bytes, name: str, title: str, description: str) -> str:
    """matplotlib's SVG, made fit to stand in a page: see the comments for what would break one."""
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        for child in list(parent):
            # Inlined, matplotlib's `* {...}` rule would reach every element of the page.
            if child.tag == f"{{{_SVG}}}metadata" or child.find(f"{{{_SVG}}}style") is not None:
                parent.remove(child)
    if root.find(f".//{{{_SVG}}}image") is not None:
        raise FigureError(
            "the drawing holds a raster image, which no palette reaches", "draw rectangles or use pcolormesh"
        )

    # The same ids stand in every figure of a page: those in use get this figure's name, the others go.
    used = set(re.findall(r"url\(#([^)]+)\)", svg.decode())) | {u.get(f"{{{_XLINK}}}href", "")[1:] for u in root.iter()}
    for element in root.iter():
        if (own := element.attrib.pop("id", None)) in used:
            element.set("id", f"{name}-{own}")
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        for key, value in element.attrib.items():
            if key == f"{{{_XLINK}}}href":
                element.set(key, f"#{name}-{value[1:]}")
            elif key in ("style", "fill", "stroke", "clip-path"):
                value = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", value)
                value = re.sub(r"(?<!\()#[0-9a-f]{6}\b", lambda found: _variable(found[0]), value)
                element.set(key, value.replace("; font-family: 'DejaVu Sans'", ""))

    view_box = root.get("viewBox", "")
    for size in re.findall(r"font-size: ([\d.]+)px", svg.decode()):
        if float(size) * WIDTH < TEXT * float(view_box.split()[2]):
            raise FigureError(
                f"a text {size} units high is too small to read on a phone",
                f"draw text at least {TEXT} units high, {WIDTH} wide",
            )

    root.attrib.clear()
    root.attrib |= {
        "viewBox": view_box,
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
        # What matplotlib leaves out because it is black, and what its style rule said.
        "fill": _variable(FG),
        "stroke-linejoin": "round",
        "font-family": _FONTS,
    }
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = " ".join(text.split())  # a blank line would end the figure for Markdown
        root.insert(position, element)
    _unwrap(root)
    ElementTree.indent(root, "")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _unwrap(parent: ElementTree.Element) -> None:
    """Put the children of groups that say nothing in the place of the groups."""
    for child in list(parent):
        _unwrap(child)
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            at = list(parent).index(child)
            parent[at : at + 1] = list(child)


def _variable(colour: str) -> str:
    if colour not in _VARIABLES:
        raise FigureError(
            f"the drawing uses the colour {colour}, which no palette has",
            f"use black, white, gray, silver or C0 to C{MAX_CATEGORIES - 1}",
        )
    return f"var({_VARIABLES[colour]}, {PALETTES['light'][_VARIABLES[colour]]})"
