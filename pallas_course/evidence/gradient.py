"""The gradient of a function as a function of its own, and whether it is the slope of what it differentiates."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from pallas_course.evidence import chips, mode, target
from pallas_course.evidence.verdict import Finding

if TYPE_CHECKING:
    from pallas_course.evidence.case import Case


class NoGradient(Exception):
    """Why a function has none to check."""


def _floats(arrays: list[Any]) -> list[int]:
    return [place for place, array in enumerate(arrays) if jnp.issubdtype(array.dtype, np.floating)]


def _weighed(outputs: Any) -> Any:
    """One number from all float outputs: each element times a fixed weight between -1 and 1, in float32 or wider."""
    total: Any = None
    for place, leaf in enumerate(map(jnp.asarray, jax.tree.leaves(outputs))):
        if jnp.issubdtype(leaf.dtype, np.floating):
            weights = target.values(f"weight {place}", "float32", leaf.shape) / 4
            part = jnp.sum(leaf.astype(jnp.promote_types(leaf.dtype, jnp.float32)) * weights)
            total = part if total is None else total + part
    if total is None:
        raise NoGradient("the function returns no float array, so it has no gradient")
    return total


def of(function: Callable[..., Any], arrays: list[np.ndarray]) -> Callable[..., Any]:
    """A weighted sum of the function's float outputs, and its gradient by every float argument.

    The sum keeps the function's own kernels in the program, as training does, where the gradient needs none of them.
    It raises NoGradient where there is no such argument or output.
    """
    both = jax.value_and_grad(lambda *args: _weighed(function(*args)), argnums=tuple(_floats(arrays)))

    def call(*args: Any) -> Any:
        if not _floats(arrays):
            raise NoGradient("the function takes no float array, so it has no gradient")
        return both(*args)

    return call


def check(
    function: Callable[..., Any], arrays: list[np.ndarray], got: list[np.ndarray], case: "Case", told: list[np.ndarray]
) -> list[Finding]:
    """A finding for each argument whose gradient is not the slope between two points along a random direction.

    Gradients with elements that are ``told`` of have none.
    """
    found = []
    with chips.assumed(case.chip), mode.forced(True):
        value = jax.jit(lambda *args: _weighed(function(*args)))
        for output, (place, gradient) in enumerate(zip(_floats(arrays), got, strict=True)):
            if told and told[output].any():
                continue
            direction = np.sign(target.values(f"direction {place}", "float32", arrays[place].shape))
            wide = arrays[place].astype(np.float64)
            half = arrays[place].dtype.itemsize < 4
            step = 2**-3 if half else 2**-7
            ahead, behind = ([*arrays] for _ in range(2))
            ahead[place] = (wide + step * direction).astype(arrays[place].dtype)
            behind[place] = (wide - step * direction).astype(arrays[place].dtype)
            slope = (float(value(*ahead)) - float(value(*behind))) / (2 * step)
            stated = float(np.sum(gradient.astype(np.float64) * direction))
            scale = float(np.linalg.norm(gradient.astype(np.float64))) + 1e-3
            if not abs(slope - stated) <= (0.2 if half else 0.03) * max(scale, abs(slope)):
                message = f"{stated:.6g} along a random direction, where differences give {slope:.6g}"
                found.append(Finding("slope", message, f"gradient by argument {place}"))
    return found
