"""Second difference along each row; the neighbouring lane tiles come as extra views."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def difference(left_ref: jax.Ref, x_ref: jax.Ref, right_ref: jax.Ref, out_ref: jax.Ref) -> None:
    j, last = pl.program_id(1), pl.num_programs(1) - 1
    x = x_ref[...]
    before = jnp.where(j > 0, left_ref[...][:, -1:], 0)
    after = jnp.where(j < last, right_ref[...][:, :1], 0)
    left = jnp.concatenate([before, x[:, :-1]], axis=1)
    right = jnp.concatenate([x[:, 1:], after], axis=1)
    out_ref[...] = left - 2 * x + right


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    tiles = columns // 128
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    out: jax.Array = pl.pallas_call(
        difference,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 8), tiles),
        in_specs=[
            pl.BlockSpec((8, 128), lambda i, j: (i, jnp.maximum(j - 1, 0))),
            spec,
            pl.BlockSpec((8, 128), lambda i, j: (i, jnp.minimum(j + 1, tiles - 1))),
        ],
        out_specs=spec,
    )(x, x, x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1)))
    return padded[:, :-2] - 2 * padded[:, 1:-1] + padded[:, 2:]


ABOUT = {
    "title": "Stencil with its neighbours as extra views",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["f32[20,384]"],
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
