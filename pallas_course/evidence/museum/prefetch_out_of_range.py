"""Pick blocks of 8 rows by prefetched indices; an index past the table gives zeros."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def copy(index_ref: jax.Ref, table_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = table_ref[...]


def kernel(index: jax.Array, table: jax.Array) -> jax.Array:
    columns = table.shape[1]
    out: jax.Array = pl.pallas_call(
        copy,
        out_shape=jax.ShapeDtypeStruct((8 * index.shape[0], columns), table.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(index.shape[0],),
            in_specs=[pl.BlockSpec((8, columns), lambda i, index_ref: (index_ref[i], 0))],
            out_specs=pl.BlockSpec((8, columns), lambda i, index_ref: (i, 0)),
        ),
    )(index, table)
    return out


def reference(index: np.ndarray, table: np.ndarray) -> np.ndarray:
    blocks = table.astype(np.float64).reshape(-1, 8, table.shape[1])
    blocks = np.concatenate([blocks, np.zeros_like(blocks[:1])])
    return np.asarray(blocks[np.minimum(index, len(blocks) - 1)].reshape(-1, table.shape[1]))


def make() -> tuple[np.ndarray, np.ndarray]:
    table = np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32)
    return np.array([3, 0, 40, 5], np.int32), table


ABOUT = {
    "title": "Prefetched index out of range",
    "symptom": "the last block of the table appears where zeros should be",
    "cause": "an index map checks nothing; interpretation clamps the block, a chip reads other memory",
    "mend": "clamp the index in the map, and store zeros where it was clamped",
    "source": "planted",
    "args": ["i32[4]", "f32[64,128]"],
    "inputs": "make",
    "verdicts": {
        "interpret": "wrong",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "out-of-bounds",
    "found_by": ["interpret", "simulate"],
    "right": False,
}
