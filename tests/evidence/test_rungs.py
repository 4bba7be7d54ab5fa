"""Each rung's verdict on small kernels, right and wrong, in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import chips, rungs
from pallas_course.evidence.case import Case
from pallas_course.evidence.verdict import FAIL, NO_ORACLE, NOT_RUN, PASS, Verdict

Write = Callable[[str], Path]

ADD = """
def body(x_ref, out_ref):
    out_ref[...] = x_ref[...] + 1

def kernel(x, block=(8, 128), grid=None, index=lambda i, j: (i, j), **more):
    spec = pl.BlockSpec(block, index)
    grid = grid or tuple(pl.cdiv(n, b) for n, b in zip(x.shape, block))
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=grid, in_specs=[spec],
                          out_specs=pl.BlockSpec(block, lambda i, j: (i, j)), **more)(x)

def reference(x):
    return x.astype(np.float64) + 1
"""


def case(path: Path, shapes: list[list[int]], *, function: str = "kernel", oracle: bool = True, **more: Any) -> Case:
    dtype = more.pop("dtype", "float32")
    spec = {
        "name": "given",
        "target": {"file": str(path), "function": function},
        "oracle": {"file": str(path), "function": "reference"} if oracle else None,
        "args": [{"dtype": dtype, "shape": shape} for shape in shapes],
    }
    return Case(spec | more)


def code(verdict: Verdict) -> str:
    return verdict.findings[0].code if verdict.findings else verdict.status


def test_a_right_kernel_passes_and_says_what_was_tried(kernel_file: Write) -> None:
    checked = case(kernel_file(ADD), [[20, 300]])
    interpreted = rungs.climb(checked, "interpret", "v5e")
    assert interpreted.status == PASS
    (facts,) = interpreted.facts["kernels"]
    assert facts["grid"] == [3, 3]
    assert facts["bytes_moved"] == facts["least_bytes"] == 2 * 20 * 300 * 4
    simulated = rungs.climb(checked, "simulate", "v5e")
    assert simulated.status == PASS
    assert simulated.runs == ("uninitialised memory is NaN", "uninitialised memory is zero")
    assert simulated.facts["order"][:4] == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert rungs.climb(checked, "lower", "v5e").status == PASS
    assert rungs.climb(checked, "lower", "h100").chip == "gpu"


def test_a_floor_divided_grid_is_found_with_and_without_an_oracle(kernel_file: Write) -> None:
    path = kernel_file(ADD + "\ndef floor(x):\n    return kernel(x, grid=(x.shape[0] // 8, x.shape[1] // 128))\n")
    for oracle in (True, False):
        checked = case(path, [[20, 256]], function="floor", oracle=oracle)
        for rung in ("interpret", "simulate"):
            verdict = rungs.climb(checked, rung, "v5e")
            (found,) = verdict.findings
            assert found.code == "unwritten"
            assert "1,024 of 5,120 elements" in found.message
            assert found.region == ((16, 20), (0, 128))
            assert "block (2, 0), which no program owns" in found.where
            assert (NO_ORACLE in verdict.runs) is not oracle


def test_an_integer_tail_that_interpretation_hides_is_found(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_ref, out_ref):
            @pl.when(pl.program_id(0) == 0)
            def _(): out_ref[...] = jnp.zeros_like(out_ref)
            out_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)

        def kernel(x):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((1, 128), x.dtype), grid=(3,),
                in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
                out_specs=pl.BlockSpec((1, 128), lambda i: (0, 0)))(x)

        def reference(x):
            return x.sum(axis=0, keepdims=True)
        """
    )
    checked = case(path, [[20, 128]], dtype="int32")
    assert rungs.climb(checked, "interpret", "v5e").status == PASS
    assert code(rungs.climb(checked, "simulate", "v5e")) == "uninitialised"


def test_a_map_in_elements_is_out_of_bounds(kernel_file: Write) -> None:
    path = kernel_file(ADD + "\ndef far(x):\n    return kernel(x, index=lambda i, j: (i, j * 128))\n")
    verdict = rungs.climb(case(path, [[8, 512]], function="far"), "simulate", "v5e")
    assert code(verdict) == "out-of-bounds"
    assert "(0, 128)" in verdict.reason
    assert rungs.climb(case(path, [[8, 512]], function="far"), "lower", "v5e").status == PASS


