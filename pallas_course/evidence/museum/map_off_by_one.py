"""Copy a matrix, 8 rows at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def copy(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(
        copy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(x.shape[0], 8),),
        in_specs=[pl.BlockSpec((8, x.shape[1]), lambda i: (i + 1, 0))],
        out_specs=pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


ABOUT = {
    "title": "Input map one block too far",
    "symptom": "each block holds its neighbour's values, the last one looks right",
    "cause": "the map adds one, and interpretation clamps the block past the end to the last block",
    "mend": "return (i, 0)",
    "source": "planted",
    "args": ["f32[32,128]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "out-of-bounds",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
