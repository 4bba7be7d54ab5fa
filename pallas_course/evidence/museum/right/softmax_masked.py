"""Softmax over rows of any length."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape

    def softmax(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
        column = jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 1)
        x = jnp.where(column < columns, x_ref[...], -jnp.inf)
        weights = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
        out_ref[...] = weights / jnp.sum(weights, axis=1, keepdims=True)

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
    "title": "Softmax with a masked tail",
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
