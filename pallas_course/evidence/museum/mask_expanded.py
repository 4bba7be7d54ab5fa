"""Keep the first 20 rows, zero the others."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def keep_rows(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    keep = jnp.arange(x_ref.shape[0]) < 20
    out_ref[...] = jnp.where(keep[:, None], x_ref[...], 0.0)


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(keep_rows, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return np.where(np.arange(x.shape[0])[:, None] < 20, x.astype(np.float64), 0)


ABOUT = {
    "title": "Boolean vector expanded to a column",
    "symptom": "right on a CPU; one TPU compiler refuses it, another aborts the process",
    "cause": "a rank-one mask gets a new last axis, which has no layout",
    "mend": "build the mask in two dimensions: jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 0) < 20",
    "source": "jax-ml/jax#21999",
    "args": ["f32[32,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": {"0.10": "refused", "0.12": "abort"},
        "compile:v6e": {"0.10": "refused", "0.12": "abort"},
    },
    "finding": {"0.10": "compile", "0.12": "abort"},
    "found_by": ["compile:v5e", "compile:v6e"],
    "right": False,
}
