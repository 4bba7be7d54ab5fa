"""Take 128 columns from a start known at run time."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def window(start_ref: jax.Ref, x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    start = pl.multiple_of(start_ref[0], 128)
    out_ref[...] = x_ref[:, pl.ds(start, 128)]


def kernel(start: jax.Array, x: jax.Array) -> jax.Array:
    out: jax.Array = pl.pallas_call(
        window,
        out_shape=jax.ShapeDtypeStruct((x.shape[0], 128), x.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(1,),
            in_specs=[pl.BlockSpec(x.shape, lambda i, start: (0, 0))],
            out_specs=pl.BlockSpec((x.shape[0], 128), lambda i, start: (0, 0)),
        ),
    )(start, x)
    return out


def reference(start: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x[:, start[0] : start[0] + 128].astype(np.float64)


def make() -> tuple[np.ndarray, np.ndarray]:
    return np.array([37], np.int32), np.random.default_rng(0).normal(size=(8, 512)).astype(np.float32)


ABOUT = {
    "title": "A multiple_of that is not true",
    "symptom": "right on a CPU and accepted by every compiler; a chip may load another tile",
    "cause": "pl.multiple_of is a promise nobody checks, and 37 is no multiple of 128",
    "mend": "promise only what the caller checks: refuse a start that is not a multiple of 128",
    "source": "planted",
    "args": ["i32[1]", "f32[8,512]"],
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
    "right": False,
}
