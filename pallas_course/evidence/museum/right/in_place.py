"""Halve a matrix in place."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def halve(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] * 0.5


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        halve,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
        input_output_aliases={0: 0},
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) * 0.5


ABOUT = {
    "title": "In place, by aliasing",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[24,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
