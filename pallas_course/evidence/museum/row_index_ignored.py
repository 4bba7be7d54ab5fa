"""Double a matrix, 8 rows at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        double,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 8), pl.cdiv(columns, 128)),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Row index ignored, tried on one row block",
    "symptom": "right on the shape it was tried on, wrong as soon as there is a second row block",
    "cause": "the input map returns row block 0 whatever the program",
    "mend": "return (i, j), and test with more than one block on each axis",
    "source": "modular/mojo-gpu-puzzles#31",
    "args": ["f32[8,256]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "wrong-values",
    "found_by": [],
    "derived": {"args": ["f32[24,256]"], "verdicts": {"interpret": "wrong", "simulate": "wrong"}},
    "right": False,
}
