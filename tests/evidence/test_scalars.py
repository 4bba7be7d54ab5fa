"""Bytes that depend on values: prefetched scalars and dynamic grids, against hand counts; and what stays unknown."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from pallas_course.evidence import chips, facts, mode, traced

BLOCK = 8 * 128 * 4  # bytes of a float32 tile


def stated(function: Any, *arrays: np.ndarray) -> dict[str, Any]:
    """What is said of the one kernel that a function reaches."""
    with chips.assumed("v5e"), mode.forced(False):
        shapes = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]
        found = traced.kernels(jax.jit(function).trace(*shapes).jaxpr, "tpu", list(arrays))
    (record,) = facts.of_kernels(found)["kernels"]
    return record


def copy(index_ref: Any, x_ref: Any, out_ref: Any) -> None:
    out_ref[...] = x_ref[...]


def gather(index: Any, table: Any, programs: Any = None) -> Any:
    """Rows of blocks by prefetched index."""
    return pl.pallas_call(
        copy,
        out_shape=jax.ShapeDtypeStruct((8 * index.shape[0], 128), table.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(index.shape[0] if programs is None else programs,),
            in_specs=[pl.BlockSpec((8, 128), lambda i, index_ref: (index_ref[i], 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, index_ref: (i, 0)),
        ),
    )(index, table)


TABLE = np.zeros((64, 128), np.float32)


def counts(record: dict[str, Any]) -> tuple[int, int]:
    return record["bytes_moved"] // BLOCK, record["least_bytes"] // BLOCK


@pytest.mark.parametrize(
    ("index", "moved", "least"),
    [
        ([3, 0, 7, 5], 4 + 4, 4 + 4),
        ([3, 3, 3, 3], 1 + 4, 1 + 4),
        ([3, 0, 3, 0], 4 + 4, 2 + 4),  # a block that comes back is copied again
    ],
)
def test_gathered_blocks_are_counted_from_the_indices_given(index: list[int], moved: int, least: int) -> None:
    record = stated(gather, np.array(index, np.int32), TABLE)
    assert counts(record) == (moved, least)
    assert "bytes_unknown" not in record


def test_indices_may_be_computed_in_functions_on_the_way_to_the_kernel() -> None:
    @jax.jit
    def order(scores: Any) -> Any:
        return jnp.argsort(scores).astype(jnp.int32)

    def function(scores: Any, table: Any) -> Any:
        return jax.checkpoint(jax.jit(lambda s, t: gather(order(s)[:2] * 0 + order(s)[0], t)))(scores, table)

    assert counts(stated(function, np.array([0.5, 0.25, 4, 3], np.float32), TABLE)) == (1 + 2, 1 + 2)


def test_rows_that_no_index_names_are_in_the_arrays_and_not_in_the_least() -> None:
    record = stated(gather, np.array([3, 3], np.int32), TABLE)
    assert counts(record) == (1 + 2, 1 + 2)
    assert record["array_bytes"] == (8 + 2) * BLOCK


def test_a_dynamic_grid_has_the_size_that_the_arguments_give_it() -> None:
    def function(count: Any, index: Any, table: Any) -> Any:
        return gather(index, table, programs=count[0] + 1)

    record = stated(function, np.array([2], np.int32), np.array([1, 2, 2, 7], np.int32), TABLE)
    assert record["grid"] == [3]
    assert counts(record) == (2 + 3, 2 + 3)


def test_a_block_outside_its_array_leaves_the_bytes_unknown() -> None:
    record = stated(gather, np.array([3, 0, 40, 5], np.int32), TABLE)
    assert record["bytes_unknown"].endswith("lies outside its array")
    assert "bytes_moved" not in record


def doubled(index: Any) -> Any:
    def double(x_ref: Any, out_ref: Any) -> None:
        out_ref[...] = x_ref[...] * 2

    return pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(index.shape, index.dtype))(index)


def test_what_another_kernel_or_a_loop_decides_is_not_known() -> None:
    def after(index: Any, table: Any) -> Any:
        return gather(doubled(index), table)

    with chips.assumed("v5e"), mode.forced(False):
        arrays = [np.zeros(4, np.int32), TABLE]
        found = traced.kernels(jax.jit(after).trace(*arrays).jaxpr, "tpu", arrays)
    first, second = facts.of_kernels(found)["kernels"]
    assert "bytes_moved" in first
    assert second["bytes_unknown"] == "its map depends on another kernel, or on a loop around it"

    def turns(index: Any, table: Any) -> Any:
        return jax.lax.fori_loop(0, 3, lambda turn, now: gather(index + turn, now[:64]), table)

    record = stated(turns, np.arange(8, dtype=np.int32), TABLE)
    assert record["bytes_unknown"] == "its map depends on another kernel, or on a loop around it"

    def grown(count: Any, index: Any, table: Any) -> Any:
        return jax.lax.fori_loop(0, count[0], lambda turn, now: gather(index, now[:64], programs=turn + 1), table)

    record = stated(grown, np.array([3], np.int32), np.arange(8, dtype=np.int32), TABLE)
    assert record["grid"] == "decided at run time"
    assert record["bytes_unknown"] == "its grid depends on another kernel, or on a loop around it"


def test_without_arguments_nothing_of_them_is_known() -> None:
    with chips.assumed("v5e"), mode.forced(False):
        (found,) = traced.kernels(jax.jit(gather).trace(np.zeros(4, np.int32), TABLE).jaxpr, "tpu")
    assert "bytes_unknown" in facts.of_kernels([found])["kernels"][0]


def test_a_kernel_that_copies_by_itself_is_not_counted() -> None:
    def body(x_ref: Any, out_ref: Any) -> None:
        def double(a_ref: Any, b_ref: Any) -> None:
            b_ref[...] = a_ref[...] * 2

        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        pltpu.emit_pipeline(double, grid=(8,), in_specs=[spec], out_specs=[spec])(x_ref, out_ref)

    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    call = pl.pallas_call(
        body, out_shape=jax.ShapeDtypeStruct((64, 128), jnp.float32), in_specs=[anywhere], out_specs=anywhere
    )
    assert stated(call, TABLE)["bytes_unknown"] == "the kernel copies by itself"


def test_grouped_product_of_jax_is_counted_from_its_groups() -> None:
    from jax.experimental.pallas.ops.tpu.megablox import gmm

    multiply = getattr(gmm, "gmm", gmm)
    tile = 128 * 128 * 4

    def function(left: Any, right: Any, sizes: Any) -> Any:
        return multiply(left, right, sizes, tiling=(128, 128, 128))

    left, right = np.zeros((256, 128), np.float32), np.zeros((2, 128, 128), np.float32)
    even = stated(function, left, right, np.array([128, 128], np.int32))
    assert even["grid"] == [1, 2, 1]
    assert even["bytes_moved"] == (2 + 2 + 2) * tile
    # The first tile of rows has rows of both groups: it stays while the weights change.
    uneven = stated(function, left, right, np.array([100, 156], np.int32))
    assert uneven["grid"] == [1, 3, 1]
    assert uneven["bytes_moved"] == (2 + 2 + 2) * tile
    # Two columns of tiles: rows are read again for each.
    wide = stated(function, left, np.zeros((2, 128, 256), np.float32), np.array([0, 256], np.int32))
    assert wide["grid"] == [2, 2, 1]
    assert wide["bytes_moved"] == (2 * 2 + 2 * 1 + 2 * 2) * tile
