"""Halve a matrix of integers."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def halve(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] / 2


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(halve, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x // 2


ABOUT = {
    "title": "Quotient of integers stored as an integer",
    "symptom": "refused on every rung",
    "cause": "/ gives float32, and a store converts nothing",
    "mend": "//, or a cast that says how to round",
    "source": "marin-community/levanter#1166",
    "args": ["i32[8,128]"],
    "verdicts": {
        "interpret": "refused",
        "simulate": "refused",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "trace",
    "found_by": ["interpret", "simulate", "lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
