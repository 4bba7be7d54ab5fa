"""Errors are read as findings, arguments as shapes; both say what to do."""

from pathlib import Path

import pytest

from pallas_course.evidence import findings, shapes
from pallas_course.evidence.verdict import Finding, Verdict, from_json

MUSEUM = Path(findings.__file__).parent / "museum"

SIMULATED = """JaxRuntimeError: INTERNAL: CpuCallback error calling callback: Traceback (most recent call last):
  File "kernel.py", line 3, in <module>
  File "interpret_pallas_call.py", line 719, in get
IndexError: Out-of-bounds block index (0, 128) for input "x" in iteration (1,) on device 0 (core 0)"""


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (SIMULATED, "out-of-bounds", "IndexError: Out-of-bounds block index (0, 128)"),
        ("RuntimeError: Revisited block (0,) of output 0", "revisit", "Revisited block"),
        (
            "E: RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\nScoped allocation with size 64.00M",
            "vmem",
            "64.00M",
        ),
        ("MosaicError: INTERNAL: E2003: cannot statically prove that index", "alignment", "E2003"),
        ("NotImplementedError: Unimplemented primitive in Pallas TPU lowering: sort", "otherwise", "sort"),
        ("ValueError: Linearization failed to produce known values", "gradient", "Linearization"),
        ("", "otherwise", "no message"),
    ],
)
def test_an_error_is_read_as_one_finding(text: str, code: str, said: str) -> None:
    found = findings.read_error(text, "otherwise")
    assert found.code == code
    assert said in found.message


def test_a_long_error_is_cut() -> None:
    assert len(findings.read_error("ValueError: " + "long " * 1000, "trace").message) == 300


def test_every_code_says_what_to_do() -> None:
    for code in findings.EXPLAINED:
        told = findings.explanation(Finding(code, ""))
        assert told.means
        assert told.do


def test_a_refused_block_is_explained_more_closely_than_its_code() -> None:
    told = findings.explanation(Finding("lowering", "the last two dimensions must be divisible by 8 and 128"))
    assert told.museum == "illegal_block"


@pytest.mark.skipif(not MUSEUM.is_dir(), reason="the museum is not here")
def test_every_museum_case_that_is_named_exists() -> None:
    named = {told.museum for told in [*findings.EXPLAINED.values(), *(told for _, told in findings._CLOSER)]}
    assert {name for name in named if name and not (MUSEUM / f"{name}.py").is_file()} == set()


@pytest.mark.parametrize(
    ("text", "name", "dtype", "shape"),
    [
        ("f32[257,513]", None, "float32", [257, 513]),
        ("bf16[8, 128]", None, "bfloat16", [8, 128]),
        ("lengths=i32[4]", "lengths", "int32", [4]),
        ("bool[]", None, "bool", []),
        ("u8[3]", None, "uint8", [3]),
        ("float16[2]", None, "float16", [2]),
    ],
)
def test_arguments_are_written_as_jax_writes_them(text: str, name: str | None, dtype: str, shape: list[int]) -> None:
    assert shapes.parse(text) == (name, {"dtype": dtype, "shape": shape})


@pytest.mark.parametrize("text", ["f32", "f32[a]", "f99[3]", "[3]", "f32[-1]", "f32[3"])
def test_what_is_no_argument_says_how_one_looks(text: str) -> None:
    with pytest.raises(ValueError, match=r"f32\[257,513\]|known: bf16"):
        shapes.parse(text)


def test_derived_shapes_keep_equal_sizes_equal() -> None:
    args = [shapes.parse(text)[1] for text in ("f32[257,513]", "f32[513]")]
    derived = shapes.derived(args, {})
    assert list(derived) == ["singleton", "aligned", "ragged"]
    for changed, _ in derived.values():
        assert changed[0]["shape"][1] == changed[1]["shape"][0]
    assert derived["singleton"][0][0]["shape"] == [1, 1]
    assert all(size % 128 == 0 for size in derived["aligned"][0][0]["shape"])
    assert all(size % 8 and size % 128 for size in derived["ragged"][0][0]["shape"])


def test_a_shape_that_is_given_is_not_derived_again() -> None:
    assert "aligned" not in shapes.derived([shapes.parse("f32[256,256]")[1]], {})
    assert shapes.derived([shapes.parse("f32[1,1]")[1]], {}) == {}


def test_a_verdict_survives_json() -> None:
    finding = Finding("wrong-values", "differs", "output 0", ((0, 2), (3, 4)))
    verdict = Verdict("simulate", "fail", reason="x", findings=(finding,), runs=("one",), facts={"order": [[0]]})
    assert from_json(verdict.as_json()) == verdict
