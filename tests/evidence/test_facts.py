"""Bytes and tiles, counted from grids and index maps, against hand arithmetic."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from pallas_course.evidence import facts, judge, mode, target, traced

MIB = 2**20


def kernel(function: Any, *shapes: tuple[int, ...]) -> traced.Kernel:
    with mode.forced(False):
        arrays = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        (found,) = traced.kernels(jax.jit(function).trace(*arrays).jaxpr, "tpu")
    return found


def product(m: int, n: int, k: int, size: int) -> Any:
    def body(a_ref: Any, b_ref: Any, out_ref: Any, sum_ref: Any) -> None:
        out_ref[...] = sum_ref[...]

    return lambda a, b: pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        grid=(m // size, n // size, k // size),
        in_specs=[
            pl.BlockSpec((size, size), lambda i, j, k: (i, k)),
            pl.BlockSpec((size, size), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((size, size), lambda i, j, k: (i, j)),
        scratch_shapes=[pltpu.VMEM((size, size), jnp.float32)],
    )(a, b)


def test_a_tiled_product_moves_each_operand_once_per_block_of_the_other() -> None:
    found = kernel(product(512, 256, 1024, 128), (512, 1024), (1024, 256))
    a, b, out = [facts.moved(found, window) for window in found.windows]
    assert (a, b, out) == (2 * 512 * 1024 * 4, 4 * 1024 * 256 * 4, 512 * 256 * 4)
    assert facts.vmem(found) == (3 * 2 + 1) * 128 * 128 * 4


def test_a_block_that_stays_is_fetched_once_and_a_tail_is_clipped() -> None:
    def body(x_ref: Any, row_ref: Any, out_ref: Any) -> None:
        out_ref[...] = x_ref[...] + row_ref[...]

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    found = kernel(
        lambda x, row: pl.pallas_call(
            body,
            out_shape=jax.ShapeDtypeStruct((20, 100), jnp.float32),
            grid=(3,),
            in_specs=[spec, pl.BlockSpec((1, 128), lambda i: (0, 0))],
            out_specs=spec,
        )(x, row),
        (20, 100),
        (1, 100),
    )
    assert [facts.moved(found, window) for window in found.windows] == [20 * 100 * 4, 100 * 4, 20 * 100 * 4]


def test_a_kernel_without_a_grid_moves_its_arrays_once() -> None:
    found = kernel(
        lambda x: pl.pallas_call(lambda a, b: None, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x), (8, 128)
    )
    assert found.programs == 1
    assert [facts.moved(found, window) for window in found.windows] == [4096, 4096]


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ((8, 128), "float32", 4096),
        ((1, 1), "float32", 4096),
        ((3, 130), "bfloat16", 16 * 256 * 2),
        ((2, 5, 7), "int8", 2 * 32 * 128),
    ],
)
def test_vmem_is_counted_in_whole_tiles(shape: tuple[int, ...], dtype: str, size: int) -> None:
    assert facts.tiled(shape, dtype) == size


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int8", "uint8"])
def test_values_are_seeded_distinct_and_without_zero(dtype: str) -> None:
    shape = (10, 10)
    made = target.values("argument 0", dtype, shape)
    np.testing.assert_array_equal(made, target.values("argument 0", dtype, shape))
    assert made.dtype == jnp.dtype(dtype)
    assert len(np.unique(made.astype(np.float64))) == 100
    assert not np.any(made == 0)
    assert np.any(made != target.values("argument 1", dtype, shape))
    if dtype != "uint8":
        assert np.any(made < 0)
        assert np.any(made > 0)


def test_a_difference_names_its_first_element_block_and_program() -> None:
    found = kernel(product(256, 256, 128, 128), (256, 128), (128, 256))
    want = np.zeros((256, 256), np.float32)
    got = want.copy()
    got[130:132, 200] = np.nan
    told = judge.describe("wrong-values", "differs", judge.differs(got, want), 0, [found], got, want, "the oracle")
    assert told.region == ((130, 132), (200, 201))
    assert told.where == "output 0, elements [130:132, 200]; block (1, 1), of program (1, 1, 0)"
    assert (
        told.message
        == "differs in 2 of 65,536 elements, 2 of them NaN, first at [130, 200]: nan where the oracle gives 0"
    )


def test_tolerance_follows_the_dtype_and_the_size_of_the_result() -> None:
    want = np.full((4,), 100.0, np.float32)
    assert not judge.differs(want + np.float32(1e-3), want).any()
    assert judge.differs(want + np.float32(1), want).all()
    assert judge.differs(np.array([1], np.int32), np.array([2], np.int32)).all()
    assert not judge.differs(np.array([np.nan], np.float32), np.array([np.nan], np.float32)).any()
    assert judge.differs(np.array([1.001], np.float32), np.array([1.0]), (0.0, 0.0)).all()
