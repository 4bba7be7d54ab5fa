"""Processes of their own for code that may hang, abort or exit; what pool.py starts and nobody else.

``python -m pallas_course.evidence.worker start FD`` imports JAX, and forks a worker for each request on the socket FD.
"""

import contextlib
import dataclasses
import json
import os
import signal
import socket
import sys
import traceback
from functools import partial
from typing import Any

from pallas_course.kernels import versions

MODULE = "pallas_course.evidence.worker"


def start(control: socket.socket) -> None:
    """Fork workers until the socket closes, and tell how they ended; then kill what is left."""
    versions.check()
    from pallas_course.evidence import rungs  # noqa: F401

    with contextlib.suppress(ImportError):  # what JAX would import later, in each worker anew
        import jax.experimental.multihost_utils
        import jax.experimental.pallas.mosaic_gpu
        import jax.experimental.topologies  # noqa: F401
    # A fork has one thread. It is whole where this process has one too; else a worker starts over as a new Python.
    whole = sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1
    running: set[int] = set()
    while True:
        request, fds, *_ = socket.recv_fds(control, 64, 2)
        if not request:
            break
        word, _, asked = request.decode().partition(" ")
        if word == "start":
            pid = os.fork()
            if not pid:
                control.close()
                _become(fds[0], fds[1], whole)
            running.add(pid)
            for fd in fds:
                os.close(fd)
            answer = str(pid)
        else:
            ended, status = os.waitpid(int(asked), os.WNOHANG)
            running.discard(ended)
            answer = str(os.waitstatus_to_exitcode(status)) if ended else "runs"
        control.sendall(answer.encode())
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _become(channel: int, printed: int, whole: bool) -> None:
    """A worker, with a session of its own and nothing to read from; never returns."""
    try:
        os.setsid()
        for fd, into in ((os.open(os.devnull, os.O_RDONLY), 0), (printed, 1), (printed, 2)):
            os.dup2(fd, into)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")  # where memory runs out, this process is the first to go
        if not whole:
            os.set_inheritable(channel, True)
            os.execv(sys.executable, [sys.executable, "-P", "-m", MODULE, "work", str(channel)])
        work(socket.socket(fileno=channel))
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        # Threads and atexit handlers of the audited code, and of a compiler that hangs while it is unloaded, end here.
        os._exit(1)


def work(channel: socket.socket) -> None:
    """Climb the rungs of the job's tasks in order, with a line before and after each; ends the process."""
    from pallas_course.evidence import compiled, rungs, target
    from pallas_course.evidence.case import Case
    from pallas_course.evidence.verdict import FAIL, PASS, Misuse, Verdict

    os.set_inheritable(channel.fileno(), False)
    sys.dont_write_bytecode = True  # nothing is left in the folder of the audited file
    job = json.loads(channel.makefile().readline())
    os.environ.update(job["environment"])

    def say(**fields: Any) -> None:
        channel.sendall(json.dumps(fields).encode() + b"\n")

    def failed(error: BaseException, rung: str, spec: dict[str, Any]) -> Verdict:
        found = target.blame(error, "trace", spec["target"].get("file", ""))
        return Verdict(rung, FAIL, reason=f"{found.code}: {found.message}", findings=(found,))

    cases: dict[str, Case | Verdict] = {}
    for task in job["tasks"]:
        say(begin=task["id"])
        spec, rung, chip = job["cases"][task["case"]], task["rung"], task["chip"]
        misuse = None
        if rung == "load":
            verdict = Verdict(rung, PASS)
            try:
                target.usable(spec)
            except Misuse as error:
                misuse = [error.wrong, error.do]
            except BaseException as error:  # noqa: BLE001
                verdict = failed(error, rung, spec)
        else:
            if task["case"] not in cases:
                try:
                    cases[task["case"]] = Case(spec, lambda stage: say(stage=stage))
                except BaseException as error:  # noqa: BLE001
                    cases[task["case"]] = failed(error, rung, spec)
            case = cases[task["case"]]
            say(stage="")
            run = compiled.measure if rung == compiled.RUNG else partial(rungs.climb, rung=rung)
            verdict = case if isinstance(case, Verdict) else run(case, chip=chip)
            if isinstance(case, Case):
                verdict = dataclasses.replace(verdict, dtype=case.dtypes)
        say(end=task["id"], verdict=verdict.as_json(), versions=versions.installed(), misuse=misuse)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    {"start": start, "work": work}[sys.argv[1]](socket.socket(fileno=int(sys.argv[2])))