def test_a_sum_on_a_parallel_axis_depends_on_its_order(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_ref, out_ref, sum_ref):
            @pl.when(pl.program_id(0) == 0)
            def _(): sum_ref[...] = jnp.zeros_like(sum_ref)
            sum_ref[...] += x_ref[...]
            out_ref[...] = sum_ref[...]

        def kernel(x):
            spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(4,), in_specs=[spec],
                out_specs=spec, scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],
                compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)))(x)

        def reference(x):
            return x.astype(np.float64).reshape(4, 8, 128).cumsum(0).reshape(x.shape)
        """
    )
    checked = case(path, [[32, 128]])
    assert rungs.climb(checked, "interpret", "v5e").status == PASS
    assert code(rungs.climb(checked, "simulate", "v5e")) == "order"


def test_a_copy_that_is_not_waited_for_is_a_race(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_hbm, out_ref, x_ref, semaphore):
            copy = pltpu.make_async_copy(x_hbm, x_ref, semaphore)
            copy.start()
            out_ref[...] = x_ref[...] + 1
            copy.wait()

        def kernel(x):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA])(x)
        """
    )
    verdict = rungs.climb(case(path, [[8, 128]], oracle=False), "simulate", "v5e")
    assert code(verdict) == "race"
    assert f"{path}:11" in verdict.findings[0].message


def test_a_copy_that_nobody_waits_for_leaves_its_semaphore_up(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def body(x_hbm, out_hbm, x_ref, semaphores):
            pltpu.sync_copy(x_hbm, x_ref)
            pltpu.make_async_copy(x_ref, out_hbm, semaphores.at[0]).start()

        def kernel(x):
            whole = pl.BlockSpec(memory_space=pl.ANY)
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[whole],
                out_specs=whole, scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA((1,))])(x)
        """
    )
    verdict = rungs.climb(case(path, [[8, 128]], oracle=False), "simulate", "v5e")
    assert {"copies", "unwritten"} <= {finding.code for finding in verdict.findings}


def test_a_block_off_the_tile_is_refused_by_lowering_alone(kernel_file: Write) -> None:
    checked = case(kernel_file(ADD), [[6, 12]], static={"block": "(2, 4)"})
    assert rungs.climb(checked, "simulate", "v5e").status == PASS
    verdict = rungs.climb(checked, "lower", "v5e")
    assert code(verdict) == "lowering"
    assert "divisible by 8 and 128" in verdict.reason


def test_a_function_without_a_kernel_is_reported_as_that(kernel_file: Write) -> None:
    checked = case(kernel_file("\ndef kernel(x):\n    return x + 1\n"), [[8, 128]], oracle=False)
    for rung in ("interpret", "simulate", "lower"):
        assert code(rungs.climb(checked, rung, "v5e")) == "no-kernel"


def test_what_cannot_be_traced_as_a_whole_still_runs(kernel_file: Write) -> None:
    path = kernel_file(ADD + "\ndef eager(x):\n    return np.asarray(kernel(x)).copy()\n")
    checked = case(path, [[8, 128]], function="eager")
    assert rungs.climb(checked, "interpret", "v5e").status == PASS
    assert rungs.climb(checked, "simulate", "v5e").status == PASS
    verdict = rungs.climb(checked, "lower", "v5e")
    assert verdict.status == NOT_RUN
    assert "reads a traced value" in verdict.reason


def test_outputs_of_another_shape_or_dtype_are_named(kernel_file: Write) -> None:
    path = kernel_file(ADD.replace("x.astype(np.float64) + 1", "(x + 1)[:4].astype(np.float16)"))
    verdict = rungs.climb(case(path, [[8, 128]]), "interpret", "v5e")
    assert code(verdict) == "shape"
    assert verdict.reason == "shape: the function gives float32[8, 128] and the oracle gives float16[4, 128]"


def test_keywords_pytrees_and_several_outputs_are_taken(kernel_file: Write) -> None:
    path = kernel_file(
        ADD
        + """
