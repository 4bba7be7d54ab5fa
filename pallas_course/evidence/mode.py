"""The mode of every Pallas call in code that knows nothing of it: interpreted, simulated, or left to a compiler."""

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax._src import config, source_info_util
from jax._src.lax.control_flow.conditionals import platform_index_p
from jax._src.pallas import primitives
from jax.experimental.pallas import tpu as pltpu

from pallas_course.kernels import versions

# Private: JAX has no argument for it.
_FILL: Any = primitives.uninitialized_value
# Private: a place in the user's code is what an error or a race report should name, never this file.
source_info_util.register_exclusion(__file__)


@dataclass(frozen=True)
class Reached:
    """One Pallas call on its way into a program: the mode it asked for, and whether code around it forced one."""

    primitive: str
    own: Any
    inside: bool


def fill(dtype: Any, *, again: bool = False) -> Any:
    """What memory that nobody set holds under ``interpret=True``: NaN, the smallest integer, False.

    With ``again``, what it holds within ``forced(True, refilled=True)``: another value, but for int16, in which JAX
    counts semaphores.
    """
    if not again or dtype == np.int16 or not isinstance(dtype, np.dtype):
        return _FILL((), dtype)
    largest = dtype == np.bool_ or jax.numpy.issubdtype(dtype, np.unsignedinteger)
    return np.array(-1 if largest else 0).astype(dtype)


@contextlib.contextmanager
def forced(
    interpret: Any,
    *,
    gpu: bool = False,
    ordered: bool = False,
    refilled: bool = False,
    vmem_limit: int | None = None,
) -> Iterator[list[Reached]]:
    """Within, each ``pallas_call``, ``pl.kernel`` and ``core_map`` runs as if ``interpret`` had been its argument.

    ``interpret`` is what Pallas takes: False for a compiler, True, or ``pltpu.InterpretParams``. It replaces an
    argument of the code's own, however the call was imported, and a forced interpret mode of JAX's; what is interpreted
    is the branch for accelerators, where jax.lax.platform_dependent has one. With ``gpu``, calls that name no GPU
    backend are sent to Triton; with ``ordered``, no grid axis counts as parallel; with ``refilled``, memory that nobody
    set holds other values under ``interpret=True``; ``vmem_limit`` replaces the bytes of VMEM that a call may use.
    Yields a list that grows by each call reached.

    What was traced in another mode is forgotten, before and after. One thread at a time.
    """
    reached: list[Reached] = []
    calls = versions.call_primitives()

    def replaced(primitive: Any) -> Any:
        bind = type(primitive).bind

        def with_mode(*args: Any, **params: Any) -> Any:
            inside = config.pallas_tpu_interpret_mode_context_manager.value is not None
            reached.append(Reached(primitive.name, params["interpret"], inside))
            params["interpret"] = interpret
            params.pop("kernel_arg_transforms", None)  # of JAX's simulated GPU, which no rung uses
            if gpu and primitive.name == "pallas_call" and not versions.lowers_for_gpu(params.get("compiler_params")):
                params["compiler_params"] = versions.triton_params()
            if ordered and getattr(params.get("compiler_params"), "dimension_semantics", None):
                params["compiler_params"] = dataclasses.replace(params["compiler_params"], dimension_semantics=None)
            if vmem_limit is not None:
                given = params.get("compiler_params") or pltpu.CompilerParams()
                params["compiler_params"] = dataclasses.replace(given, vmem_limit_bytes=vmem_limit)
            return bind(primitive, *args, **params)

        return with_mode

    jax.clear_caches()
    for primitive in calls:
        primitive.bind = replaced(primitive)
    if refilled:
        primitives.uninitialized_value = lambda shape, dtype: jax.numpy.full(shape, fill(dtype, again=True), dtype)
    if interpret is not False:
        platform_index_p.bind = _accelerators  # type: ignore[method-assign]
    try:
        yield reached
    finally:
        for primitive in calls:
            del primitive.bind
        primitives.uninitialized_value = _FILL
        vars(platform_index_p).pop("bind", None)
        jax.clear_caches()


def _accelerators(*, platforms: tuple[tuple[str, ...] | None, ...]) -> np.int32:
    """Which branch of jax.lax.platform_dependent to interpret: the TPU's, else a GPU's, else the default one."""
    for chosen in ("tpu", "cuda", "rocm"):
        for place, names in enumerate(platforms):
            if names and chosen in names:
                return np.int32(place)
    return np.int32(platforms.index(None) if None in platforms else 0)
