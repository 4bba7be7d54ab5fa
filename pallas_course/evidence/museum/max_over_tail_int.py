"""Largest element of each row of an integer matrix, 128 columns at a time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def row_max(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(1) == 0)
    def start() -> None:
        out_ref[...] = jnp.full_like(out_ref, np.iinfo(np.int32).min)

    out_ref[...] = jnp.maximum(out_ref[...], jnp.max(x_ref[...], axis=1, keepdims=True))


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        row_max,
        out_shape=jax.ShapeDtypeStruct((rows, 1), x.dtype),
        grid=(pl.cdiv(rows, 8), pl.cdiv(columns, 128)),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((8, 1), lambda i, j: (i, 0)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.max(axis=1, keepdims=True))


ABOUT = {
    "title": "Maximum over an unmasked tail, integers",
    "symptom": "right under interpretation, whose padding is the smallest integer",
    "cause": "the last block has columns of padding, whose content nobody promises",
    "mend": "mask with jnp.where and the smallest integer before the maximum",
    "source": "planted",
    "args": ["i32[16,200]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "uninitialised",
    "found_by": ["simulate"],
    "right": False,
}
