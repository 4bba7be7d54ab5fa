"""Add one to a matrix, all of it in one block."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def add_one(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] + 1


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(add_one, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) + 1


ABOUT = {
    "title": "Block of 48 × 48 on a GPU",
    "symptom": "right on every rung of a TPU, refused for a GPU",
    "cause": "Triton takes arrays whose sizes are powers of two",
    "mend": "a block of 32 or 64, with the rest masked",
    "source": "jax-ml/jax#19222",
    "args": ["f32[48,48]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "lower:h100": "refused",
        "compile:h100": "refused",
    },
    "finding": "lowering",
    "found_by": ["lower:h100", "compile:h100"],
    "right": False,
}
