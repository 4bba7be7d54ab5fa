"""The page that explains the audit: its output is the command's, its options and figures are the code's."""

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from pallas_course import cli
from pallas_course.evidence import accelerator, chips, exhibits, museum, simulated
from pallas_course.kernels import versions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")
KERNEL = re.findall(r'```python title="my_kernel.py"\n(.*?)```', PAGE, re.DOTALL)[0]
ABSENT = "libtpu is not installed; add it with: pip install 'pallas-course[tpu]'"
FENCES = [
    re.match(r"\$ (.*?[^\\])\n(.+)", block, re.DOTALL) for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
]
SESSIONS = [fence.groups() for fence in FENCES if fence]


@pytest.mark.parametrize(("command", "output"), SESSIONS, ids=str)
def test_what_the_page_shows_is_what_the_command_prints(
    command: str,
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = shlex.split(command.replace("\\\n", " "))
    if "--chip" in words:
        if reason := chips.missing("v5e"):
            pytest.skip(reason)
        if versions.installed()["libtpu"] != "0.0.50.1":
            pytest.skip("the page shows what another libtpu says")
    else:  # what a reader sees who has not installed the compiler
        monkeypatch.setattr(chips, "missing", lambda chip: ABSENT)
    monkeypatch.setattr(accelerator, "absent", lambda: "this machine has no TPU and no NVIDIA GPU")
    (tmp_path / "my_kernel.py").write_text(KERNEL, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert words[:2] == ["pallas-course", "audit"]
    cli.main(words[1:])
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith("Made with jax")  # its versions and date are the reader's own
    assert printed[:-1] == output.splitlines()[:-1]
    assert output.splitlines()[-1].startswith("Made with jax")


def test_the_first_line_is_quoted_where_it_is_explained() -> None:
    assert f"\n> {SESSIONS[0][1].splitlines()[0]}\n" in PAGE


@pytest.mark.parametrize("chip", ["", "v5e"])
def test_every_fact_of_a_report_is_documented(
    chip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if chip and (reason := chips.missing(chip)):
        pytest.skip(reason)
    (tmp_path / "my_kernel.py").write_text(KERNEL, "utf-8")
    monkeypatch.chdir(tmp_path)
    rungs = ["--rung", "compile", "--chip", chip] if chip else ["--rung", "simulate"]
    cli.main(["audit", "my_kernel.py:column_sums", "--arg", "f32[32,256]", "--json", *rungs])
    documented = set(re.findall(r"^\| `([\w.\[\]]+)` \|", PAGE.split("| Fact | Holds |")[1], re.MULTILINE))
    produced = {
        name for verdict in json.loads(capsys.readouterr().out)["verdicts"] for name in names(verdict.get("facts", {}))
    }
    assert produced
    assert produced <= documented


def names(facts: dict[str, Any], prefix: str = "") -> set[str]:
    """``kernels[].grid`` and the like; slots and reasons are named by data."""
    found = {prefix + name for name in facts}
    for name, value in facts.items():
        for item in value if isinstance(value, list) else ():
            found |= names(item, f"{prefix}{name}[].") if isinstance(item, dict) else set()
    return found


def options() -> list[str]:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(parser_class=cli._Parser)
    cli._audit_arguments(commands)
    (audit,) = commands.choices.values()
    return [option for action in audit._actions for option in action.option_strings if option.startswith("--")]


def test_every_option_has_an_example_that_is_understood() -> None:
    rows = dict(re.findall(r"^\| `(--\w+)` \| .* \| `(.*)` \|$", PAGE, re.MULTILINE))
    assert [*rows, "--help"] == sorted([*rows, "--help"], key=[*rows, "--help"].index)
    assert set(rows) == set(options()) - {"--help"}
    for option, example in rows.items():
        parser = argparse.ArgumentParser()
        cli._audit_arguments(parser.add_subparsers(dest="command", parser_class=cli._Parser))
        read = vars(parser.parse_args(["audit", "my_kernel.py:column_sums", *shlex.split(example)]))
        assert read[option.removeprefix("--")], example


def test_its_figures_are_those_of_the_code_and_the_records() -> None:
    assert f"Above {simulated.MOST_RACED:,} programs no races" in PAGE
    assert f"Above {simulated.MOST_SIMULATED:,} nothing is simulated" in PAGE
    assert all(f"`{chip}`" in PAGE for chip in chips.CHIPS)
    assert "More than half of this course's planted faults pass\n`interpret=True`" in PAGE
    words = [
        exhibits.read()[case.name]["verdicts"]["interpret"]["word"]
        for case in museum.cases()
        if not case.about["right"]
    ]
    assert words.count("pass") * 2 > len(words)
