"""Values of one sign: only they show a maximum that starts at zero, and a sum that stalls before it is large."""

import numpy as np

from pallas_course.evidence.case import Case, compare
from pallas_course.evidence.verdict import Finding

SIGNS = {"no value is positive": -1, "no value is negative": 1}
# Of narrower floats a long sum leaves the range, and of integers, where an oracle counts on in 64 bits.
FLOATS = ("float32", "bfloat16", "float64")


def sets(case: Case) -> list[list[np.ndarray]]:
    """The case's arrays with their floats made negative, and positive; none where the user chose the values."""
    chosen = any(case.spec.get(key) for key in ("inputs", "contract", "grad", "derived"))
    if chosen or not case.spec.get("oracle") or not any(array.dtype.name in FLOATS for array in case.arrays):
        return []
    return [
        [(sign * np.abs(array)).astype(array.dtype) if array.dtype.name in FLOATS else array for array in case.arrays]
        for sign in SIGNS.values()
    ]


def judged(case: Case, results: list[list[np.ndarray]]) -> list[Finding]:
    """What differs from the oracle on the first of ``sets`` where anything does.

    A function or an oracle that does not take such values, made up as they are, is left alone.
    """
    for said, arrays, got in zip(SIGNS, sets(case), results, strict=False):
        names, what = ("the function", "the oracle"), f"differs from the oracle where {said}"
        want = case.oracle_besides(arrays)
        if found := compare(case, got, want, "wrong-values", what, names, case.tolerance):
            return found
    return []
