"""Arguments that come from a function of the user's: what it may return, and what is said of what it may not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pallas_course.evidence import rungs, target
from pallas_course.evidence.case import Case
from pallas_course.evidence.verdict import PASS

Write = Callable[[str], Path]

KERNEL = """
import collections

def copy(x):
    return pl.pallas_call(lambda a, b: b.__setitem__(..., a[...]), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def one(x):
    return copy(x)

def scaled(x, by=2.0):
    return copy(x) * by

def tree(p, *, bias=0):
    return {"b": copy(p["w"]) + bias, "a": [copy(p["u"][0])]}

def keyed(x, key):
    return copy(x) + jax.random.uniform(key, x.shape)

Pair = collections.namedtuple("Pair", "left right")

def paired(pair):
    return copy(pair.left) + pair.right

X = np.ones((8, 128), np.float32)

def make():
    return {made}
"""


def case(kernel_file: Write, function: str, made: str, **more: object) -> Case:
    path = str(kernel_file(KERNEL.replace("{made}", made)))
    spec = {"name": "given", "target": {"file": path, "function": function}, "args": []}
    return Case(spec | {"inputs": {"file": path, "function": "make"}} | more)


@pytest.mark.parametrize(
    ("function", "made"),
    [
        ("one", "X"),
        ("one", "(X,)"),
        ("one", "{'x': X}"),
        ("one", "jnp.asarray(X)"),
        ("scaled", "(X, np.float32(3))"),
        ("scaled", "(X, 3)"),
        ("scaled", "(X,), {'by': np.array(3.0)}"),
        ("tree", "({'w': X, 'u': (X,)},), {'bias': 1}"),
        ("keyed", "(X, jax.random.key(0))"),
        ("paired", "Pair(X, X)"),
    ],
)
def test_arguments_may_be_given_in_each_of_these_ways(kernel_file: Write, function: str, made: str) -> None:
    assert rungs.climb(case(kernel_file, function, made), "interpret", "v5e").status == PASS


def test_arrays_have_the_width_that_jax_gives_them(kernel_file: Write) -> None:
    """NumPy's own default is 64 bits; a kernel that is called with such arrays gets 32."""
    made = case(kernel_file, "scaled", "(np.ones((8, 128)), np.arange(128))")
    assert [array.dtype for array in made.arrays] == [np.float32, np.int32]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("None", "make() returned no array, but NoneType"),
        ("('a', 3)", "make() returned no array, but tuple"),
        ("[X]", "make() returned a list; let it be a tuple of arguments, or a tuple that holds the list"),
        ("(X, X)", "make() returned 2 arguments; one(x): too many positional arguments"),
        ("{'y': X}", "make() returned 0 arguments and the keywords y; one(x): it takes no keyword 'y'"),
        ("open('no such file')", "FileNotFoundError"),
        ("exit(3)", "sys.exit(3)"),
        ("X[200]", "IndexError: index 200 is out of bounds"),
    ],
)
def test_what_cannot_be_taken_is_the_inputs_own_fault(kernel_file: Write, made: str, said: str) -> None:
    with pytest.raises(target.Found) as found:
        case(kernel_file, "one", made)
    assert found.value.finding.code == "inputs"
    assert said in found.value.finding.message
    assert "user_kernel.py" in found.value.finding.where