def make():
    return ({"a": np.ones((8, 128), np.float32), "scale": 3},), {"y": np.full((8, 128), 2, np.float32)}

def pair(tree, y):
    return {"sum": kernel(tree["a"]), "other": kernel(y) * tree["scale"]}

def reference(tree, y):
    return {"sum": tree["a"] + 1.0, "other": (y + 1.0) * tree["scale"]}
"""
    )
    checked = case(path, [], function="pair", inputs={"file": str(path), "function": "make"})
    assert rungs.climb(checked, "interpret", "v5e").status == PASS
    assert rungs.climb(checked, "simulate", "v5e").status == PASS
    assert rungs.climb(checked, "lower", "v5e").status == PASS


def test_another_value_of_a_keyword_must_not_change_the_result(kernel_file: Write) -> None:
    path = kernel_file(ADD.replace("x_ref[...] + 1", "x_ref[...] + x_ref.shape[0]"))
    checked = case(path, [[16, 128]], oracle=False, alternatives=[{"block": "(16, 128)"}])
    verdict = rungs.climb(checked, "interpret", "v5e")
    assert code(verdict) == "keyword"
    assert "with block=(16, 128) differs from block=its default in 2,048 of 2,048 elements" in verdict.reason
    assert "right" not in verdict.reason
    judged = case(path, [[16, 128]], alternatives=[{"block": "(16, 128)"}])
    assert [finding.code for finding in rungs.climb(judged, "interpret", "v5e").findings] == ["wrong-values"]


def test_a_gradient_needs_a_backward_pass_and_a_right_one(kernel_file: Write) -> None:
    path = kernel_file(
        ADD
        + """
def with_backward(slope):
    @jax.custom_vjp
    def f(x): return kernel(x)
    f.defvjp(lambda x: (f(x), None), lambda _, g: (slope * kernel(g) - slope,))
    return f

right, wrong = with_backward(1), with_backward(2)
"""
    )
    for function, seen in (("kernel", "gradient"), ("right", PASS), ("wrong", "slope")):
        checked = case(path, [[8, 128]], function=function, oracle=False, grad=True)
        assert code(rungs.climb(checked, "interpret", "v5e")) == seen


def test_a_derived_shape_that_the_function_refuses_is_no_finding(kernel_file: Write) -> None:
    path = kernel_file(
        ADD + "\ndef picky(x):\n    if x.shape[0] % 8: raise ValueError('whole blocks only')\n    return kernel(x)\n"
    )
    refused = case(path, [[9, 128]], function="picky", derived=True)
    assert rungs.climb(refused, "interpret", "v5e").status == NOT_RUN
    assert code(rungs.climb(case(path, [[9, 128]], function="picky"), "interpret", "v5e")) == "trace"


def test_a_grid_too_large_to_simulate_is_not_run(kernel_file: Write) -> None:
    verdict = rungs.climb(case(kernel_file(ADD), [[8 * 4096, 128]]), "simulate", "v5e")
    assert verdict.status == NOT_RUN
    assert "4096 programs" in verdict.reason


def test_compiling_states_what_the_compiler_says(kernel_file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """By libtpu where it is installed; else with a stub in the compiler's place, as the summary says."""
    checked = case(kernel_file(ADD), [[16, 256]])
    if chips.missing("v5e") is not None:
        monkeypatch.setattr(chips, "sharding", lambda chip: None)
        lowered = type("Lowered", (), {"compile": lambda self: self, "memory_analysis": lambda self: self})()
        lowered.argument_size_in_bytes = 16384
        lowered.output_size_in_bytes = 16384
        monkeypatch.setattr(rungs, "lowered", lambda *_: (Verdict("lower", PASS), lowered))
    verdict = rungs.climb(checked, "compile", "v5e")
    assert (verdict.status, verdict.chip) == (PASS, "v5e")
    assert verdict.facts["argument_bytes"] == 16384


