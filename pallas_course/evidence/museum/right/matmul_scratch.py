"""Matrix product with a float32 accumulator."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def matmul(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref, total_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(2) == 0)
    def start() -> None:
        total_ref[...] = jnp.zeros_like(total_ref)

    total_ref[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def finish() -> None:
        out_ref[...] = total_ref[...]


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    (m, k), n = a.shape, b.shape[1]
    out: jax.Array = pl.pallas_call(
        matmul,
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        grid=(m // 128, n // 128, k // 128),
        in_specs=[
            pl.BlockSpec((128, 128), lambda i, j, k: (i, k)),
            pl.BlockSpec((128, 128), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((128, 128), lambda i, j, k: (i, j)),
        scratch_shapes=[pltpu.VMEM((128, 128), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    )(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "Matrix product with a scratch accumulator",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["bf16[128,512]", "bf16[512,256]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
