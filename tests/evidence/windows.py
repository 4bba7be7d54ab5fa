"""Outputs as reports hold them, cut into blocks in every way that the figures must be able to show."""

import itertools
from collections.abc import Callable
from typing import Any

Window = dict[str, Any]


def window(shape: list[int], block: list[int], grid: list[int], index: Callable[..., tuple[int, ...]]) -> Window:
    points = itertools.product(*map(range, grid))
    begins = [[at * size for at, size in zip(index(*point), block, strict=True)] for point in points]
    return {"name": "outputs", "role": "output", "shape": shape, "block": block, "begins": begins}


def order(grid: list[int]) -> list[list[int]]:
    return [list(point) for point in itertools.product(*map(range, grid))]


Region = tuple[tuple[int, int], ...]
# By name: a window, its grid, the grid points visited, and the first wrong elements.
EVERY: dict[str, tuple[Window, list[int], list[list[int]], Region | None]] = {}


def _add(
    name: str,
    shape: list[int],
    block: list[int],
    grid: list[int],
    index: Callable[..., tuple[int, ...]],
    region: Region | None = None,
    visited: int | None = None,
) -> None:
    EVERY[name] = (window(shape, block, grid, index), grid, order(grid)[:visited], region)


_add("floor grid", [20, 300], [8, 128], [2, 2], lambda i, j: (i, j), ((16, 20), (0, 128)))
_add("swapped axes", [36, 400], [8, 128], [5, 4], lambda i, j: (j, i), ((0, 8), (128, 256)))
_add("revisits", [16, 256], [8, 128], [4, 2, 2], lambda k, i, j: (i, j))
_add("revisits, stopped", [16, 256], [8, 128], [4, 2, 2], lambda k, i, j: (i, j), visited=5)
_add("reduction", [16, 256], [8, 128], [2, 2, 4], lambda i, j, k: (i, j))
_add("one-dimensional", [1000], [128], [8], lambda i: (i,), ((900, 1000),))
_add("leading axis", [4, 24, 256], [1, 8, 128], [4, 3, 2], lambda b, i, j: (b, i, j), ((2, 3), (8, 16), (130, 131)))
_add("four axes", [1, 2, 256, 128], [1, 1, 128, 128], [1, 2, 2, 2], lambda b, h, i, j: (b, h, i, 0))
_add("one block", [16, 128], [16, 128], [], lambda: (0, 0))
_add("one program", [16, 128], [16, 128], [1, 1], lambda i, j: (i, j), ((3, 4), (5, 6)))
_add("400 blocks", [160, 2560], [8, 128], [20, 20], lambda i, j: (i, j), ((80, 88), (1280, 1408)))
_add("wide", [8, 4096], [8, 512], [8], lambda i: (0, i), ((0, 1), (600, 601)))
_add("one row", [1, 100_000], [1, 1024], [98], lambda i: (0, i))
_add("tall", [4096, 8], [512, 8], [8], lambda i: (i, 0), ((600, 601), (0, 8)))
_add("long numbers", [1_000_000, 1_000_000], [250_000, 500_000], [4, 2], lambda i, j: (i, j))
_add("a single value", [], [], [4], lambda i: (), ())
_add("outside", [8, 512], [8, 128], [4], lambda i: (0, i * 128), ((0, 8), (128, 256)))
_add("no program", [8, 128], [16, 128], [0], lambda i: (i, 0), ((0, 8), (0, 128)))
_add("64 programs", [8, 128], [8, 128], [64], lambda i: (0, 0))
_add("transposed", [300, 100], [128, 32], [3, 4], lambda i, j: (i, j))
EVERY["unknown blocks"] = (
    {"name": "outputs", "role": "output", "shape": [64, 256], "block": [8, 128]},
    [1000],
    [],
    ((8, 16), (0, 128)),
)
