"""Compute 2·x + y in blocks of (6, 100)."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((6, 100), lambda i, j: (i, j))
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        axpy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 6), pl.cdiv(columns, 100)),
        in_specs=[spec, spec],
        out_specs=spec,
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "Block shape no TPU accepts",
    "symptom": "right under interpretation and simulation, refused by the lowering",
    "cause": "the last two block sizes are neither multiples of (8, 128) nor the whole axis",
    "mend": "choose (8, 128), or the whole axis",
    "source": "jax-ml/jax#24415",
    "args": ["f32[36,400]", "f32[36,400]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "lowering",
    "found_by": ["lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
