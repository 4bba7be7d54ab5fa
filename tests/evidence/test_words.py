"""Errors are read as findings, arguments as shapes; both say what to do."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from pallas_course.evidence import findings, museum, shapes
from pallas_course.evidence.verdict import Code, Finding, Verdict, from_json

CALLBACK = """JaxRuntimeError: INTERNAL: CpuCallback error calling callback: Traceback (most recent call last):
  File "/home/someone/kernel.py", line 3, in <module>
  File "/home/someone/site-packages/interpret_pallas_call.py", line 719, in get
"""
BLOCK = """ValueError: The Pallas TPU lowering currently requires that the last two dimensions of your block shape are \
divisible by 8 and 128 respectively, or be equal to the respective dimensions of the overall array. Block spec for \
args[0] in pallas_call axpy at /home/someone/kernel.py:8 has block shape (Blocked(block_size=6), \
Blocked(block_size=100)), array shape (36, 400), and index_map { lambda ; a:i32[] b:i32[]. let  in (a, b) }
See details at https://docs.jax.dev/en/latest/pallas/grid_blockspec.html"""
RANK = """ValueError: The Pallas TPU lowering currently requires that rank 1 block shapes, either 1) the first (and \
only) dimension of the block shape is equal to the first (and only) dimension of the array shape, or 2) the first \
(and only) dimension of the block shape is a multiple of 1024, or 3) the first (and only) dimension of the block shape \
is a power of 2 and at least the tiling size (256 = 128 * (32 // 16)) of the array shape. Block spec for args[0] in \
pallas_call double at /home/someone/kernel.py:8 has block shape (Blocked(block_size=128),), array shape (512,), and"""
VMEM = """JaxRuntimeError: RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:
Ran out of memory in memory space vmem while allocating on stack for %_lambda_.1 = f32[8]{1,0} custom-call(%company). \
Scoped allocation with size 48.00M and limit 16.00M exceeded scoped vmem limit by 32.00M."""
PHYSICAL = """JaxRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space \
vmem. Used 24.00M of 16.00M vmem. Exceeded vmem capacity by 8.00M.

Program vmem requirement 24.00M:"""
LOAD = """JaxRuntimeError: INTERNAL: Mosaic failed to compile TPU kernel with MLIR module name `dot` HLO name `_l_.1`: \
Invalid vector type for load

at location: loc("get:"("get/get"(callsite("dot"("/home/someone/kernel.py":10:27 to :37) at "dot"(
  %35 = "tpu.load"(%31) : (memref<128x128xf16, #tpu.memory_space<vmem, tc>>, index) -> vector<8x128x2xf16>
"""
OLD = "MosaicError: INTERNAL: Mosaic failed to compile TPU kernel: E2003: CompileTimeMosaicUnprovenMemory: cannot prove"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            CALLBACK + 'IndexError: Out-of-bounds block index (0, 128) for input "x" in iteration (1,) on device 0 '
            "(core 0): reading [(slice(0, 8, 1), slice(16384, 16512, 1))] but input has shape (8, 512).",
            "out-of-bounds",
            'block (0, 128) of input "x", which program (1,) is given, lies outside the array: '
            "elements [0:8, 16384:16512]",
        ),
        (
            CALLBACK + "IndexError: Out-of-bounds read of (0 0 vmem 102): reading [(slice(0, 8, 1), slice(448, 576, 1))"
            "] but buffer has shape (8, 512).",
            "out-of-bounds",
            "read of elements [0:8, 448:576] of a reference of shape (8, 512)",
        ),
        (
            CALLBACK + "RuntimeError: Revisited block (slice(0, 8, 1), slice(0, 128, 1)) of output 0 in iteration "
            "(1, 0). The block was previously visited in iterations (0, 0) through (0, 1) .",
            "revisit",
            "output 0: program (1, 0) writes the block at (0:8, 0:128) again, last written by program (0, 1)",
        ),
        (
            BLOCK,
            "otherwise",
            "block (6, 100) of args[0], an array of (36, 400): its last two sizes must be divisible by 8 and 128, or "
            "be the array's",
        ),
        (
            RANK,
            "otherwise",
            "block (128) of args[0], an array of (512): a one-dimensional block must be the whole array, a multiple of "
            "1024, or a power of 2 from 256 up",
        ),
        (VMEM, "vmem", "E1001: Scoped allocation with size 48.00M and limit 16.00M"),
        (PHYSICAL, "vmem", "Ran out of memory in memory space vmem. Used 24.00M of 16.00M vmem"),
        (LOAD, "unsupported-dtype", "Invalid vector type for load: vector<8x128x2xf16>"),
        (OLD, "alignment", "MosaicError: E2003: CompileTimeMosaicUnprovenMemory: cannot prove"),
        (
            "NotImplementedError: Unimplemented primitive in Pallas TPU lowering for tc: sort. Please file an issue at "
            "https://github.com/jax-ml/jax/issues/new/choose.",
            "otherwise",
            "NotImplementedError: Unimplemented primitive in Pallas TPU lowering for tc: sort.",
        ),
        ("ValueError: Linearization failed to produce", "gradient", "ValueError: Linearization failed to produce"),
        (
            "IndexError: index 5 is out of bounds for axis 0",
            "otherwise",
            "IndexError: index 5 is out of bounds for axis 0",
        ),
        ("KeyError: <object object at 0x7f00aa>", "otherwise", "KeyError: <object object>"),
        ("ValueError: in /home/someone/kernel.py:8 and /b/c.py", "otherwise", "ValueError: in kernel.py:8 and c.py"),
        ("", "otherwise", "no message"),
    ],
)
def test_an_error_is_read_as_one_finding(text: str, code: str, said: str) -> None:
    found = findings.read_error(text, "otherwise")
    assert (found.code, found.message) == (code, said)


