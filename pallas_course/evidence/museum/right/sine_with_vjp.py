"""Sine with a backward pass of its own."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def sine(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.sin(x_ref[...])


def sine_backward(x_ref: jax.Ref, cotangent_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = cotangent_ref[...] * jnp.cos(x_ref[...])


@jax.custom_vjp
def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(sine, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return kernel(x), x


def backward(x: jax.Array, cotangent: jax.Array) -> tuple[jax.Array]:
    out: jax.Array = pl.pallas_call(sine_backward, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, cotangent)
    return (out,)


kernel.defvjp(forward, backward)


def reference(x: np.ndarray) -> np.ndarray:
    return np.sin(x.astype(np.float64))


ABOUT = {
    "title": "Sine with a custom derivative",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[16,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
        "grad": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
