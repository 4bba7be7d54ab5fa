"""Compute 2·x + y in blocks of (8, 128)."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    window = pl.BlockSpec((8, 128), lambda i, j: (j, i))
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        axpy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 8), pl.cdiv(columns, 128)),
        in_specs=[window, window],
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "Swapped grid axes",
    "symptom": "wrong blocks, and some indices leave the matrix",
    "cause": "the input map returns (column, row)",
    "mend": "return (i, j)",
    "source": "planted",
    "args": ["f32[36,400]", "f32[36,400]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "out-of-bounds",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
