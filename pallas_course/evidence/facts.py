"""Static facts of a kernel, from its grid and index maps alone: bytes its pipeline moves, fast memory it needs."""

import math
from typing import Any

import jax
import numpy as np

from pallas_course.evidence.traced import Kernel, Window, visits

# Up to here the block of each program is kept, for a figure.
DRAWN = 400
# Walking a grid costs a row per program; beyond this many the bytes moved are left out.
MOST_PROGRAMS = 1 << 20


def itemsize(dtype: str) -> int:
    """Bytes of one element; types that JAX packs (int4) count as a byte, semaphores as none."""
    try:
        return int(jax.numpy.dtype(dtype).itemsize)
    except TypeError:
        return 0


def moved(kernel: Kernel, window: Window) -> int | None:
    """Bytes the pipeline copies for one window: one block each time the block differs from the program's before.

    Blocks are clipped to the array. None where the blocks are decided at run time or lie where no pipeline copies.
    """
    if (kernel.programs or 0) > MOST_PROGRAMS or (starts := visits(kernel, window)) is None:
        return None
    if not len(starts):
        return 0
    new = np.concatenate([[True], np.any(starts[1:] != starts[:-1], axis=1)])
    low = np.clip(starts[new], 0, window.shape)
    high = np.clip(starts[new] + np.array(window.block, np.int64), 0, window.shape)
    return int(np.prod(high - low, axis=1).sum()) * itemsize(window.dtype)


def tiled(shape: tuple[int, ...], dtype: str) -> int:
    """Bytes of an array in VMEM, where the last two axes are rounded up to whole tiles of its dtype."""
    size = itemsize(dtype)
    if not shape or not size:
        return 0
    rows, columns = (shape[-2] if len(shape) > 1 else 1), shape[-1]
    sublanes = 8 * max(1, 4 // size)
    rounded = -(-rows // sublanes) * sublanes * -(-columns // 128) * 128
    return math.prod(shape[:-2]) * rounded * size


def vmem(kernel: Kernel) -> int:
    """Bytes of VMEM a kernel needs: each window as often as it is buffered, and scratch; a compiler may add to it."""
    windows = sum(w.buffers * tiled(w.block, w.dtype) for w in kernel.windows if w.memory == "vmem")
    return windows + sum(tiled(shape, dtype) for memory, shape, dtype in kernel.scratch if memory == "vmem")


def of_kernels(kernels: list[Kernel]) -> dict[str, Any]:
    """One record per kernel: grid, programs, blocks, bytes moved against the least possible, VMEM need."""
    records = []
    for kernel in kernels:
        record: dict[str, Any] = {"name": kernel.name, "where": kernel.where, "kind": kernel.kind}
        record["grid"] = list(kernel.grid) if kernel.grid is not None else "decided at run time"
        parts = [moved(kernel, window) for window in kernel.windows]
        if parts and None not in parts:
            record["bytes_moved"] = sum(part for part in parts if part is not None)
            record["least_bytes"] = sum(math.prod(w.shape) * itemsize(w.dtype) for w in kernel.windows)
        if kernel.kind == "pallas_call":
            record["vmem_bytes"] = vmem(kernel)
        record["windows"] = [_window(kernel, window) for window in kernel.windows]
        if kernel.scratch:
            record["scratch"] = [f"{memory} {dtype}{list(shape)}" for memory, shape, dtype in kernel.scratch]
        for name, value in (
            ("aliases", kernel.aliases),
            ("semantics", kernel.semantics),
            ("prefetched", kernel.prefetched),
        ):
            if value:
                record[name] = value
        records.append(record)
    return {"kernels": records}


def _window(kernel: Kernel, window: Window) -> dict[str, Any]:
    record = {
        "name": window.name,
        "role": window.role,
        "shape": list(window.shape),
        "dtype": window.dtype,
        "block": list(window.block),
        "memory": window.memory,
    }
    if window.role == "output" and (kernel.programs or DRAWN + 1) <= DRAWN:
        begins = visits(kernel, window)
        if begins is not None:
            record["begins"] = begins.tolist()
    return record


def of_compiled(compiled: Any) -> dict[str, int]:
    """Bytes of arguments, outputs, temporaries and program, as the compiler states them; empty where it states none."""
    analysis = compiled.memory_analysis()
    names = {
        "argument_bytes": "argument_size_in_bytes",
        "output_bytes": "output_size_in_bytes",
        "temporary_bytes": "temp_size_in_bytes",
        "program_bytes": "generated_code_size_in_bytes",
    }
    return {ours: int(getattr(analysis, theirs)) for ours, theirs in names.items() if hasattr(analysis, theirs)}
