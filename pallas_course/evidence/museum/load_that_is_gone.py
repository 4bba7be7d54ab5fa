"""Double a matrix."""

from typing import Any

import jax
import numpy as np
from jax.experimental import pallas as pl

pallas: Any = pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * pallas.load(x_ref, (slice(None), slice(None)))


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "pl.load, which is gone",
    "symptom": "a tutorial's kernel is refused on every rung",
    "cause": "pl.load and pl.store left Pallas with JAX 0.9",
    "mend": "x_ref[...], or the load of pltpu or plgpu where a mask is needed",
    "source": "planted",
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
