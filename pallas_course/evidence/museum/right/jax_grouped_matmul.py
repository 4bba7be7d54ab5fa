"""JAX's own grouped matrix product: each group of rows has a matrix of its own."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.tpu.megablox.gmm import gmm


def kernel(rows: jax.Array, matrices: jax.Array, sizes: jax.Array) -> jax.Array:
    out: jax.Array = gmm(rows, matrices, sizes, preferred_element_type=jnp.float32, tiling=(128, 128, 128))
    return out


def reference(rows: np.ndarray, matrices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    groups = np.split(rows.astype(np.float64), np.cumsum(sizes)[:-1])
    return np.concatenate([group @ matrix for group, matrix in zip(groups, matrices, strict=True)])


def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows, matrices = (rng.normal(size=size).astype(np.float32) for size in ((256, 128), (3, 128, 128)))
    return rows, matrices, np.array([100, 28, 128], np.int32)


ABOUT = {
    "title": "JAX's own grouped matrix product",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.megablox",
    "args": ["f32[256,128]", "f32[3,128,128]", "i32[3]"],
    "inputs": "make",
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
