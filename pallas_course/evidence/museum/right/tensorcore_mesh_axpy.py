"""Compute 2·x + y with pl.kernel over the chip's cores."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=1)

    def axpy(x_hbm: jax.Ref, y_hbm: jax.Ref, out_hbm: jax.Ref, x_ref: jax.Ref, y_ref: jax.Ref) -> None:
        pltpu.sync_copy(x_hbm, x_ref)
        pltpu.sync_copy(y_hbm, y_ref)
        x_ref[...] = 2 * x_ref[...] + y_ref[...]
        pltpu.sync_copy(x_ref, out_hbm)

    block = pltpu.VMEM(x.shape, x.dtype)
    out: jax.Array = pl.kernel(
        axpy, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), mesh=mesh, scratch_types=[block, block]
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "axpy through pl.kernel",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[16,128]", "f32[16,128]"],
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
