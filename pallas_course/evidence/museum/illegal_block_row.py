"""Scale each row of a matrix, one row at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def scale(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] * 0.5


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((1, x.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        scale,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0],),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) * 0.5


ABOUT = {
    "title": "One row per program",
    "symptom": "right under interpretation and simulation, refused by the lowering",
    "cause": "a block of one row of many is not a multiple of eight rows",
    "mend": "take eight rows per program",
    "source": "marin-community/levanter#1166",
    "args": ["f32[16,128]"],
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
