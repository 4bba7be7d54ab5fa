"""Divide each row by its root mean square and scale it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def rms_norm(x_ref: jax.Ref, weight_ref: jax.Ref, out_ref: jax.Ref) -> None:
    x = x_ref[...].astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-6)
    out_ref[...] = (x * scale * weight_ref[...].astype(jnp.float32)).astype(out_ref.dtype)


def kernel(x: jax.Array, weight: jax.Array) -> jax.Array:
    rows, columns = x.shape
    spec = pl.BlockSpec((16, columns), lambda i: (i, 0))
    out: jax.Array = pl.pallas_call(
        rms_norm,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, 16),),
        in_specs=[spec, pl.BlockSpec((1, columns), lambda i: (0, 0))],
        out_specs=spec,
    )(x, weight)
    return out


def reference(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return np.asarray(x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * weight.astype(np.float64))


ABOUT = {
    "title": "RMSNorm in bfloat16, float32 inside",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "",
    "args": ["bf16[40,256]", "bf16[1,256]"],
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
