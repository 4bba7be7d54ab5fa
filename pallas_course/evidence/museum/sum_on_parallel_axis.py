"""Sum blocks of 8 rows."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def add_up(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(0) == 0)
    def start() -> None:
        out_ref[...] = jnp.zeros_like(out_ref)

    out_ref[...] += x_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(
        add_up,
        out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.float64).reshape(-1, 8, 128).sum(axis=0))


ABOUT = {
    "title": "Sum shared by a parallel axis",
    "symptom": "right under interpretation; the simulator drops terms",
    "cause": "steps of a parallel axis may run in any order, on any core, and all write one block",
    "mend": 'mark the axis "arbitrary"',
    "source": "jax-ml/jax#37183",
    "args": ["f32[32,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "order",
    "found_by": ["simulate"],
    "right": False,
}
