"""`/// ladder`: recorded verdicts of the lesson's kernels on its page, read as data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pallas_course import fingerprint
from tests.engine.tiny import FRONT, LESSON, PAGE, TEXT, Book

KERNELS = "pallas_course/kernels"
RECORD = f"{KERNELS}/evidence/double.json"
VERSIONS = {"jax": "0.12.0.1", "libtpu": "0.0.50"}
REASON = "lowering: ValueError: Blocks must be divisible by 8. Block spec for args[0] in pallas_call at dou"
BOTH, CASES = ["small", "ragged"], {"small": {"vmem_bytes": 8}, "ragged": {}}


def group(rung: str, status: str, cases: Any, *, chip: str = "", block: str = "(2, 4)", reason: str = "") -> Any:
    fields = {"rung": rung, "chip": chip, "dtype": "float32", "block": block, "status": status, "reason": reason}
    return {**{name: value for name, value in fields.items() if value}, "cases": cases}


VERDICTS = [
    group("interpret", "pass", CASES),
    group("interpret", "pass", BOTH, block="(8, 128)"),
    group("lower", "pass", ["small"], chip="tpu"),
    group("lower", "fail", ["ragged"], chip="tpu", reason=REASON),
    group("lower", "pass", BOTH, chip="tpu", block="(8, 128)"),
    group("compile", "pass", ["small"], chip="v7x"),
    group("compile", "not run", ["ragged"], chip="v7x", reason="its lowering is refused"),
    group("compile", "pass", BOTH, chip="v7x", block="(8, 128)"),
    group("compile", "not run", BOTH, chip="v4", reason="libtpu is not installed"),
    group("compile", "not run", BOTH, chip="v4", block="(8, 128)", reason="libtpu is not installed"),
    {"rung": "time", "status": "not run", "reason": "no accelerator has run it", "cases": [""]},
]


def record(book: Book, **changes: Any) -> None:
    source = fingerprint.of_kernel(book.root / KERNELS, "double")
    entry = {"source": source, "versions": VERSIONS, "date": "2026-01-02", "verdicts": VERDICTS}
    entries = changes.pop("entries", [{**entry, **changes}])
    book.write(RECORD, json.dumps({"format": 1, "kernel": "double", "entries": entries}))


@pytest.fixture
def laddered(book: Book) -> Book:
    """A book whose lesson teaches a kernel that has a record."""
    book.write(f"{KERNELS}/double.py", '"""Twice."""\n\n\ndef double(x):\n    return 2 * x  # exact\n')
    book.write(f"{KERNELS}/contract.py", "CASES = 2\n")
    record(book)
    text = TEXT.replace("objectives:", "kernels: [double]\nobjectives:")
    book.write(LESSON, text.replace("Here.\n", "/// ladder\n///\n"))
    return book


def page(book: Book) -> str:
    built = book.build()
    assert (built.code, built.err) == (0, "")
    return book.read(PAGE)


def test_table_counts_cases_by_rung_chip_and_block(laddered: Book) -> None:
    shown = page(laddered)
    assert "Each block shape of `double` was tried on 2 cases" in shown
    for row in (
        "| Rung | (2, 4) | (8, 128) |",
        "| Interpreted | 2 of 2 pass | 2 of 2 pass |",
        "| Lowered for TPU | 1 of 2 pass, 1 refused | 2 of 2 pass |",
        "| Compiled for TPU v4 | not run | not run |",
        "| Compiled for TPU7x | 1 of 2 pass, 1 not run | 2 of 2 pass |",
        "| Timed on a chip | not run | not run |",
    ):
        assert f"{row}\n" in shown


def test_each_reason_stands_once_and_ends_where_its_sentence_ends(laddered: Book) -> None:
    shown = page(laddered)
    assert "- Lowered for TPU, blocks (2, 4): refused: ValueError: Blocks must be divisible by 8.\n" in shown.replace(
        "`", ""
    )
    assert shown.count("its lowering is refused") == 1
    assert "- Compiled for TPU v4, blocks (2, 4), (8, 128): not run: libtpu is not installed\n" in shown
    assert "- Timed on a chip: not run: no accelerator has run it\n" in shown


def test_page_says_what_a_pass_proves_and_when_it_was_recorded(laddered: Book) -> None:
    shown = page(laddered)
    assert "| Compiled for a chip | the chip's own compiler accepts the program | values; time |\n" in shown
    assert "Simulated" not in shown, "a rung that is not in the record is not explained"
    assert "Recorded 2 January 2026, with JAX 0.12.0.1, libtpu 0.0.50.\n" in shown


def test_newest_jax_of_a_record_is_shown(laddered: Book) -> None:
    source = fingerprint.of_kernel(laddered.root / KERNELS, "double")
    entries = [
        {"source": source, "versions": {"jax": jax}, "date": "2026-01-02", "verdicts": VERDICTS}
        for jax in ("0.9.2", "0.12.0", "0.10.2")
    ]
    record(laddered, entries=entries)
    assert "with JAX 0.12.0.\n" in page(laddered)


def test_ladder_is_a_table_on_the_page_and_markup_in_a_reason_stays_text(laddered: Book) -> None:
    verdicts = [*VERDICTS, group("simulate", "fail", BOTH, reason="race: <b>`x`</b> | [y](z) at *q* /// end")]
    record(laddered, verdicts=verdicts)
    page(laddered)
    html = laddered.html()
    assert html.count("<table>") == 3, "the ladder, what its rungs mean, what the run was recorded with"
    assert "&lt;b&gt;`x`&lt;/b&gt; | [y](z) at *q* /// end</code>" in html
    assert "<td>0 of 2 pass, 2 failed</td>" in html


def test_ladder_in_a_reveal_stays_inside_it(laddered: Book) -> None:
    laddered.swap("/// ladder\n///\n", "/// predict\nHow far?\n\n//// reveal\n\n///// ladder\n/////\n////\n///\n")
    page(laddered)
    assert "<table>" in laddered.html().split('<details class="reveal">')[1].split("</details>")[0]


def test_comment_in_a_kernel_makes_no_record_stale(laddered: Book) -> None:
    laddered.swap("# exact", "# rounds nothing", f"{KERNELS}/double.py")
    page(laddered)


@pytest.mark.parametrize("file", ["double.py", "contract.py"])
def test_kernel_that_changed_since_its_record_stops_the_build(file: str, laddered: Book) -> None:
    laddered.write(f"{KERNELS}/{file}", "CHANGED = True\n")
    built = laddered.build()
    assert built.code == 1
    assert built.err == (
        f"{KERNELS}/double.py:1: the kernel changed since its evidence was recorded\n"
        "  next: run `pallas-course evidence double`.\n"
    )
    record(laddered)
    page(laddered)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "JSONDecodeError: Expecting property name"),
        ('{"format": 2, "entries": []}', "format 2 is newer than this engine, which reads 1\n"),
        ('{"entries": []}', "KeyError: 'format'\n"),
        ("[]", "TypeError: list indices must be integers"),
    ],
)
def test_record_that_cannot_be_read_is_told_by_its_name(text: str, says: str, laddered: Book) -> None:
    laddered.write(RECORD, text)
    built = laddered.build()
    assert built.code == 1
    assert built.err.startswith(f"{RECORD}:1: the record cannot be read: {says}")
    assert built.err.endswith("\n  next: run `pallas-course evidence double`.\n")


def test_unknown_kernel_is_told_at_its_line_with_the_recorded_ones(laddered: Book) -> None:
    laddered.swap("kernels: [double]", "kernels: [double, axpy]")
    line = 1 + FRONT.split("\n").index("objectives: [See the engine work]")
    assert laddered.build().err == (
        f"{LESSON}:{line}: no evidence is recorded for a kernel `axpy`; recorded are: double\n"
        "  next: correct the name, or run `pallas-course evidence axpy`.\n"
    )


def test_lesson_with_kernels_needs_its_ladder_and_one_without_takes_none(laddered: Book) -> None:
    laddered.swap("/// ladder\n///\n", "")
    assert laddered.build().err == (
        f"{LESSON}:1: the lesson has `kernels` but no `ladder` block\n"
        "  next: add the lines `/// ladder` and `///` where it belongs.\n"
    )
    laddered.put("/// ladder\n///")
    assert laddered.build().err == (
        f"{LESSON}:23: a `ladder` block in a lesson without `kernels`\n  next: remove it.\n"
    )


def test_page_of_verdicts_shows_each_kernel_with_each_version(laddered: Book) -> None:
    page(laddered)
    text = laddered.read("docs/generated/verdicts.md")
    assert "## double\n\n### double with JAX 0.12.0.1\n\n| Rung | (2, 4) | (8, 128) |\n" in text
    assert "Recorded 2 January 2026, with JAX 0.12.0.1, libtpu 0.0.50.\n" in text
