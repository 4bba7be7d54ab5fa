"""Add two int8 matrices."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def add(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        add,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec, spec],
        out_specs=spec,
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(x + y)


ABOUT = {
    "title": "int8 arithmetic",
    "symptom": "right until a compiler looks for 8-bit vector instructions",
    "cause": "the chip has no int8 vector addition in this layout",
    "mend": "widen to int32, add, narrow",
    "source": "planted",
    "args": ["i8[32,128]", "i8[32,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "unsupported-dtype",
    "found_by": ["compile:v5e", "compile:v6e"],
    "right": False,
}
