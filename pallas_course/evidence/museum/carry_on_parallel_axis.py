"""Running sum over blocks of 8 rows."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def running_sum(x_ref: jax.Ref, out_ref: jax.Ref, carry_ref: jax.Ref) -> None:
    @pl.when(pl.program_id(0) == 0)
    def start() -> None:
        carry_ref[...] = jnp.zeros_like(carry_ref)

    carry_ref[...] += x_ref[...]
    out_ref[...] = carry_ref[...]


def kernel(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        running_sum,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        out_specs=spec,
        scratch_shapes=[pltpu.VMEM((8, 128), x.dtype)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64).reshape(-1, 8, x.shape[1]).cumsum(axis=0).reshape(x.shape)


ABOUT = {
    "title": "Carry along a parallel axis",
    "symptom": "right under interpretation; the simulator shuffles the steps",
    "cause": "steps of a parallel axis may run in any order, and each needs the one before",
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
