"""Commands that cannot be followed: told before anything runs, with what is wrong and what to do."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pallas_course import cli
from pallas_course.evidence import audit, target
from pallas_course.evidence.verdict import PASS, Misuse, Verdict

Write = Callable[[str], Path]

FUNCTIONS = """
import functools

def kernel(x, y, *, block=(8, 128)):
    return x

def open_ended(x, **rest):
    return x

def _private(x):
    return x

jitted = jax.jit(kernel, static_argnames=("block",))
partial = functools.partial(kernel, block=(16, 128))
NUMBER = 3

class Layer:
    def __call__(self, x):
        return x

layer = Layer()

def takes_one(x):
    return x

def needs(size):
    return size
"""
F32 = {"dtype": "float32", "shape": [8, 128]}


def spec(path: Path, function: str, arrays: int, **more: Any) -> dict[str, Any]:
    named = {role: {"file": str(path), "function": more.pop(role)} for role in ("oracle", "inputs") if role in more}
    return {"target": {"file": str(path), "function": function}, "args": [F32] * arrays, **named, **more}


@pytest.mark.parametrize(
    ("asked", "wrong", "do"),
    [
        ({"function": "kernal"}, "user_kernel.py:kernal is no function of the file", "choose from kernel,"),
        ({"function": "NUMBER"}, "user_kernel.py:NUMBER is no function of the file", "layer"),
        ({"function": "Layer"}, "user_kernel.py:Layer is a class", "choose from layer"),
        ({"arrays": 1}, "user_kernel.py:kernel(x, y, *, block=(8, 128)): missing a required argument: 'y'", "--arg"),
        ({"arrays": 3}, "too many positional arguments", "--arg"),
        ({"static": {"blck": "1"}}, "it takes no keyword 'blck'", "--static NAME=VALUE"),
        ({"kwargs": {"x": F32}}, "multiple values for argument 'x'", "--arg"),
        ({"function": "jitted", "arrays": 1}, "user_kernel.py:jitted(x, y, *, block=(8, 128)): missing", "--arg"),
        ({"function": "partial", "arrays": 1}, "missing a required argument: 'y'", "--arg"),
        ({"function": "layer"}, "too many positional arguments", "--arg"),
        ({"oracle": "refrence"}, "user_kernel.py:refrence is no function of the file", "choose from"),
        ({"oracle": "takes_one"}, "user_kernel.py:takes_one(x): too many positional arguments", "the arrays that the"),
        ({"inputs": "needs"}, "user_kernel.py:needs(size): missing a required argument: 'size'", "take no argument"),
    ],
)
def test_what_does_not_fit_a_function_is_told_with_what_would(
    kernel_file: Write, asked: dict[str, Any], wrong: str, do: str
) -> None:
    asked = {"function": "kernel", "arrays": 2} | asked
    with pytest.raises(Misuse) as refused:
        target.usable(spec(kernel_file(FUNCTIONS), **asked))
    assert wrong in refused.value.wrong
    assert do in refused.value.do
    assert "_private" not in refused.value.do


@pytest.mark.parametrize(
    "asked",
    [
        {"function": "kernel", "arrays": 1, "kwargs": {"y": F32}, "static": {"block": "(16, 128)"}},
        {"function": "jitted", "arrays": 2, "static": {"block": "(16, 128)"}},
        {"function": "partial", "arrays": 2},
        {"function": "layer", "arrays": 1},
        {"function": "open_ended", "arrays": 1, "static": {"anything": "1"}},
        {"function": "kernel", "arrays": 2, "oracle": "kernel"},
        {"function": "takes_one", "arrays": 1, "oracle": "takes_one", "static": {}},
    ],
)
def test_what_fits_passes(kernel_file: Write, asked: dict[str, Any]) -> None:
    target.usable(spec(kernel_file(FUNCTIONS), **asked))


def test_a_keyword_that_is_no_array_is_given_to_an_oracle_that_has_a_name_for_it(kernel_file: Write) -> None:
    path = kernel_file(FUNCTIONS)
    target.usable(spec(path, "jitted", 2, oracle="kernel", static={"block": "(8, 128)"}))
    with pytest.raises(Misuse, match="takes_one"):
        target.usable(spec(path, "jitted", 1, oracle="takes_one", kwargs={"y": F32}))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--limit", "0"], "--limit 0: no number of seconds above zero"),
        (["--limit", "-1"], "--limit -1: no number"),
        (["--limit", "nan"], "--limit nan: no number"),
        (["--limit", "inf"], "--limit inf: no number"),
        (["--rtol", "-1"], "--rtol -1: no number from zero up"),
        (["--atol", "nan"], "--atol nan: no number from zero up"),
        (["--rtol", "0.1"], "no --oracle is given"),
        (["--arg", "x=f32[8]", "--arg", "x=f32[8]"], "--arg x= is given twice"),
        (["--arg", "x=f32[8]", "--static", "x=3"], "x is given as --arg and as --static"),
        (["--static", "=3"], "is not NAME=VALUE"),
        (["--static", "1x=3"], "is not NAME=VALUE"),
        (["--static", "x=" + "(" * 500], "is not NAME=VALUE"),
        (["--arg", "f32[8,,2]"], "a shape is whole numbers"),
        (["--arg", "f32[8 2]"], "a shape is whole numbers"),
        (["--arg", f"f32[{'9' * 5000}]"], "a shape is whole numbers"),
        (["--arg", "object[8]"], "no dtype 'object'"),
        (["--arg", "f32[100000,100000]"], "10,000,000,000 elements, and an audit takes 134,217,728"),
        (["--arg", "i8[99999,999]", "--arg", "i8[99999,999]"], "elements, and an audit takes"),
        (["--chip", "v5e", "--rung", "interpret"], "--rung leaves compile out"),
        (["--html", "no_such_folder/report.html"], "--html no_such_folder/report.html: No such file or directory"),
        (["--html", "."], "--html .: a folder"),
        (["--html", __file__], "the audited file"),
    ],
)
def test_an_option_that_cannot_be_followed_is_told_before_anything_runs(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "audit", lambda request: pytest.fail("the audit was started"))
    assert cli.main(["audit", f"{__file__}:kernel", *options]) == 2
    wrong, do = capsys.readouterr().err.strip().splitlines()
    assert said in wrong
    assert do.startswith("next: ")


@pytest.mark.parametrize("name", ["notes.ipynb", "kernel"])
def test_what_is_no_python_file_is_told_so(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text("{}")
    assert cli.main(["audit", f"{tmp_path / name}:kernel"]) == 2
    assert "is no Python file" in capsys.readouterr().err


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> list[audit.Request]:
    """An audit that finds nothing, in no time."""
    asked: list[audit.Request] = []

    def pass_(request: audit.Request) -> audit.Report:
        asked.append(request)
        return audit.Report(request, {"given": ""}, (Verdict("interpret", PASS, case="given"),), {}, "2026-01-01")

    monkeypatch.setattr(audit, "audit", pass_)
    return asked


def test_a_page_is_written_beside_the_json(
    passing: list[audit.Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert cli.main(["audit", f"{__file__}:kernel", "--json", "--html", str(page)]) == 0
    assert json.loads(capsys.readouterr().out)["exit"] == 0
    assert page.read_text().startswith("<!doctype html>")
    umask = os.umask(0)
    os.umask(umask)
    assert page.stat().st_mode & 0o777 == 0o666 & ~umask
    assert list(tmp_path.iterdir()) == [page]


def test_a_page_is_left_as_it_was_where_the_audit_ends_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(request: audit.Request) -> audit.Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(audit, "audit", interrupted)
    page = tmp_path / "report.html"
    page.write_text("before")
    assert cli.main(["audit", f"{__file__}:kernel", "--html", str(page)]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert page.read_text() == "before"
    assert list(tmp_path.iterdir()) == [page]


def test_a_reader_who_leaves_changes_no_status(passing: list[audit.Request], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    before = os.dup(1)
    os.dup2(writing, 1)
    try:
        with open(1, "w", closefd=False) as stdout, contextlib.redirect_stdout(stdout):
            assert cli.main(["audit", f"{__file__}:kernel"]) == 0
    finally:
        os.dup2(before, 1)
        for fd in (before, writing):
            os.close(fd)


def test_a_value_given_twice_is_one_value(passing: list[audit.Request]) -> None:
    twice = ["--static", "block=(8, 128)", "--static", "block=(8, 128)", "--chip", "v5e", "--chip", "v5e"]
    assert cli.main(["audit", f"{__file__}:kernel", *twice]) == 0
    assert passing[0].variants == {"block": ["(8, 128)"]}
    assert passing[0].chips == ("v5e",)


def test_a_wrong_name_on_the_command_line_ends_with_one_message(
    kernel_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = kernel_file(FUNCTIONS)
    assert cli.main(["audit", f"{path}:kernal", "--arg", "f32[8,128]"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == "user_kernel.py:kernal is no function of the file"
    assert printed.err.splitlines()[1].startswith("next: choose from kernel, ")


def test_a_file_that_cannot_be_imported_is_found_once(kernel_file: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = kernel_file("import no_such_module_anywhere\n\ndef kernel(x):\n    return x\n")
    assert cli.main(["audit", f"{path}:kernel", "--arg", "f32[16,128]", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(finding["code"], finding["derived"]) for finding in report["findings"]] == [("import", False)]
    assert list(report["cases"]) == ["given"]
    assert {"what": "derived shapes", "reason": "the file could not be loaded"} in report["not_run"]


def test_what_could_not_be_imported_is_not_half_there_the_second_time(kernel_file: Write) -> None:
    named = {
        "file": str(kernel_file("def before(x):\n    return x\n\nraise ValueError('too late')\n")),
        "function": "after",
    }
    for _ in range(2):
        with pytest.raises(target.Found, match="too late"):
            target.load(named)
