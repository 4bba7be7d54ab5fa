"""Compute 2·x + y in large blocks, with a raised VMEM limit."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((1024, 2048), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        axpy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(x.shape[0], 1024),),
        in_specs=[spec, spec],
        out_specs=spec,
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=100 * 2**20),
    )(x, y)
    return out


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "VMEM limit raised past what one chip has",
    "symptom": "compiles for v5e and v6e, refused for v4",
    "cause": "three windows of 8 MiB fit the 128 MiB of v5e and v6e, not the 16 MiB of v4",
    "mend": "size blocks for the smallest chip you name",
    "source": "jax-ml/jax#38988",
    "args": ["f32[1024,2048]", "f32[1024,2048]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "compile:v4": "refused",
    },
    "finding": "vmem",
    "found_by": ["compile:v4"],
    "right": False,
}
