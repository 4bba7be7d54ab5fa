"""Runs jobs in worker processes, two at a time or as many as there are cores, each task with a time limit."""

import contextlib
import dataclasses
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pallas_course.evidence import chips, compiled
from pallas_course.evidence.verdict import FAIL, Finding, Verdict, from_json

KEPT = 16_000  # characters of what a worker prints
ROOT = Path(__file__).resolve().parents[2]
# Where this machine keeps the course and its packages, and addresses: nothing a verdict should hold.
_PLACES = re.compile(rf"{re.escape(str(ROOT))}{os.sep}|/\S*?site-packages/| at 0x[0-9a-f]+")


@dataclass(frozen=True)
class Task:
    """One rung on one case; ``chip`` is assumed where none is compiled for."""

    case: str
    rung: str
    chip: str = "v5e"

    @property
    def id(self) -> str:
        """Unique in a job."""
        return f"{self.case}|{self.rung}|{self.chip}"


@dataclass
class Done:
    """A task's verdict, the versions it was made with and what the worker printed last."""

    task: Task
    verdict: Verdict
    versions: dict[str, str] = field(default_factory=dict)
    loading: bool = False


def run(
    cases: dict[str, dict[str, Any]],
    jobs: list[list[Task]],
    limit: float,
    told: Callable[[Done], None] = lambda done: None,
) -> list[Done]:
    """The verdicts of every job's tasks. A job is one process; it is started again after a task that ended it.

    What ends its process while it is loaded would do so each time: it is not tried again, and its other tasks get the
    same verdict.
    """
    unloadable: dict[str, Verdict] = {}

    def job(tasks: list[Task]) -> list[Done]:
        finished: list[Done] = []
        left = list(tasks)
        while left:
            target = json.dumps(cases[left[0].case]["target"])
            if target in unloadable:
                results = iter([Done(left[0], _named(unloadable[target], left[0]))])
            else:
                results = _process(cases, left, limit)
            for done in results:
                if done.loading:
                    unloadable[json.dumps(cases[done.task.case]["target"])] = done.verdict
                left.remove(done.task)
                finished.append(done)
                told(done)
        return finished

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        return [done for finished in pool.map(job, jobs) for done in finished]


def _process(cases: dict[str, dict[str, Any]], tasks: list[Task], limit: float) -> Iterator[Done]:
    """Run one worker; yields what it finished, and for the task it died or hung on what became of it."""
    environment = chips.environment()
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
    if not any(task.rung == compiled.RUNG for task in tasks):
        yield from _worker(cases, tasks, limit, environment)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from _worker(cases, tasks, limit, environment | compiled.environment(folder))


def _worker(
    cases: dict[str, dict[str, Any]], tasks: list[Task], limit: float, environment: dict[str, str]
) -> Iterator[Done]:
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "pallas_course.evidence.worker", str(writing)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(writing,),
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(writing)
        used = {task.case: cases[task.case] for task in tasks}
        job = {"cases": used, "tasks": [{"id": t.id, "case": t.case, "rung": t.rung, "chip": t.chip} for t in tasks]}
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job).encode())
            process.stdin.close()
        printed = _Tail(process.stdout)
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_pump, args=(reading, lines), daemon=True).start()
        named = {task.id: task for task in tasks}
        at, loading, clock = tasks[0], True, _Clock(process.pid, limit)
        try:
            while True:
                try:
                    line = lines.get(timeout=0.2)
                except queue.Empty:
                    if clock.over():
                        while_ = " while it was loaded" if loading else ""
                        yield Done(at, _stopped(at, "hang", f"no answer within {limit:g} s{while_}"), loading=loading)
                        return
                    continue
                if line is None:
                    break
                message = json.loads(line)
                if "begin" in message:
                    at, loading, clock = named[message["begin"]], True, _Clock(process.pid, limit)
                    continue
                if "loaded" in message:
                    loading = False
                    continue
                done = named.pop(message["end"])
                told = from_json(json.loads(_PLACES.sub("", json.dumps(message["verdict"]))))
                yield Done(done, _named(told, done), message["versions"])
                if not named:
                    return
            status = process.wait()
            code, what = _ended(status, printed.text())
            yield Done(at, _stopped(at, code, what), loading=loading)
        finally:
            # The worker's whole group: what the audited code started ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class _Clock:
    """A limit on the processor time of a process, and on the time it waits without using any.

    On a busy machine a process that gets on is left alone, up to ten times the limit. Where the system does not tell
    processor time (no /proc), the limit is on time alone.
    """

    def __init__(self, pid: int, limit: float) -> None:
        self._pid, self._limit = pid, limit
        self._began = self._moved = time.monotonic()
        self._first = self._last = self._spent()

    def _spent(self) -> float | None:
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def over(self) -> bool:
        """Whether the process is to be ended."""
        now, spent = time.monotonic(), self._spent()
        if spent is None or self._first is None or self._last is None:
            return now - self._began > self._limit
        if spent - self._last > 0.1:
            self._last, self._moved = spent, now
        if spent - self._first > self._limit or now - self._began > 10 * self._limit:
            return True
        return now - self._moved > self._limit


def _pump(reading: int, lines: "queue.Queue[str | None]") -> None:
    with os.fdopen(reading) as stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


class _Tail:
    """Drains a pipe for as long as it is open, keeping only its end."""

    def __init__(self, stream: Any) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, args=(stream,), daemon=True)
        self._thread.start()

    def _drain(self, stream: Any) -> None:
        with contextlib.suppress(ValueError, OSError):
            while chunk := stream.read1(65536):
                self._kept = (self._kept + chunk)[-KEPT:]

    def text(self) -> str:
        """What was kept, once the process has ended."""
        self._thread.join(1)
        return self._kept.decode(errors="replace")


def _ended(status: int, printed: str) -> tuple[str, str]:
    lines = [line for line in printed.splitlines() if line.strip()]
    fatal = next((line for line in lines if "Check fail" in line or line.startswith("F0") or "Fatal" in line), "")
    last = fatal or (lines[-1] if lines and status else "")
    said = f": {last.strip()[:200]}" if last else ""
    if status < 0:
        return "abort", f"the process was ended by {signal.Signals(-status).name}{said}"
    return "exit", f"the process ended itself with status {status}{said}"


def _stopped(task: Task, code: str, message: str) -> Verdict:
    finding = Finding(code, message)
    return _named(Verdict(task.rung, FAIL, reason=f"{code}: {message}", findings=(finding,)), task)


def _named(verdict: Verdict, task: Task) -> Verdict:
    chip = {"lower": chips.CHIPS[task.chip].platform, "compile": task.chip, compiled.RUNG: task.chip}.get(task.rung, "")
    return dataclasses.replace(verdict, rung=task.rung, case=task.case, chip=chip)
