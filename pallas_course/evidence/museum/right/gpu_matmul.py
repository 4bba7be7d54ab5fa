"""Multiply two matrices, 128 × 128 of the product per program, in steps of 128 along the sum."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

TILE, STEP = 128, 128


def matmul(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref) -> None:
    def add(i: jax.Array, total: jax.Array) -> jax.Array:
        along = pl.ds(i * STEP, STEP)
        return total + jnp.dot(a_ref[:, along], b_ref[along, :], preferred_element_type=jnp.float32)

    out_ref[...] = jax.lax.fori_loop(0, a_ref.shape[1] // STEP, add, jnp.zeros(out_ref.shape, jnp.float32))


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    (rows, shared), columns = a.shape, b.shape[1]
    out: jax.Array = pl.pallas_call(
        matmul,
        out_shape=jax.ShapeDtypeStruct((rows, columns), jnp.float32),
        grid=(rows // TILE, columns // TILE),
        in_specs=[pl.BlockSpec((TILE, shared), lambda i, j: (i, 0)), pl.BlockSpec((shared, TILE), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((TILE, TILE), lambda i, j: (i, j)),
    )(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "Matrix product for a TPU and a GPU",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["bf16[256,256]", "bf16[256,256]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "lower:h100": "pass",
        "compile:h100": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
