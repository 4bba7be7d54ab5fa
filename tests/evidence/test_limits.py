"""What is no fault of a kernel is not told as one: limits of JAX's interpreters, GPUs, other devices, dead code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import pytest

from pallas_course.evidence import chips, rungs
from pallas_course.evidence.case import Case
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, Verdict
from tests.evidence.conftest import libtpu

Write = Callable[[str], Path]
ADD = """
def body(x_ref, out_ref):
    out_ref[...] = x_ref[...] + 1

def add(x, **more):
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **more)(x)

def reference(x):
    return x.astype(np.float64) + 1
"""


def verdict(path: Path, rung: str, shape: list[int], dtype: str = "float32", **more: Any) -> Verdict:
    spec = {
        "name": "given",
        "target": {"file": str(path), "function": "kernel"},
        "oracle": {"file": str(path), "function": "reference"},
        "args": [{"dtype": dtype, "shape": shape}],
    }
    return rungs.climb(Case(spec | more), rung, "v5e")


@pytest.mark.parametrize("rung", ["interpret", "simulate", "lower"])
def test_a_shard_map_over_this_machine_is_let_through(rung: str, kernel_file: Write) -> None:
    # A block of rank one asks which chip it is for, within the shard_map too.
    path = kernel_file(
        ADD
        + """
def kernel(x):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("data",))
    spec = pl.BlockSpec((1024,), lambda i: (i,))
    part = jax.sharding.PartitionSpec("data")
    inner = lambda x: add(x, grid=(x.shape[0] // 1024,), in_specs=[spec], out_specs=spec)
    return jax.shard_map(inner, mesh=mesh, in_specs=part, out_specs=part, check_vma=False)(x)
"""
    )
    assert verdict(path, rung, [4096]).status == PASS


@pytest.mark.skipif(not libtpu(), reason="needs libtpu")
def test_a_program_placed_on_this_machine_is_not_compiled_for_another(kernel_file: Write) -> None:
    path = kernel_file(
        ADD
        + """
def kernel(x):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("data",))
    part = jax.sharding.PartitionSpec("data")
    return jax.shard_map(add, mesh=mesh, in_specs=part, out_specs=part, check_vma=False)(x)
"""
    )
    found = verdict(path, "compile", [8, 128])
    assert found.status == NOT_RUN
    assert "this machine's own devices" in found.reason


@pytest.mark.parametrize("question", ['jax.default_backend() == "tpu"', "pltpu.is_tpu_device()"])
@pytest.mark.parametrize("rung", ["interpret", "simulate", "lower"])
def test_code_that_asks_where_it_runs_is_told_the_chip(question: str, rung: str, kernel_file: Write) -> None:
    path = kernel_file(ADD + f"\ndef kernel(x):\n    return add(x) if {question} else x + 1\n")
    assert verdict(path, rung, [8, 128]).status == PASS
    assert jax.default_backend() == "cpu"


@pytest.mark.parametrize("rung", ["interpret", "simulate", "lower"])
def test_the_branch_for_accelerators_is_the_one_that_is_interpreted(rung: str, kernel_file: Write) -> None:
    path = kernel_file(
        ADD + "\ndef kernel(x):\n    return jax.lax.platform_dependent(x, tpu=add, default=lambda x: x * 0)\n"
    )
    assert verdict(path, rung, [8, 128]).status == PASS


def test_a_fault_in_the_branch_for_accelerators_is_seen(kernel_file: Write) -> None:
    wrong = ADD.replace("x_ref[...] + 1", "x_ref[...] + 2")
    path = kernel_file(
        wrong + "\ndef kernel(x):\n    return jax.lax.platform_dependent(x, tpu=add, default=lambda x: x + 1)\n"
    )
    found = verdict(path, "interpret", [8, 128])
    assert found.findings[0].code == "wrong-values"


def test_random_bits_of_a_tpu_are_left_to_the_simulator(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(seed_ref, out_ref):
            pltpu.prng_seed(seed_ref[0])
            out_ref[...] = pltpu.prng_random_bits(out_ref.shape)

        def kernel(seed):
            return pl.pallas_call(body, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM)],
                out_shape=jax.ShapeDtypeStruct((8, 128), jnp.int32))(seed)
        """
    )
    left = verdict(path, "interpret", [1], "int32", oracle=None)
    assert (left.status, left.reason) == (NOT_RUN, "interpret=True has no rule for prng_seed")
    assert verdict(path, "simulate", [1], "int32", oracle=None).status == PASS


