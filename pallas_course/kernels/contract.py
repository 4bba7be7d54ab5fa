"""What a kernel must compute, on which inputs and how closely: one statement for tests, lessons and every judge."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike


@dataclass(frozen=True)
class Tolerance:
    """How far from the oracle a right kernel may land in one dtype: ``atol + rtol * abs(oracle)``."""

    dtype: str
    rtol: float
    atol: float
    reason: str


@dataclass(frozen=True)
class Case:
    """One named set of input shapes, and why a kernel is tried on it."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    reason: str

    def inputs(self, dtype: DTypeLike) -> tuple[np.ndarray, ...]:
        """One array of ``dtype`` per shape, the same on every call.

        The values are a shuffle of evenly spaced numbers between -4 and 4: of both signs, in no symmetric order,
        far from overflow, and distinct (in bfloat16 up to 512 elements, which is as many as it tells apart).
        """
        return tuple(self._values(place, shape).astype(dtype) for place, shape in enumerate(self.shapes))

    def _values(self, place: int, shape: tuple[int, ...]) -> np.ndarray:
        size = int(np.prod(shape))
        order = np.random.default_rng([*self.name.encode(), place]).permutation(size)
        # The offset differs by input and is never a half: no two inputs alike, and no zero to hide a factor or a sign.
        return ((order + 1 / (place + 3)) * (8 / size) - 4).reshape(shape)


@dataclass(frozen=True)
class Contract:
    """The mathematics, the cases and the tolerances one kind of kernel is held to.

    ``oracle`` takes NumPy arrays, computes above the precision of its inputs, rounds once and returns the dtype and
    shape a kernel must return. Every case is tried in every dtype that has a tolerance, with every block of ``blocks``.
    """

    name: str
    oracle: Callable[..., np.ndarray]
    cases: tuple[Case, ...]
    tolerances: tuple[Tolerance, ...]
    blocks: tuple[tuple[int, ...], ...]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes a kernel must accept, by name."""
        return tuple(tolerance.dtype for tolerance in self.tolerances)

    def tolerance(self, dtype: DTypeLike) -> Tolerance:
        """The tolerance of ``dtype``; KeyError for a dtype outside the contract."""
        return {tolerance.dtype: tolerance for tolerance in self.tolerances}[np.dtype(dtype).name]

    def differs(self, got: np.ndarray, want: np.ndarray) -> np.ndarray:
        """True where ``got`` is out of tolerance of ``want`` or is NaN, element by element, in ``want``'s dtype.

        Raises ValueError when shape or dtype differ: such a result has no elements to compare.
        """
        if (got.shape, got.dtype) != (want.shape, want.dtype):
            raise ValueError(f"expected {want.dtype}{list(want.shape)}; got {got.dtype}{list(got.shape)}")
        allowed = self.tolerance(want.dtype)
        return ~np.isclose(got.astype(np.float64), want.astype(np.float64), rtol=allowed.rtol, atol=allowed.atol)
