"""One function on one set of arguments, as a worker process runs it."""

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from pallas_course.evidence import chips, gradient, judge, mode, target, traced
from pallas_course.evidence.verdict import Finding

# An oracle may compute wider than the kernel, and return what it computed.
WIDEST = (np.float64, np.int64, np.uint64, np.complex128)


class Case:
    """One function on one set of arguments: what the rungs share, each made when it is first needed."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.name: str = spec["name"]
        self.derived: bool = spec.get("derived", False)
        self.tolerance: tuple[float, float] | None = tuple(spec["tolerance"]) if spec.get("tolerance") else None
        function = target.load(spec["target"])
        args, kwargs = target.arguments(spec)
        leaves, tree = jax.tree.flatten((args, kwargs))
        self.arrays = [np.asarray(leaf) for leaf in leaves if target.is_array(leaf)]
        if any(array.dtype.itemsize == 8 and array.dtype.kind in "iuf" for array in self.arrays):
            jax.config.update("jax_enable_x64", True)
        self.leaves, self.tree = leaves, tree
        self.plain = lambda *arrays: function(*(c := self._call(arrays))[0], **c[1])
        self.function: Callable[..., Any] = gradient.of(self.plain, self.arrays) if spec.get("grad") else self.plain
        self.file: str = spec["target"].get("file", "")
        self.chip: str = spec.get("chip", "v5e")
        self.stage = "trace"  # what an error without a code of its own is called
        self.interpreted: list[np.ndarray] | None = None
        self._wanted: list[np.ndarray] | None = None
        self._kernels: list[traced.Kernel] | None = None
        self.compiled: Any = None  # the program that a compiler accepted last
        self.on_cpu = True  # whether a CPU would reach the kernels too
        self.order: list[list[int]] = []  # grid points as the simulator visited them, up to an error too
        self.stated = False  # whether a verdict already holds the kernels' static facts

    def _call(self, arrays: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = iter(arrays)
        leaves = [next(given) if target.is_array(leaf) else leaf for leaf in self.leaves]
        call: tuple[tuple[Any, ...], dict[str, Any]] = jax.tree.unflatten(self.tree, leaves)
        return call

    def oracle(self) -> list[np.ndarray] | None:
        """The oracle's results, or None without one; its precision and NaN are its own. Raises Found."""
        if self._wanted is None and (spec := self.spec.get("oracle")) and not self.spec.get("grad"):
            try:
                args, kwargs = self._call([array.copy() for array in self.arrays])
                if contract := self.spec.get("contract"):
                    stated = getattr(importlib.import_module(contract["module"]), contract["name"])
                    result = stated.oracle(*args)
                    allowed = stated.tolerance(self.arrays[0].dtype)
                    self.tolerance = (allowed.rtol, allowed.atol)
                else:
                    oracle = target.load(spec)
                    result = oracle(*args, **target.accepted(oracle, kwargs, self.spec.get("static", ())))
            except BaseException as error:
                raise target.Found(target.blame(error, "oracle", spec.get("file", ""))) from error
            self._wanted = [np.asarray(leaf) for leaf in jax.tree.leaves(result)]
        return self._wanted

    def shapes(self, sharding: Any = None) -> list[jax.ShapeDtypeStruct]:
        """The arguments without their values, placed where ``sharding`` says."""
        return [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding) for a in self.arrays]

    def trace(self, platform: str, sharding: Any = None) -> tuple[Any, list[traced.Kernel]]:
        """The traced program and its kernels on ``platform``; call it under a chip and a mode."""
        program = jax.jit(self.function).trace(*self.shapes(sharding))
        return program, traced.kernels(program.jaxpr, platform, self.arrays)

    def kernels(self) -> list[traced.Kernel]:
        """The kernels as a TPU would run them; empty where the function cannot be traced as a whole."""
        if self._kernels is None:
            self._kernels = []
            with chips.assumed(self.chip), mode.forced(False), contextlib.suppress(Exception):
                program, self._kernels = self.trace("tpu")
                self.on_cpu = bool(traced.kernels(program.jaxpr, "cpu"))
        return self._kernels

    def kernels_without_gradient(self) -> bool:
        """Whether the function itself, before it is differentiated, can be traced."""
        with chips.assumed(self.chip), mode.forced(False), contextlib.suppress(Exception):
            return bool(traced.kernels(jax.jit(self.plain).trace(*self.shapes()).jaxpr, "tpu"))
        return False

    def run(self, interpret: Any, *, ordered: bool = False) -> tuple[list[np.ndarray], list[mode.Reached]]:
        """The results in a mode, and the calls that were reached. Raises whatever the code raises."""
        with chips.assumed(self.chip), mode.forced(interpret, ordered=ordered) as reached:
            try:
                result = jax.jit(self.function)(*self.arrays)
            except (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError):
                result = self.function(*map(jax.numpy.asarray, self.arrays))
            return [np.asarray(leaf) for leaf in jax.tree.leaves(result)], reached


def _kind(array: np.ndarray) -> str:
    return "f" if array.dtype.kind == "V" else array.dtype.kind  # bfloat16 and its like


def compare(
    case: Case, got: list[np.ndarray], code: str, what: str, want: list[np.ndarray] | None, given: Any = None
) -> list[Finding]:
    """One finding per output that differs from what is wanted, or one for another shape or dtype."""
    if want is None:
        return []
    if len(got) != len(want):
        return [Finding("shape", f"{len(got)} outputs where {len(want)} are wanted")]
    found = []
    for place, (left, right) in enumerate(zip(got, want, strict=True)):
        same_kind = left.dtype == right.dtype or (right.dtype in WIDEST and _kind(left) == _kind(right))
        if left.shape != right.shape or not same_kind:
            found.append(
                Finding(
                    "shape",
                    f"{left.dtype}{list(left.shape)} where {right.dtype}{list(right.shape)} is wanted",
                    f"output {place}",
                )
            )
        elif (mask := judge.differs(left, right, given)).any():
            found.append(judge.describe(code, what, mask, place, case.kernels(), left, right))
    return found
