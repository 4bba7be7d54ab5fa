"""What a run on a CPU says of values: memory nobody set, with and without an oracle, and oracles at fault."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pallas_course.evidence import judge, rungs
from pallas_course.evidence.case import Case
from pallas_course.evidence.verdict import NO_ORACLE, NOT_RUN, PASS, Verdict

Write = Callable[[str], Path]

HALF = """
def body(x_ref, out_ref):
    out_ref[...] = x_ref[...]

def half(x):
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.shape[0] // 16,),
                          in_specs=[spec], out_specs=spec)(x)
"""


def case(path: Path, function: str, *, oracle: str = "", dtype: str = "float32", **more: Any) -> Case:
    spec = {
        "name": "given",
        "target": {"file": str(path), "function": function},
        "oracle": {"file": str(path), "function": oracle} if oracle else None,
        "args": [{"dtype": dtype, "shape": [16, 128]}],
    }
    return Case(spec | more)


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int8", "uint8", "bool"])
@pytest.mark.parametrize("rung", ["interpret", "simulate"])
def test_unwritten_elements_of_every_dtype_are_found_without_an_oracle(
    kernel_file: Write, dtype: str, rung: str
) -> None:
    verdict = rungs.climb(case(kernel_file(HALF), "half", dtype=dtype), rung, "v5e")
    assert codes(verdict) == ["unwritten"]
    assert "is not written in 1,024 of 2,048 elements" in verdict.reason
    assert NO_ORACLE in verdict.runs


def test_values_that_are_rightly_what_memory_would_hold_are_no_finding(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def over(x, body, dtype):
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, dtype))(x)

        def logarithm(x):
            return over(x, lambda a, b: b.__setitem__(..., jnp.log(a[...])), x.dtype)

        def smallest(x):
            return over(x, lambda a, b: b.__setitem__(..., jnp.full(a.shape, -2**31)), jnp.int32)

        def never(x):
            return over(x, lambda a, b: b.__setitem__(..., a[...] > 9), jnp.bool_)
        """
    )
    for function in ("logarithm", "smallest", "never"):
        for rung in ("interpret", "simulate"):
            assert rungs.climb(case(path, function), rung, "v5e").status == PASS


def test_a_sum_over_a_tail_is_told_from_what_nobody_writes(kernel_file: Write) -> None:
    path = kernel_file(
        """
        def total(x):
            def body(x_ref, out_ref):
                out_ref[...] = jnp.sum(x_ref[...], axis=0, keepdims=True)
            return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((1, 128), x.dtype), grid=(1,),
                in_specs=[pl.BlockSpec((24, 128), lambda i: (i, 0))],
                out_specs=pl.BlockSpec((1, 128), lambda i: (0, 0)))(x)
        """
    )
    assert codes(rungs.climb(case(path, "total"), "interpret", "v5e")) == ["uninitialised"]


def test_an_element_is_told_of_once_the_most_telling_first(kernel_file: Write) -> None:
    path = kernel_file(HALF + "\ndef double(x):\n    return x * 2.0\n")
    for rung in ("interpret", "simulate"):
        unwritten, wrong = rungs.climb(case(path, "half", oracle="double"), rung, "v5e").findings
        assert (unwritten.code, wrong.code) == ("unwritten", "wrong-values")
        assert "in 1,024 of 2,048 elements" in unwritten.message
        assert "in 1,024 of 2,048 elements" in wrong.message
        assert unwritten.region == ((8, 16), (0, 128))
        assert wrong.region == ((0, 8), (0, 128))


WHOLE = """
def whole(x):
    return pl.pallas_call(lambda a, b: b.__setitem__(..., a[...]), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
"""


