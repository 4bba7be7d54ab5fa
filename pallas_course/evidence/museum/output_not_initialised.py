"""Sum of each row, 128 columns at a time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def row_sum(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] += jnp.sum(x_ref[...], axis=1, keepdims=True)


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        row_sum,
        out_shape=jax.ShapeDtypeStruct((rows, 1), x.dtype),
        grid=(rows // 8, columns // 128),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((8, 1), lambda i, j: (i, 0)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.float64).sum(axis=1, keepdims=True))


ABOUT = {
    "title": "Accumulator in the output never cleared",
    "symptom": "every element is NaN under interpretation, leftover bytes on a chip",
    "cause": "an output block starts with whatever was there",
    "mend": "clear it in the first step of the reduction",
    "source": "jax-ml/jax#20227",
    "args": ["f32[16,512]"],
    "verdicts": {
        "interpret": "wrong",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "uninitialised",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
