from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.engine.tiny import Book, new_book


@pytest.fixture(scope="session")
def built_book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """A tiny book after its first build. Shared: copy it before you change it."""
    book = new_book(tmp_path_factory.mktemp("tiny"))
    built = book.build()
    assert (built.code, built.err) == (0, "")
    return book


@pytest.fixture
def book(built_book: Book, tmp_path: Path) -> Book:
    """A tiny book of one's own, with a fresh record and page."""
    root = tmp_path / "book"
    shutil.copytree(built_book.root, root, ignore=shutil.ignore_patterns("__pycache__"))
    return Book(root)
