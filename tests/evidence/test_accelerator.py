"""The rungs that need an accelerator: asked of this machine, and climbed with a stub in its place."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from pallas_course.evidence import accelerator, executed, rungs
from pallas_course.evidence.case import Case
from pallas_course.evidence.verdict import FAIL, NO_ORACLE, NOT_RUN, PASS, Verdict
from pallas_course.kernels import targets

Write = Callable[[str], Path]

KERNEL = """
def kernel(x):
    return pl.pallas_call(lambda a, b: b.__setitem__(..., a[...] + 1), out_shape=jax.typeof(x))(x)

def reference(x):
    return x + np.float32(1)

def in_numpy(x):
    return np.linalg.norm(np.asarray(x)) + np.array(x) + 1
"""
STUB = SimpleNamespace(platform="tpu", device_kind="TPU v9 stub")


def case(path: Path, oracle: str = "", **more: Any) -> Case:
    return Case(
        {
            "name": "given",
            "target": {"file": str(path), "function": "kernel"},
            "oracle": {"file": str(path), "function": oracle} if oracle else None,
            "args": [{"dtype": "float32", "shape": [8, 128]}],
            "chip": "",
            **more,
        }
    )


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """An accelerator that JAX finds, and that adds the given number to what the kernel takes."""

    def adds(number: float) -> None:
        module = SimpleNamespace(compile=lambda: lambda x: x + np.float32(number))
        monkeypatch.setattr(rungs, "lowered", lambda *_, **__: (Verdict("lower", PASS), module))
        monkeypatch.setattr(rungs, "SingleDeviceSharding", lambda device: None)
        monkeypatch.setattr(executed, "device", lambda: (STUB, ""))
        monkeypatch.setattr(jax, "device_put", lambda arrays, device: arrays)

    return adds


@pytest.mark.parametrize(
    ("files", "plugins", "said"),
    [
        ([], ["a TPU"], "this machine has no TPU and no NVIDIA GPU"),
        (["a TPU"], [], "this machine has a TPU; JAX reaches it with: pip install 'jax[tpu]'"),
        (
            ["an NVIDIA GPU"],
            ["a TPU"],
            "this machine has an NVIDIA GPU; JAX reaches it with: pip install 'jax[cuda12]'",
        ),
        (["a TPU", "an NVIDIA GPU"], ["an NVIDIA GPU"], None),
    ],
)
def test_an_absent_accelerator_is_told_from_one_that_jax_cannot_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], plugins: list[str], said: str | None
) -> None:
    nodes = {kind: (str(tmp_path / f"{kind}*"),) for kind in accelerator.NODES}
    monkeypatch.setattr(accelerator, "NODES", nodes)
    monkeypatch.setattr(accelerator, "_plugin", lambda kind: kind in plugins)
    for kind in files:
        (tmp_path / f"{kind}0").touch()
    assert accelerator.absent() == said


def test_a_process_that_may_see_an_accelerator_has_no_platform_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert "JAX_PLATFORMS" not in accelerator.environment()


def test_where_jax_finds_none_the_rungs_are_not_run_and_say_what_jax_says(kernel_file: Write) -> None:
    for rung in ("execute", "time"):
        verdict = rungs.climb(case(kernel_file(KERNEL)), rung, "v5e")
        assert verdict.status == NOT_RUN
        assert verdict.reason.startswith("JAX starts no accelerator: ")


@pytest.mark.parametrize(("oracle", "code"), [("reference", "wrong-values"), ("", "rungs")])
def test_what_an_accelerator_gives_is_compared_and_carries_its_kind(
    kernel_file: Write, stub: Callable[[float], None], oracle: str, code: str
) -> None:
    path = kernel_file(KERNEL)
    stub(1.0)
    verdict = rungs.climb(case(path, oracle), "execute", "v5e")
    assert (verdict.status, verdict.chip) == (PASS, "TPU v9 stub")
    assert (NO_ORACLE in verdict.runs) is (not oracle)
    stub(1.5)
    verdict = rungs.climb(case(path, oracle), "execute", "v5e")
    assert verdict.status == FAIL
    assert [finding.code for finding in verdict.findings] == [code]


def test_a_kernel_that_does_not_lower_is_not_executed(
    kernel_file: Write, stub: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(1.0)
    monkeypatch.setattr(rungs, "lowered", lambda *_, **__: (Verdict("lower", NOT_RUN, reason="no program"), None))
    verdict = rungs.climb(case(kernel_file(KERNEL)), "execute", "v5e")
    assert (verdict.rung, verdict.status, verdict.chip) == ("execute", NOT_RUN, "TPU v9 stub")


@pytest.fixture
def timed(stub: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    stub(1.0)
    seen: list[Any] = []

    def time(kernel: Any, baseline: Any, contract: Any, *arrays: Any) -> targets.Timing:
        seen.append((contract.oracle(*arrays), jax.jit(baseline)(*arrays)))
        assert not contract.differs(*map(np.asarray, seen[0])).any()
        return targets.Timing("TPU v9 stub", targets.Samples(0.5, (1e-6, 2e-6)), targets.Samples(0.4, (3e-6,)))

    monkeypatch.setattr(targets, "time_on_accelerator", time)
    monkeypatch.setattr(jax, "default_device", lambda device: contextlib.nullcontext())
    return seen


def test_a_time_is_taken_against_the_oracle_and_keeps_every_sample(kernel_file: Write, timed: list[Any]) -> None:
    verdict = rungs.climb(case(kernel_file(KERNEL), "reference"), "time", "v5e")
    assert (verdict.status, verdict.chip) == (PASS, "TPU v9 stub")
    assert verdict.facts["kernel_seconds"] == (1e-6, 2e-6)
    assert verdict.facts["baseline_seconds"] == (3e-6,)
    assert len(timed) == 1


@pytest.mark.parametrize(
    ("oracle", "said"), [("", "without a baseline"), ("in_numpy", "no function that JAX can trace")]
)
def test_without_a_baseline_no_time_is_taken(kernel_file: Write, timed: list[Any], oracle: str, said: str) -> None:
    verdict = rungs.climb(case(kernel_file(KERNEL), oracle), "time", "v5e")
    assert verdict.status == NOT_RUN
    assert said in verdict.reason
    assert timed == []