RAGGED = """
def kernel(x):
    spec = pl.BlockSpec((16, 128), lambda i, j: (i{0}, j))
    def pipeline(x_hbm, out_hbm):
        pltpu.emit_pipeline(body, grid=(pl.cdiv(x.shape[0], 16), pl.cdiv(x.shape[1], 128)), in_specs=[spec],
            out_specs=[spec])(x_hbm, out_hbm)
    whole = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(pipeline, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[whole],
        out_specs=whole)(x)
"""


def test_partial_blocks_of_a_pipeline_are_no_fault(kernel_file: Write) -> None:
    path = kernel_file(ADD + RAGGED.format(""))
    assert verdict(path, "interpret", [60, 200]).status == NOT_RUN
    simulated = verdict(path, "simulate", [60, 200])
    assert (simulated.status, "partial blocks of an emit_pipeline" in simulated.reason) == (NOT_RUN, True)
    assert verdict(path, "lower", [60, 200]).status == PASS


def test_a_block_of_a_pipeline_outside_its_array_is_one(kernel_file: Write) -> None:
    path = kernel_file(ADD + RAGGED.format(" * 16"))
    assert verdict(path, "simulate", [64, 256]).status == FAIL


def test_a_read_past_the_end_names_its_line(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_ref, out_ref):
            def step(i, _):
                out_ref[pl.ds(i * 8, 8), :] = x_ref[
                    pl.ds(i * 16, 16), :
                ][:8]
                return 0
            jax.lax.fori_loop(0, 3, step, 0)

        def kernel(x):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((24, 128), x.dtype))(x)
        """
    )
    found = verdict(path, "simulate", [40, 128], oracle=None)
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "= x_ref[" in text)
    assert found.findings[0].code == "out-of-bounds"
    assert found.findings[0].where == f"{path}:{line}"


def test_a_kernel_without_use_is_not_missed(kernel_file: Write) -> None:
    unused = "\ndef other(x_ref, out_ref):\n    out_ref[...] = x_ref[...] * 0\n"
    call = "pl.pallas_call(other, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)"
    path = kernel_file(ADD + unused + f"\ndef kernel(x):\n    {call}\n    return add(x)\n")
    assert verdict(path, "lower", [8, 128]).status == PASS


def test_a_gradient_without_kernels_keeps_those_of_the_function(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_ref, out_ref):
            out_ref[...] = jnp.sin(x_ref[...])

        @jax.custom_vjp
        def kernel(x):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

        kernel.defvjp(lambda x: (kernel(x), x), lambda x, g: (g * jnp.cos(x),))
        """
    )
    for rung in ("interpret", "simulate", "lower"):
        assert verdict(path, rung, [8, 128], oracle=None, grad=True).status == PASS


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("triton", "add(x, compiler_params=plgpu.CompilerParams(num_warps=4))"),
        ("mosaic_gpu", "plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_kernel_for_gpus_is_not_judged_by_a_tpu(imported: str, call: str, kernel_file: Write) -> None:
    pytest.importorskip(f"jax.experimental.pallas.{imported}", exc_type=ImportError)  # 0.10.2 wants absl for one
    kernel = f"\nfrom jax.experimental.pallas import {imported} as plgpu\ndef kernel(x):\n    return {call}\n"
    for rung in ("simulate", "lower"):
        found = verdict(kernel_file(ADD + kernel), rung, [128, 128])
        assert (found.status, "--chip h100" in found.reason) == (NOT_RUN, True)


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_a_core_map_is_judged_where_it_can_be(kernel_file: Write) -> None:
    path = kernel_file(
        ADD
        + """
def kernel(x):
    def stateful(refs):
        x_ref, out_ref = refs
        @pl.core_map(pltpu.create_tensorcore_mesh("core", num_cores=1))
        def _():
            def inner(buffer):
                pltpu.sync_copy(x_ref, buffer)
                buffer[...] += 1
                pltpu.sync_copy(buffer, out_ref)
            pl.run_scoped(inner, pltpu.VMEM(x.shape, x.dtype))
    return pl.run_state(stateful)((x, jnp.zeros_like(x)))[1]
"""
    )
    old = jax.__version__.startswith("0.10")
    assert verdict(path, "interpret", [8, 128]).status == (NOT_RUN if old else PASS)
    assert verdict(path, "simulate", [8, 128]).status == PASS


def test_a_barrier_is_left_to_the_simulator(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_ref, out_ref):
            barrier = pltpu.get_barrier_semaphore()
            pl.semaphore_signal(barrier, 1)
            pl.semaphore_wait(barrier, 1)
            out_ref[...] = x_ref[...]

        def kernel(x):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                compiler_params=pltpu.CompilerParams(collective_id=0))(x)
        """
    )
    assert verdict(path, "interpret", [8, 128], oracle=None).status == NOT_RUN
    assert verdict(path, "simulate", [8, 128], oracle=None).status == PASS


@pytest.mark.parametrize("wait", ["y.block_until_ready()", "print(float(y[0, 0]))"])
def test_a_function_that_waits_for_its_kernel_runs_and_is_not_lowered(wait: str, kernel_file: Write) -> None:
    path = kernel_file(ADD + f"\ndef kernel(x):\n    y = add(x)\n    {wait}\n    return y\n")
    assert verdict(path, "interpret", [8, 128]).status == PASS
    assert verdict(path, "lower", [8, 128]).status == NOT_RUN


def test_a_kernel_that_needs_a_value_is_wrong_on_every_rung(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_ref, out_ref):
            if x_ref[0, 0] > 0:
                out_ref[...] = x_ref[...]

        def kernel(x):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        """
    )
    for rung in ("interpret", "simulate", "lower"):
        found = verdict(path, rung, [8, 128], oracle=None)
        assert found.findings[0].code == "trace"
        assert found.findings[0].where == f"{path}:9"


