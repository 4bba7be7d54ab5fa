"""Add to each block of 8 rows its block number."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def number(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[...] + pl.program_id(0).astype(x_ref.dtype)


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        number,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) + np.arange(x.shape[0])[:, None] // 8


ABOUT = {
    "title": "No derivative where a program id is read",
    "symptom": "the kernel is right, its gradient is an assertion without a word",
    "cause": "differentiation traces the body outside its grid",
    "mend": "jax.custom_vjp with a backward kernel of your own",
    "source": "jax-ml/jax#37521",
    "args": ["f32[24,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "grad": "refused",
    },
    "finding": "gradient",
    "found_by": ["grad"],
    "right": False,
}
