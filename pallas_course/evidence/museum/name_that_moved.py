"""Multiply two matrices."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def dot(a_ref: jax.Ref, b_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = pl.dot(a_ref[...], b_ref[...])  # type: ignore[attr-defined]


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(dot, out_shape=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), a.dtype))(a, b)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "A name that moved",
    "symptom": "runs on one version, an AttributeError on the next",
    "cause": "pl.dot was deprecated in 0.10 and is gone in 0.12",
    "mend": "jnp.dot",
    "source": "microsoft/folx#33",
    "args": ["f32[128,128]", "f32[128,128]"],
    "verdicts": {
        "interpret": {"0.10": "pass", "0.12": "refused"},
        "simulate": {"0.10": "pass", "0.12": "refused"},
        "lower": {"0.10": "pass", "0.12": "refused"},
        "compile:v5e": {"0.10": "pass", "0.12": "refused"},
        "compile:v6e": {"0.10": "pass", "0.12": "refused"},
    },
    "finding": "trace",
    "found_by": ["interpret", "simulate", "lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
