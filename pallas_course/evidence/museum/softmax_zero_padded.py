"""Softmax over rows padded to whole lane tiles."""

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
    padded = jnp.pad(x, ((0, 0), (0, -columns % 128)))
    spec = pl.BlockSpec((8, padded.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        softmax,
        out_shape=jax.ShapeDtypeStruct(padded.shape, x.dtype),
        grid=(pl.cdiv(rows, 8),),
        in_specs=[spec],
        out_specs=spec,
    )(padded)
    return out[:, :columns]


def reference(x: np.ndarray) -> np.ndarray:
    shifted = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


ABOUT = {
    "title": "Softmax over zero padding",
    "symptom": "plausible numbers whose rows do not sum to one",
    "cause": "a padded zero weighs exp(0 - max) in the sum, as any element would",
    "mend": "pad with -inf",
    "source": "tenstorrent/tt-metal#22882",
    "args": ["f32[16,100]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "wrong-values",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
