"""Sort each row."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def sort(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.sort(x_ref[...], axis=1)


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(sort, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.sort(x.astype(np.float64), axis=1)


ABOUT = {
    "title": "Sorting inside a kernel",
    "symptom": "right under interpretation, refused by the lowering",
    "cause": "the sort primitive has no TPU lowering in a kernel",
    "mend": "sort outside, or build a network of compares and rolls",
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
