"""The rungs, each for one case; runs inside a worker process."""

import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax._src import dispatch
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import SingleDeviceSharding

from pallas_course.evidence import chips, executed, facts, gradient, judge, limits, mode, signs, target, traced
from pallas_course.evidence.case import Case, compare, unset
from pallas_course.evidence.simulated import simulate
from pallas_course.evidence.verdict import FAIL, NEVER_REACHED, NOT_RUN, PASS, Finding, Verdict, failed


def interpret(case: Case) -> Verdict:
    """Run with ``interpret=True``; look for memory that nobody set, and compare with the oracle, where there is one."""
    (got, *others), reached = case.runs(True, signs.sets(case))
    if not reached:
        return failed("interpret", [Finding("no-kernel", NEVER_REACHED, case.file)])
    if limit := limits.of_mode(reached):
        return Verdict("interpret", NOT_RUN, reason=limit)
    case.interpreted = got
    found, told = _unset(case, got)
    if case.spec.get("grad"):
        found += gradient.check(case.plain, case.arrays, got, case, told)
    else:
        found += case.judged(got, told)
    found = found or signs.judged(case, others)
    found += _other_values(case, got)
    own = {"own_mode": True} if any(call.own or call.inside for call in reached) else {}
    return failed("interpret", found, runs=case.left_out, facts=own)


def _unset(case: Case, got: list[np.ndarray]) -> tuple[list[Finding], list[np.ndarray]]:
    """What shows the fill of memory that nobody set, and changes with it."""
    fills = [np.asarray(mode.fill(array.dtype)) for array in got]
    showing = [~judge.unequal(array, held) for array, held in zip(got, fills, strict=True)]
    if not any(shown.any() for shown in showing):
        return [], []
    again, _ = case.run(True, refilled=True)
    again = [np.where(shown, new, old) for shown, new, old in zip(showing, again, got, strict=True)]
    return unset(case, got, again, fills, [np.asarray(mode.fill(array.dtype, again=True)) for array in got])


def _other_values(case: Case, got: list[np.ndarray]) -> list[Finding]:
    """What changes with the values of a keyword that are to give the same, where no oracle judges each by itself."""
    found: list[Finding] = []
    first = case.spec.get("static", {})
    for static in case.spec.get("alternatives", ()) if not case.spec.get("oracle") else ():
        changed = [name for name in static if static[name] != first.get(name)]
        names = [", ".join(f"{n}={values.get(n, 'its default')}" for n in changed) for values in (static, first)]
        other, _ = Case({**case.spec, "static": static, "alternatives": ()}).run(True)
        what = f"with {names[0]} differs from {names[1]}"
        found += compare(case, other, got, "keyword", what, (names[0], names[1]), case.tolerance)
    return found


def lower(case: Case, chip: str) -> Verdict:
    """Lower for the chip's platform and see that each traced kernel's call is in the module."""
    return lowered(case, chip, None)[0]


def lowered(
    case: Case, chip: str, sharding: Any, vmem_limit: int | None = None, *, platform: str = ""
) -> tuple[Verdict, Any]:
    """The verdict of lowering and the lowered program, None where there is none; ``vmem_limit`` in bytes, for a TPU.

    With ``platform`` no chip is assumed: ``sharding`` names a device that is there.
    """
    where = contextlib.nullcontext() if platform else chips.assumed(chip)
    platform = platform or chips.CHIPS[chip].platform
    gpu = platform == "gpu"
    with where, mode.forced(False, gpu=gpu, vmem_limit=vmem_limit) as reached:
        case.stage = "trace"
        try:
            program, kernels = case.trace("cuda" if gpu else "tpu", sharding)
        except Exception as error:
            if not limits.reads_a_value(error):
                raise
            reason = f"the function reads a traced value ({type(error).__name__}), so it is no single program"
            return Verdict("lower", NOT_RUN, chip=platform, reason=reason), None
        if not gpu and any(kernel.gpu for kernel in kernels):
            return Verdict("lower", NOT_RUN, chip=platform, reason=limits.FOR_GPU), None
        if not kernels:
            what = "the program uses the result of no Pallas call" if reached else NEVER_REACHED
            return failed("lower", [Finding("no-kernel", what, case.file)], chip=platform), None
        if any(call.inside for call in reached):
            what = "the function forces JAX's interpret mode, so that a TPU would be handed no kernel"
            return failed("lower", [Finding("no-kernel", what, kernels[0].where)], chip=platform), None
        case.stage = "lowering"
        module = program.lower(lowering_platforms=("cuda" if gpu else "tpu",))
        lost = traced.absent(kernels, traced.custom_calls(module))
    found = [Finding("no-kernel", f"the module lowered for {platform} lacks the call of {', '.join(lost)}")]
    return failed("lower", found if lost else [], chip=platform), module