def test_a_compiler_that_refuses_is_a_verdict(kernel_file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = case(kernel_file(ADD), [[2048, 4096]], static={"block": "(2048, 2048)"})
    if chips.missing("v5e") is not None:

        def refuse(self: Any) -> None:
            raise RuntimeError("RESOURCE_EXHAUSTED: E1001: Scoped allocation with size 64.00M and limit 16.00M")

        monkeypatch.setattr(chips, "sharding", lambda chip: None)
        lowered = type("Lowered", (), {"compile": refuse})()
        monkeypatch.setattr(rungs, "lowered", lambda *_: (Verdict("lower", PASS), lowered))
    verdict = rungs.climb(checked, "compile", "v5e")
    assert verdict.status == FAIL
    assert code(verdict) == "vmem"
    assert "64.00M" in verdict.reason


def test_the_error_of_one_run_does_not_come_back_in_the_next(kernel_file: Write) -> None:
    from jax._src import dispatch

    class Failed:
        def block_until_ready(self) -> None:
            raise RuntimeError("Revisited block, in a run that ended long ago")

    astray = kernel_file(ADD + "\ndef astray(x):\n    return kernel(x, index=lambda i, j: (i, j + 1))\n")
    dispatch.runtime_tokens.set_output_runtime_token("a device of the failed run", Failed())
    assert code(rungs.climb(case(astray, [[16, 256]], function="astray"), "simulate", "v5e")) == "out-of-bounds"
    dispatch.runtime_tokens.block_until_ready()


def test_whichever_rung_comes_first_states_grids_and_blocks_once(kernel_file: Write) -> None:
    checked = case(kernel_file(ADD), [[20, 300]])
    simulated, lowered = rungs.climb(checked, "simulate", "v5e"), rungs.climb(checked, "lower", "v5e")
    assert simulated.facts["kernels"][0]["grid"] == [3, 3]
    assert "kernels" not in lowered.facts


def test_the_order_of_visits_is_kept_up_to_the_error(kernel_file: Write) -> None:
    astray = kernel_file(ADD + "\ndef astray(x):\n    return kernel(x, index=lambda i, j: (i, j + 1))\n")
    verdict = rungs.climb(case(astray, [[16, 256]], function="astray"), "simulate", "v5e")
    assert code(verdict) == "out-of-bounds"
    assert verdict.facts["order"] == [[0, 0], [0, 1]]


def test_a_gradient_is_lowered_with_the_value_it_is_of() -> None:
    sine = Path(rungs.__file__).parent / "museum" / "right" / "sine_with_vjp.py"
    checked = case(sine, [[16, 128]], grad=True)
    assert rungs.climb(checked, "lower", "v5e").status == PASS
    assert [kernel.name for kernel in checked.kernels()] == [
        "sine",
        "sine_backward",
    ]  # the value is kept, as in training


SCRATCH = """
def body(x_ref, sum_ref, out_ref):
    @pl.when(pl.program_id(1) == 0)
    def _(): sum_ref[...] = jnp.zeros_like(sum_ref)
    sum_ref[...] += x_ref[...]
    out_ref[...] = sum_ref[...]

def both(x):
    shapes = [jax.ShapeDtypeStruct((8, 128), x.dtype), jax.ShapeDtypeStruct((x.shape[0], 128), x.dtype)]
    specs = [pl.BlockSpec((8, 128), lambda i, j: (0, 0)), pl.BlockSpec((8, 128), lambda i, j: (i, 0))]
    return pl.pallas_call(body, out_shape=shapes, grid=(x.shape[0] // 8, x.shape[1] // 128), out_specs=specs,
                          in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
                          compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")))(x)

def kernel(x):
    return both(x)[1]
"""


def test_cores_may_share_an_output_that_nobody_reads_as_their_scratch(kernel_file: Write) -> None:
    path = kernel_file(SCRATCH)
    unread = rungs.climb(case(path, [[32, 256]], oracle=False), "simulate", "v5e")
    assert unread.status == PASS
    assert "two cores" in unread.runs
    read = rungs.climb(case(path, [[32, 256]], function="both", oracle=False), "simulate", "v5e")
    assert code(read) in ("order", "race")
