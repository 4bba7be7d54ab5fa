"""Double a matrix, 8 rows at a time."""

from typing import Any

import jax
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    arguments: tuple[Any, Any] = (lambda i: (i, 0), (8, x.shape[1]))
    spec = pl.BlockSpec(*arguments)
    out: jax.Array = pl.pallas_call(
        double,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "BlockSpec with its arguments in their old order",
    "symptom": "made without a word, refused where it is used",
    "cause": "the block shape comes first, the index map second; once it was the other way",
    "mend": "pl.BlockSpec((8, 128), lambda i: (i, 0))",
    "source": "planted",
    "args": ["f32[16,128]"],
    "verdicts": {
        "interpret": "refused",
        "simulate": "refused",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "trace",
    "found_by": ["interpret", "simulate", "lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