def test_a_compiler_that_names_a_line_of_the_kernel_is_heard() -> None:
    assert findings.read_error(LOAD, "compile").where == "/home/someone/kernel.py:10"


def test_a_long_error_is_cut() -> None:
    assert len(findings.read_error("ValueError: " + "long " * 1000, "trace").message) == 300


def test_every_code_that_can_be_produced_says_what_to_do() -> None:
    assert set(get_args(Code)) == set(findings.EXPLAINED)
    for code in findings.EXPLAINED:
        told = findings.explanation(Finding(code, ""))
        assert told.means
        assert told.do


@pytest.mark.parametrize(
    ("code", "message", "case"),
    [
        ("lowering", findings.read_error(BLOCK, "lowering").message, "illegal_block"),
        ("lowering", findings.read_error(RANK, "lowering").message, "rank_one_block"),
        ("lowering", "Unimplemented primitive in Pallas TPU lowering: sort", "sort_in_kernel"),
        ("lowering", "ValueError: program id: 0 was passed, but user did not provide a grid.", "program_id_in_map"),
        ("lowering", "Only single (1) and double (2) buffering are supported. Got 3.", "buffered_three"),
        ("lowering", "ValueError: Cannot do int indexing on TPU", "integer_array_index"),
        ("trace", "ValueError: Advanced indexers are not supported on TPU", "integer_array_index"),
        (
            "trace",
            "ValueError: Invalid dtype for `swap`. Ref dtype: bfloat16. Value dtype: float32.",
            "store_without_cast",
        ),
        (
            "trace",
            "AttributeError: pl.dot was deprecated in JAX v0.11.0, and removed in JAX v0.12.0.",
            "name_that_moved",
        ),
        ("trace", "ValueError: All elements in the grid must be strictly positive, but got grid=(0,)", "zero_grid"),
        ("out-of-bounds", "read of elements [0:8, 448:576] of a reference of shape (8, 512)", "read_past_end"),
        (
            "no-kernel",
            "the function forces JAX's interpret mode, so that a TPU is handed no kernel",
            "forced_interpret",
        ),
        ("trace", "ValueError: something else", ""),
        ("no-kernel", "the function never reached a Pallas call", ""),
        ("inputs", "TypeError: make() takes no argument", ""),
    ],
)
def test_a_message_is_explained_more_closely_than_its_code(code: str, message: str, case: str) -> None:
    assert next(iter(findings.explanation(Finding(code, message)).museum), "") == case


CASES = museum.cases()


def test_every_museum_case_that_is_named_exists_and_is_a_fault() -> None:
    every = [*findings.EXPLAINED.values(), *(told for *_, told in findings._CLOSER)]
    assert {name for told in every for name in told.museum} <= {case.name for case in CASES if not case.about["right"]}


def test_what_was_recorded_of_each_fault_is_explained_by_faults_of_its_kind() -> None:
    recorded = json.loads(Path(museum.__file__).with_name("verdicts.json").read_text("utf-8"))["files"]
    kinds = {case.name: case.about["finding"] for case in CASES}
    for name, entry in recorded.items():
        for said in entry["verdicts"].values():
            if code := said.get("code"):
                told = findings.explanation(findings.read_error(said["reason"], code))
                assert not told.museum or name in told.museum or code in map(kinds.get, told.museum), f"{name}: {said}"


@pytest.mark.parametrize(
    ("text", "name", "dtype", "shape"),
    [
        ("f32[257,513]", None, "float32", [257, 513]),
        ("bf16[8, 128]", None, "bfloat16", [8, 128]),
        ("lengths=i32[4]", "lengths", "int32", [4]),
        ("bool[]", None, "bool", []),
        ("u8[3]", None, "uint8", [3]),
        ("float16[2]", None, "float16", [2]),
        ("i32 [3,]", None, "int32", [3]),
    ],
)
def test_arguments_are_written_as_jax_writes_them(text: str, name: str | None, dtype: str, shape: list[int]) -> None:
    assert shapes.parse(text) == (name, {"dtype": dtype, "shape": shape})


@pytest.mark.parametrize(
    ("text", "wrong", "do"),
    [
        ("f32", "'f32' is not dtype[shape]", "name=f32[257,513] for a keyword"),
        ("[3]", "'[3]' is not dtype[shape]", "f32[257,513]"),
        ("f32[3", "'f32[3' is not dtype[shape]", "f32[257,513]"),
        ("3,4", "'3,4' is not dtype[shape]", "f32[257,513]"),
        ("f99[3]", "no dtype 'f99'", "choose from bf16, bool"),
        ("F32[3]", "no dtype 'F32'", "choose from bf16, bool"),
        ("x=bf16[3.5]", "whole numbers with commas between, not '3.5'", "bf16[257,513], or bf16[]"),
        ("f32[-1]", "whole numbers with commas between, not '-1'", "f32[257,513]"),
        ("f32[a,b]", "whole numbers with commas between, not 'a,b'", "f32[257,513]"),
        ("f32[1,,2]", "whole numbers with commas between, not '1,,2'", "f32[257,513]"),
        ("f32[3][4]", "whole numbers with commas between, not '3][4'", "f32[257,513]"),
    ],
)
def test_what_is_no_argument_says_what_is_wrong_with_it(text: str, wrong: str, do: str) -> None:
    with pytest.raises(ValueError, match=re.escape(wrong)) as error:
        shapes.parse(text)
    assert do in error.value.args[1]


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
