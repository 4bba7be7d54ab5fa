"""One function on one set of arguments, as a worker process runs it."""

import contextlib
import importlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np

from pallas_course.evidence import chips, gradient, judge, limits, mode, target, traced
from pallas_course.evidence.verdict import NO_ORACLE, Code, Finding

# An oracle may compute wider than the kernel, and return what it computed.
WIDEST = (np.float64, np.int64, np.uint64, np.complex128)
NUMBERS = (bool, int, float, complex)
# What the rungs rely on, whatever a file has set: the platform it is to run on, and NaN, by which memory shows.
SETTINGS = {
    "jax_platforms": os.environ.get("JAX_PLATFORMS"),
    "jax_platform_name": "",
    "jax_debug_nans": False,
    "jax_debug_infs": False,
    "jax_disable_jit": False,
    "jax_transfer_guard": "allow",
}


class Case:
    """One function on one set of arguments: what the rungs share, each made when it is first needed."""

    def __init__(self, spec: dict[str, Any], said: Callable[[str], None] = lambda stage: None) -> None:
        """Load the function and make its arguments; raises Found. ``said`` hears when other code than that runs."""
        self.spec, self._said = spec, said
        self.name: str = spec["name"]
        self.derived: bool = spec.get("derived", False)
        self.tolerance: tuple[float, float] | None = tuple(spec["tolerance"]) if spec.get("tolerance") else None
        function = target.load(spec["target"])
        if spec.get("inputs"):
            said("inputs")
        args, kwargs = target.arguments(spec, function)
        for name, value in SETTINGS.items():
            jax.config.update(name, value)
        leaves, tree = jax.tree.flatten((args, kwargs))
        self.arrays = [np.asarray(leaf) for leaf in leaves if target.is_array(leaf)]
        if any(array.dtype.itemsize == 8 and array.dtype.kind in "iuf" for array in self.arrays):
            jax.config.update("jax_enable_x64", True)
        self.leaves, self.tree = leaves, tree
        self.plain = lambda *arrays: self._arrays(function(*(c := self._call(arrays))[0], **c[1]))
        self.function: Callable[..., Any] = self.plain
        self.lowered: Callable[..., Any] = self.plain  # what a compiler is handed
        if spec.get("grad"):
            self.lowered = gradient.of(self.plain, self.arrays)
            self.function = lambda *arrays: self.lowered(*arrays)[1]
        self.dtypes = ", ".join(dict.fromkeys(str(array.dtype) for array in self.arrays))
        self.file: str = spec["target"].get("file", "")
        self.chip: str = spec.get("chip", "v5e")  # "" where a real one is there
        self.stage: Code = "trace"  # what an error without a code of its own is called
        self.interpreted: list[np.ndarray] | None = None
        self._wanted: list[np.ndarray] | None = None
        self._kernels: list[traced.Kernel] | None = None
        self.compiled: Any = None  # the program that a compiler accepted last
        self.order: list[list[int]] = []  # grid points as the simulator visited them, up to an error too
        self.stated = False  # whether a verdict already holds the kernels' static facts

    def _call(self, arrays: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = iter(arrays)
        leaves = [next(given) if target.is_array(leaf) else leaf for leaf in self.leaves]
        call: tuple[tuple[Any, ...], dict[str, Any]] = jax.tree.unflatten(self.tree, leaves)
        return call

    def _arrays(self, result: Any) -> Any:
        """What the function returned; raises Found where that is not made of arrays and numbers."""
        leaves = jax.tree.leaves(result)
        others = [
            type(leaf).__name__ for leaf in leaves if not isinstance(leaf, NUMBERS) and not hasattr(leaf, "dtype")
        ]
        if others or not leaves:
            raise target.Found(Finding("result", f"it returns {others[0] if others else 'nothing'}", self.file))
        return result

    def chip_assumed(self) -> AbstractContextManager[Any]:
        """The context in which Pallas takes the case's chip for the device."""
        return chips.assumed(self.chip) if self.chip else contextlib.nullcontext()

    def oracle(self) -> list[np.ndarray] | None:
        """The oracle's results, or None without one; its precision and NaN are its own. Raises Found."""
        if self._wanted is None and (spec := self.spec.get("oracle")) and not self.spec.get("grad"):
            self._said("oracle")
            try:
                if contract := self.spec.get("contract"):
                    stated = getattr(importlib.import_module(contract["module"]), contract["name"])
                    result = stated.oracle(*self._call([array.copy() for array in self.arrays])[0])
                    allowed = stated.tolerance(self.arrays[0].dtype)
                    self.tolerance = (allowed.rtol, allowed.atol)
                else:
                    result = self.oracle_on_arrays()(*[array.copy() for array in self.arrays])
            except BaseException as error:
                raise target.Found(target.blame(error, "oracle", spec.get("file", ""))) from error
            finally:
                self._said("")
            self._wanted = [np.asarray(leaf) for leaf in jax.tree.leaves(result)]
        return self._wanted

    def oracle_besides(self, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
        """The oracle's results for other values of the arrays, or None where it does not take them."""
        self._said("oracle")
        try:
            return [np.asarray(leaf) for leaf in jax.tree.leaves(self.oracle_on_arrays()(*arrays))]
        except Exception:  # noqa: BLE001
            return None
        finally:
            self._said("")

    def oracle_on_arrays(self) -> Callable[..., Any]:
        """The oracle as a function of the case's arrays; raises Found when it cannot be had."""
        oracle = target.load(self.spec["oracle"])

        def call(*arrays: Any) -> Any:
            args, kwargs = self._call(arrays)
            return oracle(*args, **target.accepted(oracle, kwargs, self.spec.get("static", ())))

        return call

    @property
    def left_out(self) -> tuple[str, ...]:
        """What a rung that runs the function says it left out, where nothing tells which values are wanted."""
        return () if self.spec.get("oracle") or self.spec.get("grad") else (NO_ORACLE,)

    def judged(self, got: list[np.ndarray], told: list[np.ndarray] | None = None) -> list[Finding]:
        """What differs from the oracle, besides elements already ``told`` of; what is wrong with the oracle itself."""
        try:
            want = self.oracle()
        except target.Found as error:
            return [error.finding]
        names = "the function", "the oracle"
        return compare(self, got, want, "wrong-values", "differs from the oracle", names, self.tolerance, told)

    def shapes(self, sharding: Any = None) -> list[jax.ShapeDtypeStruct]:
        """The arguments without their values, placed where ``sharding`` says."""
        return [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding) for a in self.arrays]

    def trace(self, platform: str, sharding: Any = None) -> tuple[Any, list[traced.Kernel]]:
        """The traced program and its kernels on ``platform``, those it uses; call it under a chip and a mode."""
        program = jax.jit(self.lowered).trace(*self.shapes(sharding))
        return program, traced.kernels(program.jaxpr, platform, self.arrays)

    def kernels(self) -> list[traced.Kernel]:
        """The kernels as a TPU would run them; empty where the function cannot be traced as a whole."""
        if self._kernels is None:
            self._kernels = []
            with self.chip_assumed(), mode.forced(False), contextlib.suppress(BaseException):
                self._kernels = self.trace("tpu")[1]
        return self._kernels

    def kernels_without_gradient(self) -> bool:
        """Whether the function itself, before it is differentiated, can be traced."""
        with self.chip_assumed(), mode.forced(False), contextlib.suppress(BaseException):
            return bool(traced.kernels(jax.jit(self.plain).trace(*self.shapes()).jaxpr, "tpu"))
        return False

    def run(self, interpret: Any, **how: bool) -> tuple[list[np.ndarray], list[mode.Reached]]:
        """The results in a mode, ``how`` as mode.forced takes it, and the calls that were reached.

        Raises whatever the code raises.
        """
        (got, *_), reached = self.runs(interpret, [], **how)
        return got, reached

    def runs(
        self, interpret: Any, besides: list[list[np.ndarray]], **how: bool
    ) -> tuple[list[list[np.ndarray]], list[mode.Reached]]:
        """As ``run``, and the results for other values of the arrays, as far as they raise nothing."""
        with self.chip_assumed(), mode.forced(interpret, **how) as reached, limits.origins():
            compiled = jax.jit(self.function)

            def results(arrays: list[np.ndarray]) -> list[np.ndarray]:
                try:
                    result = compiled(*arrays)
                except Exception as error:
                    if not limits.reads_a_value(error):
                        raise
                    result = self.function(*map(jax.numpy.asarray, arrays))
                return [np.asarray(leaf) for leaf in jax.tree.leaves(result)]

            found = [results(self.arrays)]
            with contextlib.suppress(Exception):
                found.extend(map(results, besides))
            return found, reached


def _kind(array: np.ndarray) -> str:
    return "f" if array.dtype.kind == "V" else array.dtype.kind  # bfloat16 and its like


def compare(
    case: Case,
    got: list[np.ndarray],
    want: list[np.ndarray] | None,
    code: Code,
    what: str,
    names: tuple[str, str],
    given: Any = None,
    told: list[np.ndarray] | None = None,
) -> list[Finding]:
    """One finding per output that differs from what is wanted, or one for other shapes or dtypes.

    ``names`` are those of both sides; elements that ``told`` marks are left out.
    """
    if want is None:
        return []
    if len(got) != len(want):
        return [Finding("shape", f"{names[0]} gives {_arrays(len(got))} and {names[1]} {_arrays(len(want))}")]
    found = []
    for place, (left, right) in enumerate(zip(got, want, strict=True)):
        same_kind = left.dtype == right.dtype or (right.dtype in WIDEST and _kind(left) == _kind(right))
        if left.shape != right.shape or not same_kind:
            both = [f"{name} gives {it.dtype}{list(it.shape)}" for name, it in zip(names, (left, right), strict=True)]
            found.append(Finding("shape", " and ".join(both), f"output {place}", output=place))
            continue
        mask = judge.differs(left, right, given)
        if told:
            mask = mask & ~told[place]
        if mask.any():
            found.append(judge.describe(code, what, mask, place, case.kernels(), left, right, names[1]))
    return found


def _arrays(count: int) -> str:
    return "no array" if not count else f"{count} array{'' if count == 1 else 's'}"


def unset(
    case: Case, got: list[np.ndarray], other: list[np.ndarray], fills: list[np.ndarray], others: list[np.ndarray]
) -> tuple[list[Finding], list[np.ndarray]]:
    """What comes of memory that nobody set, from two runs that fill it differently; and masks of those elements.

    ``fills`` and ``others`` are each output's fill in the two runs. Elements that show neither fill are computed from
    such memory; the others are not written at all.
    """
    found, masks = [], []
    for place, (left, right) in enumerate(zip(got, other, strict=True)):
        mask = judge.unequal(left, right)
        masks.append(mask)
        if mask.any():
            kept = ~judge.unequal(left, fills[place]) & ~judge.unequal(right, others[place])
            code: Code = "unwritten" if kept[mask].all() else "uninitialised"
            what = "is not written" if code == "unwritten" else "depends on memory nobody set"
            found.append(judge.describe(code, what, mask, place, case.kernels(), left))
    return found, masks
