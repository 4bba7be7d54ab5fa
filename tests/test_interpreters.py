"""Finding the Pythons of a machine and making the environments of the evidence tests, with stand-ins for both."""

import os
import sys
from pathlib import Path

import pytest

from tests.test_setup import python_stub, script
from tools import interpreters
from tools.interpreters import Interpreter

OWN = sys.version_info.minor
OTHER = 12 if OWN == 11 else 11


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Python but this one: its home, with an empty bin/ as the PATH."""
    (tmp_path / "bin").mkdir()
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def releases() -> dict[int, str]:
    return {minor: found.release for minor, found in interpreters.found().items()}


def test_this_python_is_always_found(home: Path) -> None:
    assert releases() == {OWN: ".".join(map(str, sys.version_info[:3]))}
    own = interpreters.found()[OWN]
    assert own in interpreters.chosen({OWN: own})


def test_a_name_that_leads_nowhere_is_no_python(home: Path) -> None:
    script(home / f"bin/python3.{OTHER}", "echo not found >&2; exit 127")
    script(home / ".pyenv/versions/3.13.0/bin/python3.13", "echo 3.13.0; exit 1")
    script(home / "bin/pyenv", "exit 1")
    assert list(releases()) == [OWN]


def test_a_dead_shim_does_not_hide_the_python_behind_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(home / f"bin/python3.{OTHER}", "exit 127")
    python_stub(home / f"usr/python3.{OTHER}", f"3.{OTHER}.4")
    monkeypatch.setenv("PATH", os.pathsep.join((str(home / "bin"), str(home / "usr"))))
    assert releases()[OTHER] == f"3.{OTHER}.4"


@pytest.mark.parametrize("place", [".pyenv/versions/any", ".local/share/uv/python/any", "elsewhere/versions/any"])
def test_pythons_of_pyenv_and_uv_are_found_where_the_path_has_none(home: Path, place: str) -> None:
    script(home / "bin/pyenv", f'[ "$1" = root ] && echo {home}/elsewhere')
    python_stub(home / place / f"bin/python3.{OTHER}", f"3.{OTHER}.1")
    assert interpreters.found()[OTHER].path == home / place / f"bin/python3.{OTHER}"


def test_the_newest_of_a_minor_version_is_used(home: Path) -> None:
    for release in (f"3.{OTHER}.9", f"3.{OTHER}.10", f"3.{OTHER}.2"):
        python_stub(home / f".pyenv/versions/{release}/bin/python3.{OTHER}", release)
    assert releases()[OTHER] == f"3.{OTHER}.10"


def test_a_python_that_cannot_make_environments_is_passed_over(home: Path) -> None:
    python_stub(home / f"bin/python3.{OTHER}", f"3.{OTHER}.1", venv=False)
    assert OTHER not in releases()


@pytest.mark.parametrize(
    ("own", "there", "used"),
    [
        (11, (11, 12, 13), [11, 12]),
        (12, (12,), [None, 12]),
        (13, (11, 12, 13), [11, 13]),
        (11, (11, 13), [11, 13]),
    ],
)
def test_each_line_of_jax_gets_one_python(
    monkeypatch: pytest.MonkeyPatch, own: int, there: tuple[int, ...], used: list[int | None]
) -> None:
    monkeypatch.setattr(sys, "version_info", type("Info", (), {"minor": own}))
    every = {minor: Interpreter(Path("python"), (3, minor, 1)) for minor in there}
    assert [found and found.version[1] for found in interpreters.chosen(every)] == used


def test_each_chosen_python_makes_its_own_environment_and_the_absent_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    every = {minor: Interpreter(python_stub(tmp_path / f"python3.{minor}", ""), (3, minor, 1)) for minor in (11, 12)}
    monkeypatch.setattr(interpreters, "found", lambda: every)
    monkeypatch.setattr(interpreters, "COMPILER", True)
    assert interpreters.main() == 0
    tool = interpreters.ROOT / "tools/environment.py"
    made = {f"python3.{minor} runs {tool} evidence" for minor in (11, 12)}
    assert set(capfd.readouterr().out.splitlines()) == made | {"This machine has no Python 3.13 that runs."}
    script(tmp_path / "python3.11", "exit 2")
    assert interpreters.main() == 2


def test_nothing_is_made_where_no_tpu_compiler_exists(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interpreters, "COMPILER", False)
    monkeypatch.setattr(interpreters, "found", lambda: pytest.fail("looked for Pythons"))
    assert interpreters.main() == 0
    assert "Linux" in capsys.readouterr().out
