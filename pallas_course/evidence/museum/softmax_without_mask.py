"""Softmax over rows of any length, in blocks of whole lane tiles."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def softmax(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    x = x_ref[...]
    weights = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    out_ref[...] = weights / jnp.sum(weights, axis=1, keepdims=True)


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    spec = pl.BlockSpec((8, pl.cdiv(columns, 128) * 128), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        softmax,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 8),),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    shifted = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


ABOUT = {
    "title": "Softmax without a mask",
    "symptom": "every row is NaN",
    "cause": "the block is wider than the row, and the padding enters the maximum and the sum",
    "mend": "mask the columns past the row with -inf",
    "source": "planted",
    "args": ["f32[16,200]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "uninitialised",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
