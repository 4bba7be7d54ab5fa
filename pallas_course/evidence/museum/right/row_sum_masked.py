"""Sum of each row of any length, 128 columns at a time."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def row_sum(x_ref: jax.Ref, out_ref: jax.Ref, *, columns: int) -> None:
    j = pl.program_id(1)

    @pl.when(j == 0)
    def start() -> None:
        out_ref[...] = jnp.zeros_like(out_ref)

    column = j * 128 + jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 1)
    out_ref[...] += jnp.sum(jnp.where(column < columns, x_ref[...], 0), axis=1, keepdims=True)


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        functools.partial(row_sum, columns=columns),
        out_shape=jax.ShapeDtypeStruct((rows, 1), x.dtype),
        grid=(pl.cdiv(rows, 8), pl.cdiv(columns, 128)),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((8, 1), lambda i, j: (i, 0)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.float64).sum(axis=1, keepdims=True))


ABOUT = {
    "title": "Row sum with a masked tail",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[20,200]"],
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
