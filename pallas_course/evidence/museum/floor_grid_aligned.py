"""Subtract one from a matrix, 8 rows at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def take_one(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] - 1


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        take_one,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) - 1


ABOUT = {
    "title": "Floor-divided grid, tried on whole blocks",
    "symptom": "right on the shape it was tried on; a ragged shape leaves its last rows unwritten",
    "cause": "rows // 8 drops the last, partial block",
    "mend": "pl.cdiv(rows, 8), and a ragged shape among the tests",
    "source": "jax-ml/jax#38432",
    "args": ["f32[16,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "unwritten",
    "found_by": [],
    "derived": {"args": ["f32[20,128]"], "verdicts": {"interpret": "wrong", "simulate": "wrong"}},
    "right": False,
}
