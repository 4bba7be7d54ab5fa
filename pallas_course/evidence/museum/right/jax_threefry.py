"""JAX's own random bits, made by a kernel."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.tpu.random.threefry import plthreefry_random_bits


def kernel(key: jax.Array) -> jax.Array:
    out: jax.Array = plthreefry_random_bits(key, 32, (256, 256))
    return out


def reference(key: np.ndarray) -> np.ndarray:
    return np.asarray(jax.random.bits(jax.random.wrap_key_data(jnp.asarray(key)), (256, 256), "uint32"))


ABOUT = {
    "title": "JAX's own random bits",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.random.threefry",
    "args": ["u32[2]"],
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
