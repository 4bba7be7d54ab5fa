"""Multiply two float32 matrices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def dot(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.dot(a_ref[...], b_ref[...])


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(dot, out_shape=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), a.dtype))(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "float32 product at default precision",
    "symptom": "a CPU is right to six digits, a chip to three",
    "cause": "a TPU rounds float32 operands to bfloat16 unless asked",
    "mend": "precision=jax.lax.Precision.HIGHEST where three digits are not enough",
    "source": "jax-ml/jax#9973",
    "args": ["f32[128,128]", "f32[128,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": False,
}
