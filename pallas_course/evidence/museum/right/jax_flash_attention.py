"""JAX's own causal flash attention."""

import jax
import numpy as np
from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention


def kernel(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    out: jax.Array = flash_attention(q, k, v, causal=True, sm_scale=q.shape[-1] ** -0.5)
    return out


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    scores = np.where(np.tri(q.shape[-2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True) @ v)


ABOUT = {
    "title": "JAX's own flash attention",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.flash_attention",
    "args": ["f32[1,2,256,128]", "f32[1,2,256,128]", "f32[1,2,256,128]"],
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
