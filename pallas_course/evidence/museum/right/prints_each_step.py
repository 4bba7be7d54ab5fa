"""Add one to a matrix, 8 rows at a time, and print where it is."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def add_one(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    pl.debug_print("RACE at step {}", pl.program_id(0))
    out_ref[...] = x_ref[...] + 1


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        add_one,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) + 1


ABOUT = {
    "title": "Kernel that prints",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[16,128]"],
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
