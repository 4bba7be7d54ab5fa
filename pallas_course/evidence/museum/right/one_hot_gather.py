"""Rows of a table by index, as a product with a matrix of zeros and ones."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def gather(index_ref: jax.Ref, table_ref: jax.Ref, out_ref: jax.Ref) -> None:
    row = jax.lax.broadcasted_iota(jnp.int32, (index_ref.shape[0], table_ref.shape[0]), 1)
    chosen = (row == index_ref[...]).astype(jnp.float32)
    out_ref[...] = jnp.dot(chosen, table_ref[...], precision=jax.lax.Precision.HIGHEST)


def kernel(indices: jax.Array, table: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(
        gather, out_shape=jax.ShapeDtypeStruct((indices.shape[0], table.shape[1]), table.dtype)
    )(indices, table)
    return out


def reference(indices: np.ndarray, table: np.ndarray) -> np.ndarray:
    return np.asarray(table[indices[:, 0]])


def make() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 128, (16, 1), np.int32), rng.normal(size=(128, 256)).astype(np.float32)


ABOUT = {
    "title": "Gather by a product",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["i32[16,1]", "f32[128,256]"],
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
