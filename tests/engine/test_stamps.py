"""What runs again after which edit, and what of it changes the record."""

from __future__ import annotations

import json
import subprocess

import pytest

from pallas_course.engine import figures
from pallas_course.engine.execute import Output
from pallas_course.engine.lesson import Project
from pallas_course.engine.record import Record, differing, same_text
from pallas_course.engine.source import imported_files
from tests.engine.faults.figures import OWN, figure
from tests.engine.tiny import LESSON, PAGE, RECORD, Book, both, cell, swap

USES = cell("import tiny.user\n\nprint(tiny.user.N)")


@pytest.fixture
def importing(book: Book) -> Book:
    """A fresh book whose cell imports `tiny.user`, which imports `.near.deep`, which imports `tiny.base`."""
    book.write("tiny/user.py", "def f():\n    from .near import deep\n    return deep.M\n\n\nN = f()\n")
    book.write("tiny/near/__init__.py", "")
    book.write("tiny/near/deep.py", "from ..base import TWO as M\n")
    book.put(USES)
    assert book.build().code == 0
    return book


def test_second_build_executes_nothing_and_changes_no_byte(importing: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    before = importing.tree()
    monkeypatch.delattr(subprocess, "Popen")
    built = importing.build()
    assert (built.code, built.executed, built.out) == (0, [], "1 lesson: nothing to do\n")
    assert importing.tree() == before


@pytest.mark.parametrize(
    "edit",
    [
        swap("Doubling:", "Twice as much:"),
        swap('title="Twice"', 'title="Two times"'),
        swap("minutes: 5", "minutes: 6"),
        swap(".run #cell", '.run #cell timeout="9"'),
        both(swap("## The problem", "## The question"), swap("Doubling:", "Doubling:\n\n\n\nMore.")),
    ],
    ids=["words", "a cell's title", "front matter", "a time limit", "lines above the cells"],
)
def test_edit_of_prose_executes_nothing_and_changes_only_the_page(edit, importing: Book) -> None:
    before = importing.tree()
    edit(importing)
    built = importing.build()
    assert (built.code, built.executed) == (0, [])
    changed = {file for file, state in importing.tree().items() if before[file] != state}
    assert changed - {PAGE} == {LESSON}


@pytest.mark.parametrize(
    ("edit", "cell_id"),
    [
        (swap("print(tiny.user.N)", "print(tiny.user.N + 1)"), "cell"),
        (swap("print(tiny.user.N)", "print(tiny.user.N)  # more"), "cell"),
        (swap(' keep="four"', ""), "use"),
        (swap("return 2 * x", "return x + x", "tiny/kern.py"), "double"),
        (swap("N = f()", "N = f() + 1", "tiny/user.py"), "cell"),
        (swap("as M", "as M, TWO as K", "tiny/near/deep.py"), "cell"),
        (swap("TWO = 2", "TWO = 3", "tiny/base.py"), "cell"),
        (lambda book: book.write("tiny/__init__.py", "x = 1\n"), "cell"),
        (lambda book: book.write("tiny/near/__init__.py", "x = 1\n"), "cell"),
    ],
    ids=[
        "code",
        "a comment in code",
        "what is kept",
        "source that of= shows",
        "an imported module",
        "a module imported by `from .near import deep` in a function",
        "a module three imports away",
        "the package of an imported module",
        "a package on the way",
    ],
)
def test_edit_of_code_or_of_what_it_imports_runs_the_lesson_again(edit, cell_id: str, importing: Book) -> None:
    edit(importing)
    built = importing.build()
    assert built.executed == ["tiny-01"]
    assert f"cell `{cell_id}`, or something it imports, changed" in built.out


def test_fresh_figure_is_not_drawn_again(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.put(figure() + "\n" + figure(id="tiny-01-own", kind="own").split("\n\n")[1])
    book.write(OWN, "def draw(data, axes):\n    axes.plot([1, 2])\n")
    assert book.build().code == 0
    before = book.tree()
    with monkeypatch.context() as patch:
        patch.delattr(figures, "draw")
        patch.delattr(figures, "draw_with")
        assert book.build().code == 0
    assert book.tree() == before
    book.swap("[1, 2]", "[2, 1]", OWN)
    built = book.build()
    assert (built.executed, "wrote figures/tiny-01-own.svg" in built.out) == ([], True)
    book.swap("Four tiles", "Five tiles", "figures/tiny-01.svg")
    assert "wrote figures/tiny-01.svg\n" in book.build().out


def test_code_that_cannot_be_read_imports_nothing(book: Book) -> None:
    project = Project(book.root)
    assert imported_files(project, "import tiny.kern\n1 +") == set()
    assert imported_files(project, f"import tiny.kern\n{'-' * 200_000}1") == set()
    assert len(imported_files(project, "import tiny.kern")) == 3


def test_edit_of_a_module_that_nothing_imports_executes_nothing(importing: Book) -> None:
    importing.swap("THREE = 3", "THREE = 4", "tiny/other.py")
    importing.swap("LIMIT = 10", "LIMIT = 11", "tiny/kern.py")
    assert importing.build().executed == []


def test_edit_within_the_same_second_is_seen(book: Book) -> None:
    book.put(cell("import tiny.other\n\nprint(tiny.other.THREE)"))
    for number in (4, 5, 6):
        book.write("tiny/other.py", f"THREE = {number}\n")
        assert book.build().executed == ["tiny-01"]
        assert f'"{number}"' in book.read(RECORD)


@pytest.mark.parametrize(
    "edit",
    [
        lambda book: book.put("```python {.run #more}\n```\n\n" + cell("1")),
        lambda book: book.swap("#use", "#using"),
        lambda book: (book.root / RECORD).unlink(),
    ],
    ids=["a new cell", "a renamed cell", "no record"],
)
def test_other_cells_run_the_lesson_again(edit, book: Book) -> None:
    edit(book)
    assert book.build().executed == ["tiny-01"]
    assert book.build().executed == []


def test_forced_run_with_the_same_result_changes_no_byte(importing: Book) -> None:
    importing.swap('"time": "2', '"time": "1', RECORD)
    importing.build()
    before = importing.tree()
    built = importing.build("--force")
    assert (built.code, built.executed) == (0, ["tiny-01"])
    assert importing.tree() == before


def test_run_with_another_result_records_it_with_its_time(book: Book) -> None:
    book.swap('"time": "2', '"time": "1', RECORD)
    assert book.build().code == 0
    book.swap('print("four:", four)', 'print("four is", four)')
    assert book.build().executed == ["tiny-01"]
    assert '"time": "2' in book.read(RECORD)
    assert "four is 4" in book.read(PAGE)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("value = 1.0", "value = 1.0000001", True),
        ("value = 1.0", "value = 1.00001", False),
        ("value = 1.0", "value = 1", False),
        ("value = 1.0", "value = 1.0 and done", False),
        ("value = 1000000.0", "value = 1000000.5", True),
        ("value = 1e-3", "value = 1.0000000001e-3", True),
        ("value = 7", "value = 8", False),
        ("[0.1 0.25]", "[0.1 0.2500000001]", True),
        ("[0.1 0.25]", "[0.1  0.25]", False),
        ("v1.0.0", "v1.0.1", False),
        ("nan", "1.0", False),
    ],
)
def test_floats_are_compared_with_a_tolerance_and_the_rest_exactly(old: str, new: str, same: bool) -> None:
    assert same_text(["before", old], ["before", new]) is same


