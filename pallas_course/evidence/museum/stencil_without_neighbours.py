"""Second difference along each row, 128 columns at a time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def difference(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    x = x_ref[...]
    edge = jnp.zeros_like(x[:, :1])
    left = jnp.concatenate([edge, x[:, :-1]], axis=1)
    right = jnp.concatenate([x[:, 1:], edge], axis=1)
    out_ref[...] = left - 2 * x + right


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    out: jax.Array = pl.pallas_call(
        difference,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8, x.shape[1] // 128),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1)))
    return padded[:, :-2] - 2 * padded[:, 1:-1] + padded[:, 2:]


ABOUT = {
    "title": "Stencil without its neighbours",
    "symptom": "wrong in two columns per seam, right everywhere else",
    "cause": "a block sees zero where its neighbour's column should be",
    "mend": "read the neighbouring lane tiles too, as extra views or an overlapping window",
    "source": "planted",
    "args": ["f32[8,512]"],
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
