"""Add one to a matrix through an explicit pipeline, 16 rows at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def add_one(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] + 1


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    spec = pl.BlockSpec((16, columns), lambda i: (i, 0))

    def pipeline(x_hbm: jax.Ref, out_hbm: jax.Ref) -> None:
        pltpu.emit_pipeline(add_one, grid=(rows // 16,), in_specs=[spec], out_specs=[spec])(x_hbm, out_hbm)

    whole = pl.BlockSpec(memory_space=pl.ANY)
    out: jax.Array = pl.pallas_call(
        pipeline, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[whole], out_specs=whole
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) + 1


ABOUT = {
    "title": "Grid of zero programs",
    "symptom": "a matrix smaller than one block is refused; before 0.10 it came back unwritten without a word",
    "cause": "8 // 16 is zero, so the pipeline has no step",
    "mend": "pl.cdiv(rows, 16)",
    "source": "jax-ml/jax#38432",
    "args": ["f32[8,128]"],
    "verdicts": {
        "interpret": "refused",
        "simulate": "refused",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "trace",
    "found_by": ["interpret", "simulate", "lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
