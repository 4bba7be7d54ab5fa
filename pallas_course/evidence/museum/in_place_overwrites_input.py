"""Add to each block of 8 rows the block above it, in place."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def add_above(x_hbm: jax.Ref, out_hbm: jax.Ref, above_ref: jax.Ref, block_ref: jax.Ref) -> None:
    i = pl.program_id(0)
    pltpu.sync_copy(x_hbm.at[pl.ds(jnp.maximum(i - 1, 0) * 8, 8)], above_ref)
    pltpu.sync_copy(x_hbm.at[pl.ds(i * 8, 8)], block_ref)
    block_ref[...] += above_ref[...]
    pltpu.sync_copy(block_ref, out_hbm.at[pl.ds(i * 8, 8)])


def kernel(x: jax.Array) -> jax.Array:
    whole = pl.BlockSpec(memory_space=pl.ANY)
    block = pltpu.VMEM((8, x.shape[1]), x.dtype)
    out: jax.Array = pl.pallas_call(
        add_above,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[whole],
        out_specs=whole,
        scratch_shapes=[block, block],
        input_output_aliases={0: 0},
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    blocks = x.astype(np.float64).reshape(-1, 8, x.shape[1])
    return np.asarray((blocks + np.concatenate([blocks[:1], blocks[:-1]])).reshape(x.shape))


ABOUT = {
    "title": "In-place kernel reads what it has overwritten",
    "symptom": "wrong from the second block on, except where interpretation keeps input and output apart",
    "cause": "the output is the input's memory, so the block above already holds its result",
    "mend": "write to another array, or walk from the last block up",
    "source": "planted",
    "args": ["f32[32,128]"],
    "verdicts": {
        "interpret": {"0.10": "pass", "0.12": "wrong"},
        "simulate": "wrong",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "wrong-values",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
