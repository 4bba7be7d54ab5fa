"""Pick rows of a table by an array of indices."""

import jax
import numpy as np
from jax.experimental import pallas as pl


def pick(index_ref: jax.Ref, table_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = table_ref[index_ref[...]]


def kernel(index: jax.Array, table: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(
        pick, out_shape=jax.ShapeDtypeStruct((index.shape[0], table.shape[1]), table.dtype)
    )(index, table)
    return out


def reference(index: np.ndarray, table: np.ndarray) -> np.ndarray:
    return np.asarray(table[index].astype(np.float64))


def make() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.permutation(32)[:8].astype(np.int32), rng.normal(size=(32, 128)).astype(np.float32)


ABOUT = {
    "title": "Indexing a reference with an array",
    "symptom": "right under interpretation, refused by the lowering",
    "cause": "a TPU has no such gather over a reference",
    "mend": "prefetch the indices as scalars and use them in an index map",
    "source": "jax-ml/jax#22783",
    "args": ["i32[8]", "f32[32,128]"],
    "inputs": "make",
    "verdicts": {
        "interpret": "pass",
        "simulate": "not run",
        "lower": "refused",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "lowering",
    "found_by": ["lower", "compile:v5e", "compile:v6e"],
    "right": False,
}
