"""What misbehaves is a finding, and never more than that: it ends in its own process."""

from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence.pool import Done, Task, run

BODY = "    return pl.pallas_call(lambda a, b: b.__setitem__(..., a[...]), out_shape=jax.typeof(x))(x)\n"
FILES = {
    "hangs": "def kernel(x):\n    while True: pass\n",
    "sleeps while imported": "import time\ntime.sleep(1000)\n",
    "aborts": "import os\ndef kernel(x):\n    os.abort()\n",
    "is killed": "import os, signal\ndef kernel(x):\n    os.kill(os.getpid(), signal.SIGKILL)\n",
    "exits": "import sys\ndef kernel(x):\n    sys.exit(0)\n",
    "exits hard": "import os\ndef kernel(x):\n    os._exit(0)\n",
    "exits while imported": "import os\nos._exit(3)\n",
    "cannot be imported": "import no_such_module_anywhere\n",
    "is no Python": "def kernel(x:\n",
    "has no such function": "def other(x):\n    return x\n",
    "prints without end": "import jax\nfrom jax.experimental import pallas as pl\n"
    "for _ in range(200_000): print('x' * 50)\n"
    "def kernel(x):\n" + BODY,
    "closes every file": "import os\ndef kernel(x):\n    os.closerange(0, 64)\n    return x\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Done]]:
    folder = tmp_path_factory.mktemp("misbehaving")
    cases: dict[str, dict[str, Any]] = {}
    for place, (name, text) in enumerate(FILES.items()):
        path = folder / f"file_{place}.py"
        path.write_text(text)
        target = {"file": str(path), "function": "kernel"}
        cases[name] = {"name": name, "target": target, "args": [{"dtype": "float32", "shape": [8, 128]}]}
    jobs = [[Task(name, "interpret"), Task(name, "lower")] for name in cases]
    results: dict[str, list[Done]] = {}
    run(cases, jobs, 6.0, lambda done: results.setdefault(done.task.case, []).append(done))
    return results


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("hangs", "hang", "no answer within 6 s"),
        ("sleeps while imported", "hang", "while it was loaded"),
        ("aborts", "abort", "SIGABRT"),
        ("is killed", "abort", "SIGKILL"),
        ("exits", "exit", "sys.exit(0)"),
        ("exits hard", "exit", "status 0"),
        ("exits while imported", "exit", "status 3"),
        ("cannot be imported", "import", "no_such_module_anywhere"),
        ("is no Python", "syntax", "never closed"),
        ("has no such function", "name", "the file's functions: other"),
        ("closes every file", "exit", "status"),
    ],
)
def test_each_is_a_finding_on_every_rung(found: dict[str, list[Done]], name: str, code: str, said: str) -> None:
    verdicts = [done.verdict for done in found[name]]
    assert [verdict.rung for verdict in verdicts] == ["interpret", "lower"]
    for verdict in verdicts:
        assert verdict.status == "fail"
        assert verdict.findings[0].code == code
        assert said in verdict.reason


def test_a_file_that_prints_without_end_is_judged_like_any_other(found: dict[str, list[Done]]) -> None:
    assert [done.verdict.status for done in found["prints without end"]] == ["pass", "pass"]


def test_a_syntax_error_names_its_line(found: dict[str, list[Done]]) -> None:
    assert Path(found["is no Python"][0].verdict.findings[0].where).name.endswith(".py:1")
