"""The rungs that need an accelerator: the values it gives, and how long it takes; in a process that may see one."""

from typing import Any

import jax
import numpy as np

from pallas_course.evidence import judge, mode
from pallas_course.evidence.case import Case, compare
from pallas_course.evidence.verdict import NOT_RUN, PASS, Finding, Verdict, failed
from pallas_course.kernels import targets
from pallas_course.kernels.contract import Contract, Tolerance


def device() -> tuple[Any, str]:
    """The first TPU or GPU that JAX finds, or None and what JAX says instead."""
    said = []
    for platform in ("tpu", "gpu"):
        try:
            return jax.devices(platform)[0], ""
        except RuntimeError as error:
            said.append(str(error).splitlines()[0][:200])
    return None, f"JAX starts no accelerator: {'; '.join(said)}"


def execute(case: Case, module: Any, chip: Any) -> Verdict:
    """Compile what was lowered for ``chip`` and run it there; compare with the oracle, else with ``interpret=True``."""
    case.stage = "compile"
    compiled = module.compile()
    case.stage = "execute"
    got = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(*jax.device_put(case.arrays, chip)))]
    found = [] if case.spec.get("grad") else case.judged(got)
    if case.left_out:
        names, what = (f"the {chip.device_kind}", "interpret=True"), "differs from interpret=True"
        found += compare(case, got, case.run(True)[0], "rungs", what, names, case.tolerance)
    return failed("execute", found, chip=chip.device_kind, runs=case.left_out)


def time(case: Case, chip: Any) -> Verdict:
    """Time the function and its oracle, compiled by JAX, on ``chip``; every sample is kept."""

    def left(reason: str) -> Verdict:
        return Verdict("time", NOT_RUN, chip=chip.device_kind, reason=reason)

    if not case.spec.get("oracle"):
        return left("a time says nothing without a baseline; give --oracle a function that JAX can trace")
    want, baseline = case.oracle(), case.oracle_on_arrays()
    try:
        outputs = jax.tree.leaves(jax.eval_shape(baseline, *case.shapes()))
    except Exception as error:  # noqa: BLE001
        return left(f"the oracle is no function that JAX can trace ({type(error).__name__}), so there is no baseline")
    if want is None or len(want) != 1 or len(outputs) != 1:
        return left("only a function of one result is timed")
    dtype = outputs[0].dtype
    exact = want[0].astype(dtype)
    rtol, atol = case.tolerance or judge.allowed(dtype, want[0])
    contract = Contract("the oracle's result", lambda *_: exact, (), (Tolerance(dtype.name, rtol, atol, ""),), ())
    with jax.default_device(chip), mode.forced(False, gpu=chip.platform == "gpu"):
        try:
            timed = targets.time_on_accelerator(_first(case.function), _first(baseline), contract, *case.arrays)
        except targets.TargetRefused as error:
            return left("; ".join(error.reasons))
        except ValueError as error:
            return failed("time", [Finding("wrong-values", str(error))], chip=chip.device_kind)
    seconds = {"kernel": timed.kernel, "baseline": timed.baseline}
    facts: dict[str, Any] = {f"{name}_seconds": samples.run_seconds for name, samples in seconds.items()}
    facts |= {f"{name}_compile_seconds": samples.compile_seconds for name, samples in seconds.items()}
    return Verdict("time", PASS, chip=timed.device, facts=facts)


def _first(function: Any) -> Any:
    return lambda *arrays: jax.tree.leaves(function(*arrays))[0]
