"""Sum the rows of a matrix, 8 at a time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def column_sum(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(0) == 0)
    def start() -> None:
        out_ref[...] = jnp.zeros_like(out_ref)

    out_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        column_sum,
        out_shape=jax.ShapeDtypeStruct((1, columns), x.dtype),
        grid=(pl.cdiv(rows, 8),),
        in_specs=[pl.BlockSpec((8, columns), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((1, columns), lambda i: (0, 0)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.float64).sum(axis=0, keepdims=True))


ABOUT = {
    "title": "Sum over an unmasked tail",
    "symptom": "the whole sum is NaN",
    "cause": "the last block has four rows of padding, whose content nobody promises",
    "mend": "mask with jnp.where and zero before the sum",
    "source": "jax-ml/jax#22275",
    "args": ["f32[20,128]"],
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
