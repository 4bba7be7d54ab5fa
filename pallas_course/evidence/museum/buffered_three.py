"""Compute 2·x + y with a triple-buffered output."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    window = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        axpy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 8), pl.cdiv(columns, 128)),
        in_specs=[window, window],
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j), pipeline_mode=pl.Buffered(3)),
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "Three buffers for a pallas_call window",
    "symptom": "right on a CPU, refused by the lowering",
    "cause": "a window of pallas_call has one or two buffers",
    "mend": "drop the mode, or use emit_pipeline",
    "source": "planted",
    "args": ["f32[16,256]", "f32[16,256]"],
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
