"""Largest element of each row of any length."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    width = pl.cdiv(columns, 128) * 128

    def row_max(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
        column = jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 1)
        lowest = np.iinfo(x_ref.dtype).min
        out_ref[...] = jnp.max(jnp.where(column < columns, x_ref[...], lowest), axis=1, keepdims=True)

    out: jax.Array = pl.pallas_call(
        row_max,
        out_shape=jax.ShapeDtypeStruct((rows, 1), x.dtype),
        grid=(pl.cdiv(rows, 8),),
        in_specs=[pl.BlockSpec((8, width), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 1), lambda i: (i, 0)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.max(axis=1, keepdims=True))


ABOUT = {
    "title": "Row maximum of integers, masked",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["i32[20,200]"],
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
