"""Tiled axpy, ``2·x + y`` over a matrix: the kernel of the first lesson, which shows the functions below as they stand.

They use jax and numpy alone, so that a page made of their source runs without the course.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

from pallas_course.kernels.contract import Case, Contract, Tolerance


def axpy_oracle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``2·x + y`` in float64, rounded once to x's dtype; any shape."""
    wide = 2 * x.astype(np.float64) + y.astype(np.float64)
    return wide.astype(x.dtype)


def validate_pair(x: jax.Array | np.ndarray, y: jax.Array | np.ndarray, block: tuple[int, int] | list[int]) -> None:
    """Raise ValueError, naming the broken rule, unless the contract holds."""
    for name, array in (("x", x), ("y", y)):
        if getattr(array, "ndim", None) != 2:
            raise ValueError(f"{name} must be a two-dimensional array; got {getattr(array, 'shape', type(array))}")
        if 0 in array.shape:
            raise ValueError(f"{name} must not be empty; got shape {array.shape}")
        if array.dtype not in (jnp.float32, jnp.bfloat16):
            raise ValueError(f"{name} must be float32 or bfloat16; got {array.dtype}")
    if x.shape != y.shape:
        raise ValueError(f"x and y must have the same shape; got {x.shape} and {y.shape}")
    if x.dtype != y.dtype:
        raise ValueError(f"x and y must have the same dtype; got {x.dtype} and {y.dtype}")
    if not isinstance(block, (tuple, list)) or len(block) != 2:
        raise ValueError(f"block must be a pair of positive integers; got {block!r}")
    for size in block:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"block must be a pair of positive integers; got {block!r}")


def pad_pair(
    x: jax.Array | np.ndarray, y: jax.Array | np.ndarray, block: tuple[int, int] | list[int]
) -> tuple[jax.Array, jax.Array, tuple[int, int]]:
    """Zero-pad x and y up to whole blocks; return both and the padded shape."""
    (rows, columns), (block_rows, block_columns) = x.shape, map(int, block)
    # -5 % 2 is 1: what five rows lack to be a multiple of two.
    extra_rows, extra_columns = -rows % block_rows, -columns % block_columns
    widths = ((0, extra_rows), (0, extra_columns))
    return jnp.pad(x, widths), jnp.pad(y, widths), (rows + extra_rows, columns + extra_columns)


def axpy_body(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
    """Write 2·x + y to one output block: float32 arithmetic, one cast."""
    x = x_ref[...].astype(jnp.float32)
    y = y_ref[...].astype(jnp.float32)
    out_ref[...] = (2 * x + y).astype(out_ref.dtype)


def blocked_axpy(
    x: jax.Array | np.ndarray,
    y: jax.Array | np.ndarray,
    block: tuple[int, int] | list[int] = (2, 4),
    *,
    interpret: object = True,
) -> jax.Array:
    """Return 2·x + y, computed block by block.

    x and y: non-empty matrices of one shape and dtype, float32 or bfloat16.
    The result has that shape and dtype; the arithmetic is float32.
    interpret goes unchanged to pallas_call. Any other input: ValueError.
    """
    validate_pair(x, y, block)
    x_padded, y_padded, padded = pad_pair(x, y, block)
    block_rows, block_columns = map(int, block)
    spec = pl.BlockSpec((block_rows, block_columns), lambda i, j: (i, j))
    out: jax.Array = pl.pallas_call(
        axpy_body,
        out_shape=jax.ShapeDtypeStruct(padded, x.dtype),
        grid=(padded[0] // block_rows, padded[1] // block_columns),
        in_specs=[spec, spec],
        out_specs=spec,
        interpret=interpret,
    )(x_padded, y_padded)
    rows, columns = x.shape
    return out[:rows, :columns]


AXPY = Contract(
    name="axpy",
    oracle=axpy_oracle,
    cases=tuple(
        Case(name, (shape, shape), reason)
        for name, shape, reason in (
            ("single element", (1, 1), "the smallest matrix: every block is mostly padding"),
            ("singleton row", (1, 7), "an axis of length one, where a floor-divided grid launches nothing"),
            ("smaller than a block", (2, 3), "one program owns everything, and pads or crops on both axes"),
            ("aligned", (6, 20), "whole blocks of (2, 4) and (3, 5): no tail, the case in which most mistakes hide"),
            ("ragged columns", (6, 11), "a tail on the last axis only"),
            ("ragged rows", (5, 20), "a tail on the first axis only"),
            ("ragged", (5, 11), "the lesson's matrix: partial tiles below, to the right and in the corner"),
            ("ragged, odd sides", (7, 9), "tails on both axes, and for both small blocks"),
            ("tall", (17, 2), "more block rows than columns: swapped grid coordinates leave the matrix"),
            ("wide", (2, 17), "more block columns than rows: the same swap the other way"),
            ("many blocks", (37, 300), "several blocks and both tails at a block shape that TPUs accept, (8, 128)"),
        )
    ),
    tolerances=(
        Tolerance(
            "float32",
            rtol=1e-6,
            atol=1e-6,
            reason="2·x is exact, so the sum rounds once, by 6e-8 of itself at most; the rest pays for another order "
            "of additions, and atol for sums that cancel",
        ),
        Tolerance(
            "bfloat16",
            rtol=2**-7,
            atol=1e-6,
            reason="one step between neighbouring bfloat16 values, for a float32 sum that falls on the other side of a "
            "rounding boundary; atol as in float32",
        ),
    ),
    blocks=((2, 4), (3, 5), (8, 128)),
)
