"""The simulated TPU: what is read and written when, and what comes of memory that nobody set."""

import contextlib
import io
import logging
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from jax.experimental.pallas import tpu as pltpu

from pallas_course.evidence import judge, target
from pallas_course.evidence.case import Case, compare
from pallas_course.evidence.verdict import NOT_RUN, Finding, Verdict, failed
from pallas_course.kernels import versions

# Simulating costs about 2.4 ms a program, and looking for races grows faster than the number of programs.
MOST_SIMULATED, MOST_RACED = 2048, 160
SEEDS = (1, 2, 3)


def simulate(case: Case) -> Verdict:
    """Run on a simulated TPU: memory poisoned, bounds and races watched, axes shuffled, copies early and late."""
    kernels = case.kernels()
    programs = sum(kernel.programs or 1 for kernel in kernels)
    if programs > MOST_SIMULATED:
        reason = f"{programs} programs, and more than {MOST_SIMULATED} take too long to simulate"
        return Verdict("simulate", NOT_RUN, reason=reason)
    raced = programs <= MOST_RACED
    case.order = []

    def record(token: Any, point: Any, core: Any) -> Any:
        case.order.append(list(map(int, point)))
        return np.int32(0)

    runs, found = ["uninitialised memory is NaN"], []
    with _races() as races:
        base, reached = case.run(_params(raced, grid_point_recorder=record), ordered=True)
    if not reached:
        return failed("simulate", [Finding("no-kernel", "the function never reached a Pallas call", case.file)])
    found += _race_findings(races)

    def tried(name: str, params: Any, code: str, what: str, ordered: bool = True) -> None:
        if found:
            return
        runs.append(name)
        with _races() as races:
            other, _ = case.run(params, ordered=ordered)
        found.extend(_race_findings(races) or compare(case, other, code, what, base))

    early = None
    if any(kernel.copies for kernel in kernels) and not found:
        runs.append("copies as early as possible")
        with _races() as races:
            early, _ = case.run(_params(raced, dma_execution_mode="eager"), ordered=True)
        found += _race_findings(races)
    runs.append("uninitialised memory is zero")
    zero, _ = case.run(_params(False, uninitialized_memory="zero"), ordered=True)
    found += _poisoned(case, base, zero)
    if not found:
        found += compare(case, base, "copies", "changes with when copies run", early)
    if any(kernel.parallel for kernel in kernels):
        for seed in SEEDS:
            shuffled = _params(False, random_seed=seed)
            what = "changes with the order of a parallel axis"
            tried(f"parallel axes in order {seed}", shuffled, "order", what, ordered=False)
        if raced:
            tried(
                "two cores", _params(True, num_cores_or_threads=2), "order", "changes with a second core", ordered=False
            )
    if not found and not case.spec.get("grad"):
        found += compare(case, base, "wrong-values", "differs from the oracle", case.oracle(), case.tolerance)
    if not found:
        found += compare(case, base, "rungs", "differs from interpret=True", case.interpreted, case.tolerance)
    if not raced:
        runs.append(f"left out: races, since {programs} programs are more than {MOST_RACED}")
    return failed("simulate", found, runs=tuple(runs))


def _poisoned(case: Case, base: list[np.ndarray], zero: list[np.ndarray]) -> list[Finding]:
    """A finding for each output that changes when uninitialised memory holds zero, not NaN or the largest integer."""
    found = []
    for place, (left, right) in enumerate(zip(base, zero, strict=True)):
        if (mask := judge.unequal(left, right)).any():
            poison = left[mask] != left[mask] if tolerated(left) else left[mask] == target.largest(left.dtype)
            untouched = bool(np.all(poison)) and not np.any(right[mask])
            code, what = (
                ("unwritten", "is not written") if untouched else ("uninitialised", "depends on memory nobody set")
            )
            found.append(judge.describe(code, what, mask, place, case.kernels(), left, None))
    return found


def tolerated(array: np.ndarray) -> bool:
    """Whether an array's dtype has NaN, so that uninitialised memory shows as that."""
    return bool(judge.tolerance(array.dtype))


def _params(races: bool, **more: Any) -> Any:
    return pltpu.InterpretParams(detect_races=races, **(versions.races_are_printed() if races else {}), **more)


@contextlib.contextmanager
def _races() -> Iterator[list[str]]:
    """Collect what the simulator reports, whether it prints it (JAX 0.10.2) or logs it (0.12)."""
    reports: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            reports.append(record.getMessage())

    printed, handler = io.StringIO(), Keep()
    loggers = [logging.getLogger(), logging.getLogger("jax")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with contextlib.redirect_stdout(printed):
            yield reports
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        print(printed.getvalue(), end="")
        reports += re.split(r"(?=RACE DETECTED|^Semaphore )", printed.getvalue(), flags=re.MULTILINE)


def _race_findings(reports: list[str]) -> list[Finding]:
    """One finding for the first race, with the lines of both accesses, and one for a semaphore left above zero."""
    found = []
    if races := [report for report in reports if "RACE DETECTED" in report]:
        accesses = re.findall(r"^\s*(read|write) of (.*)$", races[0], re.MULTILINE)
        places = [re.search(r"[^\s,(:]+:\d+", rest.split("] from ")[-1]) for _, rest in accesses]
        told = [
            f"{kind} by {place[0] if place else 'the pipeline'}"
            for (kind, _), place in zip(accesses, places, strict=True)
        ]
        where = next((place[0] for place in places if place), "")
        found.append(Finding("race", f"no order between {' and '.join(told) or 'two accesses'}", where))
    if left := [report for report in reports if "non-zero count" in report]:
        count = left[0].rsplit(":", 1)[-1].strip()
        found.append(Finding("copies", f"a semaphore holds {count} when the kernel ends: something was not waited for"))
    return found
