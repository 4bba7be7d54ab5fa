"""Lay rows of 128 out as rows of 64."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def reshape(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...].reshape(16, 64)


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(reshape, out_shape=jax.ShapeDtypeStruct((16, 64), x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64).reshape(16, 64)


ABOUT = {
    "title": "Reshape across the lane axis",
    "symptom": "runs everywhere on a CPU; whether a TPU compiler takes it depends on its version",
    "cause": "splitting the last axis moves elements between lanes",
    "mend": "keep the last axis, or reshape outside the kernel",
    "source": "jax-ml/jax#24404",
    "args": ["f32[8,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": {"0.10": "refused", "0.12": "pass"},
        "compile:v6e": {"0.10": "refused", "0.12": "pass"},
    },
    "finding": "compile",
    "found_by": ["compile:v5e", "compile:v6e"],
    "right": False,
}
