"""Double a matrix with hand-written copies."""

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def double(x_hbm: jax.Ref, out_hbm: jax.Ref, in_ref: jax.Ref, out_ref: jax.Ref, semaphores: jax.Ref) -> None:
    fetch = pltpu.make_async_copy(x_hbm, in_ref, semaphores.at[0])
    fetch.start()
    fetch.wait()
    out_ref[...] = 2 * in_ref[...]
    pltpu.make_async_copy(out_ref, out_hbm, semaphores.at[1]).start()


def kernel(x: jax.Array) -> jax.Array:
    whole = pl.BlockSpec(memory_space=pl.ANY)
    block = pltpu.VMEM(x.shape, x.dtype)
    out: jax.Array = pl.pallas_call(
        double,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        in_specs=[whole],
        out_specs=whole,
        scratch_shapes=[block, block, pltpu.SemaphoreType.DMA((2,))],
    )(x)
    return out


def reference(x: np.ndarray) -> np.ndarray:
    return 2 * x.astype(np.float64)


ABOUT = {
    "title": "Output copy never waited for",
    "symptom": "right under interpretation; the kernel may end before its result arrives",
    "cause": "nothing waits for the copy out",
    "mend": "wait before the kernel ends",
    "source": "planted",
    "args": ["f32[16,128]"],
    "verdicts": {
        "interpret": "pass",
        "simulate": "refused",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "race",
    "found_by": ["simulate"],
    "right": False,
}
