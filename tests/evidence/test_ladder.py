"""The course's own kernels: a record beside each, made once per source and set of versions."""

import json
from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import ladder
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, Verdict

FOUND = [
    Verdict("interpret", PASS, case="ragged", dtype="float32", block="(2, 4)", facts={"bytes_moved": 660}),
    Verdict("interpret", PASS, case="wide", dtype="float32", block="(2, 4)", facts={"bytes_moved": 408}),
    Verdict("lower", FAIL, case="ragged", chip="tpu", dtype="float32", block="(2, 4)", reason="lowering: tile"),
    Verdict("lower", FAIL, case="wide", chip="tpu", dtype="float32", block="(2, 4)", reason="lowering: tile"),
    Verdict("time", NOT_RUN, reason="no accelerator has run it"),
]


@pytest.fixture
def climbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A ladder whose climbing is replaced: what was climbed, in a folder of its own."""
    seen: list[str] = []

    def climb(name: str, told: Any) -> list[Verdict]:
        seen.append(name)
        return FOUND

    for module in ("axpy", "contract"):
        (tmp_path / f"{module}.py").write_text((ladder.FOLDER / f"{module}.py").read_text())
    monkeypatch.setattr(ladder, "FOLDER", tmp_path)
    monkeypatch.setattr(ladder, "climb", climb)
    return seen


def test_verdicts_survive_their_record(climbs: list[str]) -> None:
    ladder.record(["axpy"], lambda line: None)
    (entry,) = ladder.read("axpy")
    read = ladder.verdicts(entry)
    assert [(v.rung, v.case, v.status, v.reason, v.facts) for v in read] == [
        (v.rung, v.case, v.status, v.reason, v.facts) for v in FOUND
    ]
    assert all(v.source == ladder.source("axpy") and v.versions["jax"] and v.date for v in read)
    assert len(entry["verdicts"]) == 3


def test_an_unchanged_kernel_is_not_climbed_with_again(climbs: list[str]) -> None:
    said: list[str] = []
    for _ in range(2):
        ladder.record(["axpy"], said.append)
    assert climbs == ["axpy"]
    assert any("unchanged" in line for line in said)


def test_another_source_replaces_the_record_and_another_comment_does_not(climbs: list[str]) -> None:
    path = ladder.FOLDER / "axpy.py"
    ladder.record(["axpy"], lambda line: None)
    path.write_text(path.read_text() + "\n# a comment\n")
    ladder.record(["axpy"], lambda line: None)
    assert len(climbs) == 1
    path.write_text(path.read_text().replace("2 * x + y", "3 * x + y"))
    ladder.record(["axpy"], lambda line: None)
    assert len(climbs) == 2
    assert len(ladder.read("axpy")) == 1


def test_a_check_agrees_with_its_own_record_and_names_what_differs(
    climbs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    assert ladder.check(["axpy"], said.append) == 1
    assert "next: pallas-course evidence axpy" in said[-1]
    ladder.record(["axpy"], said.append)
    assert ladder.check(["axpy"], said.append) == 0
    changed = [
        Verdict("interpret", FAIL, case="ragged", dtype="float32", block="(2, 4)", reason="wrong-values: x"),
        *FOUND[1:],
    ]
    monkeypatch.setattr(ladder, "climb", lambda name, told: changed)
    assert ladder.check(["axpy"], said.append) == 1
    assert any("recorded ('pass', '')" in line and "now ('fail', 'wrong-values')" in line for line in said)


def test_what_cannot_run_here_is_not_compared(climbs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    ladder.record(["axpy"], said.append)
    absent = [
        *FOUND[:2],
        *(Verdict(v.rung, NOT_RUN, v.case, v.chip, v.dtype, v.block, "x") for v in FOUND[2:4]),
        FOUND[4],
    ]
    monkeypatch.setattr(ladder, "climb", lambda name, told: absent)
    assert ladder.check(["axpy"], said.append) == 0
    assert "2 not compared" in said[-1]


def test_a_record_of_a_newer_format_is_refused(climbs: list[str]) -> None:
    folder = ladder.FOLDER / "evidence"
    folder.mkdir()
    (folder / "axpy.json").write_text(json.dumps({"format": ladder.FORMAT + 1, "entries": []}))
    with pytest.raises(ValueError, match="newer"):
        ladder.read("axpy")


@pytest.mark.parametrize("name", ladder.KERNELS)
def test_every_kernel_has_a_record_of_its_source(name: str) -> None:
    entries = ladder.read(name)
    assert entries, f"next: pallas-course evidence {name}"
    assert {entry["source"] for entry in entries} == {ladder.source(name)}
    text = (ladder.FOLDER / "evidence" / f"{name}.json").read_text()
    assert "site-packages" not in text
    assert str(Path.home()) not in text


@pytest.mark.parametrize("name", ladder.KERNELS)
def test_every_verdict_that_ran_on_values_passes(name: str) -> None:
    for entry in ladder.read(name):
        values = [v for v in ladder.verdicts(entry) if v.rung in ("interpret", "simulate")]
        assert {v.status for v in values} <= {PASS, NOT_RUN}
        assert {v.case for v in values if v.rung == "interpret"} == {
            c.name for c in ladder.KERNELS[name].stated(name).cases
        }
