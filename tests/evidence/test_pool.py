"""What misbehaves is a finding, and never more than that: it ends in its own process, and what it started with it."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import chips, process
from pallas_course.evidence.pool import Done, Pool, Task, run

IMPORTS = "import jax\nfrom jax.experimental import pallas as pl\n"
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
    "holds a null byte": "def kernel(x): return x\n\0",
    "has no such function": "def other(x):\n    return x\n",
    "closes every file": "import os\ndef kernel(x):\n    os.closerange(0, 64)\n    return x\n",
    "closes every file and goes on": "import os\ndef kernel(x):\n    os.closerange(0, 64)\n    while True: pass\n",
    "takes all memory": "import numpy as np\nheld = []\n"
    "def kernel(x):\n    while True: held.append(np.ones(1 << 22))\n",
    "asks for input": "input()\n",
    "raises what has no words": "class Mute(Exception):\n    def __str__(self): raise ValueError\n"
    "def kernel(x): raise Mute\n",
    "crashes": "import ctypes\ndef kernel(x):\n    ctypes.string_at(0)\n",
    "has an oracle that hangs": IMPORTS + "def kernel(x):\n" + BODY + "def reference(x):\n    while True: pass\n",
    "prints without end": IMPORTS + "for _ in range(200_000): print('x' * 50)\ndef kernel(x):\n" + BODY,
    "leaves processes behind": IMPORTS + "import os, subprocess, time\n"
    "child = subprocess.Popen(['sleep', '1000'])\nfork = os.fork()\nif not fork: time.sleep(1000)\n"
    "with open(__file__ + '.left', 'a') as left: print(child.pid, fork, file=left)\ndef kernel(x):\n" + BODY,
    "ends its parent": IMPORTS + "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\ndef kernel(x):\n" + BODY,
}
SMALL = 700 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("misbehaving")


def written(folder: Path, name: str) -> dict[str, Any]:
    path = folder / f"file_{list(FILES).index(name)}.py"
    path.write_text(FILES[name])
    case = {"name": name, "target": {"file": str(path), "function": "kernel"}}
    if "oracle" in name:
        case["oracle"] = {"file": str(path), "function": "reference"}
    return case | {"args": [{"dtype": "float32", "shape": [8, 128]}]}


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, list[Done]]:
    cases = {name: written(folder, name) for name in FILES}
    jobs = [[Task(name, "interpret"), Task(name, "lower")] for name in cases]
    results: dict[str, list[Done]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "MEMORY", SMALL)
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
        ("holds a null byte", "syntax", "null bytes"),
        ("has no such function", "name", "the file's functions: other"),
        ("closes every file", "exit", "status"),
        ("closes every file and goes on", "hang", "no answer within 6 s"),
        ("takes all memory", "memory", "it held more than 0.684 GiB"),
        ("asks for input", "import", "EOF"),
        ("raises what has no words", "trace", "Mute without a message"),
        ("crashes", "abort", "SIGSEGV"),
    ],
)
def test_each_is_a_finding_on_every_rung(found: dict[str, list[Done]], name: str, code: str, said: str) -> None:
    verdicts = [done.verdict for done in found[name]]
    assert [verdict.rung for verdict in verdicts] == ["interpret", "lower"]
    for verdict in verdicts:
        assert verdict.status == "fail"
        assert verdict.findings[0].code == code
        assert said in verdict.reason


@pytest.mark.parametrize("name", ["prints without end", "leaves processes behind", "ends its parent"])
def test_what_harms_others_alone_is_judged_like_any_other(found: dict[str, list[Done]], name: str) -> None:
    assert [done.verdict.status for done in found[name]] == ["pass", "pass"]


def test_an_oracle_that_hangs_is_the_oracles_fault(found: dict[str, list[Done]]) -> None:
    interpreted, lowered = (done.verdict for done in found["has an oracle that hangs"])
    assert interpreted.reason == "oracle: no answer within 6 s"
    assert lowered.status == "pass"


def test_what_the_audited_code_started_ends_with_it(found: dict[str, list[Done]], folder: Path) -> None:
    place = list(FILES).index("leaves processes behind")
    pids = [int(pid) for pid in (folder / f"file_{place}.py.left").read_text().split() if pid != "0"]
    assert len(pids) >= 2
    for pid in pids:
        assert gone(pid), f"process {pid} is still there"


def gone(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    for _ in range(100):
        try:
            if state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_syntax_error_names_its_line(found: dict[str, list[Done]]) -> None:
    assert Path(found["is no Python"][0].verdict.findings[0].where).name.endswith(".py:1")


def test_an_interrupted_run_ends_its_workers(folder: Path) -> None:
    """As the terminal does it: a signal to the main thread while it waits."""
    case = written(folder, "hangs")

    def interrupt(done: Done) -> None:
        raise AssertionError("nothing is ever done")

    timer = threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Pool() as pool:
        pool.run({"hangs": case}, [[Task("hangs", "interpret")]] * 3, 1000.0, interrupt)
    timer.join()
    assert time.monotonic() - began < 60
    assert pool._starter is None


@pytest.mark.parametrize(("threads", "how"), [("1", "start"), ("2", "work")])
def test_a_worker_is_a_fork_only_of_a_process_with_one_thread(folder: Path, threads: str, how: str) -> None:
    """NumPy's threads in the process that starts it would be missing in a fork."""
    path = folder / f"asks_{how}.py"
    path.write_text(f"{IMPORTS}import sys\nassert {how!r} in sys.orig_argv\ndef kernel(x):\n{BODY}")
    case = written(folder, "prints without end") | {"target": {"file": str(path), "function": "kernel"}}
    with Pool(chips.environment() | {"OPENBLAS_NUM_THREADS": threads}) as pool:
        (done,) = pool.run({"plain": case}, [[Task("plain", "lower")]], 60.0)
    assert done.verdict.reason == ""


def test_files_of_the_folder_one_stands_in_are_not_pythons(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("random", "queue", "types", "jax", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not the one that was meant')")
    monkeypatch.chdir(tmp_path)
    (done,) = run({"plain": written(folder, "prints without end")}, [[Task("plain", "lower")]], 60.0)
    assert done.verdict.reason == ""


def test_a_worker_that_cannot_start_is_a_fault_of_our_own() -> None:
    with (
        Pool(chips.environment() | {"PYTHONHOME": "/nowhere"}) as pool,
        pytest.raises(RuntimeError, match="process that starts workers has ended"),
    ):
        pool.run({"x": {"target": {}}}, [[Task("x", "lower")]], 5.0)
