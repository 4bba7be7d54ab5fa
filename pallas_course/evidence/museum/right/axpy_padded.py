"""Compute 2·x + y for any shape, on inputs padded to whole blocks."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def axpy(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...] + y_ref[...]


def kernel(x: jax.Array, y: jax.Array) -> jax.Array:
    rows, columns = x.shape
    widths = ((0, -rows % 8), (0, -columns % 128))
    x, y = jnp.pad(x, widths), jnp.pad(y, widths)
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    out: jax.Array = pl.pallas_call(
        axpy,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8, x.shape[1] // 128),
        in_specs=[spec, spec],
        out_specs=spec,
    )(x, y)
    return out[:rows, :columns]


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64) + y.astype(np.float64)


ABOUT = {
    "title": "axpy, padded",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[20,200]", "f32[20,200]"],
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
