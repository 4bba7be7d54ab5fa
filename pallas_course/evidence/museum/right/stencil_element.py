"""Second difference along each row, through an overlapping window."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def difference(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    x = x_ref[...]
    out_ref[...] = x[:, 127:255] - 2 * x[:, 128:256] + x[:, 129:257]


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    padded = jnp.pad(x, ((0, 0), (128, 128)))
    out: jax.Array = pl.pallas_call(
        difference,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(rows // 8, columns // 128),
        in_specs=[pl.BlockSpec((pl.Element(8), pl.Element(384)), lambda i, j: (i * 8, j * 128))],
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
    )(padded)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1)))
    return padded[:, :-2] - 2 * padded[:, 1:-1] + padded[:, 2:]


ABOUT = {
    "title": "Stencil through an overlapping window",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[16,384]"],
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
