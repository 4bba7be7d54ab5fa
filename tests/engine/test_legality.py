"""The two figures of block shapes, and the reasons beside them, from a record."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pallas_course import fingerprint
from pallas_course.engine import figures, legality
from pallas_course.engine.lesson import Project
from tests.engine.test_ladder import KERNELS, record
from tests.engine.tiny import Book

RECORD, PAGE = f"{KERNELS}/evidence/legality.json", "docs/generated/verdicts.md"
BLOCKS, MEMORY = "figures/evidence-blocks.svg", "figures/evidence-vmem.svg"
TILE = "lowering: ValueError: Blocks must be multiples of 8 and 128. Block spec for x"
FULL = "vmem: E1001: Scoped allocation with size 24.00M and limit 16.00M"


def row(part: str, block: list[int], chip: str, reason: str = "", **more: Any) -> dict[str, Any]:
    status = {"status": "fail", "reason": reason} if reason else {"status": "pass"}
    return {"part": part, "dtype": "float32", "block": block, "chip": chip, **status, **more}


ROWS = [
    *(row("map", [rows, columns], "tpu", TILE) for rows, columns in ((2, 100), (2, 128), (8, 100))),
    row("map", [8, 128], "tpu"),
    row("map", [8, 128], "v5e"),
    row("map", [8, 128], "v6e", "compile: E2001: not taken"),
    *(row("vmem", [512, 2048], chip) for chip in ("tpu", "v6e")),
    row("vmem", [512, 2048], "", vmem_bytes=24 << 20),
    row("vmem", [512, 2048], "v5e", FULL),
]


def write(book: Book, **changes: Any) -> None:
    head = {"format": 1, "kernel": "double", "source": fingerprint.of_kernel(book.root / KERNELS, "double")}
    head |= {
        "versions": {"jax": "0.12.0"},
        "date": "2026-01-02",
        "shape": [208, 1024],
        "limits": {"v5e": 16, "v6e": 32},
    }
    book.write(RECORD, json.dumps({**head, "rows": ROWS, **changes}))


@pytest.fixture
def mapped(book: Book) -> Book:
    """A book with a kernel, its verdicts and a record of its block shapes."""
    book.write(f"{KERNELS}/double.py", "def double(x):\n    return 2 * x\n")
    book.write(f"{KERNELS}/contract.py", "CASES = 2\n")
    record(book)
    write(book)
    return book


def built(book: Book) -> str:
    result = book.build()
    assert (result.code, result.err) == (0, "")
    return book.read(PAGE)


def test_each_block_has_one_answer_on_each_chip(mapped: Book) -> None:
    data = legality.read(Project(mapped.root))
    answers = legality.answers(data)
    assert answers["float32", "v5e"] == {
        (2, 100): legality.LOWERING,
        (2, 128): legality.LOWERING,
        (8, 100): legality.LOWERING,
        (8, 128): legality.ACCEPTED,
    }
    assert answers["float32", "v6e"][8, 128] == legality.COMPILER


def test_figures_stand_in_the_page_and_in_files_of_their_own(mapped: Book) -> None:
    page = built(mapped)
    for file in (BLOCKS, MEMORY):
        svg = mapped.read(file)
        assert svg.strip() in page
        assert "var(--fig-fg" in svg
    assert mapped.read(BLOCKS).count(">×<") == 2, "one cell that the compiler refused, and the legend"
    assert "float32 on v5e: accepted with rows 8 and columns 128; float32 on v6e: none accepted." in page
    assert "(512, 2048) needs 24 MiB: v5e refused by the compiler, v6e accepted." in page


def test_answers_are_told_apart_by_lightness_too() -> None:
    colours = [figures.PALETTES["light"][f"--fig-cat-{place}"] for place in (legality.LIGHT, legality.DARK)]
    light, dark = (sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) / 3 for colour in colours)
    assert light - dark > 100
    assert figures.PALETTES["light"]["--fig-cat-0"] == figures.PALETTES["dark"]["--fig-cat-0"]


def test_reasons_are_told_once_with_their_chips_and_blocks(mapped: Book) -> None:
    page = re.sub("`", "", built(mapped))
    assert "- TPU, blocks (2, 100), (2, 128), (8, 100): ValueError: Blocks must be multiples of 8 and 128.\n" in page
    assert "- TPU v6e, blocks (8, 128): E2001: not taken\n" in page
    assert "- TPU v5e, blocks (512, 2048): E1001: Scoped allocation with size 24.00M and limit 16.00M\n" in page


def test_nothing_is_drawn_again_until_the_record_changes(mapped: Book) -> None:
    built(mapped)
    before = mapped.tree()
    assert mapped.build().out == "1 lesson: nothing to do\n"
    assert mapped.build("--check").code == 0
    assert mapped.tree() == before
    write(mapped, rows=[*ROWS[:5], row("map", [8, 128], "v6e"), *ROWS[6:]])
    assert f"wrote {BLOCKS}\n" in mapped.build().out
    assert ">×<" not in mapped.read(BLOCKS), "the legend names what is in the map"


def test_missing_figure_is_drift(mapped: Book) -> None:
    built(mapped)
    (mapped.root / BLOCKS).unlink()
    result = mapped.build("--check")
    assert (result.code, result.err.split("\n")[0]) == (1, f"{BLOCKS}:1: the figure is missing")


def test_kernel_that_changed_since_stops_the_build(mapped: Book) -> None:
    mapped.write(f"{KERNELS}/double.py", "CHANGED = True\n")
    record(mapped)
    assert mapped.build().err == (
        f"{KERNELS}/double.py:1: the kernel changed since its block shapes were recorded\n"
        "  next: run `pallas-course evidence legality`.\n"
    )


def test_record_without_rows_is_told(mapped: Book) -> None:
    mapped.write(RECORD, '{"format": 1, "kernel": "double", "source": ""}')
    assert mapped.build().err == (
        f"{RECORD}:1: the record cannot be read: KeyError: 'rows'\n  next: run `pallas-course evidence legality`.\n"
    )


def test_accepted_blocks_that_make_no_rectangle_are_listed_one_by_one(mapped: Book) -> None:
    rows = [*ROWS[:2], row("map", [8, 100], "tpu"), row("map", [8, 100], "v5e"), row("map", [2, 128], "tpu")]
    rows += [row("map", [2, 128], "v5e"), row("map", [8, 128], "tpu", TILE), *ROWS[6:]]
    write(mapped, rows=[*rows[:1], *rows[2:]])
    assert "float32 on v5e: accepted with (8, 100), (2, 128);" in built(mapped)