@pytest.mark.parametrize(("new", "same"), [("value = 0.50000001", True), ("value = 0.501", False)])
def test_noise_in_an_output_changes_no_byte_and_more_does(new: str, same: bool, book: Book) -> None:
    book.put(cell('print("value = 0.5")'))
    book.build()
    book.swap('"value = 0.5"', f'"{new}"', RECORD)
    book.build()
    before = book.read(RECORD)
    assert (book.build("--check").code == 0) is same
    assert book.build("--force").code == 0
    assert (book.read(RECORD) == before) is same


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (0.5, 0.50000001, True),
        (0.5, 0.501, False),
        (0.5, "0.5", False),
        (1.0, 1, False),
        (1, True, False),
        (2, 3, False),
    ],
)
def test_kept_floats_are_compared_with_a_tolerance(old: object, new: object, same: bool) -> None:
    def record(value: object) -> Record:
        return Record("tiny-01", {}, (), {}, {"cell": Output((), {"value": {"a": [value]}})}, ())

    assert (differing(record(old), record(new)) == []) is same


def test_versions_in_the_record_are_shown_and_not_compared(book: Book) -> None:
    recorded = json.loads(book.read(RECORD))
    recorded["recorded"] |= {"platform": "Linux elsewhere", "device": "another", "backend": "tpu"}
    recorded["recorded"]["versions"] = {"python": "3.99.0", "jax": "0.99", "numpy": "9.9"}
    book.write(RECORD, json.dumps(recorded))
    built = book.build()
    assert (built.code, built.executed) == (0, [])
    page = book.read(PAGE)
    for row in ("| Python | 3.99.0 |", "| JAX | 0.99 |", "| Device | another (JAX backend: tpu) |"):
        assert row in page
    built = book.build("--check")
    assert (built.code, built.executed) == (0, ["tiny-01"])
