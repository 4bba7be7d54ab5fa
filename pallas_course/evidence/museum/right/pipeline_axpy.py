"""Compute 2·x + y through an explicit pipeline."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    rows, columns = x.shape
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))

    def pipeline(x_hbm: jax.Ref, y_hbm: jax.Ref, out_hbm: jax.Ref) -> None:
        grid = (pl.cdiv(rows, 8), pl.cdiv(columns, 128))
        pltpu.emit_pipeline(axpy, grid=grid, in_specs=[spec, spec], out_specs=[spec])(x_hbm, y_hbm, out_hbm)

    whole = pl.BlockSpec(memory_space=pl.ANY)
    out: jax.Array = pl.pallas_call(
        pipeline, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[whole, whole], out_specs=whole
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "axpy through emit_pipeline",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[32,256]", "f32[32,256]"],
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
