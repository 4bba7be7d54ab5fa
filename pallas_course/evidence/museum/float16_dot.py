"""Multiply two float16 matrices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def dot(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(dot, out_shape=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), jnp.float32))(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "float16 matrix product",
    "symptom": "right until a compiler looks for a float16 matrix unit",
    "cause": "TPU matrix units take bfloat16, not float16",
    "mend": "convert to bfloat16 or float32",
    "source": "planted",
    "args": ["f16[128,128]", "f16[128,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "unsupported-dtype",
    "found_by": ["compile:v5e", "compile:v6e"],
    "right": False,
}
