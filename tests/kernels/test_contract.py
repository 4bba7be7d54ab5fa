"""The contract: inputs that can tell a right kernel from a wrong one, and a comparison that misses nothing."""

from dataclasses import FrozenInstanceError

import ml_dtypes
import numpy as np
import pytest

from pallas_course.kernels.axpy import AXPY
from pallas_course.kernels.contract import Case

CASES = pytest.mark.parametrize("case", AXPY.cases, ids=lambda case: case.name)
DTYPES = pytest.mark.parametrize("dtype", AXPY.dtypes)


@CASES
@DTYPES
def test_inputs_have_the_shapes_and_dtype_asked_for_and_never_change(case: Case, dtype: str) -> None:
    first, again = case.inputs(dtype), case.inputs(dtype)
    assert [array.shape for array in first] == list(case.shapes)
    assert all(array.dtype.name == dtype for array in first)
    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))


@CASES
@DTYPES
def test_inputs_are_distinct_of_both_signs_without_a_zero_and_far_from_overflow(case: Case, dtype: str) -> None:
    for array in case.inputs(dtype):
        values = array.astype(np.float64)
        if dtype == "float32" or array.size <= 512:
            assert len(np.unique(values)) == array.size
        assert array.size == 1 or values.min() < 0 < values.max()
        assert np.abs(values).max() <= 4
        assert values.all()


@CASES
@DTYPES
def test_no_two_inputs_no_two_rows_and_no_two_columns_are_alike(case: Case, dtype: str) -> None:
    x, y = case.inputs(dtype)
    assert not np.array_equal(x, y)
    for array in (x, y, x.T, y.T):
        assert len(np.unique(array.astype(np.float64), axis=0)) == len(array)


@CASES
def test_values_are_shuffled_and_each_input_by_itself(case: Case) -> None:
    orders = [np.argsort(array, axis=None).tolist() for array in case.inputs("float32")]
    if len(orders[0]) > 1:
        assert orders[0] != orders[1]
        assert all(order != sorted(order) for order in orders)


def test_square_inputs_are_not_symmetric() -> None:
    (square,) = Case("square", ((6, 6),), "a transposed tile must show").inputs("float32")
    assert not (square == square.T)[~np.eye(6, dtype=bool)].any()


def test_a_case_may_hold_inputs_of_different_shapes() -> None:
    matrix, bias = Case("bias", ((5, 11), (11,)), "one row for all rows").inputs(ml_dtypes.bfloat16)
    assert (matrix.shape, bias.shape) == ((5, 11), (11,))


def test_every_case_has_its_own_name_and_every_choice_its_reason() -> None:
    assert len({case.name for case in AXPY.cases}) == len(AXPY.cases)
    assert all(case.reason for case in AXPY.cases)
    assert all(tolerance.reason for tolerance in AXPY.tolerances)


def test_a_contract_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        AXPY.cases[0].name = "another"  # type: ignore[misc]


def test_a_tolerance_is_found_by_dtype_and_only_for_dtypes_of_the_contract() -> None:
    assert AXPY.tolerance(ml_dtypes.bfloat16).dtype == "bfloat16"
    with pytest.raises(KeyError, match="float64"):
        AXPY.tolerance(np.float64)


def test_differs_marks_exactly_the_elements_out_of_tolerance_and_the_nans() -> None:
    want = np.array([[2, 2, 2], [2, 2, np.nan]], np.float32)
    got = want + np.array([[0, 1e-6, np.nan], [1e-4, np.inf, 0]], np.float32)
    assert AXPY.differs(got, want).tolist() == [[False, False, True], [True, True, True]]


def test_differs_allows_bfloat16_one_step_and_no_more() -> None:
    one = np.array([1], ml_dtypes.bfloat16)
    step = np.array([2**-7], ml_dtypes.bfloat16)
    assert not AXPY.differs(one + step, one).any()
    assert AXPY.differs(one + step + step, one).all()


@pytest.mark.parametrize(
    ("got", "message"),
    [
        (np.zeros((3, 2), np.float32), r"expected float32\[2, 3\]; got float32\[3, 2\]"),
        (np.zeros((2, 3), np.float64), r"expected float32\[2, 3\]; got float64\[2, 3\]"),
    ],
)
def test_differs_refuses_another_shape_or_dtype(got: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        AXPY.differs(got, np.zeros((2, 3), np.float32))