def test_random_keys_are_arguments_too(kernel_file: Write) -> None:
    path = kernel_file(
        ADD
        + """
def kernel(x, key):
    return add(x + jax.random.uniform(key, x.shape))

def make():
    return jnp.ones((8, 128)), jax.random.key(0)
"""
    )
    inputs = {"file": str(path), "function": "make"}
    for rung in ("interpret", "simulate", "lower"):
        assert verdict(path, rung, [8, 128], oracle=None, inputs=inputs).status == PASS


def test_shapes_refused_by_a_helper_of_the_code_are_no_finding(kernel_file: Callable[..., Path]) -> None:
    kernel_file("\ndef check(x):\n    if x.shape[0] % 8:\n        raise ValueError('rows by 8')\n", name="checks.py")
    path = kernel_file("\nfrom checks import check\n" + ADD + "\ndef kernel(x):\n    check(x)\n    return add(x)\n")
    found = verdict(path, "interpret", [9, 128], derived=True)
    assert (found.status, "rows by 8" in found.reason) == (NOT_RUN, True)


def test_numbers_of_64_bits_are_called_that(kernel_file: Write) -> None:
    path = kernel_file(ADD + "\ndef kernel(x):\n    return add(x)\n")
    try:
        found = verdict(path, "compile" if chips.missing("v5e") is None else "lower", [8, 128], "float64")
    finally:
        jax.config.update("jax_enable_x64", False)
    assert {finding.code for finding in found.findings} <= {"x64"}
