"""The Pythons that the museum and the audit are tried with: one for each JAX that the lock holds."""

import functools
import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from pallas_course.evidence import chips
from tools import interpreters

ROOT = interpreters.ROOT
LINES = [" or ".join(f"3.{minor}" for minor in line) for line in interpreters.LINES]
ASK = (
    "import json, platform\nfrom importlib.metadata import version\n"
    "print(json.dumps([platform.python_version(), version('jax'), version('libtpu')]))"
)


class Environment(NamedTuple):
    """An environment made by `make evidence-environments`, and what it said of itself."""

    python: Path
    release: str
    jax: str
    libtpu: str

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run its Python, with this course and away from any network."""
        environment = chips.environment() | {"PYTHONPATH": str(ROOT)}
        return subprocess.run([self.python, *command], env=environment, capture_output=True, text=True, check=False)

    def __str__(self) -> str:
        return f"JAX {self.jax} and libtpu {self.libtpu} on Python {self.release}"


@functools.cache
def _chosen() -> tuple[dict[int, interpreters.Interpreter], list[interpreters.Interpreter | None]]:
    every = interpreters.found()
    return every, interpreters.chosen(every)


@functools.cache
def of(line: str) -> Environment | str:
    """The environment of one of LINES, or why there is none."""
    if not interpreters.COMPILER:
        return "the TPU compiler exists for Linux on x86-64 only"
    if (interpreter := _chosen()[1][LINES.index(line)]) is None:
        return f"no Python {line} was found on this machine"
    python = interpreter.environment / "bin/python"
    if not (said := interpreters.said(python, "-c", ASK)):
        folder = interpreter.environment.relative_to(ROOT)
        return f"{folder} is not made or not whole; next: make evidence-environments"
    return Environment(python, *json.loads(said))


USED: set[str] = set()
"""The lines of which a test asked for the environment."""


@pytest.fixture(scope="session", params=LINES, ids=lambda line: f"python {line}")
def environment(request: pytest.FixtureRequest) -> Environment:
    """Each environment in turn. Where there is none, the test is skipped and says why."""
    USED.add(request.param)
    found = of(request.param)
    if isinstance(found, str):
        pytest.skip(f"JAX of Python {request.param}: {found}")
    return found


def summary() -> list[str]:
    """Which environments were used, which were not there and why; nothing where no test asked for one."""
    if not USED:
        return []
    found = [of(line) for line in LINES if line in USED]
    used = "; ".join(str(one) for one in found if isinstance(one, Environment)) or "nothing"
    absent = [f"3.{minor}" for minor in interpreters.MINORS if minor not in _chosen()[0]]
    besides = [one.release for one in _chosen()[0].values() if one not in _chosen()[1]]
    lines = [f"evidence: the museum and the audit were tried with {used}"]
    lines += [f"evidence: left out: {reason}" for reason in found if isinstance(reason, str)]
    if besides:
        lines.append(f"evidence: found and not needed: Python {', '.join(besides)}")
    lines.append(f"evidence: not found: Python {', '.join(absent)}" if absent else "evidence: no Python was missing")
    return lines
