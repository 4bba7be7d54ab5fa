"""Double a vector, all of it in one block."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Vector of ten on a GPU",
    "symptom": "right on every rung of a TPU, refused for a GPU",
    "cause": "Triton takes arrays whose sizes are powers of two",
    "mend": "a block of 16, with the rest masked",
    "source": "jax-ml/jax#20051",
    "args": ["f32[10]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "lower:h100": "refused",
        "compile:h100": "refused",
    },
    "finding": "lowering",
    "found_by": ["lower:h100", "compile:h100"],
    "right": False,
}
