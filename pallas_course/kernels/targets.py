"""Where a kernel runs: interpreted, in simulated TPU memory, or on an accelerator, and never quietly somewhere else."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, TypeVar, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from pallas_course.kernels.contract import Contract

Target = Literal["interpret", "simulate", "tpu", "gpu"]
Output = TypeVar("Output")

# The platforms a program of that target may be lowered for, and no other.
LOWERED_FOR = {"tpu": "tpu", "gpu": "cuda"}
REMEDIES = {
    "tpu": 'on a machine with a TPU, put the inputs on it and force no interpret mode; target="simulate" runs here',
    "gpu": 'lower it with jax.jit(...).trace(...).lower(lowering_platforms=("cuda",)); target="simulate" runs here',
    "time": "put the inputs on an accelerator, force no interpret mode and hand over a compiled kernel",
}
# What stands in a lowered program for a kernel; an interpreted kernel leaves a loop and none of these.
KERNEL_CALLS = ("tpu_custom_call", "__gpu$xla.gpu.triton", "mosaic_gpu")


class TargetRefused(RuntimeError):
    """A call would not have run where it was asked to.

    ``reasons`` holds every obstacle, not the first alone, each beginning with its name: "no TPU backend",
    "input placed elsewhere", "forced interpret mode"; for a time also "interpreted kernel", for a GPU "lowered only".
    """

    def __init__(self, request: str, reasons: list[str]) -> None:
        self.reasons = tuple(reasons)
        what = "a time" if request == "time" else f'target="{request}"'
        super().__init__(f"{what} is refused: {'; '.join(reasons)}\nnext: {REMEDIES[request]}")


def targeted(kernel: Callable[..., Output]) -> Callable[..., Output]:
    """Return ``kernel``, which takes ``interpret=``, as a function that takes ``target="interpret"`` in its place.

    It decorates a kernel's wrapper, and serves from outside for one that is left as it stands:
    ``targeted(blocked_axpy)(x, y, (8, 128), target="tpu")``. Under jit, ``target`` is a static argument.

    "interpret"  the grid as a loop on the default device
    "simulate"   simulated TPU memory on the CPU, with race detection (JAX 0.10 prints a race and does not raise)
    "tpu"        compiled for the TPU, or TargetRefused with every reason. Under a trace nothing is placed yet:
                 the call then lowers for TPU alone, and a run elsewhere fails with NotImplementedError
    "gpu"        the same for CUDA, under a trace only: no GPU has run these kernels

    Raises ValueError for another target; whatever ``kernel`` raises passes through.
    """
    signature = inspect.signature(kernel)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "interpret"]
    added = inspect.Parameter("target", inspect.Parameter.KEYWORD_ONLY, default="interpret", annotation=Target)
    shown = signature.replace(parameters=[*parameters, added])

    @functools.wraps(kernel)
    def call(*args: Any, target: Target = "interpret", **kwargs: Any) -> Output:
        if target not in get_args(Target):
            raise ValueError(f"target must be one of {', '.join(get_args(Target))}; got {target!r}")
        if target == "interpret":
            return kernel(*args, **kwargs, interpret=True)
        if target == "simulate":
            return kernel(*args, **kwargs, interpret=pltpu.InterpretParams(detect_races=True))
        inputs = shown.bind(*args, **kwargs).arguments
        launch = functools.partial(kernel, *args, **kwargs, interpret=False)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(inputs)):
            _refuse(target, _forced())
            # interpret=False alone would also lower for whatever other accelerator the caller's jit runs on.
            lowered: Output = jax.lax.platform_dependent(**{LOWERED_FOR[target]: launch})
            return lowered
        not_yet = ["lowered only (no GPU has run these kernels)"] if target == "gpu" else []
        _refuse(target, not_yet + _unplaced((target,), inputs) + _forced())
        return launch()

    call.__signature__ = shown  # type: ignore[attr-defined]
    return call


@dataclass(frozen=True)
class Samples:
    """Seconds of one program: to trace, lower and compile it once; then of each run, in the order they were taken."""

    compile_seconds: float
    run_seconds: tuple[float, ...]


@dataclass(frozen=True)
class Timing:
    """A kernel and its baseline, timed on the same inputs and the same device (its kind, as JAX names it)."""

    device: str
    kernel: Samples
    baseline: Samples


def time_on_accelerator(
    kernel: Callable[..., jax.Array],
    baseline: Callable[..., jax.Array],
    contract: Contract,
    *arrays: jax.Array | np.ndarray,
    warmups: int = 3,
    repeats: int = 30,
) -> Timing:
    """Time ``kernel`` and ``baseline`` on the accelerator that holds ``arrays``, and return every sample.

    Both must first meet ``contract`` on these arrays. Compilation is timed apart. After ``warmups`` runs of each come
    ``repeats`` samples of each, taken in turn so that a drift meets both. A sample lasts from the launch in Python
    until the result is ready.

    Raises TargetRefused without an accelerator, for arrays that are not on one, under a forced interpret mode and for
    an interpreted kernel; ValueError when a result breaks the contract: a wrong answer has no time.
    """
    inputs = [jnp.asarray(array) for array in arrays]
    named = {f"input {place}": array for place, array in enumerate(inputs)}
    _refuse("time", _unplaced(("tpu", "gpu"), named) + _forced())
    want = contract.oracle(*map(np.asarray, inputs))
    programs: list[jax.stages.Compiled] = []
    compile_seconds: list[float] = []
    for role, function in (("kernel", kernel), ("baseline", baseline)):
        start = perf_counter()
        lowered = jax.jit(function).lower(*inputs)
        programs.append(lowered.compile())
        compile_seconds.append(perf_counter() - start)
        if role == "kernel" and not _holds_a_kernel(lowered.as_text()):
            _refuse("time", ["interpreted kernel (the program holds no call of a compiled one)"])
        wrong = contract.differs(np.asarray(programs[-1](*inputs)), want)
        if wrong.any():
            raise ValueError(f"the {role} breaks the contract {contract.name}: {wrong.sum()} of {wrong.size} elements")
    for program in programs * warmups:
        program(*inputs).block_until_ready()
    run_seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for program, seconds in zip(programs, run_seconds, strict=True):
            start = perf_counter()
            program(*inputs).block_until_ready()
            seconds.append(perf_counter() - start)
    (device, *_) = inputs[0].devices()
    return Timing(
        device.device_kind,
        Samples(compile_seconds[0], tuple(run_seconds[0])),
        Samples(compile_seconds[1], tuple(run_seconds[1])),
    )


def _refuse(request: str, reasons: list[str]) -> None:
    if reasons:
        raise TargetRefused(request, reasons)


def _unplaced(platforms: tuple[str, ...], inputs: dict[str, Any]) -> list[str]:
    """What keeps a call on these concrete inputs from running on a device of these platforms."""
    reasons = []
    if not any(map(_has_backend, platforms)):
        names = " or ".join(platform.upper() for platform in platforms)
        reasons.append(f"no {names} backend (JAX runs on {jax.default_backend()} here)")
    strays = []
    for path, leaf in jax.tree.leaves_with_path(inputs):
        if isinstance(leaf, (jax.Array, np.ndarray)):
            devices = sorted(f"{at.platform}:{at.id}" for at in _devices(leaf) if at.platform not in platforms)
            name = jax.tree_util.keystr(path[:1], simple=True) + jax.tree_util.keystr(path[1:])
            strays += [f"{name} is on {device}" for device in devices]
    if strays:
        reasons.append(f"input placed elsewhere ({', '.join(strays)})")
    return reasons


def _forced() -> list[str]:
    forced = _interpretation_is_forced()
    return ["forced interpret mode (JAX would interpret every kernel traced now)"] if forced else []


def _has_backend(platform: str) -> bool:
    try:
        return bool(jax.devices(platform))
    except RuntimeError:
        return False


def _devices(array: jax.Array | np.ndarray) -> set[jax.Device]:
    if isinstance(array, jax.Array):
        return array.devices()
    # A NumPy array will be put where JAX puts everything that names no device.
    with jax.ensure_compile_time_eval():
        return jnp.zeros(()).devices()


def _holds_a_kernel(program: str) -> bool:
    return any(name in program for name in KERNEL_CALLS)


def _interpretation_is_forced() -> bool:
    """Whether a kernel that asks for no interpretation gets it all the same.

    JAX has public ways to force the mode and none to ask for it, so a kernel is traced and looked at. The name of the
    parameter is JAX's own, the same in 0.10 and 0.12.
    """
    probe = pl.pallas_call(lambda ref: None, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), interpret=False)
    (launch,) = jax.make_jaxpr(probe)().eqns
    return bool(launch.params["interpret"])
