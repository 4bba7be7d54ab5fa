"""The pages made of records alone: recorded verdicts, and what each rung catches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pallas_course import fingerprint
from tests.engine.tiny import Book, markdown

MUSEUM = "pallas_course/evidence/museum"
RECORD = f"{MUSEUM}/verdicts.json"
CATCHES = "docs/generated/catches.md"
RUNGS = ("interpret", "simulate", "lower", "compile:v5e", "compile:v6e")
ABOUT = {"symptom": "rows are lost", "cause": "20 // 8 is *two*", "mend": "use `pl.cdiv`", "args": ["f32[20,128]"]}
WORDS = {
    "floor": ("wrong", "wrong", "pass", "pass", "pass"),
    "parity": ("pass", "refused", "pass", "pass", "pass"),
    "tile": ("pass", "pass", "refused", "refused", "abort"),
    "hidden": ("pass", "pass", "pass", "pass", "pass"),
    "silent": ("pass", "not run", "pass", "pass", "pass"),
}


def write(book: Book, **changes: Any) -> None:
    book.write(f"{MUSEUM}/__init__.py", "")
    files = {}
    for name, words in WORDS.items():
        about = {"title": f"A {name} | <fault>", "source": "planted", **ABOUT}
        verdicts = {rung: {"word": word} for rung, word in zip(RUNGS, words, strict=True)}
        if name == "floor":
            about["source"] = "jax-ml/jax#38432"
            verdicts["interpret"] |= {"code": "unwritten", "reason": "is not written in 4 | of [20]"}
        if name == "hidden":
            about["derived"] = {"args": ["f32[19,128]"], "verdicts": {"interpret": "wrong"}}
            verdicts["derived interpret"] = {"word": "wrong"}
        book.write(f"{MUSEUM}/{name}.py", f"ABOUT = {about!r}\n")
        source = fingerprint.of_files(book.root / MUSEUM / f"{name}.py")
        files[name] = {"source": source, "versions": {"jax": "0.12.0"}, "date": "2026-01-02", "verdicts": verdicts}
    book.write(RECORD, json.dumps({"format": 1, "files": files} | changes))


@pytest.fixture
def exhibited(book: Book) -> Book:
    """A book with a museum of five faults and its record."""
    write(book)
    return book


def shown(book: Book, page: str = CATCHES) -> str:
    built = book.build()
    assert (built.code, built.err) == (0, "")
    return book.read(page)


def test_catches_are_counted_by_rung_and_by_first_rung(exhibited: Book) -> None:
    text = shown(exhibited)
    assert "Here are 5 kernels" in text
    assert "**With `interpret=True` alone, 4 of the 5 pass.**" in text
    for row in (
        "| Interpreted | 1 | 1 |",
        "| Simulated TPU memory | 2 | 1 |",
        "| Lowered for TPU | 1 | 1 |",
        "| Compiled for TPU v6e | 1 | 0 |",
    ):
        assert f"{row}\n" in text
    assert (
        "The remaining 2: 1 caught on other shapes, by: Interpreted; 1 caught by no rung that a machine without the "
        "chip can climb.\n"
    ) in text


def test_verdicts_wait_in_a_closed_reveal_and_the_cause_stands_before_it(exhibited: Book) -> None:
    html = markdown(exhibited.root).reset().convert(shown(exhibited).split("---\n", 2)[2])
    floor = html.split("A floor &#124; &lt;fault&gt;")[1].split("<h2")[0]
    before, inside = floor.split('<details class="reveal">')
    assert "20 // 8 is &#42;two&#42;." in before
    assert "wrong" not in before
    assert "rows are lost" not in before
    assert (
        "<td>Interpreted</td>\n<td><strong>wrong</strong></td>\n<td>is not written in 4 &#124; of &#91;20&#93;"
        in inside
    )
    assert 'href="https://github.com/jax-ml/jax/issues/38432"' in inside
    assert html.count("<details open") == 0


def test_last_table_has_every_fault_on_every_rung(exhibited: Book) -> None:
    text = shown(exhibited).split("/// reveal | The whole table")[1]
    assert "| A tile &#124; &lt;fault&gt; | pass | pass | **refused** | **refused** | **aborts** |\n" in text
    assert "| A silent &#124; &lt;fault&gt; | pass | not run | pass | pass | pass |\n" in text
    assert "Recorded 2 January 2026, with JAX 0.12.0.\n" in text


def test_museum_file_that_changed_since_its_record_stops_the_build(exhibited: Book) -> None:
    exhibited.write(f"{MUSEUM}/tile.py", "ABOUT = {}\n")
    built = exhibited.build()
    assert built.code == 1
    assert built.err == (
        f"{MUSEUM}/tile.py:1: the file changed since its verdicts were recorded\n"
        "  next: run `pallas-course evidence museum`.\n"
    )


def test_record_of_a_newer_format_is_told(exhibited: Book) -> None:
    write(exhibited, format=2)
    assert exhibited.build().err == (
        f"{RECORD}:1: the record cannot be read: format 2 is newer than this engine, which reads 1\n"
        "  next: run `pallas-course evidence museum`.\n"
    )


def test_page_is_written_only_where_it_changes_and_checked(exhibited: Book) -> None:
    shown(exhibited)
    before = exhibited.tree()
    assert exhibited.build().out == "1 lesson: nothing to do\n"
    assert exhibited.build("--check").code == 0
    assert exhibited.tree() == before
    exhibited.swap("4 of the 5", "5 of the 5", CATCHES)
    built = exhibited.build("--check")
    assert built.code == 1
    assert built.err.startswith(f"{CATCHES}:1: the page is not what the records give\n")
    assert built.err.endswith("to accept it run `python build_figures.py --force`\n")
    (exhibited.root / CATCHES).unlink()
    assert exhibited.build("--check").code == 0


def test_book_without_records_has_no_pages_of_them(book: Book) -> None:
    assert book.build().code == 0
    assert not (book.root / "docs/generated").exists()