@pytest.mark.parametrize(
    ("oracle", "code", "said"),
    [
        ("return x[20]", "oracle", "IndexError: index 20 is out of bounds"),
        ("raise SystemExit(3)", "oracle", "sys.exit(3)"),
        ("return x[:8]", "shape", "the function gives float32[16, 128] and the oracle gives float32[8, 128]"),
        ("return x.astype(np.int32)", "shape", "and the oracle gives int32[16, 128]"),
        ("return x, x", "shape", "the function gives 1 array and the oracle 2 arrays"),
        ("return None", "shape", "the function gives 1 array and the oracle no array"),
    ],
)
def test_an_oracle_at_fault_is_not_blamed_on_the_kernel(kernel_file: Write, oracle: str, code: str, said: str) -> None:
    path = kernel_file(WHOLE + f"\ndef oracle(x):\n    {oracle}\n")
    verdict = rungs.climb(case(path, "whole", oracle="oracle"), "interpret", "v5e")
    assert codes(verdict) == [code]
    assert said in verdict.reason


def test_what_is_found_without_the_oracle_is_found_beside_its_failure(kernel_file: Write) -> None:
    path = kernel_file(HALF + "\ndef oracle(x):\n    raise ValueError('not today')\n")
    verdict = rungs.climb(case(path, "half", oracle="oracle"), "interpret", "v5e")
    assert codes(verdict) == ["unwritten", "oracle"]
    assert verdict.findings[1].where.endswith("user_kernel.py:17")


@pytest.mark.parametrize(
    ("returned", "said"),
    [("", "it returns nothing"), ("return 'done'", "it returns str"), ("return [y, open]", "builtin_function")],
)
def test_a_function_that_returns_no_array_is_told_so(kernel_file: Write, returned: str, said: str) -> None:
    path = kernel_file(WHOLE + f"\ndef forgets(x):\n    y = whole(x)\n    {returned}\n")
    for rung in ("interpret", "simulate", "lower"):
        verdict = rungs.climb(case(path, "forgets"), rung, "v5e")
        assert codes(verdict) == ["result"]
        assert said in verdict.reason


def test_the_two_values_of_a_keyword_are_named_and_neither_is_called_right(kernel_file: Write) -> None:
    path = kernel_file(WHOLE + "\ndef scaled(x, by=1):\n    return whole(x) * by\n")
    two = {"static": {"by": "2"}, "alternatives": [{"by": "3"}]}
    verdict = rungs.climb(case(path, "scaled", **two), "interpret", "v5e")
    (found,) = verdict.findings
    assert found.code == "keyword"
    assert "with by=3 differs from by=2 in 2,048 of 2,048 elements" in found.message
    assert "where by=2 gives" in found.message
    assert "right" not in found.message


def test_with_an_oracle_each_value_of_a_keyword_is_judged_by_itself(kernel_file: Write) -> None:
    path = kernel_file(
        WHOLE + "\ndef scaled(x, by=1):\n    return whole(x) * by\n\ndef oracle(x, by):\n    return x * float(by)\n"
    )
    two = {"static": {"by": "2"}, "alternatives": [{"by": "3"}]}
    assert rungs.climb(case(path, "scaled", oracle="oracle", **two), "interpret", "v5e").status == PASS


def test_a_gradient_by_no_float_is_not_run(kernel_file: Write) -> None:
    verdict = rungs.climb(case(kernel_file(WHOLE), "whole", dtype="int32", grad=True), "interpret", "v5e")
    assert verdict.status == NOT_RUN
    assert "no float array" in verdict.reason


def test_a_gradient_that_nobody_wrote_is_told_of_once(kernel_file: Write) -> None:
    path = kernel_file(
        HALF + WHOLE + "\nf = jax.custom_vjp(whole)\nf.defvjp(lambda x: (whole(x), None), lambda _, g: (half(g),))\n"
    )
    for rung in ("interpret", "simulate"):
        assert codes(rungs.climb(case(path, "f", grad=True), rung, "v5e")) == ["unwritten"]


def test_one_huge_element_does_not_hide_the_rest_by_overflow() -> None:
    want = np.array([1e200, 1.0])
    assert judge.differs(np.array([2e200, 1.0]), want).tolist() == [True, False]
    assert np.isfinite(judge.allowed("float64", want)).all()
