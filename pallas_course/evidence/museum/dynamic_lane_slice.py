"""Take 128 columns from a start known at run time."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def window(start_ref: jax.Ref, x_ref: jax.Ref, out_ref: jax.Ref) -> None:
    out_ref[...] = x_ref[:, pl.ds(start_ref[0], 128)]


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
    "title": "Lane slice at a run-time start",
    "symptom": "right until the compiler must prove the start a multiple of 128",
    "cause": "loads along the lane axis start at a lane tile",
    "mend": "load aligned tiles and roll, or keep the start a multiple of 128 and say so",
    "source": "planted",
    "args": ["i32[1]", "f32[8,512]"],
    "inputs": "make",
    "verdicts": {
        "interpret": "pass",
        "simulate": "pass",
        "lower": "pass",
        "compile:v5e": "refused",
        "compile:v6e": "refused",
    },
    "finding": "alignment",
    "found_by": ["compile:v5e", "compile:v6e"],
    "right": False,
}
