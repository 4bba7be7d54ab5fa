"""Values of one sign show what values of both hide, and trouble no function that does not take them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import rungs
from pallas_course.evidence.case import Case
from pallas_course.evidence.verdict import FAIL, PASS, Verdict

Write = Callable[[str], Path]
EXTREME = """
def body(x_ref, out_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        out_ref[...] = jnp.full_like(out_ref, {start})
    out_ref[...] = jnp.{name}imum(out_ref[...], jnp.{name}(x_ref[...], axis=1, keepdims=True))

def kernel(x):
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((x.shape[0], 1), x.dtype), grid=(x.shape[1] // 128,),
        in_specs=[pl.BlockSpec((x.shape[0], 128), lambda i: (0, i))],
        out_specs=pl.BlockSpec((x.shape[0], 1), lambda i: (0, 0)))(x)

def reference(x):
    return x.astype(np.float64).{name}(axis=1, keepdims=True)

def make():
    return np.linspace(-1, 1, 16 * 256, dtype=np.float32).reshape(256, 16).T
"""


def interpreted(path: Path, **more: Any) -> Verdict:
    spec = {
        "name": "given",
        "target": {"file": str(path), "function": "kernel"},
        "oracle": {"file": str(path), "function": "reference"},
        "args": [{"dtype": "float32", "shape": [16, 256]}],
    }
    return rungs.climb(Case(spec | more), "interpret", "v5e")


@pytest.mark.parametrize(
    ("name", "start", "said"),
    [("max", "0.0", "no value is positive"), ("min", "0.0", "no value is negative"), ("max", "-jnp.inf", "")],
)
def test_an_extreme_that_starts_at_zero_is_found(name: str, start: str, said: str, kernel_file: Write) -> None:
    found = interpreted(kernel_file(EXTREME.format(name=name, start=start)))
    assert found.status == (FAIL if said else PASS)
    assert said in found.reason


def test_values_that_the_user_chose_are_the_only_ones(kernel_file: Write) -> None:
    path = kernel_file(EXTREME.format(name="max", start="0.0"))
    assert interpreted(path, inputs={"file": str(path), "function": "make"}).status == PASS
    assert interpreted(path, derived=True).status == PASS


@pytest.mark.parametrize("where", ["kernel", "reference"])
def test_a_function_or_an_oracle_that_does_not_take_them_is_left_alone(where: str, kernel_file: Write) -> None:
    picky = f"""
taken = {where}
def {where}(x):
    if not isinstance(x, jax.core.Tracer) and (x < 0).all():
        raise ValueError("not that")
    return taken(x)
"""
    assert interpreted(kernel_file(EXTREME.format(name="min", start="jnp.inf") + picky)).status == PASS
