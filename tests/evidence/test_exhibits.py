"""The museum's record: every file on every rung, made once per file and set of versions, and as the museum says."""

import json
from pathlib import Path
from typing import Any

import pytest

from pallas_course import fingerprint
from pallas_course.evidence import chips, exhibits, museum
from pallas_course.evidence.verdict import Finding, Verdict, failed

CASES = {case.name: case for case in museum.cases()}


@pytest.fixture
def climbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A museum of three files, whose climbing is replaced: the names of each climb."""
    seen: list[list[str]] = []
    paths = []
    for name in ("one", "two", "three"):
        paths.append(tmp_path / f"{name}.py")
        paths[-1].write_text(f'"""{name}."""\n\n\ndef kernel(x):\n    return x\n')

    def climb(chosen: list[museum.Case], told: Any, **_: Any) -> dict[str, Any]:
        seen.append([case.name for case in chosen])
        return {case.name: {"interpret": {"word": "pass"}, "compile:v5e": {"word": "pass"}} for case in chosen}

    monkeypatch.setattr(museum, "cases", lambda: [museum.Case(path.stem, path, {}) for path in paths])
    monkeypatch.setattr(exhibits, "RECORD", tmp_path / "verdicts.json")
    monkeypatch.setattr(exhibits, "climb", climb)
    monkeypatch.setattr(chips, "missing", lambda chip: None)
    return seen


def test_without_the_compiler_nothing_is_recorded(climbs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(chips, "missing", lambda chip: "libtpu is not installed")
    assert exhibits.record(said.append) == 3
    assert said == ["museum: not run: libtpu is not installed"]
    assert not exhibits.read()


def test_only_a_file_that_changed_is_run_again(climbs: list[list[str]], tmp_path: Path) -> None:
    exhibits.record(lambda line: None)
    path = tmp_path / "two.py"
    path.write_text(path.read_text() + "# a comment\n")
    exhibits.record(lambda line: None)
    assert climbs == [["one", "two", "three"]]
    path.write_text(path.read_text().replace("return x", "return x + 1"))
    exhibits.record(lambda line: None)
    assert climbs[1:] == [["two"]]
    assert list(exhibits.read()) == ["one", "two", "three"]


def test_a_file_that_is_gone_leaves_the_record(climbs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    exhibits.record(lambda line: None)
    left = museum.cases()[1:]
    monkeypatch.setattr(museum, "cases", lambda: left)
    exhibits.record(lambda line: None)
    assert list(exhibits.read()) == ["two", "three"]


def test_a_check_names_what_differs_and_writes_nothing(
    climbs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    exhibits.record(said.append)
    before = exhibits.RECORD.read_bytes()
    assert exhibits.check(said.append) == 0
    new = {name: {"interpret": {"word": "wrong", "code": "unwritten"}} for name in ("one", "two", "three")}
    monkeypatch.setattr(exhibits, "climb", lambda chosen, told, **_: new)
    assert exhibits.check(said.append) == 1
    assert "museum: one, interpret: recorded ('pass', None), now ('wrong', 'unwritten')" in said
    assert said[-1] == "next: see why, then pallas-course evidence museum"
    assert exhibits.RECORD.read_bytes() == before


def test_a_compiler_that_is_not_here_is_not_compared(climbs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    exhibits.record(said.append)
    new = {
        name: {"interpret": {"word": "pass"}, "compile:v5e": {"word": "not run", "reason": "x"}}
        for name in ("one", "two", "three")
    }
    monkeypatch.setattr(exhibits, "climb", lambda chosen, told, **_: new)
    assert exhibits.check(said.append) == 0
    assert "0 differences, 3 not compared" in said[-1]


def test_a_record_of_a_newer_format_is_refused(climbs: list[list[str]]) -> None:
    exhibits.RECORD.write_text(json.dumps({"format": exhibits.FORMAT + 1, "files": {}}))
    with pytest.raises(ValueError, match="newer"):
        exhibits.read()


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        (Verdict("interpret", "pass"), "pass"),
        (Verdict("compile", "not run"), "not run"),
        *(
            (failed("simulate", [Finding(code, "x")]), word)
            for code, word in (
                ("unwritten", "wrong"),
                ("race", "refused"),
                ("vmem", "refused"),
                ("hang", "hang"),
                ("abort", "abort"),
            )
        ),
    ],
)
def test_a_verdict_has_the_museums_word(verdict: Verdict, word: str) -> None:
    assert exhibits.word(verdict) == word


def test_files_are_run_as_they_stand(tmp_path: Path) -> None:
    chosen = [CASES[name] for name in ("floor_grid_aligned", "no_derivative")]
    shown = [
        museum.Case(
            case.name,
            case.path,
            {**case.about, "verdicts": {r: v for r, v in case.about["verdicts"].items() if ":" not in r}},
        )
        for case in chosen
    ]
    found = exhibits.climb(shown, lambda line: None)
    assert found["floor_grid_aligned"]["interpret"] == {"word": "pass"}
    derived = found["floor_grid_aligned"]["derived simulate"]
    assert (derived["word"], derived["code"]) == ("wrong", "unwritten")
    assert (found["no_derivative"]["grad"]["word"], found["no_derivative"]["grad"]["code"]) == ("refused", "gradient")


@pytest.mark.parametrize("name", CASES)
def test_every_rung_of_every_file_is_recorded_as_the_museum_says(name: str) -> None:
    about, recorded = CASES[name].about, exhibits.read()
    next_step = "next: pallas-course evidence museum"
    assert name in recorded, next_step
    entry = recorded[name]
    assert entry["source"] == fingerprint.of_files(CASES[name].path), next_step
    expected = {
        **about["verdicts"],
        **{f"derived {r}": v for r, v in about.get("derived", {}).get("verdicts", {}).items()},
    }
    assert set(entry["verdicts"]) == set(expected)
    for rung, said in entry["verdicts"].items():
        assert said["word"] == museum.word(expected, rung, entry["versions"]["jax"]), (rung, said)


def test_record_holds_nothing_of_the_machine_that_made_it() -> None:
    text = exhibits.RECORD.read_text(encoding="utf-8")
    assert "site-packages" not in text
    assert str(Path.home()) not in text
    assert "/tmp" not in text
