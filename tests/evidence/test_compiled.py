"""What a compile says besides yes: found by search and by reading dumps, joined to the compile's verdict."""

from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import bundles, chips, compiled
from pallas_course.evidence.pool import Done, Task, run
from pallas_course.evidence.verdict import FAIL, PASS, Verdict
from tests.evidence.conftest import libtpu

KIB = 1024


@pytest.mark.parametrize("need", [0, 1, KIB, KIB + 1, 24 * KIB, 3072 * KIB, 3072 * KIB + 1, 16384 * KIB])
@pytest.mark.parametrize("error", [0.0, 1.0, 1.004, 0.3, 7.0])
def test_least_limit_is_found_to_the_kib_whatever_the_compiler_states(need: int, error: float) -> None:
    asked: list[int] = []

    def refused(limit: int) -> float | None:
        asked.append(limit)
        return need * error if limit < need else None

    found = compiled.least(refused, 16384 * KIB)
    assert found == max(KIB, -(-need // KIB) * KIB)
    assert len(set(asked)) == len(asked)
    assert len(asked) <= (8 if error == 1.004 else 18)


@pytest.mark.parametrize(
    ("text", "stated"),
    [("with size 3.00M and limit 1.0K", 3 << 20), ("with size 8.0K and", 8192), ("with size 512 and", 512), ("no", 0)],
)
def test_stated_need_is_read_from_the_compilers_words(text: str, stated: float) -> None:
    assert compiled._stated(text) == stated


def done(rung: str, verdict: Verdict) -> Done:
    return Done(Task("given", rung, "v5e"), verdict)


def test_facts_join_the_compile_that_they_are_of() -> None:
    passed = done("compile", Verdict("compile", PASS, "given", "v5e", facts={"program_bytes": 1}))
    measured = done(compiled.RUNG, Verdict(compiled.RUNG, PASS, "given", "v5e", facts={"bundles": 7}))
    (verdict,) = compiled.joined([passed, measured])
    assert (verdict.rung, verdict.facts) == ("compile", {"program_bytes": 1, "bundles": 7})


def test_a_process_that_dies_over_the_facts_leaves_the_compile_a_pass() -> None:
    passed = done("compile", Verdict("compile", PASS, "given", "v5e", facts={"program_bytes": 1}))
    died = done(compiled.RUNG, Verdict(compiled.RUNG, FAIL, "given", "v5e", reason="abort: ended by SIGABRT"))
    (verdict,) = compiled.joined([passed, died])
    assert verdict.status == PASS
    assert verdict.facts["left_out"] == dict.fromkeys(("bundles", "vmem_need_bytes"), "abort: ended by SIGABRT")


def test_a_failed_compile_is_left_alone() -> None:
    refused = done("compile", Verdict("compile", FAIL, "given", "v5e", reason="vmem: x"))
    late = done(compiled.RUNG, Verdict(compiled.RUNG, "not run", "given", "v5e", reason="it was not compiled"))
    assert compiled.joined([refused, late]) == [refused.verdict]


@pytest.fixture
def climbed(kernel_file: Any) -> Any:
    """Compile one function of a file for a chip: its verdict, and what grids and index maps say of its kernels."""

    def climb(text: str, *args: tuple[str, list[int]], chip: str = "v5e") -> tuple[Verdict, dict[str, Any]]:
        path: Path = kernel_file(text)
        arrays = [{"dtype": dtype, "shape": shape} for dtype, shape in args]
        case = {"name": "given", "target": {"file": str(path), "function": "kernel"}, "args": arrays}
        tasks = [Task("given", rung, chip) for rung in ("lower", "compile", compiled.RUNG)]
        lowered, verdict = compiled.joined(run({"given": case}, [tasks], 120))
        assert (lowered.status, verdict.status) == (PASS, PASS), (lowered.reason, verdict.reason)
        return verdict, lowered.facts["kernels"][0]

    return climb


COPY = """
def kernel(x):
    spec = pl.BlockSpec((256, 512), lambda i, j: (i, j))
    return pl.pallas_call(
        lambda a, b: b.__setitem__(..., a[...] * 2), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 256, x.shape[1] // 512), in_specs=[spec], out_specs=spec)(x)
"""
PUBLIC = """
from jax.experimental.pallas.ops.tpu import matmul

def kernel(a, b):
    return matmul.matmul(a, b, block_shape=(512, 512), block_k=512)
"""
GATHER = """
def kernel(index, table):
    return pl.pallas_call(
        lambda i, a, b: b.__setitem__(..., a[...]), out_shape=jax.ShapeDtypeStruct((256, 4096), table.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(4,), in_specs=[pl.BlockSpec((64, 4096), lambda i, index: (index[i], 0))],
            out_specs=pl.BlockSpec((64, 4096), lambda i, index: (i, 0))),
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=100 << 20))(index, table)
"""


@pytest.mark.skipif(not libtpu(), reason="libtpu is not installed")
class TestByTheCompiler:
    @pytest.mark.parametrize("chip", ["v4", "v6e"])
    def test_need_and_copies_are_what_grid_and_windows_give(self, climbed: Any, chip: str) -> None:
        verdict, kernel = climbed(COPY, ("float32", [4096, 4096]), chip=chip)
        assert verdict.facts["vmem_need_bytes"] == kernel["vmem_bytes"] == 4 * 256 * 512 * 4
        assert verdict.facts["copied_bytes"] == kernel["bytes_moved"] == 2 * 4096 * 4096 * 4
        assert verdict.facts["bundles"] > 4096 * 4096 // 1024
        assert "left_out" not in verdict.facts

    def test_a_public_product_is_counted_as_its_maps_say(self, climbed: Any) -> None:
        verdict, kernel = climbed(PUBLIC, ("bfloat16", [4096, 4096]), ("bfloat16", [4096, 4096]))
        assert verdict.facts["copied_bytes"] == kernel["bytes_moved"]
        assert kernel["bytes_moved"] == (2 * 8 * 4096 * 4096 + 4096 * 4096) * 2
        assert verdict.facts["slots"]["MXU"] > 0.5

    def test_what_cannot_be_read_is_left_out_with_its_reason(self, climbed: Any) -> None:
        verdict, _ = climbed(COPY, ("float32", [4096, 4096]), chip="v5p")
        assert "v5p" in verdict.facts["left_out"]["bundles"]
        assert verdict.facts["vmem_need_bytes"] == 4 * 256 * 512 * 4

    def test_a_prefetched_scalar_decides_copies_that_no_dump_holds(self, climbed: Any) -> None:
        verdict, kernel = climbed(GATHER, ("int32", [4]), ("float32", [8192, 4096]))
        assert "an unknown value decides" in verdict.facts["left_out"]["bundles"]
        assert "vmem_need_bytes" not in verdict.facts["left_out"], verdict.facts["left_out"]
        assert verdict.facts["vmem_need_bytes"] == pytest.approx(kernel["vmem_bytes"], rel=0.1)

    def test_another_libtpu_is_not_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundles, "LIBTPUS", ("0.0.1",))
        assert compiled.environment("folder") == {}


def test_without_the_compiler_nothing_is_dumped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chips, "missing", lambda chip: "libtpu is not installed")
    assert compiled.environment("folder") == {}
