"""Square roots, with a check that no element is negative."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify
from jax.experimental import pallas as pl


def root(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    checkify.check(jnp.all(x_ref[...] >= 0), "negative element")
    out_ref[...] = jnp.sqrt(x_ref[...])


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(root, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.sqrt(x.astype(np.float64))


def make() -> tuple[np.ndarray]:
    return (np.random.default_rng(0).uniform(0, 2, (8, 128)).astype(np.float32),)


ABOUT = {
    "title": "checkify inside a kernel",
    "symptom": "refused on every rung",
    "cause": "pallas_call no longer takes checkify's assertions",
    "mend": "check inputs before the call",
    "source": "planted",
    "args": ["f32[8,128]"],
    "inputs": "make",
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
