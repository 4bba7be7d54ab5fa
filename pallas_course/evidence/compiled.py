"""What a compile says besides yes: the fast memory a kernel needs, and the bundles scheduled for it. Never a time."""

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pallas_course.evidence import bundles, chips
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, Verdict

if TYPE_CHECKING:
    from pallas_course.evidence.case import Case
    from pallas_course.evidence.pool import Done

RUNG = "facts"
"""What a task is called that follows a compile in its process. No rung of its own: its facts join the compile's."""
FOLDER = "PALLAS_COURSE_DUMPS"
"""The variable that names the folder into which libtpu writes, in a process that has such a task."""
GRAIN = 1 << 10
PATIENCE = 3.0  # seconds of a compile beyond which it is not repeated, about seven times, to find what it needs
MOST = 4_000_000  # bundles: about six seconds of counting


def environment(folder: str) -> dict[str, str]:
    """What a process needs that has such a task: nothing where this machine's libtpu writes what no rule reads."""
    readable = chips.missing("v5e") is None and not bundles.unread("v5e")
    return {FOLDER: folder, **bundles.dumping(folder)} if readable else {}


def measure(case: "Case", chip: str) -> Verdict:
    """The static facts of the case compiled last: of its kernels, ``vmem_need_bytes``, ``bundles``, ``slots`` (share in
    use), ``copied_bytes`` (between HBM and VMEM); under ``left_out`` what is not known, with the reason.
    """
    if case.compiled is None:
        return Verdict(RUNG, NOT_RUN, chip=chip, reason="it was not compiled")
    known: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, find in (("bundles", _scheduled), ("vmem_need_bytes", _need)):
        try:
            known |= find(case, chip)
        except bundles.Unreadable as error:
            left_out[name] = str(error)
        except Exception as error:  # noqa: BLE001  whatever a compiler or its text does beyond the rules
            left_out[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
    return Verdict(RUNG, PASS, chip=chip, facts=known | ({"left_out": left_out} if left_out else {}))


def joined(done: Iterable["Done"]) -> list[Verdict]:
    """The verdicts, where each compile has the facts of the task that followed it."""
    done = list(done)
    found = {(item.task.case, item.task.chip): item.verdict for item in done if item.task.rung == RUNG}
    verdicts = []
    for item in done:
        verdict, more = item.verdict, found.get((item.task.case, item.task.chip))
        if item.task.rung == "compile" and verdict.status == PASS and more is not None:
            # The process hung or died over it: the compile was through by then.
            lost = {"left_out": dict.fromkeys(("bundles", "vmem_need_bytes"), more.reason)}
            verdict = replace(verdict, facts=verdict.facts | (lost if more.status == FAIL else more.facts))
        if item.task.rung != RUNG:
            verdicts.append(verdict)
    return verdicts


def _scheduled(case: "Case", chip: str) -> dict[str, Any]:
    if reason := bundles.unread(chip):
        raise bundles.Unreadable(reason)
    program = str(case.compiled.as_text())
    calls = _kernel_calls(program)
    if set(calls) != set(_kernel_calls(program[program.index("\nENTRY ") :].partition("\n}")[0])):
        raise bundles.Unreadable("a kernel stands in a loop or a branch of the program around it")
    issued = bundles.programs(Path(os.environ[FOLDER]), chip, set(calls), MOST)
    if set(issued) != set(calls) or not calls:
        raise bundles.Unreadable("the compiler wrote no bundles for it")
    whole = bundles.together(issued.values())
    return {"bundles": whole.bundles, "slots": whole.used, "copied_bytes": whole.outside}


def _kernel_calls(program: str) -> list[str]:
    return re.findall(
        r'^ *(?:ROOT )?%([\w.-]+) = .* custom-call\(.*custom_call_target="tpu_custom_call"', program, re.M
    )


def _need(case: "Case", chip: str) -> dict[str, Any]:
    """The smallest ``vmem_limit_bytes`` that the compiler accepts; of several kernels, what the largest needs."""
    from pallas_course.evidence.rungs import lowered

    place = chips.sharding(chip)

    def refused(limit: int) -> float | None:
        began = time.process_time()
        program = lowered(case, chip, place, vmem_limit=limit)[1]
        try:
            with chips.assumed(chip):
                program.compile()
        except Exception as error:
            if "E1001" not in str(error):
                raise
            return _stated(str(error))
        finally:
            if (took := time.process_time() - began) > PATIENCE:
                raise bundles.Unreadable(
                    f"one compile takes {took:.1f} s, and it is repeated only below {PATIENCE:g} s"
                )
        return None

    given = [kernel.vmem_limit for kernel in case.kernels() if kernel.vmem_limit]
    return {"vmem_need_bytes": least(refused, max(given, default=chips.TPUS[chip].scoped_vmem << 20))}


def least(refused: Callable[[int], float | None], accepted: int) -> int:
    """The smallest limit in whole KiB that is accepted, where ``accepted`` bytes are.

    ``refused`` gives None for a limit that is accepted, else the need the compiler states: about, or 0 for unknown.
    Every bound was tried, so that a wrong statement costs compiles and no truth.
    """
    low, high = 0, accepted

    def ask(limit: int) -> float:
        nonlocal low, high
        stated = 0.0
        if low < limit < high:
            if (told := refused(limit)) is None:
                high = limit
            else:
                low, stated = limit, told
        return stated

    about = ask(GRAIN)
    for guess in (about * 1.005, about * 0.995):  # it is stated with three digits
        ask(int(guess) // GRAIN * GRAIN + GRAIN * (guess > about))
    while high - low > GRAIN:
        ask((low + high) // 2 // GRAIN * GRAIN)
    return high


def _stated(message: str) -> float:
    found = re.search(r"size ([\d.]+)([KMG]?)", message)
    return float(found[1]) * 1024 ** " KMG".index(found[2] or " ") if found else 0.0