def compile_(case: Case, chip: str) -> Verdict:
    """Compile for a named chip by its own compiler; what it says of memory is kept."""
    sharding = chips.sharding(chip)
    lowering, module = lowered(case, chip, sharding)
    if lowering.status != PASS:
        return dataclasses.replace(lowering, rung="compile", chip=chip)
    case.stage = "compile"
    with chips.assumed(chip):
        case.compiled = module.compile()
    return Verdict("compile", PASS, chip=chip, facts=facts.of_compiled(case.compiled))


def on_accelerator(case: Case, rung: str) -> Verdict:
    """Execute, or time, on the accelerator that JAX finds."""
    device, reason = executed.device()
    if device is None:
        return Verdict(rung, NOT_RUN, reason=reason)
    if rung == "time":
        return executed.time(case, device)
    platform = "gpu" if device.platform == "gpu" else "tpu"
    lowering, module = lowered(case, "", SingleDeviceSharding(device), platform=platform)
    if lowering.status != PASS:
        return dataclasses.replace(lowering, rung=rung, chip=device.device_kind)
    return executed.execute(case, module, device)


def climb(case: Case, rung: str, chip: str) -> Verdict:
    """The verdict of one rung, where anything the code raises is a finding.

    What grids and index maps say of the kernels is in the facts of the first rung that needs no compiler.
    """
    verdict = _climb(case, rung, chip)
    if rung == "simulate" and case.order:
        verdict = dataclasses.replace(verdict, facts={**verdict.facts, "order": case.order[:512]})
    if rung == "compile" or case.stated or not case.kernels():
        return verdict
    case.stated = True
    return dataclasses.replace(verdict, facts=facts.of_kernels(case.kernels()) | verdict.facts)


def _climb(case: Case, rung: str, chip: str) -> Verdict:
    case.stage = "trace"
    try:
        if rung == "interpret":
            return interpret(case)
        if rung == "simulate":
            return simulate(case)
        if rung in ("execute", "time"):
            return on_accelerator(case, rung)
        return lower(case, chip) if rung == "lower" else compile_(case, chip)
    except BaseException as error:  # noqa: BLE001  the code under audit may raise anything
        _end_run()
        shown = chips.CHIPS[chip].platform if rung == "lower" else chip if rung == "compile" else ""
        if isinstance(error, gradient.NoGradient):
            return Verdict(rung, NOT_RUN, chip=shown, reason=str(error))
        found = target.blame(error, case.stage, case.file)
        limit = limits.of_interpreter(error, rung, found.code)
        if case.spec.get("grad") and found.code == "trace" and case.kernels_without_gradient():
            found = dataclasses.replace(found, code="gradient")
        if limit := limit or limits.of_devices(error):
            return Verdict(rung, NOT_RUN, chip=shown, reason=limit)
        if case.derived and _refused(error, case.file):
            return Verdict(rung, NOT_RUN, chip=shown, reason=f"the function refuses these shapes: {found.message}")
        return Verdict(rung, FAIL, chip=shown, reason=f"{found.code}: {found.message}", findings=(found,))


def _end_run() -> None:
    """End what is left of a run that raised, so that the next run does not raise its error again (seen on 0.10.2)."""
    with contextlib.suppress(Exception):
        jax.effects_barrier()
    dispatch.runtime_tokens.clear()  # private: the barrier keeps a token that holds an error
    pltpu.reset_tpu_interpret_mode_state()


def _refused(error: BaseException, file: str) -> bool:
    """Whether the code itself raised, in a statement of its own or of a kernel that JAX ships, before any other."""
    if not isinstance(error, (ValueError, TypeError, AssertionError, NotImplementedError)):
        return False
    last = limits.frames(error)[-1].filename
    return Path(last).is_relative_to(Path(file).parent) or "/pallas/ops/" in last
