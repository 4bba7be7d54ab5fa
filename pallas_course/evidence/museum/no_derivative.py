"""Sine, element by element."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def sine(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.sin(x_ref[...])


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(sine, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.sin(x.astype(np.float64))


ABOUT = {
    "title": "No reverse-mode derivative",
    "symptom": "the kernel is right, its gradient is refused",
    "cause": "Pallas cannot transpose a kernel",
    "mend": "jax.custom_vjp with a backward kernel of your own",
    "source": "jax-ml/jax#22197",
    "args": ["f32[8,128]"],
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
