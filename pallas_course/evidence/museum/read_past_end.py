"""Shift each row left by 64, zeros at the end."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def shift(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[:, pl.ds(pl.program_id(0) * 128 + 64, 128)]


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        shift,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(columns // 128,),
        in_specs=[pl.BlockSpec((rows, columns), lambda i: (0, 0))],
        out_specs=pl.BlockSpec((rows, 128), lambda i: (0, i)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.pad(x.astype(np.float64), ((0, 0), (0, 64)))[:, 64:]


ABOUT = {
    "title": "Reading past the end of a reference",
    "symptom": "the last block repeats values it should not hold, and no NaN warns",
    "cause": "the last program reads 64 columns the array does not have; interpretation clamps the slice",
    "mend": "mask the last block, or pad the input",
    "source": "planted",
    "args": ["f32[8,512]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "out-of-bounds",
    "found_by": ["interpret", "simulate", "compile:v5e", "compile:v6e"],
    "right": False,
}
