"""Figure blocks, their data, and a lesson's own drawing."""

from __future__ import annotations

from tests.engine.tiny import LESSON, Fault, both, cell, put, write

OWN = "lessons_src/tiny-01/figures.py"
DRAW = 'def draw(data, axes):\n    axes.barh(["a", "b"], data, color="C0")\n'
TILES = '{"logical": (5, 5), "padded": (6, 6), "block": (3, 3), "grid": (2, 2)}'
OPTIONS = {
    "id": "tiny-01",
    "kind": "tiles",
    "data": "geometry",
    "title": "Four tiles",
    "description": "Two by two tiles of three by three.",
}


def figure(caption: str = "| Tiles", *, data: str = TILES, keep: str = 'keep="geometry"', **changed: str) -> str:
    """A cell (line 23) and the figure made of its data (line 27; its options follow in order)."""
    options = "".join(f"    {key}: {value}\n" for key, value in {**OPTIONS, **changed}.items() if value)
    return cell(f"geometry = {data}", keep) + f"\n/// figure {caption}\n{options}///\n"


def own(name: str, drawing: str | bytes, says: str, next_step: str) -> Fault:
    """A fault in a lesson's own drawing."""
    return Fault(
        name,
        both(put(figure(kind="own", data="[1, 2]")), write(OWN, drawing)),
        f"{OWN}:{says}",
        next_step,
        write(OWN, DRAW),
    )


FAULTS = [
    Fault(
        "figure of an unknown kind",
        figure(kind="tile"),
        "27: unknown kind of figure `tile`",
        "write `tiles`.",
        figure(kind="tiles"),
    ),
    Fault(
        "figure's id does not begin with the lesson's",
        figure(id="four-tiles"),
        "28: the figure's id `four-tiles` does not begin with the lesson's",
        "write `id: tiny-01` or `id: tiny-01-<word>`.",
        figure(id="tiny-01-tiles"),
    ),
    Fault(
        "figure's id is taken",
        figure() + figure().split("\n\n")[1],
        f"34: the id `tiny-01` is taken by {LESSON}:27",
        "rename one of the two.",
        figure() + figure(id="tiny-01-again").split("\n\n")[1],
    ),
    Fault(
        "figure's data are not kept",
        figure(keep=""),
        "27: no cell keeps `geometry`",
        'use one of: four, or add keep="geometry" to the cell that makes it.',
        figure(),
    ),
    Fault(
        "figure's data have another name",
        figure(data=TILES).replace("data: geometry", "data: geometri"),
        "27: no cell keeps `geometri`",
        'write `geometry`, or add keep="geometri" to the cell that makes it.',
        figure(),
    ),
    Fault(
        "figure's data have the wrong shape",
        figure(data="[1, 2]"),
        "27: cannot draw `geometry`: the data are a list, not a dict",
        "keep a dict of four pairs (rows, columns): logical, padded, block and grid.",
        figure(),
    ),
    Fault(
        "figure without a caption",
        figure(""),
        "27: the figure has no caption",
        "write `/// figure | The caption`.",
        figure("| The caption"),
    ),
    Fault(
        "figure without a description",
        figure(description=""),
        "27: the `figure` block has no `description`",
        "add `description: ...`.",
        figure(),
    ),
    Fault(
        "figure's title is empty",
        figure(title='""'),
        "31: `title` in the `figure` block is not a text: ''",
        "write a text.",
        figure(),
    ),
    Fault(
        "text in a figure",
        figure()[: -len("///\n")] + "\nSee the tiles.\n///\n",
        "34: a `figure` block holds nothing but its options",
        "indent an option by four spaces; move other text out of the block.",
        figure() + "\nSee the tiles.\n",
    ),
    Fault(
        "own drawing is missing",
        figure(kind="own", data="[1, 2]"),
        f"27: there is no {OWN}",
        "write it with a function draw(data, axes), or use another kind.",
        write(OWN, DRAW),
    ),
    own("own drawing has no function", "x = 1\n", "1: it defines no function draw(data, axes)", "add the function."),
    own(
        "own drawing raises",
        "def draw(data, axes):\n    1 / 0\n",
        "2: drawing `tiny-01` raised ZeroDivisionError: division by zero",
        "mend the function at that line.",
    ),
    own(
        "own drawing cannot be read",
        "def draw(data, axes):\n    if data\n",
        "2: drawing `tiny-01` raised SyntaxError: expected ':'",
        "mend the function at that line.",
    ),
    own(
        "own drawing is not UTF-8",
        b"# caf\xe9\n",
        "1: byte 0xe9 is not UTF-8",
        "save the file as UTF-8.",
    ),
    Fault(
        "own drawing has a colour that no palette has",
        both(put(figure(kind="own", data="[1, 2]")), write(OWN, DRAW.replace("C0", "#123456"))),
        "27: cannot draw `geometry`: the drawing uses the colour #123456, which no palette has",
        "use black, white, gray, silver or C0 to C11.",
        write(OWN, DRAW),
    ),
]
