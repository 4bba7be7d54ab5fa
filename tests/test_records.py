"""Records of every kind are kept the same way: one entry per thing, source and set of versions, written whole."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pallas_course import records

SOURCES = {"b": "1", "a": "2"}
OLD, NEW = {"jax": "0.9.2", "numpy": "1", "libtpu": "37"}, {"jax": "0.12.0", "numpy": "2", "libtpu": "50"}


def entry(of: str, versions: dict[str, str], **more: Any) -> records.Entry:
    return {"of": of, "source": SOURCES[of], "versions": versions, "date": "2026-01-02", **more}


def test_entries_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "record.json"
    entries = [entry("a", NEW, verdicts=[{"x": [1]}, {"x": "é"}], empty=[], one={"y": None}), entry("b", OLD)]
    records.write(path, entries)
    assert records.read(path) == entries
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1 + 4 + 1 + 1
    assert records.read(tmp_path / "nothing.json") == []


def test_a_newer_format_is_refused_and_an_older_one_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"format": records.FORMAT + 1, "entries": []}))
    with pytest.raises(ValueError, match="newer than this program"):
        records.read(path)
    path.write_text(json.dumps({"format": 1, "files": {}}))
    assert records.read(path) == []


def test_entries_of_the_present_source_are_chosen_oldest_jax_first() -> None:
    every = [entry("a", NEW), entry("a", OLD), entry("b", NEW), {**entry("a", OLD), "source": "before"}]
    assert records.choose(every, "a", "2") == [every[1], every[0]]


def test_an_entry_covers_a_machine_that_has_no_compiler_more() -> None:
    every = [entry("a", OLD), entry("a", NEW)]
    assert records.covering(every, {"jax": "0.12.0", "numpy": "3"}) is every[1]
    assert records.covering(every, {"jax": "0.12.0", "libtpu": "51"}) is None
    assert records.covering(every, {"jax": "0.12.0", "libtpu": "50", "plugin": "1"}) is None


def test_a_new_entry_stands_beside_other_versions_and_replaces_those_it_includes() -> None:
    with_plugin = {**NEW, "plugin": "1"}
    without = {"jax": "0.12.0", "numpy": "1"}
    old = [entry("a", OLD), entry("a", without), entry("a", NEW), entry("b", NEW), {**entry("b", OLD), "source": "0"}]
    new = entry("a", with_plugin)
    assert records.updated(old, [new], SOURCES) == [old[3], old[0], new]
    assert records.updated([new], [entry("a", OLD)], SOURCES) == [entry("a", OLD), new]
    assert records.updated(old, [], {"a": "2"}) == [old[0], old[2], old[1]]


def test_a_record_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.json"
    records.write(path, [entry("a", OLD)])
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        records.write(path, [entry("a", NEW)])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert records.replace(path, before.decode()) is False
