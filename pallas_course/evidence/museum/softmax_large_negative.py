"""Softmax over the first lengths[r] elements of row r."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def softmax(length_ref: jax.Ref, x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    column = jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 1)
    x = jnp.where(column < length_ref[...], x_ref[...], -1e30)
    weights = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    out_ref[...] = weights / jnp.sum(weights, axis=1, keepdims=True)


def kernel(lengths: jax.Array, x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    spec = pl.BlockSpec((8, columns), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        softmax,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(rows // 8,),
        in_specs=[pl.BlockSpec((8, 1), lambda i: (i, 0)), spec],
        out_specs=spec,
    )(lengths, x)
    return out


def reference(lengths: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Zero outside the length, so a row of length zero is zero throughout."""
    inside = np.arange(x.shape[1]) < lengths
    weights = np.where(inside, np.exp(x.astype(np.float64)), 0)
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


def make() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return 8 * np.arange(16, dtype=np.int32)[:, None], rng.normal(size=(16, 128)).astype(np.float32)


ABOUT = {
    "title": "Masked with -1e30 in a row without elements",
    "symptom": "a row that should be zero holds 1/128 throughout",
    "cause": "every element is the maximum, so each gets the same weight",
    "mend": "set what lies outside the length to zero after the division",
    "source": "jax-ml/jax#16936",
    "args": ["i32[16,1]", "f32[16,128]"],
    "inputs": "make",
    "verdicts": {
        "interpret": "wrong",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "wrong-values",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
