"""GELU of a vector, 1024 elements at a time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def gelu(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    x = x_ref[...]
    out_ref[...] = 0.5 * x * (1 + jnp.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((1024,), lambda i: (i,))
    out: jax.Array = pl.pallas_call(
        gelu,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(x.shape[0], 1024),),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


ABOUT = {
    "title": "GELU of a vector",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[3000]"],
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
