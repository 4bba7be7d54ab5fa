"""Add one to a matrix left in main memory."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def add_one(x_hbm: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_hbm[...] + 1


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(
        add_one,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) + 1


ABOUT = {
    "title": "Arithmetic on a reference in main memory",
    "symptom": "interpretation computes happily, simulation and lowering refuse",
    "cause": "a TPU computes on VMEM and registers only",
    "mend": "copy into VMEM first, or let a block spec do it",
    "source": "jax-ml/jax#21337",
    "args": ["f32[8,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "refused",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "memory-space",
    "found_by": ["simulate", "lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
