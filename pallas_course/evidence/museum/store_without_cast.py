"""Double a bfloat16 matrix in float32."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def double(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = 2 * x_ref[...].astype(jnp.float32)


def kernel(x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Store without a cast",
    "symptom": "refused on every rung",
    "cause": "the value is float32, the output reference bfloat16",
    "mend": "cast where you store: .astype(out_ref.dtype)",
    "source": "marin-community/levanter#1166",
    "args": ["bf16[16,128]"],
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
