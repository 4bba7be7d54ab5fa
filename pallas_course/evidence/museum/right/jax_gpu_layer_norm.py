"""JAX's own layer norm for a GPU."""

import warnings

import jax
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # deprecated since 0.11
    from jax.experimental.pallas.ops.gpu.layer_norm import layer_norm


def kernel(x: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
    out: jax.Array = layer_norm(x, weight, bias)
    return out


def reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    x = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) * weight + bias)


ABOUT = {
    "title": "JAX's own layer norm for a GPU",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.gpu.layer_norm",
    "args": ["f32[2,8,100]", "f32[100]", "f32[100]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "not run",
        "lower:h100": "pass",
        "compile:h100": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
