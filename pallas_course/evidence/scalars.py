"""Values in a traced program that follow from its arguments: worked out where a grid or an index map asks for them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax._src.interpreters import partial_eval

KERNELS = ("pallas_call", "mpmd_map", "core_map")
# Equations that hand their operands to a program inside as they are; a conditional's first chooses the branch.
_CALLS = ("jit", "remat2", "custom_jvp_call", "custom_vjp_call", "cond")

Values = list[np.ndarray] | None


@dataclass(frozen=True)
class Scope:
    """A jaxpr, and ``given``: the values of its arguments at some places, or None where they are not known."""

    jaxpr: Any
    consts: list[Any]
    given: Callable[[list[int]], Values]

    def values(self, atoms: list[Any]) -> Values:
        """The values of some of its variables; None where one comes out of a kernel, or of a loop around this jaxpr."""
        equations: list[Any] = []
        needed = {atom for atom in atoms if not _literal(atom)}
        for equation in reversed(self.jaxpr.eqns):
            if not needed.isdisjoint(equation.outvars):
                if _runs_kernel(equation):
                    return None
                equations.insert(0, equation)
                needed |= {atom for atom in equation.invars if not _literal(atom)}
        places = [place for place, variable in enumerate(self.jaxpr.invars) if variable in needed]
        if (given := self.given(places)) is None:
            return None
        part = self.jaxpr.replace(eqns=equations, outvars=list(atoms))

        def found(arrays: list[Any]) -> Any:
            arguments = dict(zip(places, arrays, strict=True))
            every = [arguments.get(place) for place in range(len(self.jaxpr.invars))]
            return jax.core.eval_jaxpr(part, self.consts, *every)

        return [np.asarray(value) for value in jax.jit(found)(given)]

    def inside(self, equation: Any, jaxpr: Any) -> "Scope":
        """The scope of a jaxpr that ``equation``, one of this scope's, runs: its ``jaxpr`` may be closed."""
        first = int(equation.primitive.name == "cond")
        known = equation.primitive.name in _CALLS

        def given(places: list[int]) -> Values:
            return self.values([equation.invars[first + place] for place in places]) if known or not places else None

        return Scope(getattr(jaxpr, "jaxpr", jaxpr), list(getattr(jaxpr, "consts", ())), given)


def whole(jaxpr: Any, arrays: list[np.ndarray] | None) -> Scope:
    """The scope of a whole (closed) program, called with ``arrays``; without them nothing but constants is known.

    Equations that none of its results needs are not in it: JAX leaves them out of what it lowers, too.
    """
    inside = getattr(jaxpr, "jaxpr", jaxpr)
    used, _ = partial_eval.dce_jaxpr(inside, [True] * len(inside.outvars), instantiate=True)

    def given(places: list[int]) -> Values:
        if arrays is None:
            return None if places else []
        return [arrays[place] for place in places]

    return Scope(used, list(getattr(jaxpr, "consts", ())), given)


def inner(equation: Any) -> list[tuple[str, Any]]:
    """The (closed) jaxprs among an equation's parameters, each with the parameter's name."""
    found = []
    for name, value in equation.params.items():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(getattr(item, "jaxpr", item), "eqns"):
                found.append((name, item))
    return found


def _runs_kernel(equation: Any) -> bool:
    return equation.primitive.name in KERNELS or any(
        _runs_kernel(one) for _, jaxpr in inner(equation) for one in getattr(jaxpr, "jaxpr", jaxpr).eqns
    )


def _literal(atom: Any) -> bool:
    return hasattr(atom, "val")
