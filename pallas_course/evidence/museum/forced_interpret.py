"""Double a matrix."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    with pltpu.force_tpu_interpret_mode():
        out: jax.Array = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=False)(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Interpretation forced inside the function",
    "symptom": "interpret=False runs on a CPU without a word, and nothing reaches a TPU",
    "cause": "force_tpu_interpret_mode overrides the argument",
    "mend": "leave the mode to the caller",
    "source": "jax-ml/jax#30214",
    "args": ["f32[8,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "no-kernel",
    "found_by": ["lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
