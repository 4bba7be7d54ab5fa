"""Scale and add two matrices, one tile per program."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    out: jax.Array = pl.pallas_call(
        axpy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8, x.shape[1] // 128),
        in_specs=[spec, spec],
        out_specs=spec,
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "One tile per program",
    "symptom": "right, and slower than XLA on a chip",
    "cause": "each program moves 12 KiB, and what a program costs besides is not paid for",
    "mend": "the largest blocks that fit, and a clock on a named chip",
    "source": "jax-ml/jax#19350",
    "args": ["f32[64,512]", "f32[64,512]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": False,
}
