"""Sum a stack of matrices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def add_up(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(0) == 0)
    def start() -> None:
        out_ref[...] = jnp.zeros_like(out_ref)

    out_ref[...] += x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    depth, rows, columns = x.shape
    out: jax.Array = pl.pallas_call(
        add_up,
        out_shape=jax.ShapeDtypeStruct((rows, columns), x.dtype),
        grid=(depth, columns // 128),
        in_specs=[pl.BlockSpec((None, rows, 128), lambda d, j: (d, 0, j))],
        out_specs=pl.BlockSpec((rows, 128), lambda d, j: (0, j)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.float64).sum(axis=0))


ABOUT = {
    "title": "Reduction on a grid axis that is not the last",
    "symptom": "right under interpretation; a chip overwrites the partial sums",
    "cause": "an output block is left and visited again, but only consecutive visits keep it in VMEM",
    "mend": "make the reduction the last grid axis",
    "source": "jax-ml/jax#23099",
    "args": ["f32[4,8,256]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "revisit",
    "found_by": ["simulate"],
    "right": False,
}
