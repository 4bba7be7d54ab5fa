"""Mean and standard deviation of each row."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def moments(x_ref: jax.Ref, mean_ref: jax.Ref, deviation_ref: jax.Ref) -> None:
    x = x_ref[...]
    mean = jnp.mean(x, axis=1, keepdims=True)
    mean_ref[...] = mean
    deviation_ref[...] = jnp.sqrt(jnp.mean((x - mean) ** 2, axis=1, keepdims=True))


def kernel(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    rows, columns = x.shape
    column = pl.BlockSpec((8, 1), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct((rows, 1), x.dtype)
    mean, deviation = pl.pallas_call(
        moments,
        out_shape=(shape, shape),
        grid=(pl.cdiv(rows, 8),),
        in_specs=[pl.BlockSpec((8, columns), lambda i: (i, 0))],
        out_specs=(column, column),
    )(x)
    return mean, deviation


def reference(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = x.astype(np.float64)
    return np.asarray(x.mean(axis=1, keepdims=True)), np.asarray(x.std(axis=1, keepdims=True))


ABOUT = {
    "title": "Two outputs",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[20,200]"],
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
