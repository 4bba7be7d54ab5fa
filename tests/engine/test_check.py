"""`--check`: everything runs, nothing is written, and what differs is shown where the author can mend it."""

from __future__ import annotations

import json
import re

import pytest

from pallas_course.engine import render
from tests.engine.faults.figures import figure
from tests.engine.tiny import LESSON, PAGE, RECORD, TEXT, Book, cell, new_book, swap

SVG = "figures/tiny-01.svg"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a built book with a figure, made once."""
    book = new_book(tmp_path_factory.mktemp("drawn"))
    book.put(figure() + "\n" + cell('print("before")\nprint("after 0.5")').replace("#cell", "#say"))
    built = book.build()
    assert (built.code, built.err) == (0, "")
    return {file: data for file, (data, _) in book.tree().items()}


@pytest.fixture
def with_figure(drawn: dict[str, bytes], book: Book) -> Book:
    for file, data in drawn.items():
        book.write(file, data)
    return book


def test_check_of_a_fresh_book_executes_all_and_writes_nothing(with_figure: Book) -> None:
    before = with_figure.tree()
    built = with_figure.build("--check")
    assert (built.code, built.err, built.executed) == (0, "", ["tiny-01"])
    assert built.out.endswith("1 lesson run again: all as recorded\n")
    assert with_figure.tree() == before


def test_absent_page_is_no_drift(with_figure: Book) -> None:
    (with_figure.root / PAGE).unlink()
    (with_figure.root / "docs/lessons/tiny-01/main.py").unlink()
    before = with_figure.tree()
    assert with_figure.build("--check").code == 0
    assert with_figure.tree() == before


def turn_cells_around(book: Book) -> None:
    record = json.loads(book.read(RECORD))
    record["cells"] = dict(reversed(record["cells"].items()))
    book.write(RECORD, json.dumps(record))


DRIFTS = {
    "output": (
        swap('"after 0.5"', '"after 0.75"', RECORD),
        "{lesson}:35: `say` does not say what is recorded\n    --- recorded say\n    +++ now say",
        "    -after 0.75\n    +after 0.5",
    ),
    "kept value": (
        swap('"four": 4', '"four": 5', RECORD),
        "{lesson}:18: `use` does not say what is recorded",
        "    -four = 5\n    +four = 4",
    ),
    "output of main.py": (
        lambda book: book.write(RECORD, re.sub(r'("main": \[\s*)"four: 4"', r'\1"four: 5"', book.read(RECORD))),
        "{lesson}:1: `main.py` does not say what is recorded",
        "    -four: 5\n    +four: 4",
    ),
    "stamp": (
        lambda book: book.write(RECORD, re.sub(r'("use": \{\s*"stamp": ")....', r"\g<1>0000", book.read(RECORD))),
        "{lesson}:18: `use` or something it imports changed since it was recorded",
        "",
    ),
    "form of the record": (
        lambda book: book.write(RECORD, book.read(RECORD) + "\n"),
        "{lesson}:1: lessons_src/tiny-01/outputs.json is not what the record gives",
        "    -\n",
    ),
    "cells of the record": (
        lambda book: book.write(RECORD, re.sub(r'    "use": \{.*?\n    \},\n', "", book.read(RECORD), flags=re.DOTALL)),
        "{lesson}:18: `use` does not say what is recorded",
        "    +four: 4",
    ),
    "order of the record": (
        turn_cells_around,
        "{lesson}:1: the record's cells stand in another order",
        "",
    ),
    "no record": (lambda book: (book.root / RECORD).unlink(), "{lesson}:1: the lesson has no record", ""),
    "figure": (
        swap("Four tiles", "Five tiles", SVG),
        "{lesson}:27: figures/tiny-01.svg is not what the record gives",
        '    +<title id="tiny-01-title">Four tiles</title>',
    ),
    "no figure": (lambda book: (book.root / SVG).unlink(), "{lesson}:27: figures/tiny-01.svg is missing", ""),
    "page": (
        swap("Doubling:", "Tripling:", PAGE),
        "{lesson}:1: docs/lessons/tiny-01.md is not what the record gives",
        "    -Tripling:\n    +Doubling:",
    ),
    "main.py": (
        swap("PASS", "FAIL", "docs/lessons/tiny-01/main.py"),
        "{lesson}:1: docs/lessons/tiny-01/main.py is not what the record gives",
        '    -print("FAIL: tiny-01")\n    +print("PASS: tiny-01")',
    ),
    "cell": (
        swap('print("before")', 'print("earlier")'),
        "{lesson}:35: `say` does not say what is recorded",
        "    -before\n    +earlier",
    ),
    "cell with the same output": (
        swap('print("before")', 'print("be" + "fore")'),
        "{lesson}:35: `say` or something it imports changed since it was recorded",
        "",
    ),
}


@pytest.mark.parametrize(("edit", "first", "diff"), DRIFTS.values(), ids=DRIFTS)
def test_drift_is_shown_and_the_named_command_mends_it(edit, first: str, diff: str, with_figure: Book) -> None:
    edit(with_figure)
    before = with_figure.tree()

    built = with_figure.build("--check")

    assert built.code == 1
    assert built.err.startswith(first.format(lesson=LESSON))
    assert diff in built.err
    command = "python build_figures.py --force tiny-01"
    assert built.err.endswith(f"  next: look at the difference; to accept it run `{command}`\n")
    assert with_figure.tree() == before

    assert with_figure.build(*command.split()[2:]).code == 0
    assert with_figure.build("--check").code == 0


def test_difference_that_goes_on_is_cut(book: Book) -> None:
    book.put(cell("for n in range(100):\n    print(n, 'x' * 300)"))
    book.build()
    book.write(RECORD, re.sub(r"(\d) x", r"\1 y", book.read(RECORD)))
    built = book.build("--check")
    assert "    ... 163 more lines\n" in built.err
    assert max(map(len, built.err.splitlines())) < 220


def test_check_of_a_broken_lesson_shows_its_error(book: Book) -> None:
    book.put(cell("1 / 0"))
    before = book.tree()
    built = book.build("--check")
    assert built.code == 1
    assert built.err.startswith(f"{LESSON}:24: cell `cell` raised ZeroDivisionError")
    assert book.tree() == before


@pytest.fixture
def three(book: Book) -> Book:
    for name in ("tiny-02", "tiny-03"):
        book.write(LESSON.replace("tiny-01", name), TEXT.replace("tiny-01", name))
    assert book.build().code == 0
    return book


def test_ids_narrow_every_mode(three: Book) -> None:
    assert three.build("--check", "tiny-03", "tiny-01").executed == ["tiny-03", "tiny-01"]
    assert three.build("--force", "tiny-02").executed == ["tiny-02"]
    for name in ("tiny-01", "tiny-02"):
        three.swap('"four:"', '"now:"', LESSON.replace("tiny-01", name))
    built = three.build("tiny-02")
    assert (built.code, built.executed) == (0, ["tiny-02"])
    assert three.build().executed == ["tiny-01"]


def test_command_names_the_lessons_that_differ(three: Book) -> None:
    three.swap("four: 4", "four: 5", RECORD.replace("tiny-01", "tiny-02"))
    three.swap("Doubling", "Tripling", PAGE.replace("tiny-01", "tiny-03"))
    built = three.build("--check")
    assert built.code == 1
    assert "run `python build_figures.py --force tiny-02 tiny-03`\n" in built.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--check", "tiny-1"], "build_figures.py: there is no lesson `tiny-1`\n  next: write `tiny-01`\n"),
        (["grids"], "build_figures.py: there is no lesson `grids`\n  next: use one of: tiny-01\n"),
    ],
)
def test_unknown_lesson_is_wrong_use(arguments: list[str], says: str, book: Book) -> None:
    before = book.tree()
    built = book.build(*arguments)
    assert (built.code, built.err) == (2, says)
    assert book.tree() == before


@pytest.mark.parametrize("arguments", [["--chek"], ["--check", "--force"]])
def test_unknown_or_contrary_options_are_wrong_use(arguments: list[str], book: Book) -> None:
    built = book.build(*arguments)
    assert built.code == 2
    assert "error:" in built.err


@pytest.mark.parametrize("mode", [[], ["--check"], ["--force"]])
def test_our_own_fault_shows_its_traceback(mode: list[str], book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(render, "render", broken)
    before = book.tree()
    built = book.build(*mode)
    assert built.code == 2
    assert built.err.startswith("Traceback (most recent call last):")
    assert built.err.endswith("KeyError: 'ours'\nthis is a fault of the build itself, not of a lesson\n")
    assert book.tree() == before
