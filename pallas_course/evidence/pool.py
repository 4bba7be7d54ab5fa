"""Runs jobs in worker processes, as many at a time as there are cores, each task with limits on time and memory."""

import dataclasses
import json
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from pallas_course.evidence import chips, compiled
from pallas_course.evidence.process import ROOT, Lost, Starter, Worker
from pallas_course.evidence.verdict import FAIL, Code, Finding, Verdict, from_json

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
    """A task's verdict, and the versions it was made with.

    ``misuse`` says what is wrong with the question, and what to do, where it has no answer. ``unloadable`` is set where
    loading the target ended the process.
    """

    task: Task
    verdict: Verdict
    versions: dict[str, str] = field(default_factory=dict)
    misuse: tuple[str, str] | None = None
    unloadable: bool = False


def run(
    cases: dict[str, dict[str, Any]],
    jobs: list[list[Task]],
    limit: float,
    told: Callable[[Done], None] = lambda done: None,
) -> list[Done]:
    """``Pool.run`` in a pool of its own."""
    with Pool() as pool:
        return pool.run(cases, jobs, limit, told)


class Pool:
    """Where jobs run; in ``environment``, by default that of a machine without accelerators."""

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self._environment = chips.environment() if environment is None else environment
        self._starting = threading.Lock()
        self._starter: Starter | None = None

    def __enter__(self) -> "Pool":
        self._starter = Starter(self._environment)
        return self

    def __exit__(self, *_: object) -> None:
        """End every worker; those of a run that was interrupted too."""
        starter, self._starter = self._starter, None
        if starter is not None:
            starter.close()

    def run(
        self,
        cases: dict[str, dict[str, Any]],
        jobs: list[list[Task]],
        limit: float,
        told: Callable[[Done], None] = lambda done: None,
    ) -> list[Done]:
        """The verdicts of every job's tasks. A job is one process; it is started again after a task that ended it.

        What ends its process while it is loaded would do so each time: it is not tried again, and its other tasks get
        the same verdict. Raises RuntimeError when no worker can be started.
        """
        unloadable: dict[str, Verdict] = {}

        def job(tasks: list[Task]) -> list[Done]:
            finished: list[Done] = []
            left = list(tasks)
            while left:
                target = json.dumps(cases[left[0].case]["target"])
                if target in unloadable:
                    results = iter([Done(left[0], named(unloadable[target], left[0]))])
                else:
                    results = self._process(cases, left, limit)
                for done in results:
                    if done.unloadable:
                        unloadable[json.dumps(cases[done.task.case]["target"])] = done.verdict
                    left.remove(done.task)
                    finished.append(done)
                    told(done)
            return finished

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        with ThreadPoolExecutor(cores) as threads:
            try:
                return [done for finished in threads.map(job, jobs) for done in finished]
            except BaseException:
                self.__exit__()  # workers still running end, and the threads that follow them
                threads.shutdown(cancel_futures=True)
                raise

    def _worker(self, job: dict[str, Any]) -> Worker:
        with self._starting:
            if self._starter is None:
                raise Lost("the pool was closed")
            try:
                return Worker(self._starter, job)
            except Lost:
                if self._starter is None:
                    raise
                # Ended by code whose parent it was; a second one has to live.
                self._starter.close()
                self._starter = Starter(self._environment)
                return Worker(self._starter, job)

    def _process(self, cases: dict[str, dict[str, Any]], tasks: list[Task], limit: float) -> Iterator[Done]:
        """Run one worker; yields what it finished, and for the task it died or hung on what became of it."""
        if not any(task.rung == compiled.RUNG for task in tasks):
            yield from self._followed(cases, tasks, limit, {})
            return
        with tempfile.TemporaryDirectory() as folder:
            yield from self._followed(cases, tasks, limit, compiled.environment(folder))

    def _followed(
        self, cases: dict[str, dict[str, Any]], tasks: list[Task], limit: float, environment: dict[str, str]
    ) -> Iterator[Done]:
        left = {task.id: task for task in tasks}
        worker = self._worker(
            {
                "cases": {task.case: cases[task.case] for task in tasks},
                "tasks": [dataclasses.asdict(task) | {"id": task.id} for task in tasks],
                "environment": environment,
            }
        )
        at, stage, watch = tasks[0], "load", worker.watch(limit)
        status, over = None, None
        try:
            while left and over is None:
                message = worker.heard(0 if status is not None else 0.1)
                if message is None:
                    if status is not None:
                        break
                    if (status := worker.status()) is None:
                        over = watch.over()
                    else:
                        worker.end()  # which reads what is still on its way
                elif "begin" in message:
                    at, stage, watch = left[message["begin"]], "load", worker.watch(limit)
                elif "stage" in message:
                    stage = message["stage"]
                else:
                    done = left.pop(message["end"])
                    told = from_json(json.loads(_PLACES.sub("", json.dumps(message["verdict"]))))
                    yield Done(done, named(told, done), message["versions"], message.get("misuse"))
        finally:
            worker.end()
        if left:
            ended: tuple[Code, str] = ("abort" if (status or 0) < 0 else "exit", worker.last_words(status or 0))
            yield Done(at, _stopped(at, stage, *(over or ended)), unloadable=stage == "load")


def _stopped(task: Task, stage: str, code: Code, message: str) -> Verdict:
    if stage == "load":
        message += " while it was loaded"
    elif stage:  # the oracle or the inputs: no fault of the kernel's
        code = "oracle" if stage == "oracle" else "inputs"
    finding = Finding(code, message)
    return named(Verdict(task.rung, FAIL, reason=f"{code}: {message}", findings=(finding,)), task)


def named(verdict: Verdict, task: Task) -> Verdict:
    """The verdict with the task's rung, case and, where that goes without running it, chip."""
    own = {"lower": chips.CHIPS[task.chip].platform, "compile": task.chip, compiled.RUNG: task.chip}
    chip = own.get(task.rung, verdict.chip)
    return dataclasses.replace(verdict, rung=task.rung, case=task.case, chip=chip)
