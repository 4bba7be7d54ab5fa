"""The audit from the command line: what it says first, what it ends with, and where it writes."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pallas_course import cli
from pallas_course.evidence import audit, chips
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, Finding, Verdict

Write = Callable[[str], Path]

FLOOR = """
def body(x_ref, out_ref):
    out_ref[...] = x_ref[...] + 1

def kernel(x):
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                          grid=(max(1, x.shape[0] // 8), max(1, x.shape[1] // 128)), in_specs=[spec], out_specs=spec)(x)

def reference(x):
    return x.astype(np.float64) + 1
"""


def report(*verdicts: Verdict, **request: Any) -> audit.Report:
    asked = audit.Request(target={"file": "kernel.py", "function": "kernel"}, **request)
    cases = {"given": "f32[8,128]", "derived ragged": "f32[11,165]"}
    return audit.Report(asked, cases, verdicts, {"jax": "0.12"}, "2026-01-01")


BAD = (Finding("unwritten", "is not written in 3 of 9 elements", "output 0"),)
FINE = Verdict("interpret", PASS, case="given")


@pytest.mark.parametrize(
    ("verdicts", "asked", "status"),
    [
        ([FINE], {}, 0),
        ([FINE, Verdict("simulate", FAIL, case="given", findings=BAD)], {}, 1),
        ([FINE, Verdict("simulate", FAIL, case="derived ragged", findings=BAD)], {}, 0),
        ([FINE, Verdict("simulate", FAIL, case="derived ragged", findings=BAD)], {"strict": True}, 1),
        ([FINE, Verdict("compile", NOT_RUN, case="given", chip="v5e")], {}, 0),
        ([FINE, Verdict("compile", NOT_RUN, case="given", chip="v5e")], {"chips": ("v5e",)}, 3),
        ([FINE, Verdict("execute", NOT_RUN, case="given")], {}, 0),
        ([FINE, Verdict("execute", NOT_RUN, case="given")], {"rungs": ("execute",)}, 3),
        ([FINE, Verdict("simulate", NOT_RUN, case="given")], {}, 3),
        ([FINE, Verdict("simulate", NOT_RUN, case="derived ragged")], {}, 0),
        ([FINE, Verdict("lower", FAIL, case="given, gradient", findings=BAD)], {}, 1),
    ],
)
def test_the_exit_status_follows_what_was_asked_for(
    verdicts: list[Verdict], asked: dict[str, Any], status: int
) -> None:
    assert report(*verdicts, **asked).exit == status


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any], str]:
    folder = tmp_path_factory.mktemp("audited")
    path = folder / "user_kernel.py"
    imports = "import jax\nimport numpy as np\nfrom jax.experimental import pallas as pl\n"
    path.write_text(imports + FLOOR)
    import contextlib
    import io

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        command = ["audit", f"{path}:kernel", "--arg", "f32[20,300]", "--oracle", f"{path}:reference"]
        status = cli.main([*command, "--json", "--html", str(folder / "report.html")])
    return status, json.loads(printed.getvalue()), (folder / "report.html").read_text()


def test_an_audit_finds_a_fault_on_the_given_shape_and_on_derived_ones(audited: Any) -> None:
    status, data, _ = audited
    assert status == data["exit"] == 1
    (unwritten,) = data["findings"]
    assert (unwritten["code"], unwritten["derived"]) == ("unwritten", False)
    assert unwritten["where"].startswith("output 0, elements [0:20, 0:300]; block (0, 2), which no program owns")
    assert {(seen["case"], seen["rung"]) for seen in unwritten["seen"]} == {
        (case, rung) for case in ("given", "derived ragged") for rung in ("interpret", "simulate")
    }
    passed = {v["case"] for v in data["verdicts"] if v["rung"] == "simulate" and v["status"] == "pass"}
    assert passed == {"derived singleton", "derived aligned"}
    assert not any(str(Path(audit.__file__).parents[2]) in json.dumps(entry) for entry in data["verdicts"])


def test_every_verdict_is_a_record_that_stands_alone(audited: Any) -> None:
    for verdict in audited[1]["verdicts"]:
        assert len(verdict["source"]) == 16
        assert verdict["block"] == "(8, 128)"
        assert verdict["versions"]["jax"]
        assert verdict["date"] == audited[1]["date"]
        assert verdict["status"] == "not run" or verdict["dtype"] == "float32"


def test_what_could_not_run_is_listed_with_its_reason(audited: Any) -> None:
    listed = {entry["what"]: entry["reason"] for entry in audited[1]["not_run"]}
    assert any("execute" in what for what in listed)
    if chips.missing("v5e") is not None:
        assert any("pip install" in reason for reason in listed.values())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([], "required"),
        (["audit"], "required"),
        (["audit", "kernel.py"], "is not FILE.py:FUNCTION"),
        (["audit", "no_such_file.py:kernel"], "no file no_such_file.py"),
        (["audit", f"{__file__}:kernel", "--arg", "f33[8]"], "no dtype 'f33'"),
        (["audit", f"{__file__}:kernel", "--chip", "v9"], "no such chip"),
        (["audit", f"{__file__}:kernel", "--rung", "guess"], "no such rung"),
        (["audit", f"{__file__}:kernel", "--static", "block"], "is not NAME=VALUE"),
        (["audit", f"{__file__}:kernel", "--arg", "f32[8]", "--inputs", f"{__file__}:make"], "both give the arguments"),
        (["audit", f"{__file__}:kernel", "--limit", "soon"], "invalid float value"),
        (["evidence", "no_such_kernel"], "no kernel 'no_such_kernel'"),
        (["unknown"], "invalid choice"),
    ],
)
def test_a_command_that_cannot_be_followed_says_what_to_do(
    command: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(command) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert "\nnext: " in printed.err
    assert printed.out == ""


def test_cases_are_the_given_the_gradient_other_keywords_and_derived_shapes() -> None:
    request = audit.Request(
        target={"file": "kernel.py", "function": "kernel"},
        args=[{"dtype": "float32", "shape": [20, 300]}],
        variants={"block": ["(8, 128)", "(16, 128)"]},
        grad=True,
    )
    cases = audit._cases(request, "v5e")
    assert list(cases) == [
        "given",
        "given, block=(16, 128)",
        "given, gradient",
        "derived singleton",
        "derived aligned",
        "derived ragged",
    ]
    assert cases["given"]["alternatives"] == [{"block": "(16, 128)"}]
    assert cases["derived ragged"]["static"] == {"block": "(8, 128)"}


def test_no_shape_is_derived_for_what_needs_an_accelerator() -> None:
    asked = audit.Request({"file": "kernel.py", "function": "kernel"}, [{"dtype": "float32", "shape": [20, 300]}])
    assert len(audit._cases(asked, "v5e")) == 4
    for rungs in (("execute",), ("time", "execute")):
        assert list(audit._cases(dataclasses.replace(asked, rungs=rungs), "v5e")) == ["given"]
    assert len(audit._cases(dataclasses.replace(asked, rungs=("time", "lower")), "v5e")) == 4


def test_a_fault_of_our_own_does_not_end_like_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(request: audit.Request) -> audit.Report:
        raise ZeroDivisionError

    monkeypatch.setattr(audit, "audit", fail)
    assert cli.main(["audit", f"{__file__}:kernel", "--arg", "f32[8]"]) == 2
    assert "a fault of its own" in capsys.readouterr().err
