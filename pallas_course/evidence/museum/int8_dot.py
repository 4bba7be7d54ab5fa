"""Multiply two int8 matrices into int32."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def dot(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.int32)


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(dot, out_shape=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), jnp.int32))(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.int64) @ b.astype(np.int64)


ABOUT = {
    "title": "int8 matrix product",
    "symptom": "compiles for v5e and v6e, refused for v4",
    "cause": "the matrix unit of v4 has no int8",
    "mend": "check the chip, or multiply in bfloat16",
    "source": "planted",
    "args": ["i8[128,128]", "i8[128,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "compile:v4": "refused",
    },
    "finding": "unsupported-dtype",
    "found_by": ["compile:v4"],
    "right": False,
}
