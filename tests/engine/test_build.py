from __future__ import annotations

from tests.engine.tiny import Book


def test_second_build_executes_nothing_and_changes_no_byte(book: Book) -> None:
    before = book.tree()
    built = book.build()
    assert (built.code, built.executed) == (0, [])
    assert book.tree() == before
