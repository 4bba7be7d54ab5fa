"""What the museum says of its kernels is what the installed JAX says of them.

Run as a script, this file runs cases named on its command line and prints one line of JSON per case and rung.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pallas_course.evidence.museum import RUNGS, Case, cases, word

CASES = cases()
CASES_BY_NAME = {case.name: case for case in CASES}
FAULTS = [case for case in CASES if not case.about["right"]]
WORDS = {"pass", "wrong", "refused", "hang", "abort", "not run"}
FINDINGS = {
    *("wrong-values", "unwritten", "uninitialised", "out-of-bounds", "order", "revisit", "race", "hang", "trace"),
    *(
        "lowering",
        "memory-space",
        "compile",
        "vmem",
        "alignment",
        "unsupported-dtype",
        "abort",
        "gradient",
        "no-kernel",
    ),
    "",
}
SLOW = {"dma_wait_without_signal", "vmem_overflow", "vmem_limit_raised", "right/jax_flash_attention"}


def words(verdict: Any) -> set[str]:
    return set(verdict.values()) if isinstance(verdict, dict) else {verdict}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_says_all_that_a_page_and_an_audit_need(case: Case) -> None:
    about = case.about
    assert set(about) - {"inputs", "derived"} == {
        *("title", "symptom", "cause", "mend", "source", "args", "verdicts", "finding", "found_by", "right")
    }
    assert about["args"]
    assert all(re.fullmatch(r"(f|bf|i|u)\d+\[\d+(,\d+)*\]", argument) for argument in about["args"])
    assert set(RUNGS) <= set(about["verdicts"]) <= {*RUNGS, "compile:v4", "grad"}
    assert all(words(verdict) <= WORDS for verdict in about["verdicts"].values())
    found_by = [rung for rung, verdict in about["verdicts"].items() if not words(verdict) <= {"pass", "not run"}]
    assert about["found_by"] == found_by
    assert about["finding"] in FINDINGS
    assert about["right"] == case.name.startswith("right/")
    text = case.path.read_text(encoding="utf-8")
    assert ("inputs" in about) == ("\ndef make()" in text)
    assert "pallas_course" not in text, "a user's file imports nothing of ours"
    if about["right"]:
        assert not about["finding"]
        assert not about["found_by"]
    else:
        assert all(about[key] for key in ("title", "symptom", "cause", "mend", "source"))
        assert bool(about["finding"]) == bool(about["found_by"] or about.get("derived"))


def test_museum_has_enough_of_both_kinds() -> None:
    assert len(FAULTS) >= 24
    assert len(CASES) - len(FAULTS) >= 14


def test_titles_and_one_line_texts_are_one_line() -> None:
    for case in CASES:
        for key in ("title", "symptom", "cause", "mend", "source"):
            assert "\n" not in case.about[key], (case.name, key)


def test_word_follows_the_release_series() -> None:
    verdicts = {"interpret": {"0.10": "pass", "0.12": "refused"}, "lower": "pass"}
    assert word(verdicts, "interpret", "0.10.2") == "pass"
    assert word(verdicts, "interpret", "0.12.0.1") == "refused"
    assert word(verdicts, "interpret", "0.11.0") is None
    assert word(verdicts, "lower", "0.11.0") == "pass"
    assert word(verdicts, "compile:v5e", "0.12.0.1") is None


@pytest.fixture(scope="module")
def observed() -> dict[tuple[str, str], tuple[str, str]]:
    """(case, rung) → (word, detail), from two processes that share the cases."""
    names = [case.name for case in CASES if case.name not in SLOW]
    parts = names[::2], names[1::2]
    with ThreadPoolExecutor() as pool:
        outputs = list(pool.map(run_in_a_process, parts))
    seen = {
        (case, rung): (verdict, detail) for case, rung, verdict, detail in (line for part in outputs for line in part)
    }
    # What a refused run leaves behind can trouble the next one in its process, so a surprise is run again alone.
    expected = {key: word(CASES_BY_NAME[key[0]].about["verdicts"], key[1], version("jax")) for key in seen}
    for name in sorted({key[0] for key, found in seen.items() if expected[key] not in (None, found[0])}):
        seen |= {(case, rung): (verdict, detail) for case, rung, verdict, detail in run_in_a_process([name])}
    return seen


@pytest.mark.parametrize("rung", ["interpret", "simulate"])
def test_recorded_word_comes_out(rung: str, observed: dict[tuple[str, str], tuple[str, str]]) -> None:
    jax_version = version("jax")
    differ = {
        name: (expected, seen)
        for (name, where), seen in observed.items()
        if where == rung
        and (expected := word(CASES_BY_NAME[name].about["verdicts"], rung, jax_version)) not in (None, seen[0])
        # A right kernel the simulator itself fails on.
        and (expected, seen[0]) != ("not run", "refused")
    }
    assert not differ
    assert len(observed) == 2 * (len(CASES) - len(SLOW))


def test_fault_on_a_derived_shape_only_is_seen_there(observed: dict[tuple[str, str], tuple[str, str]]) -> None:
    hidden = [case for case in FAULTS if "derived" in case.about]
    assert hidden
    for name, rung, seen, _ in run_in_a_process([f"{case.name}:derived" for case in hidden]):
        assert observed[name, rung][0] == "pass"
        assert seen == word(CASES_BY_NAME[name].about["derived"]["verdicts"], rung, version("jax")) != "pass"


def run_in_a_process(names: list[str] | tuple[str, ...]) -> list[list[str]]:
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(root),
        # On processors with AVX512-BF16, jaxlib 0.12.0.1 aborts on some bfloat16 slices.
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=AVX2",
    }
    done = subprocess.run(
        [sys.executable, __file__, *names], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def _main(names: list[str]) -> None:
    import contextlib
    import io

    import jax
    from jax.experimental.pallas import tpu as pltpu

    # emit_pipeline asks which chip it is on, interpreted too.
    device = jax.sharding.AbstractDevice(device_kind="TPU v5 lite", num_cores=1, platform="tpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.sharding.AbstractMesh((1,), ("x",), axis_types=auto, abstract_device=device)

    def run(module: ModuleType, arguments: tuple[Any, ...], mode: Any) -> tuple[str, str]:
        printed = io.StringIO()
        try:
            with (
                contextlib.redirect_stdout(printed),
                jax.sharding.use_abstract_mesh(mesh),
                pltpu.force_tpu_interpret_mode(mode),
            ):
                out = jax.block_until_ready(jax.jit(lambda *values: module.kernel(*values))(*arguments))
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the verdict
            with contextlib.suppress(Exception):
                jax.effects_barrier()  # the rest of the refused run ends first
            pltpu.reset_tpu_interpret_mode_state()
            return "refused", f"{type(error).__name__}: {error}"[-300:]
        if "RACE" in printed.getvalue():  # JAX 0.10 prints a race and goes on
            pltpu.reset_tpu_interpret_mode_state()
            return "refused", printed.getvalue()[:300]
        return compare(out, module.reference(*arguments))

    for name in names:
        name, _, derived = name.partition(":")
        case = CASES_BY_NAME[name]
        module = load(case.path)
        made = module.make() if "inputs" in case.about else None
        arguments = made or seeded((case.about["derived"] if derived else case.about)["args"])
        print(json.dumps([name, "interpret", *run(module, arguments, True)]), flush=True)
        verdict = ("pass", "")
        for mode in simulations(case.path.read_text(encoding="utf-8")):
            verdict = max(
                verdict, run(module, arguments, mode), key=lambda seen: ("pass", "wrong", "refused").index(seen[0])
            )
            if verdict[0] == "refused":
                break
        print(json.dumps([name, "simulate", *verdict]), flush=True)


def simulations(source: str) -> Iterator[Any]:
    """The runs whose worst is the simulate verdict; those that cannot differ for this source are left out."""
    from jax.experimental.pallas import tpu as pltpu

    yield pltpu.InterpretParams(detect_races=True)
    if "make_async_copy" in source:
        yield pltpu.InterpretParams(detect_races=True, dma_execution_mode="eager")
    if "parallel" in source:
        for seed in (1, 2, 3):
            yield pltpu.InterpretParams(detect_races=True, random_seed=seed)
        yield pltpu.InterpretParams(detect_races=True, random_seed=0, num_cores_or_threads=2)


def compare(out: Any, want: Any) -> tuple[str, str]:
    import jax
    import jax.numpy as jnp
    import numpy as np

    for got, expected in zip(jax.tree.leaves(out), jax.tree.leaves(want), strict=True):
        floating = jnp.issubdtype(got.dtype, jnp.floating)
        tolerance = 0 if not floating else 1e-4 if got.dtype == jnp.float32 else 2**-7
        values = np.asarray(got).astype(np.float64 if floating else np.int64)
        if values.shape != expected.shape:
            return "wrong", f"shape {values.shape} for {expected.shape}"
        # A NaN compares unequal, so it counts as bad.
        bad = ~(np.abs(values - expected) <= tolerance * (1 + np.abs(expected)))
        if bad.any():
            return "wrong", f"{bad.sum()} of {bad.size}"
    return "pass", ""


def seeded(arguments: list[str]) -> tuple[Any, ...]:
    """Values of both signs, distinct as far as the dtype goes."""
    import jax.numpy as jnp
    import numpy as np

    dtypes = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16, "i32": jnp.int32, "i8": jnp.int8}
    made = []
    for seed, argument in enumerate(arguments):
        name, sizes = argument.rstrip("]").split("[")
        shape = tuple(map(int, sizes.split(",")))
        order = np.random.default_rng(seed).permutation(np.prod(shape)) - np.prod(shape) // 2
        values = order * (4 / order.size) if "f" in name else order % 256 - 128 if name == "i8" else order
        made.append(values.reshape(shape).astype(dtypes[name]))
    return tuple(made)


def load(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


if __name__ == "__main__":
    _main(sys.argv[1:])
