"""Transpose a matrix, (128, 128) at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def transpose(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...].T


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        transpose,
        out_shape=jax.ShapeDtypeStruct((columns, rows), x.dtype),
        grid=(pl.cdiv(rows, 128), pl.cdiv(columns, 128)),
        in_specs=[pl.BlockSpec((128, 128), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((128, 128), lambda i, j: (j, i)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64).T


ABOUT = {
    "title": "Transpose",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[200,300]"],
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
