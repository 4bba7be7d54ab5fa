"""Pick blocks of 8 rows by prefetched indices."""

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
    return np.asarray(blocks[index].reshape(-1, table.shape[1]))


def make() -> tuple[np.ndarray, np.ndarray]:
    table = np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32)
    return np.array([3, 0, 7, 3, 5], np.int32), table


ABOUT = {
    "title": "Gather by scalar prefetch",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["i32[5]", "f32[64,128]"],
    "inputs": "make",
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
