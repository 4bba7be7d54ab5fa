"""Double a vector, 128 elements at a time."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((128,), lambda i: (i,))
    out: jax.Array = pl.pallas_call(
        double,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 128,),
        in_specs=[spec],
        out_specs=spec,
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Rank-one block too short for its dtype",
    "symptom": "the float32 kernel lowers, the same kernel in bfloat16 is refused",
    "cause": "a rank-one block needs 128·(32/bits) elements or more: 256 in bfloat16",
    "mend": "use blocks of 1024",
    "source": "pytorch/xla#8469",
    "args": ["bf16[512]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "lowering",
    "found_by": ["lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
