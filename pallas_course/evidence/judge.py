"""Where two results differ, in words: counts, the first element, its block and the program that owns it."""

from typing import Any

import jax
import numpy as np

from pallas_course.evidence.traced import Kernel, visits
from pallas_course.evidence.verdict import Code, Finding

# Per dtype, how far a right kernel may land from an oracle: relative to the element and to the result's own size.
RELATIVE = {
    "float64": 1e-10,
    "float32": 1e-4,
    "bfloat16": 2e-2,
    "float16": 4e-3,
    "complex64": 1e-4,
    "complex128": 1e-10,
}


def tolerance(dtype: Any) -> float:
    """The relative tolerance of a dtype; 0 for integers and booleans, an eighth for floats of one byte."""
    name = jax.numpy.dtype(dtype).name
    return RELATIVE.get(name, 0.125 if "float" in name else 0.0)


def differs(got: np.ndarray, want: np.ndarray, given: tuple[float, float] | None = None) -> np.ndarray:
    """True where ``got`` is out of tolerance of ``want``; NaN agrees with NaN alone. Both of one shape.

    The tolerance is ``rtol * abs(want) + atol`` as given, else from got's dtype, with atol = rtol * rms(want).
    """
    if not tolerance(got.dtype) and given is None:
        return np.asarray(got != want)
    wide = _wide(got, want)
    rtol, atol = given or allowed(got.dtype, want)
    return ~np.isclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol, equal_nan=True)


def allowed(dtype: Any, want: np.ndarray) -> tuple[float, float]:
    """The relative tolerance of a dtype, and the absolute one that follows from the size of what is wanted."""
    finite = np.abs(want.astype(_wide(want)))
    finite = finite[np.isfinite(finite)]
    largest = float(finite.max(initial=0))
    rms = largest * float(np.sqrt(np.mean((finite / largest) ** 2))) if largest else 0.0
    return tolerance(dtype), tolerance(dtype) * rms


def _wide(*arrays: np.ndarray) -> type:
    return np.complex128 if any(map(np.iscomplexobj, arrays)) else np.float64


def unequal(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """True where two arrays of one dtype and shape do not hold the same value; NaN equals NaN."""
    both_nan = np.asarray((left != left) & (right != right))
    differ: np.ndarray = np.asarray(left != right) & ~both_nan
    return differ


def describe(
    code: Code,
    what: str,
    mask: np.ndarray,
    output: int,
    kernels: list[Kernel],
    got: np.ndarray,
    want: np.ndarray | None = None,
    wants: str = "",
) -> Finding:
    """A finding for the elements of one output where ``mask`` holds (at least one); ``wants`` is where want came from.

    Its region is the smallest box with every such element of the first wrong block; of all, where blocks are unknown.
    """
    places = np.argwhere(mask)
    first = tuple(int(i) for i in places[0]) if mask.ndim else ()
    region = tuple((int(low), int(high) + 1) for low, high in zip(places.min(0), places.max(0), strict=True))
    nans = int(np.sum(mask & (got != got)))
    parts = [f"{what} in {mask.sum():,} of {mask.size:,} elements"]
    if nans and code != "unwritten":
        parts.append(f"{nans:,} of them NaN")
    against = f": {_number(got[first])} where {wants} gives {_number(want[first])}" if want is not None else ""
    parts.append(f"first at {_index(first)}{against}")
    where = f"output {output}, elements {_slices(region)}" if mask.ndim else f"output {output}"
    owner, block = _owner(first, got.shape, kernels)
    if owner:
        where += f"; {owner}"
    if block:
        inside = places[np.all((places >= [low for low, _ in block]) & (places < [high for _, high in block]), axis=1)]
        region = tuple((int(low), int(high) + 1) for low, high in zip(inside.min(0), inside.max(0), strict=True))
    return Finding(code, ", ".join(parts), where, region if mask.ndim else (), output, mask.shape)


def _owner(
    element: tuple[int, ...], shape: tuple[int, ...], kernels: list[Kernel]
) -> tuple[str, list[tuple[int, int]]]:
    """Which block holds an element and which programs visit it, where one kernel's output has the result's shape.

    Also the block's bounds on each axis.
    """
    for kernel in kernels:
        for window in kernel.windows:
            if window.role != "output" or window.shape != shape or kernel.grid is None:
                continue
            block = tuple(i // size for i, size in zip(element, window.block, strict=True))
            bounds = [(at * size, (at + 1) * size) for at, size in zip(block, window.block, strict=True)]
            starts = visits(kernel, window)
            if starts is None:
                return f"block {block}", bounds
            inside = np.all((starts <= element) & (np.array(element) < starts + np.array(window.block)), axis=1)
            programs = [tuple(int(i) for i in np.unravel_index(p, kernel.grid)) for p in np.flatnonzero(inside)[:3]]
            if not programs:
                return f"block {block}, which no program owns", bounds
            more = f" and {int(inside.sum()) - 3} more" if inside.sum() > 3 else ""
            return f"block {block}, of program {', '.join(map(str, programs))}{more}", bounds
    return "", []


def _number(value: Any) -> str:
    number = complex(value)
    if number.imag:
        return f"{number:.6g}"
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    return f"{number.real:.6g}"


def _index(first: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, first))}]"


def _slices(region: tuple[tuple[int, int], ...]) -> str:
    return f"[{', '.join(str(low) if high == low + 1 else f'{low}:{high}' for low, high in region)}]"
