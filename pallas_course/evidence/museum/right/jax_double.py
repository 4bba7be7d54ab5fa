"""JAX's own example kernel, which doubles its input."""

import jax
import numpy as np
from jax.experimental.pallas.ops.tpu.example_kernel import double


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = double(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "JAX's own example kernel",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.example_kernel",
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
