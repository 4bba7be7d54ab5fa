"""JAX's own example matrix product."""

import jax
import numpy as np
from jax.experimental.pallas.ops.tpu.matmul import matmul


def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
    out: jax.Array = matmul(a, b, block_shape=(128, 128), block_k=128, out_dtype=jax.numpy.float32)
    return out


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


ABOUT = {
    "title": "JAX's own matmul",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.matmul",
    "args": ["bf16[128,512]", "bf16[512,256]"],
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
