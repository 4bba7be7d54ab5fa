"""The record of block shapes: made once per kernel and set of versions, and what it must say."""

import json
from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import chips, ladder, legality

ROWS: list[dict[str, Any]] = [
    {"part": "map", "dtype": "float32", "block": [2, 4], "chip": "tpu", "status": "fail", "reason": "lowering: tile"},
    {"part": "map", "dtype": "float32", "block": [8, 128], "chip": "tpu", "status": "pass"},
    {"part": "map", "dtype": "float32", "block": [8, 128], "chip": "v5e", "status": "pass"},
    {"part": "vmem", "dtype": "float32", "block": [8, 128], "chip": "", "status": "pass", "vmem_bytes": 24576},
]


@pytest.fixture
def climbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A recorder whose climbing is replaced, in a folder of its own, on a machine with every compiler."""
    seen: list[str] = []

    def climb(told: Any) -> list[dict[str, Any]]:
        seen.append("climbed")
        return ROWS

    (tmp_path / "evidence").mkdir()
    for module in ("axpy", "contract"):
        (tmp_path / f"{module}.py").write_text((ladder.FOLDER / f"{module}.py").read_text())
    monkeypatch.setattr(ladder, "FOLDER", tmp_path)
    monkeypatch.setattr(legality, "climb", climb)
    monkeypatch.setattr(chips, "missing", lambda chip: None)
    return seen


def test_blocks_are_tried_again_only_when_the_kernel_changed(climbs: list[str]) -> None:
    for _ in range(2):
        assert legality.record(lambda line: None) == 0
    assert climbs == ["climbed"]
    assert legality.read()["rows"] == ROWS
    path = ladder.FOLDER / "axpy.py"
    path.write_text(path.read_text().replace("2 * x + y", "3 * x + y"))
    legality.record(lambda line: None)
    assert len(climbs) == 2


def test_without_the_compiler_nothing_is_recorded(climbs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(chips, "missing", lambda chip: "libtpu is not installed")
    assert legality.record(said.append) == 3
    assert said == ["legality: not run: libtpu is not installed"]
    assert not legality.read()


def test_a_check_names_what_differs(climbs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    legality.record(said.append)
    assert legality.check(said.append) == 0
    changed = [ROWS[0], {**ROWS[1], "status": "fail", "reason": "lowering: x"}, *ROWS[2:]]
    monkeypatch.setattr(legality, "climb", lambda told: changed)
    assert legality.check(said.append) == 1
    assert "legality: map float32 [8, 128] tpu: recorded ('pass', '', 0), now ('fail', 'lowering', 0)" in said
    assert said[-1] == "next: see why, then pallas-course evidence legality"


def test_a_compiler_that_is_not_here_is_not_compared(climbs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    legality.record(said.append)
    monkeypatch.setattr(chips, "missing", lambda chip: "libtpu is not installed")
    monkeypatch.setattr(legality, "climb", lambda told: [ROWS[0], ROWS[1], ROWS[3]])
    assert legality.check(said.append) == 0
    assert said[-1] == "legality: 3 run again, 0 differ, 1 not compared"


def test_a_record_of_a_newer_format_is_refused(climbs: list[str]) -> None:
    (ladder.FOLDER / "evidence" / "legality.json").write_text(json.dumps({"format": legality.FORMAT + 1}))
    with pytest.raises(ValueError, match="newer"):
        legality.read()


def test_every_block_is_recorded_for_the_kernel_as_it_is() -> None:
    data = legality.read()
    assert data["source"] == ladder.source("axpy"), "next: pallas-course evidence legality"
    lowered = {(row["dtype"], *row["block"]): row["status"] for row in data["rows"] if row["chip"] == "tpu"}
    wanted = {
        (dtype, rows, columns) for dtype in legality.DTYPES for rows in legality.ROWS for columns in legality.COLUMNS
    }
    assert wanted <= set(lowered)
    for chip in legality.CHIPS:
        compiled = {(row["dtype"], *row["block"]) for row in data["rows"] if row["chip"] == chip}
        assert compiled == {key for key, status in lowered.items() if status == "pass"}
    assert all(row.get("reason") for row in data["rows"] if row["status"] == "fail")


def test_a_block_beyond_a_chips_limit_is_refused_by_its_compiler() -> None:
    rows = [row for row in legality.read()["rows"] if row["part"] == "vmem"]
    sizes = {tuple(row["block"]): row["vmem_bytes"] for row in rows if "vmem_bytes" in row}
    said = {(tuple(row["block"]), row["chip"]): row for row in rows if row["chip"] in legality.CHIPS}
    for chip in legality.CHIPS:
        limit = chips.TPUS[chip].scoped_vmem << 20
        over = [said[block, chip] for block, size in sizes.items() if size > limit]
        assert over
        assert all(row["status"] == "fail" and "E1001" in row["reason"] for row in over)
        assert any(said[block, chip]["status"] == "pass" for block in sizes)
