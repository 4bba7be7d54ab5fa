"""The simulated TPU: what is read and written when, and what comes of memory that nobody set."""

import contextlib
import io
import logging
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from jax.experimental.pallas import tpu as pltpu

from pallas_course.evidence import judge, limits, target
from pallas_course.evidence.case import Case, compare, unset
from pallas_course.evidence.traced import Kernel
from pallas_course.evidence.verdict import LEFT_OUT, NEVER_REACHED, NOT_RUN, Code, Finding, Verdict, failed
from pallas_course.kernels import versions

# Simulating costs about 2.4 ms a program, and looking for races grows faster than the number of programs.
MOST_SIMULATED, MOST_RACED = 2048, 256
SEEDS = (1, 2, 3)


def simulate(case: Case) -> Verdict:
    """Run on a simulated TPU: memory poisoned, bounds and races watched, axes shuffled, copies early and late."""
    kernels = case.kernels()
    if any(kernel.gpu for kernel in kernels):
        return Verdict("simulate", NOT_RUN, reason=limits.FOR_GPU)
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
    with _races(kernels) as races:
        base, reached = case.run(_params(raced, grid_point_recorder=record), ordered=True)
    if not reached:
        return failed("simulate", [Finding("no-kernel", NEVER_REACHED, case.file)])
    found += _race_findings(races)

    def tried(name: str, params: Any, code: Code, what: str, ordered: bool = True) -> None:
        if found:
            return
        runs.append(name)
        with _races(kernels) as races:
            other, _ = case.run(params, ordered=ordered)
        names = name, "the grid's own order"
        found.extend(_race_findings(races) or compare(case, other, base, code, what, names))

    early = None
    if any(kernel.copies for kernel in kernels) and not found:
        runs.append("copies as early as possible")
        with _races(kernels) as races:
            early, _ = case.run(_params(raced, dma_execution_mode="eager"), ordered=True)
        found += _race_findings(races)
    runs.append("uninitialised memory is zero")
    zero, _ = case.run(_params(False, uninitialized_memory="zero"), ordered=True)
    poison, zeros = [_poison(array.dtype) for array in base], [np.zeros((), array.dtype) for array in base]
    memory, told = unset(case, base, zero, poison, zeros)
    found += memory
    if not found:
        names = "copies as late as possible", "copies as early as possible"
        found += compare(case, base, early, "copies", "changes with when copies run", names)
    if any(kernel.parallel for kernel in kernels):
        for seed in SEEDS:
            shuffled = _params(False, random_seed=seed)
            what = "changes with the order of a parallel axis"
            tried(f"parallel axes in order {seed}", shuffled, "order", what, ordered=False)
        if raced:
            tried(
                "two cores", _params(True, num_cores_or_threads=2), "order", "changes with a second core", ordered=False
            )
    if len(found) == len(memory) and not case.spec.get("grad"):
        found += case.judged(base, told)
    if not found:
        names = "the simulated TPU", "interpret=True"
        found += compare(case, base, case.interpreted, "rungs", "differs from interpret=True", names, case.tolerance)
    if not raced:
        runs.append(f"{LEFT_OUT}races, since {programs} programs are more than {MOST_RACED}")
    return failed("simulate", found, runs=(*runs, *case.left_out))


def _poison(dtype: Any) -> Any:
    """What the simulator holds in memory that nobody set: NaN, or the largest integer."""
    return np.asarray(np.nan if judge.tolerance(dtype) else target.largest(dtype)).astype(dtype)


def _params(races: bool, **more: Any) -> Any:
    return pltpu.InterpretParams(detect_races=races, **(versions.races_are_printed() if races else {}), **more)


@contextlib.contextmanager
def _races(kernels: list[Kernel]) -> Iterator[list[str]]:
    """Collect what the simulator reports, whether it prints it (JAX 0.10.2) or logs it (0.12); what matters of it."""
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
        with contextlib.suppress(ValueError):  # the audited code may have closed it
            print(printed.getvalue(), end="")
        reports += re.split(r"(?=RACE DETECTED|^Semaphore )", printed.getvalue(), flags=re.MULTILINE)
        reports[:] = [report for report in reports if not _idle(report, kernels)]


def _idle(report: str, kernels: list[Kernel]) -> bool:
    """Whether a race is one of writes to an output that no kernel's caller reads.

    Cores that use one output as their scratch do that, as JAX's own splash attention does in 0.10. The simulator counts
    a kernel's arrays from 100: inputs without the prefetched ones, then outputs without those that are an input.
    """
    written = re.findall(r"^\s*write of \('hbm', (\d+)", report, re.MULTILINE)
    if len(written) != 2 or not kernels:
        return False
    place = int(written[0]) - 100
    for kernel in kernels:
        inputs = sum(window.role == "input" for window in kernel.windows)
        fresh = [at for at in range(len(kernel.windows) - inputs) if at not in dict(kernel.aliases).values()]
        if not 0 <= place - inputs < len(fresh) or fresh[place - inputs] not in kernel.unread:
            return False
    return True


def _race_findings(reports: list[str]) -> list[Finding]:
    """One finding for the first race, with the lines of both accesses, and one for a semaphore left above zero."""
    found = []
    if races := [report for report in reports if "RACE DETECTED" in report]:
        accesses = re.findall(r"^\s*(read|write) of (.*)$", races[0], re.MULTILINE)
        places = [re.search(r"[^\s,(:]+:\d+", rest.split("] from ")[-1]) for _, rest in accesses]
        told = [
            f"{kind} by {place[0] if place else 'a copy'}" for (kind, _), place in zip(accesses, places, strict=True)
        ]
        where = next((place[0] for place in places if place), "")
        found.append(Finding("race", f"no order between {' and '.join(told) or 'two accesses'}", where))
    if left := [report for report in reports if "non-zero count" in report]:
        count = left[0].rsplit(":", 1)[-1].strip()
        found.append(Finding("copies", f"a semaphore holds {count} when the kernel ends: something was not waited for"))
    return found
