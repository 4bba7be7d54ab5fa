"""Double a matrix: with a kernel on a TPU, and with the same kernel interpreted on a CPU."""

import functools

import jax
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def call(x: jax.Array, interpret: bool) -> jax.Array:
    out: jax.Array = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x)
    return out


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = jax.lax.platform_dependent(
        x, cpu=functools.partial(call, interpret=True), default=functools.partial(call, interpret=False)
    )
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Interpreted on a CPU, compiled elsewhere",
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
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
