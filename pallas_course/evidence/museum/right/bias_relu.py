"""Add a bias to every row and clip at zero."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def bias_relu(x_ref: jax.Ref, bias_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = jnp.maximum(x_ref[...] + bias_ref[...], 0)


def kernel(x: jax.Array, bias: jax.Array) -> jax.Array:
    rows, columns = x.shape
    spec = pl.BlockSpec((16, 128), lambda i, j: (i, j))
    out: jax.Array = pl.pallas_call(
        bias_relu,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 16), pl.cdiv(columns, 128)),
        in_specs=[spec, pl.BlockSpec((128,), lambda i, j: (j,))],
        out_specs=spec,
    )(x, bias)
    return out


def reference(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return np.maximum(x.astype(np.float64) + bias.astype(np.float64), 0)


ABOUT = {
    "title": "Bias and ReLU, vector bias",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[40,384]", "f32[384]"],
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
