"""Every way for a lesson to be wrong: what the build says, and that the edit which `next:` names mends it."""

from __future__ import annotations

import re

import pytest

from tests.engine.faults import blocks, cells, figures, front_matter, records, running
from tests.engine.tiny import LESSON, Book, Edit, Fault, put

ROOMS = (front_matter, cells, blocks, running, figures, records)
FAULTS = [fault for room in ROOMS for fault in room.FAULTS]


def edit(change: Edit | str) -> Edit:
    return put(change) if isinstance(change, str) else change


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_error_names_its_line_and_the_edit_that_mends_it(fault: Fault, book: Book) -> None:
    edit(fault.broken)(book)
    before = book.tree()

    built = book.build()

    place = f"{LESSON}:" if fault.says[0].isdigit() else ""
    said = re.sub("0x[0-9a-f]{6,}", "0xADDRESS", built.err)
    assert said == f"{place}{fault.says}\n  next: {fault.next}\n"
    assert built.code == 1
    assert book.tree() == before, "a failing lesson leaves its record and page as they were"

    edit(fault.mended)(book)
    built = book.build()
    assert (built.code, built.err) == (0, "")
