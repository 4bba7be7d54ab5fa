"""JAX's own sparse attention, with a causal mask for each head."""

import jax
import numpy as np
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks


def kernel(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    heads, length, size = q.shape
    mask = masks.MultiHeadMask([masks.CausalMask((length, length)) for _ in range(heads)])
    out: jax.Array = splash.make_splash_mha_single_device(mask)(q * size**-0.5, k, v)
    return out


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    scores = np.where(np.tri(q.shape[-2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True) @ v)


ABOUT = {
    "title": "JAX's own splash attention",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.splash_attention",
    "args": ["f32[2,256,128]", "f32[2,256,128]", "f32[2,256,128]"],
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
