"""Mistakes that stop a call before any rung can judge it: JAX's own words lead to advice, and the line is named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pallas_course.evidence import findings, rungs
from pallas_course.evidence.case import Case

KERNEL = """
def body(x_ref, out_ref):
    out_ref[...] = x_ref[...] + 1

def kernel(x, block=(8, 128), index=lambda i: (i, 0), grid=(2,), body=body, **more):
    spec = pl.BlockSpec(block, index)
    shape = jax.ShapeDtypeStruct((16, 128), x.dtype)
    return pl.pallas_call(body, out_shape=shape, grid=grid, in_specs=[spec], out_specs=spec, **more)(x)

def branches(x_ref, out_ref):
    if x_ref[0, 0] > 0:
        out_ref[...] = x_ref[...]

def forgets(x_ref):
    x_ref[...] += 1
"""


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("kernel(x, block=lambda i: (i, 0), index=(8, 128))", "pl.BlockSpec(block_shape, index_map)"),
        ("kernel(x, index=lambda i: (i,))", "for each axis of the array"),
        ("kernel(x[None])", "for each axis of the array"),
        ("kernel(x, grid=(2, 1))", "count them"),
        ("kernel(x, body=forgets)", "count them"),
        ("kernel(x, body=lambda a, out: out.__setitem__(..., a[...] * x[:8]))", "pass the array as an input"),
        ("kernel(x, body=branches)", "pl.when"),
        ("kernel(x, grid=(x.shape[0] / 8,))", "pl.cdiv"),
        ("jax.jit(lambda n: kernel(x, block=(n, 128)))(8)", "static_argnames"),
        ("kernel(x.astype(jnp.bfloat16)[:8], input_output_aliases={0: 0})", "count inputs"),
    ],
)
def test_a_mistake_is_explained(call: str, advice: str, kernel_file: Callable[[str], Path]) -> None:
    path = kernel_file(KERNEL + f"\ndef target(x):\n    return {call}\n")
    spec = {
        "name": "given",
        "target": {"file": str(path), "function": "target"},
        "args": [{"dtype": "float32", "shape": [16, 128]}],
    }
    (finding,) = rungs.climb(Case(spec), "lower", "v5e").findings
    assert finding.code == "trace"
    assert finding.where.startswith(f"{path}:")
    assert advice in findings.explanation(finding).do
