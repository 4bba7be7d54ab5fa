"""Double a small matrix of odd sizes, all of it in one block."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec(x.shape, lambda i: (0, 0))
    out: jax.Array = pl.pallas_call(
        double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(1,), in_specs=[spec], out_specs=spec
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Whole array of 6 × 12 as a block",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[6,12]"],
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
