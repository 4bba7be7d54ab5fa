"""Copy a matrix, 8 rows at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def copy(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i: (pl.program_id(0), 0))
    out: jax.Array = pl.pallas_call(
        copy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


ABOUT = {
    "title": "Program id read inside an index map",
    "symptom": "right under interpretation, refused by the lowering",
    "cause": "program ids exist in the body only; the map receives the grid indices as arguments",
    "mend": "use the argument: lambda i: (i, 0)",
    "source": "jax-ml/jax#37521",
    "args": ["f32[24,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "wrong",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "lowering",
    "found_by": ["simulate", "lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
