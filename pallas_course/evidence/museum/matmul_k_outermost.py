"""Matrix product accumulated in the output."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def matmul(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(0) == 0)
    def start() -> None:
        out_ref[...] = jnp.zeros_like(out_ref)

    out_ref[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    (m, k), n = a.shape, b.shape[1]
    out: jax.Array = pl.pallas_call(
        matmul,
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        grid=(k // 128, m // 128, n // 128),
        in_specs=[
            pl.BlockSpec((128, 128), lambda k, i, j: (i, k)),
            pl.BlockSpec((128, 128), lambda k, i, j: (k, j)),
        ],
        out_specs=pl.BlockSpec((128, 128), lambda k, i, j: (i, j)),
    )(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "Output block revisited later",
    "symptom": "right under interpretation; a chip loses partial products",
    "cause": "k is the outermost axis, so every output block is left and visited again",
    "mend": "make k the innermost axis",
    "source": "planted",
    "args": ["bf16[256,256]", "bf16[256,256]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "revisit",
    "found_by": ["simulate"],
    "right": False,
}
