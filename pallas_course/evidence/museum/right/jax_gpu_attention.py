"""JAX's own attention for a GPU."""

import warnings

import jax
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # deprecated since 0.11
    from jax.experimental.pallas.ops.gpu.attention import mha


def kernel(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    out: jax.Array = mha(q, k, v, None, sm_scale=q.shape[-1] ** -0.5)
    return out


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    q, k, v = (a.astype(np.float64).swapaxes(1, 2) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray((weights / weights.sum(axis=-1, keepdims=True) @ v).swapaxes(1, 2))


ABOUT = {
    "title": "JAX's own attention for a GPU",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.gpu.attention",
    "args": ["f32[1,128,2,64]", "f32[1,128,2,64]", "f32[1,128,2,64]"],
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
