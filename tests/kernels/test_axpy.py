"""axpy: every case of its contract, any shape and block, every refusal, and a body that writes every element."""

import inspect
import re
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from pallas_course.kernels import axpy
from pallas_course.kernels.axpy import AXPY, axpy_body, axpy_oracle, blocked_axpy, pad_pair, validate_pair
from pallas_course.kernels.contract import Case

DTYPES = pytest.mark.parametrize("dtype", AXPY.dtypes)
FEW = settings(deadline=None, max_examples=25, derandomize=True)

shapes = st.tuples(st.integers(1, 9), st.integers(1, 13))
blocks = st.tuples(st.integers(1, 6), st.integers(1, 7))
dtypes = st.sampled_from(AXPY.dtypes)
# Nothing near the subnormal numbers, which XLA flushes to zero on a CPU.
values = st.floats(-1000, 1000, width=32).map(lambda value: value if abs(value) > 1e-6 else 0.0)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    shape, dtype = draw(shapes), draw(dtypes)
    x, y = (draw(hnp.arrays(np.float32, shape, elements=values)) for _ in "xy")
    return x.astype(dtype), y.astype(dtype)


def ragged(dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    x, y = Case("pair", ((5, 11), (5, 11)), "partial tiles on both axes").inputs(dtype)
    return x, y


# The result


@pytest.mark.parametrize("case", AXPY.cases, ids=lambda case: case.name)
@DTYPES
@pytest.mark.parametrize("block", AXPY.blocks, ids=str)
def test_every_case_agrees_with_the_oracle_in_every_element(case: Case, dtype: str, block: tuple[int, int]) -> None:
    x, y = case.inputs(dtype)
    assert not AXPY.differs(np.asarray(blocked_axpy(x, y, block)), axpy_oracle(x, y)).any()


@FEW
@given(pairs(), blocks)
def test_any_shape_block_and_values_give_the_oracle_bit_for_bit(
    pair: tuple[np.ndarray, np.ndarray], block: tuple[int, int]
) -> None:
    got, want = np.asarray(blocked_axpy(*pair, block)), axpy_oracle(*pair)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert np.array_equal(got, want)


@FEW
@given(shapes, blocks, dtypes)
def test_padding_adds_zeros_below_and_to_the_right_up_to_whole_blocks(
    shape: tuple[int, int], block: tuple[int, int], dtype: str
) -> None:
    x, y = Case("pad", (shape, shape), "any").inputs(dtype)
    *arrays, padded = pad_pair(x, y, block)
    assert all(size % step == 0 and 0 <= size - n < step for size, step, n in zip(padded, block, shape, strict=True))
    for array, logical in zip(arrays, (x, y), strict=True):
        assert (array.shape, array.dtype) == (padded, logical.dtype)
        assert np.array_equal(array[: shape[0], : shape[1]], logical)
        assert np.count_nonzero(array) == np.count_nonzero(logical)


@DTYPES
def test_jit_changes_no_bit(dtype: str) -> None:
    x, y = ragged(dtype)
    jitted = jax.jit(blocked_axpy, static_argnames=("block", "interpret"))
    for block in AXPY.blocks:
        assert np.array_equal(jitted(x, y, block), blocked_axpy(x, y, block))  # type: ignore[arg-type]


def test_jax_arrays_lists_and_numpy_integers_are_welcome() -> None:
    x, y = ragged()
    want = blocked_axpy(x, y, (3, 5))
    assert np.array_equal(blocked_axpy(jnp.asarray(x), jnp.asarray(y), [3, 5]), want)
    assert np.array_equal(blocked_axpy(x, y, (np.int8(3), np.int64(5))), want)  # type: ignore[arg-type]


def test_a_small_numpy_integer_block_serves_a_matrix_beyond_its_range() -> None:
    x, y = Case("long", ((2, 300), (2, 300)), "300 does not fit in an int8").inputs("float32")
    got = blocked_axpy(x, y, [np.int8(2), np.int8(100)])  # type: ignore[list-item]
    assert np.array_equal(got, axpy_oracle(x, y))


# The launch


@pytest.mark.parametrize("interpret", [True, False, pltpu.InterpretParams()], ids=["true", "false", "params"])
def test_interpret_reaches_pallas_call_unchanged(interpret: object, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def pallas_call(*args: object, interpret: object, **kwargs: object) -> object:
        seen.append(interpret)
        return lambda x, y: x

    monkeypatch.setattr(pl, "pallas_call", pallas_call)
    blocked_axpy(*ragged(), interpret=interpret)
    assert len(seen) == 1
    assert seen[0] is interpret


@DTYPES
def test_simulated_tpu_memory_gives_the_same_result(dtype: str) -> None:
    x, y = ragged(dtype)
    got = blocked_axpy(x, y, interpret=pltpu.InterpretParams(detect_races=True))
    assert np.array_equal(got, axpy_oracle(x, y))


def test_without_interpretation_a_cpu_refuses_instead_of_falling_back() -> None:
    with pytest.raises(ValueError, match="Only interpret mode is supported on CPU backend"):
        blocked_axpy(*ragged(), interpret=False)


# The body


@DTYPES
def test_the_body_writes_every_element_of_a_poisoned_output_and_returns_nothing(dtype: str) -> None:
    x, y = ragged(dtype)
    out = np.full(x.shape, np.nan, x.dtype)
    assert axpy_body(x, y, out) is None  # type: ignore[arg-type, func-returns-value]
    assert np.array_equal(out, axpy_oracle(x, y))


@DTYPES
def test_interpretation_shows_the_elements_a_body_misses(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def body(x_ref: jax.Ref, y_ref: jax.Ref, out_ref: jax.Ref) -> None:
        out_ref[:-1, :] = (2 * x_ref[:-1, :] + y_ref[:-1, :]).astype(out_ref.dtype)

    monkeypatch.setattr(axpy, "axpy_body", body)
    x, y = ragged(dtype)
    missed = AXPY.differs(np.asarray(blocked_axpy(x, y)), axpy_oracle(x, y))
    assert missed.all(axis=1).tolist() == [False, True, False, True, False]
    assert missed.any(axis=1).tolist() == [False, True, False, True, False]


def test_bfloat16_is_widened_to_float32_before_the_arithmetic_and_cast_once_after_it() -> None:
    jaxpr = jax.make_jaxpr(blocked_axpy)(*ragged("bfloat16"))
    (launch,) = (eqn for eqn in jaxpr.eqns if eqn.primitive.name == "pallas_call")
    body = launch.params["jaxpr"].eqns
    arithmetic = [eqn.outvars[0].aval.dtype for eqn in body if eqn.primitive.name in ("add", "mul")]
    casts = [eqn.outvars[0].aval.dtype for eqn in body if eqn.primitive.name == "convert_element_type"]
    assert arithmetic == [jnp.float32, jnp.float32]
    assert casts.count(jnp.dtype("bfloat16")) == 1


# The refusals


def matrix(*shape: int, dtype: object = np.float32) -> np.ndarray:
    return np.ones(shape, dtype)  # type: ignore[call-overload, no-any-return]


GOOD = matrix(5, 11)
BLOCK = "block must be a pair of positive integers; got "
REFUSED = [
    ("list", [[1.0]], GOOD, (2, 4), "x must be a two-dimensional array; got <class 'list'>"),
    ("number", GOOD, 1.0, (2, 4), "y must be a two-dimensional array; got <class 'float'>"),
    ("vector", matrix(11), matrix(11), (2, 4), "x must be a two-dimensional array; got (11,)"),
    ("cube", GOOD, matrix(1, 5, 11), (2, 4), "y must be a two-dimensional array; got (1, 5, 11)"),
    ("no rows", matrix(0, 11), matrix(0, 11), (2, 4), "x must not be empty; got shape (0, 11)"),
    ("no columns", matrix(5, 0), matrix(5, 0), (2, 4), "x must not be empty; got shape (5, 0)"),
    ("row", GOOD, matrix(1, 11), (2, 4), "x and y must have the same shape; got (5, 11) and (1, 11)"),
    ("column", GOOD, matrix(5, 1), (2, 4), "x and y must have the same shape; got (5, 11) and (5, 1)"),
    ("transpose", GOOD, matrix(11, 5), (2, 4), "x and y must have the same shape; got (5, 11) and (11, 5)"),
    ("float64", matrix(5, 11, dtype=np.float64), GOOD, (2, 4), "x must be float32 or bfloat16; got float64"),
    ("float16", GOOD, matrix(5, 11, dtype=np.float16), (2, 4), "y must be float32 or bfloat16; got float16"),
    ("int32", matrix(5, 11, dtype=np.int32), GOOD, (2, 4), "x must be float32 or bfloat16; got int32"),
    ("bool", matrix(5, 11, dtype=bool), GOOD, (2, 4), "x must be float32 or bfloat16; got bool"),
    (
        "mixed",
        GOOD,
        matrix(5, 11, dtype=ml_dtypes.bfloat16),
        (2, 4),
        "x and y must have the same dtype; got float32 and bfloat16",
    ),
    ("number as block", GOOD, GOOD, 4, BLOCK + "4"),
    ("text as block", GOOD, GOOD, "24", BLOCK + "'24'"),
    ("no block", GOOD, GOOD, None, BLOCK + "None"),
    ("array as block", GOOD, GOOD, np.array([2, 4]), BLOCK + "array([2, 4])"),
    ("one size", GOOD, GOOD, (2,), BLOCK + "(2,)"),
    ("three sizes", GOOD, GOOD, (2, 4, 1), BLOCK + "(2, 4, 1)"),
    ("zero size", GOOD, GOOD, (0, 4), BLOCK + "(0, 4)"),
    ("negative size", GOOD, GOOD, (2, -4), BLOCK + "(2, -4)"),
    ("float size", GOOD, GOOD, (2.0, 4), BLOCK + "(2.0, 4)"),
    ("bool size", GOOD, GOOD, (True, 4), BLOCK + "(True, 4)"),
    ("NumPy bool size", GOOD, GOOD, (2, np.True_), BLOCK + "(2, np.True_)"),
    ("text size", GOOD, GOOD, ("2", 4), BLOCK + "('2', 4)"),
]


@pytest.mark.parametrize(("x", "y", "block", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_refusal_names_the_rule_and_what_it_got_before_any_launch(
    x: np.ndarray, y: np.ndarray, block: tuple[int, int], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pl, "pallas_call", lambda *args, **kwargs: pytest.fail("launched"))
    for refuse in (validate_pair, blocked_axpy):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            refuse(x, y, block)


def test_refusals_hold_while_jit_traces() -> None:
    with pytest.raises(ValueError, match=re.escape("must have the same shape; got (5, 11) and (5, 1)")):
        jax.jit(blocked_axpy)(GOOD, matrix(5, 1))


# The oracle


def nearest(value: Fraction, dtype: str) -> Fraction:
    """``value`` rounded once to the dtype's precision, ties to even, in exact arithmetic."""
    bits = {"float32": 24, "bfloat16": 8}[dtype]
    exponent = 0
    while abs(value) >= 2 ** (bits + exponent):
        exponent += 1
    while value and abs(value) < 2 ** (bits - 1 + exponent):
        exponent -= 1
    return round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


@FEW
@given(pairs())
def test_the_oracle_rounds_the_exact_sum_once(pair: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = pair
    for a, b, got in zip(x.flat, y.flat, axpy_oracle(x, y).flat, strict=True):
        assert Fraction(float(got)) == nearest(2 * Fraction(float(a)) + Fraction(float(b)), x.dtype.name)


@DTYPES
def test_the_oracle_is_numpy_in_float64_not_the_arithmetic_of_the_kernel(dtype: str) -> None:
    # 2·x alone is beyond float32: only wider arithmetic finds the sum.
    x = np.full((1, 1), 2.5e38, dtype)
    want = axpy_oracle(x, -x)
    assert type(want) is np.ndarray
    assert np.array_equal(want, x)


# The page


def test_the_taught_functions_stand_alone() -> None:
    imports = "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax.experimental import pallas as pl\n"
    source = "\n".join(inspect.getsource(part) for part in (validate_pair, pad_pair, axpy_body, blocked_axpy))
    page: dict[str, object] = {}
    exec(imports + source, page)
    alone = page["blocked_axpy"]
    assert callable(alone)
    assert np.array_equal(alone(*ragged()), axpy_oracle(*ragged()))
