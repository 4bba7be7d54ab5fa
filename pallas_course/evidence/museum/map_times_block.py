"""Copy a matrix, 128 columns at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def copy(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i: (0, i * 128))
    out: jax.Array = pl.pallas_call(
        copy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[1] // 128,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


ABOUT = {
    "title": "Index map multiplied by the block size",
    "symptom": "the first and last blocks are right, the middle ones NaN",
    "cause": "the maps return element offsets; Pallas multiplies block indices by the block size itself",
    "mend": "return block indices: (0, i)",
    "source": "jax-ml/jax#38497",
    "args": ["f32[8,512]"],
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
