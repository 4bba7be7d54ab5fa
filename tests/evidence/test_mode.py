"""The mode is set from outside, whatever the code says of it and however it imported Pallas."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import pallas_call
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.ops.tpu import matmul

from pallas_course.evidence import chips, mode, traced
from pallas_course.kernels import versions

X = jnp.arange(8 * 256, dtype=jnp.float32).reshape(8, 256)


def add_one(x_ref: Any, out_ref: Any) -> None:
    out_ref[...] = x_ref[...] + 1


def call(**own: Any) -> Callable[[jax.Array], jax.Array]:
    spec = pl.BlockSpec((8, 128), lambda i: (0, i))
    return lambda x: pallas_call(
        add_one, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(2,), in_specs=[spec], out_specs=spec, **own
    )(x)


def over_cores(x: jax.Array) -> jax.Array:
    def body(x_hbm: Any, out_hbm: Any, x_ref: Any) -> None:
        pltpu.sync_copy(x_hbm, x_ref)
        x_ref[...] += 1
        pltpu.sync_copy(x_ref, out_hbm)

    kernel = pl.kernel(
        body,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        mesh=versions.tensorcore_mesh("core", 1),
        scratch_types=[pltpu.VMEM(x.shape, x.dtype)],
    )
    result: jax.Array = kernel(x)
    return result


def over_refs(x: jax.Array) -> jax.Array:
    def body(refs: Any) -> None:
        x_ref, out_ref = refs

        @pl.core_map(versions.tensorcore_mesh("core", 1))
        def _() -> None:
            def inner(buffer: Any) -> None:
                pltpu.sync_copy(x_ref, buffer)
                buffer[...] += 1
                pltpu.sync_copy(buffer, out_ref)

            pl.run_scoped(inner, pltpu.VMEM(x.shape, x.dtype))

    return pl.run_state(body)((x, jnp.zeros_like(x)))[1]


def piped(x: jax.Array) -> jax.Array:
    spec = pl.BlockSpec((8, 128), lambda i: (0, i))

    def body(x_hbm: Any, out_hbm: Any) -> None:
        pltpu.emit_pipeline(add_one, grid=(2,), in_specs=[spec], out_specs=[spec])(x_hbm, out_hbm)

    whole = pl.BlockSpec(memory_space=pl.ANY)
    return pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[whole], out_specs=whole)(x)


WAYS = {
    "no argument": call(),
    "interpret=True": call(interpret=True),
    "interpret=False": call(interpret=False),
    "a simulation of its own": call(interpret=pltpu.InterpretParams(uninitialized_memory="zero")),
    "jitted at import": jax.jit(call(interpret=True)),
    "pl.kernel": over_cores,
    "emit_pipeline": piped,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("interpret", [True, "simulated"])
def test_every_way_to_call_pallas_runs_on_a_cpu(way: str, interpret: Any) -> None:
    params = pltpu.InterpretParams() if interpret == "simulated" else interpret
    with chips.assumed("v5e"), mode.forced(params) as reached:
        got = jax.jit(WAYS[way])(X)
    assert reached
    np.testing.assert_array_equal(got, X + 1)


@pytest.mark.filterwarnings("ignore:.*core_map is deprecated:DeprecationWarning")
@pytest.mark.parametrize("way", [*WAYS, "core_map"])
def test_every_way_to_call_pallas_is_lowered_as_a_kernel(way: str) -> None:
    function = {**WAYS, "core_map": over_refs}[way]
    with chips.assumed("v5e"), mode.forced(False):
        program = jax.jit(function).trace(jax.ShapeDtypeStruct(X.shape, X.dtype))
        lowered = program.lower(lowering_platforms=("tpu",))
    kernels = traced.kernels(program.jaxpr, "tpu")
    assert len(kernels) == 1
    assert traced.absent(kernels, traced.custom_calls(lowered)) == []
    assert sum(traced.custom_calls(lowered).values()) == 1


def test_jax_own_kernels_run_on_a_cpu() -> None:
    a = jnp.ones((256, 256), jnp.bfloat16)
    with chips.assumed("v5e"), mode.forced(True) as reached:
        got = jax.jit(lambda a: matmul.matmul(a, a, block_shape=(128, 128), block_k=128))(a)
    assert reached
    np.testing.assert_array_equal(np.asarray(got, np.float32), np.full((256, 256), 256, np.float32))


def test_nothing_is_left_behind() -> None:
    before = {primitive: primitive.bind for primitive in versions.call_primitives()}
    with pytest.raises(ZeroDivisionError), mode.forced(True):
        raise ZeroDivisionError
    assert {primitive: primitive.bind for primitive in versions.call_primitives()} == before
    with pytest.raises(ValueError, match="interpret mode"):
        jax.jit(call())(X)


def test_a_function_jitted_by_its_author_follows_each_mode() -> None:
    inner = jax.jit(call())
    with chips.assumed("v5e"), mode.forced(True):
        inner(X)
    with chips.assumed("v5e"), mode.forced(False):
        program = jax.jit(inner).trace(jax.ShapeDtypeStruct(X.shape, X.dtype))
        assert sum(traced.custom_calls(program.lower(lowering_platforms=("tpu",))).values()) == 1


def test_a_forced_mode_inside_is_seen() -> None:
    def function(x: jax.Array) -> jax.Array:
        with pltpu.force_tpu_interpret_mode():
            return call()(x)

    with chips.assumed("v5e"), mode.forced(True) as reached:
        jax.jit(function)(X)
    assert [call.inside for call in reached] == [True] * len(reached)


def test_grid_axes_lose_their_order_only_when_asked() -> None:
    parallel = call(compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)))
    for ordered in (False, True):
        with chips.assumed("v5e"), mode.forced(False, ordered=ordered):
            program = jax.jit(parallel).trace(jax.ShapeDtypeStruct(X.shape, X.dtype))
        assert traced.kernels(program.jaxpr, "tpu")[0].parallel is not ordered


def test_a_program_without_its_kernel_is_not_taken_for_lowered() -> None:
    """An interpreted kernel exports for a TPU as plain arithmetic: the very thing to tell apart."""
    with chips.assumed("v5e"):
        program = jax.jit(call(interpret=True)).trace(jax.ShapeDtypeStruct(X.shape, X.dtype))
        lowered = program.lower(lowering_platforms=("tpu",))
    kernels = traced.kernels(program.jaxpr, "tpu")
    assert traced.absent(kernels, traced.custom_calls(lowered)) == ["add_one"]


def test_of_branches_by_platform_only_the_platforms_own_counts() -> None:
    function = lambda x: jax.lax.platform_dependent(x, tpu=call(name="mine"), default=lambda x: x + 1)  # noqa: E731
    with chips.assumed("v5e"), mode.forced(False):
        program = jax.jit(function).trace(jax.ShapeDtypeStruct(X.shape, X.dtype))
    assert [kernel.name for kernel in traced.kernels(program.jaxpr, "tpu")] == ["mine"]
    assert traced.kernels(program.jaxpr, "cpu") == []


def test_a_traced_kernel_names_its_parts() -> None:
    def body(scale_ref: Any, x_ref: Any, out_ref: Any, scratch_ref: Any) -> None:
        out_ref[...] = x_ref[...] + scale_ref[0]

    def function(scale: jax.Array, x: jax.Array) -> jax.Array:
        spec = pl.BlockSpec((None, 128), lambda i, j, scale: (i, j), pipeline_mode=pl.Buffered(3))
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(8, 2),
            in_specs=[spec],
            out_specs=pl.BlockSpec((None, 128), lambda i, j, scale: (i, j)),
            scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],
        )
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pl.pallas_call(body, out_shape=shape, grid_spec=grid, input_output_aliases={1: 0}, name="scaled")(
            scale, x
        )

    with chips.assumed("v5e"), mode.forced(False):
        shapes = (jax.ShapeDtypeStruct((1,), jnp.float32), jax.ShapeDtypeStruct(X.shape, X.dtype))
        (kernel,) = traced.kernels(jax.jit(function).trace(*shapes).jaxpr, "tpu")
    assert (kernel.name, kernel.grid, kernel.programs, kernel.prefetched) == ("scaled", (8, 2), 16, 1)
    assert kernel.where.endswith(f"test_mode.py:{function.__code__.co_firstlineno + 10}")
    assert [(w.role, w.block, w.buffers) for w in kernel.windows] == [("input", (1, 128), 3), ("output", (1, 128), 2)]
    assert kernel.scratch == (("vmem", (8, 128), "float32"),)
    assert kernel.aliases == ((1, 0),)
