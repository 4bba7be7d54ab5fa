"""Static facts of a kernel, from its grid and index maps alone: bytes its pipeline moves, fast memory it needs."""

import math
from typing import Any

import jax
import numpy as np

from pallas_course.evidence import traced
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


def unknown(kernel: Kernel) -> str:
    """Why the bytes a kernel moves are not known before it runs; "" where they are."""
    if not kernel.windows:
        return "the kernel copies by itself"
    if (kernel.programs or 0) > MOST_PROGRAMS:
        return f"its {kernel.programs:,} programs are too many to walk"
    if reason := next(filter(None, (traced.unknown(kernel, window) for window in kernel.windows)), ""):
        return reason
    outside = next((w.name for w in kernel.windows if _outside(visits(kernel, w), w)), None)
    return f"a block of {outside} lies outside its array" if outside else ""


def moved(kernel: Kernel, window: Window) -> int:
    """Bytes the pipeline copies for one window: one block each time the block differs from the program's before.

    Blocks are clipped to the array. One core is taken to run the whole grid. Only where nothing is ``unknown``.
    """
    starts = visits(kernel, window)
    assert starts is not None
    new = np.concatenate([[True], np.any(starts[1:] != starts[:-1], axis=1)])[: len(starts)]
    return _bytes(starts[new], window)


def least(kernel: Kernel, window: Window) -> int:
    """Bytes of every block that some program gets, each once, and no more than the array's. As ``moved``."""
    starts = visits(kernel, window)
    assert starts is not None
    return min(_bytes(np.unique(starts, axis=0), window), _whole(window))


def _whole(window: Window) -> int:
    return math.prod(window.shape) * itemsize(window.dtype)


def _bytes(starts: np.ndarray, window: Window) -> int:
    low = np.clip(starts, 0, window.shape)
    high = np.clip(starts + np.array(window.block, np.int64), 0, window.shape)
    return int(np.prod(high - low, axis=1).sum()) * itemsize(window.dtype)


def _outside(starts: np.ndarray | None, window: Window) -> bool:
    return starts is not None and bool(np.any((starts >= window.shape) | (starts + np.array(window.block) <= 0)))


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
        if reason := unknown(kernel):
            record["bytes_unknown"] = reason
        else:
            record["bytes_moved"] = sum(moved(kernel, window) for window in kernel.windows)
            record["least_bytes"] = sum(least(kernel, window) for window in kernel.windows)
            record["array_bytes"] = sum(_whole(window) for window in kernel.windows)
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
