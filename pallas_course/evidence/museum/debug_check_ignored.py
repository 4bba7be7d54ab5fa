"""Square roots, with a check that no element is negative."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def root(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    pl.debug_check(jnp.all(x_ref[...] >= 0), "negative element")
    out_ref[...] = jnp.sqrt(jnp.abs(x_ref[...]))


def kernel(x: jax.Array) -> jax.Array:
    with pl.enable_debug_checks():
        out: jax.Array = pl.pallas_call(root, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.abs(x.astype(np.float64)))


ABOUT = {
    "title": "Debug check on a CPU",
    "symptom": "no element may be negative, half of them are, and nothing complains",
    "cause": "interpretation and simulation ignore pl.debug_check",
    "mend": "check with NumPy before the call",
    "source": "planted",
    "args": ["f32[8,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": False,
}
