"""The command itself on files of the museum, on each JAX that the lock holds: its exit status, and what it says."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pallas_course.evidence import museum
from tests.evidence.environments import Environment

FOLDER = museum.cases()[0].path.parent
WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "libtpu" else find(name, *rest)
from pallas_course.cli import main
sys.exit(main())
"""
# The command's arguments after a file's function, by name of the audit.
ASKED = {
    "a floor-divided grid": ("floor_grid", "--arg f32[20,128] --oracle --rung interpret --rung simulate"),
    "a right kernel": ("right/axpy_ragged", "--arg f32[20,200] --arg f32[20,200] --oracle --chip v5e --chip v6e"),
    "a compiler that refuses or dies": ("mask_expanded", "--arg f32[32,128] --rung compile --chip v5e"),
    "a wait without end": ("dma_wait_without_signal", "--arg f32[64,128] --rung simulate --limit 10"),
    "a chip without its compiler": ("floor_grid", "--arg f32[16,128] --rung lower --rung compile --chip v6e"),
}


@pytest.fixture(scope="module")
def audits(environment: Environment) -> dict[str, tuple[int, dict[str, Any]]]:
    """What each audit ended with, and its report."""

    def run(name: str) -> tuple[int, dict[str, Any]]:
        file, options = ASKED[name]
        path = f"{FOLDER / file}.py"
        start = ["-c", WITHOUT] if name == "a chip without its compiler" else ["-m", "pallas_course.cli"]
        written = options.replace("--oracle", f"--oracle {path}:reference").split()
        done = environment.run(*start, "audit", f"{path}:kernel", "--json", *written)
        assert done.stdout, done.stderr[-2000:]
        return done.returncode, json.loads(done.stdout)

    with ThreadPoolExecutor(3) as pool:
        return dict(zip(ASKED, pool.map(run, ASKED), strict=True))


@pytest.mark.parametrize(
    ("name", "status", "codes"),
    [
        ("a floor-divided grid", 1, {"unwritten"}),
        ("a right kernel", 0, set()),
        ("a compiler that refuses or dies", 1, {"abort", "compile"}),
        ("a wait without end", 1, {"hang"}),
        ("a chip without its compiler", 3, set()),
    ],
)
def test_the_command_ends_as_the_case_says(
    audits: dict[str, tuple[int, dict[str, Any]]], name: str, status: int, codes: set[str]
) -> None:
    ended, report = audits[name]
    assert ended == report["exit"] == status, report["headline"]
    found = {finding["code"] for finding in report["findings"]}
    assert found & codes if codes else not found


def test_what_could_not_run_says_how_to_add_it(audits: dict[str, tuple[int, dict[str, Any]]]) -> None:
    reasons = [entry["reason"] for entry in audits["a chip without its compiler"][1]["not_run"]]
    assert any("pip install 'pallas-course[tpu]'" in reason for reason in reasons)
