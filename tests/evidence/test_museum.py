"""What the museum says of its kernels is what the audit says of them, on each JAX that the lock holds."""

import json
import re
from typing import Any

import pytest

from pallas_course.evidence.findings import EXPLAINED
from pallas_course.evidence.museum import RUNGS, Case, cases, word
from tests.evidence.environments import Environment

CASES = {case.name: case for case in cases()}
FAULTS = [case for case in CASES.values() if not case.about["right"]]
WORDS = {"pass", "wrong", "refused", "hang", "abort", "not run"}
FINE = {"pass", "not run"}
# Some faults need a chip of their own, the gradient, or a GPU.
MORE = {"compile:v4", "grad", "lower:h100", "compile:h100"}
CLIMB = """
import json
from pallas_course.evidence import exhibits, museum
print(json.dumps(exhibits.climb(museum.cases(), lambda line: None, together=True)))
"""


def words(verdict: Any) -> set[str]:
    return set(verdict.values()) if isinstance(verdict, dict) else {verdict}


def test_museum_has_enough_of_both_kinds() -> None:
    assert len(FAULTS) >= 24
    assert len(CASES) - len(FAULTS) >= 14


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_case_says_all_that_a_page_and_an_audit_need(case: Case) -> None:
    about = case.about
    assert set(about) - {"inputs", "derived"} == {
        *("title", "symptom", "cause", "mend", "source", "args", "verdicts", "finding", "found_by", "right")
    }
    assert not any("\n" in about[key] for key in ("title", "symptom", "cause", "mend", "source"))
    assert about["args"]
    assert all(re.fullmatch(r"(f|bf|i|u)\d+\[\d+(,\d+)*\]", argument) for argument in about["args"])
    verdicts = about["verdicts"]
    assert all(words(verdict) <= WORDS for verdict in verdicts.values())
    assert about["found_by"] == [rung for rung, verdict in verdicts.items() if not words(verdict) <= FINE]
    assert words(about["finding"]) <= {*EXPLAINED, ""}
    assert about["right"] == case.name.startswith("right/")
    text = case.path.read_text(encoding="utf-8")
    assert ("inputs" in about) == ("\ndef make()" in text)
    assert "pallas_course" not in text, "a user's file imports nothing of ours"
    if about["right"]:
        # A kernel written for a GPU has no rung of a TPU.
        assert {"interpret", "simulate"} <= set(verdicts) <= {*RUNGS, *MORE}
        assert set(RUNGS) <= set(verdicts) or {"lower:h100", "compile:h100"} <= set(verdicts)
        assert not about["finding"]
        assert not about["found_by"]
    else:
        assert set(RUNGS) <= set(verdicts) <= {*RUNGS, *MORE}
        assert all(about[key] for key in ("title", "symptom", "cause", "mend", "source"))
        assert bool(about["finding"]) == bool(about["found_by"] or about.get("derived"))


def test_word_follows_the_release_series() -> None:
    verdicts = {"interpret": {"0.10": "pass", "0.12": "refused"}, "lower": "pass"}
    assert word(verdicts, "interpret", "0.10.2") == "pass"
    assert word(verdicts, "interpret", "0.12.0.1") == "refused"
    assert word(verdicts, "interpret", "0.11.0") is None
    assert word(verdicts, "lower", "0.11.0") == "pass"
    assert word(verdicts, "compile:v5e", "0.12.0.1") is None


@pytest.fixture(scope="module")
def climbed(environment: Environment) -> tuple[str, dict[str, dict[str, dict[str, str]]]]:
    """An environment's JAX, and what the audit's rungs say there: file → rung → {"word", "code", "reason"}."""
    done = environment.run("-c", CLIMB)
    assert done.returncode == 0, done.stderr[-2000:]
    return environment.jax, json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_audit_says_of_each_case_what_the_museum_says(
    climbed: tuple[str, dict[str, dict[str, dict[str, str]]]], case: Case
) -> None:
    jax, seen = climbed[0], climbed[1][case.name]
    said = case.about["verdicts"] | {
        f"derived {rung}": verdict for rung, verdict in case.about.get("derived", {}).get("verdicts", {}).items()
    }
    expected = {rung: word(said, rung, jax) for rung in said}
    if seen.get("compile:h100", {}).get("word") == "not run":  # no plugin for it, which no environment has
        expected["compile:h100"] = "not run"
    assert {rung: verdict["word"] for rung, verdict in seen.items()} == expected, seen
    if not set(expected.values()) <= FINE:
        assert word(case.about, "finding", jax) in {verdict.get("code") for verdict in seen.values()}, seen
