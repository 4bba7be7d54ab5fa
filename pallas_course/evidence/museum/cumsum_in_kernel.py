"""Running sum along each row."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def running_sum(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.cumsum(x_ref[...], axis=1)


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(running_sum, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.float64).cumsum(axis=1))


ABOUT = {
    "title": "Cumulative sum inside a kernel",
    "symptom": "right under interpretation, refused by the lowering",
    "cause": "the cumsum primitive has no TPU lowering in a kernel",
    "mend": "multiply by a triangular matrix of ones, or scan by rolls and masks",
    "source": "planted",
    "args": ["f32[8,128]"],
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
