"""Records that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.engine.tiny import RECORD, Book, Edit, Fault, delete, swap, write


def force(book: Book) -> None:
    """The command that `next:` names."""
    built = book.build("--force", "tiny-01")
    assert (built.code, built.err) == (0, "")


def record(name: str, broken: Edit, says: str) -> Fault:
    return Fault(
        name,
        broken,
        f"{RECORD}:{says}",
        "run `python build_figures.py --force tiny-01` to record it anew.",
        force,
    )


def without(*keys: str) -> Edit:
    return lambda book: change(book, keys, lambda place, key: place.pop(key))


def instead(value: object, *keys: str) -> Edit:
    return lambda book: change(book, keys, lambda place, key: place.update({key: value}))


def change(book: Book, keys: tuple[str, ...], edit: Callable[[dict[str, Any], str], object]) -> None:
    data = json.loads(book.read(RECORD))
    place = data
    for key in keys[:-1]:
        place = place[key]
    edit(place, keys[-1])
    book.write(RECORD, json.dumps(data))


FAULTS = [
    record(
        "record with the marks of a merge",
        swap('  "lesson"', '<<<<<<< HEAD\n  "lesson"', RECORD),
        "3: the record cannot be read: JSONDecodeError: Expecting property name enclosed in double quotes: "
        "line 3 column 1 (char 17)",
    ),
    record(
        "empty record",
        write(RECORD, ""),
        "1: the record cannot be read: JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    ),
    record(
        "record is a list",
        write(RECORD, "[]"),
        "1: the record cannot be read: TypeError: list indices must be integers or slices, not str",
    ),
    record("record without its cells", without("cells"), "1: the record cannot be read: KeyError: 'cells'"),
    record("record without a format", without("format"), "1: the record cannot be read: KeyError: 'format'"),
    record(
        "record without a stamp", without("cells", "use", "stamp"), "1: the record cannot be read: KeyError: 'stamp'"
    ),
    record(
        "record without its device", without("recorded", "device"), "1: the record cannot be read: KeyError: 'device'"
    ),
    record(
        "record with an impossible time",
        instead("yesterday", "recorded", "time"),
        "1: the record cannot be read: ValueError: time data 'yesterday' does not match format '%Y-%m-%dT%H:%M:%SZ'",
    ),
    record(
        "record with a number for a line",
        swap('"four: 4"', "4", RECORD),
        "1: the record cannot be read: TypeError: a list of texts",
    ),
    record(
        "record is not UTF-8",
        write(RECORD, b"caf\xe9"),
        "1: the record cannot be read: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 3: "
        "unexpected end of data",
    ),
    Fault(
        "record of a newer format",
        swap('"format": 1', '"format": 2', RECORD),
        f"{RECORD}:1: the record has format 2; this version reads 1",
        "update the course's tools, or delete the file and run again.",
        delete(RECORD),
    ),
]
