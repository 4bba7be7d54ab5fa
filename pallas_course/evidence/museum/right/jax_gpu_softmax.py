"""JAX's own softmax for a GPU."""

import warnings

import jax
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # deprecated since 0.11
    from jax.experimental.pallas.ops.gpu.softmax import softmax


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = softmax(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


ABOUT = {
    "title": "JAX's own softmax for a GPU",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.gpu.softmax",
    "args": ["f32[4,100]"],
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
