"""Add one to a matrix, 8 rows at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def add_one(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] + 1


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        add_one,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) + 1


ABOUT = {
    "title": "Floor-divided grid",
    "symptom": "the last rows are never written",
    "cause": "20 // 8 launches two programs for three blocks",
    "mend": "pl.cdiv(rows, 8)",
    "source": "jax-ml/jax#38432",
    "args": ["f32[20,128]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "unwritten",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
