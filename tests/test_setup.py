"""Setting up from a bare clone: finding Python, making the environment, the make targets, Chromium, CI.

Nothing here is fetched or installed: Python, pip, MkDocs, Playwright and Debian's tools are stand-ins.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from tests.site import chromium

ROOT = Path(__file__).parents[1]
SH = shutil.which("sh")
MAKE = shutil.which("make")


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    """The only folder on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A bare clone, as far as setting up goes."""
    clone = tmp_path / "clone"
    (clone / "tools").mkdir(parents=True)
    for name in ("Makefile", "tools/python.sh", "tools/environment.py", "tools/serve.py", "tools/static_site.py"):
        shutil.copy(ROOT / name, clone / name)
    (clone / "requirements.lock").write_text("one==1\n")
    (clone / "pyproject.toml").write_text("[project]\n")
    return clone


def script(path: Path, text: str) -> Path:
    """Write an executable; its text is shell unless it begins otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!{SH}\n{text}\n")
    path.chmod(0o755)
    return path


def python_stub(path: Path, version: str, venv: bool = True) -> Path:
    """A Python that tells its version, lacks its venv module if told to, and prints what it is asked to run."""
    asked = f'[ "$1" != -c ] || {{ echo {version}; exit {0 if venv else 1}; }}'
    return script(path, f'{asked}\necho "{path.name} runs $*"')


def run(
    folder: Path, *command: str | Path | None, path: Path | str | None = None, **environment: str | Path
) -> tuple[int, str]:
    """The exit code and everything printed, with this process's environment but for PATH and what is given."""
    base = {name: value for name, value in os.environ.items() if not re.match("PYTHON|MAKE|MFLAGS|CHROMIUM", name)}
    environment = {**base, **({"PATH": path} if path else {}), **environment}
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={name: str(value) for name, value in environment.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return result.returncode, result.stdout


def wait_until(happened: Callable[[], object]) -> None:
    for _ in range(3000):
        if happened():
            return
        time.sleep(0.02)
    pytest.fail("it did not happen within a minute")


# Finding Python


def find_python(folder: Path, bin_: Path, **environment: str | Path) -> tuple[int, str]:
    return run(folder, SH, ROOT / "tools/python.sh", "this", "and that", path=bin_, **environment)


def test_python_is_the_first_candidate_that_answers_not_the_first_name(tmp_path: Path, bin_: Path) -> None:
    script(bin_ / "python3.13", "echo 3.13 is not installed >&2; exit 127")
    python_stub(bin_ / "python3.12", "3.12.4")
    python_stub(bin_ / "python3.11", "3.11.2")
    assert find_python(tmp_path, bin_) == (0, "python3.12 runs this and that\n")


def test_plain_python_is_found_where_its_version_fits(tmp_path: Path, bin_: Path) -> None:
    python_stub(bin_ / "python3", "3.9.2")
    python_stub(bin_ / "python", "3.13.0")
    assert find_python(tmp_path, bin_) == (0, "python runs this and that\n")


def test_the_environments_own_python_is_kept(tmp_path: Path, bin_: Path) -> None:
    python_stub(bin_ / "python3.13", "3.13.0")
    python_stub(tmp_path / ".venv/bin/python", "3.12.1")
    assert find_python(tmp_path, bin_) == (0, "python runs this and that\n")


def test_a_named_python_is_the_only_candidate(tmp_path: Path, bin_: Path) -> None:
    python_stub(bin_ / "python3.13", "3.13.0")
    named = python_stub(tmp_path / "with a space" / "mine", "3.11.9")
    assert find_python(tmp_path, bin_, PYTHON=named) == (0, "mine runs this and that\n")
    code, output = find_python(tmp_path, bin_, PYTHON="absent")
    assert code == 2
    assert output.startswith("The course needs Python 3.11, 3.12 or 3.13: absent does not run.\nnext: ")


@pytest.mark.parametrize("version", ["2.7.18", "3.6.15", "3.10.13", "3.14.0", "3.110.0"])
def test_any_other_version_gets_one_message_and_exit_code_2(tmp_path: Path, bin_: Path, version: str) -> None:
    python_stub(bin_ / "python3", version, venv=False)
    code, output = find_python(tmp_path, bin_)
    assert code == 2
    first, second = output.splitlines()
    assert first == f"The course needs Python 3.11, 3.12 or 3.13: python3 is {version}."
    assert second.startswith("next: install one of them")


def test_no_python_at_all_gets_the_same_message(tmp_path: Path, bin_: Path) -> None:
    code, output = find_python(tmp_path, bin_)
    assert code == 2
    assert output.startswith("The course needs Python 3.11, 3.12 or 3.13: python does not run.\nnext: install one")


def test_a_python_without_venv_names_the_package_that_brings_it(tmp_path: Path, bin_: Path) -> None:
    python_stub(bin_ / "python3", "3.11.2", venv=False)
    code, output = find_python(tmp_path, bin_)
    assert code == 2
    first, second = output.splitlines()
    assert first.endswith("python3 is 3.11.2 without its venv module.")
    assert second.endswith("(on Debian and Ubuntu: apt-get install python3.11-venv)")


def test_a_python_without_venv_is_passed_over_for_one_that_has_it(tmp_path: Path, bin_: Path) -> None:
    python_stub(bin_ / "python3.13", "3.13.5", venv=False)
    python_stub(bin_ / "python3.11", "3.11.2")
    assert find_python(tmp_path, bin_) == (0, "python3.11 runs this and that\n")


# Making the environment

VENV_STUB = """
import pathlib, sys
bin_ = pathlib.Path(sys.argv[-1], "bin")
bin_.mkdir(parents=True, exist_ok=True)
(bin_ / "python").unlink(missing_ok=True)
(bin_ / "python").symlink_to(sys.executable)
"""
PIP_STUB = """
import os, pathlib, signal, sys, time
with open(os.environ["PIP_LOG"], "a") as log:
    print(*sys.argv[1:], file=log)
match os.environ.get("PIP_DOES"):
    case "fail": sys.exit(1)
    case "kill its caller": os.kill(os.getppid(), signal.SIGKILL)
    case "wait":
        while not pathlib.Path(os.environ["PIP_LOG"] + ".go").exists(): time.sleep(0.02)
"""


def package(folder: Path, **modules: str) -> Path:
    """Write a Python package that goes before the one of the same name, and return the folder for PYTHONPATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"__init__": "", **modules}.items():
        (folder / f"{name}.py").write_text(text)
    return folder.parent


@pytest.fixture
def pip(tmp_path: Path) -> Path:
    """Stand-ins for venv and pip; the path is the list of pip's calls."""
    package(tmp_path / "stubs/venv", __main__=VENV_STUB)
    package(tmp_path / "stubs/pip", __main__=PIP_STUB)
    log = tmp_path / "pip.log"
    log.touch()
    return log


def environment(clone: Path, pip: Path, *kind: str, **more: str) -> tuple[int, str]:
    stubs = pip.with_name("stubs")
    return run(clone, sys.executable, "tools/environment.py", *kind, PYTHONPATH=stubs, PIP_LOG=pip, **more)


def calls(pip: Path) -> int:
    return len(pip.read_text().splitlines())


def test_environment_is_made_once_from_the_hashed_lock(clone: Path, pip: Path) -> None:
    assert environment(clone, pip)[0] == 0
    locked, course = pip.read_text().splitlines()
    assert "--require-hashes" in locked
    assert locked.endswith("-r requirements.lock")
    assert course.endswith("--no-deps --no-build-isolation --editable .")
    assert environment(clone, pip) == (0, "")
    assert calls(pip) == 2


def test_environment_is_made_again_when_the_lock_changed(clone: Path, pip: Path) -> None:
    environment(clone, pip)
    (clone / "requirements.lock").write_text("changed\n")
    assert environment(clone, pip)[0] == 0
    assert calls(pip) == 4


def test_only_the_course_is_installed_again_when_its_own_file_changed(clone: Path, pip: Path) -> None:
    environment(clone, pip)
    (clone / "pyproject.toml").write_text("changed\n")
    assert environment(clone, pip) == (0, "")
    assert calls(pip) == 3
    assert pip.read_text().endswith("--editable .\n")
    assert environment(clone, pip) == (0, "")
    assert calls(pip) == 3


def test_environment_is_made_again_for_another_python(clone: Path, pip: Path) -> None:
    environment(clone, pip)
    stamp = clone / ".venv/stamp"
    version, rest = stamp.read_text().split("\n", 1)
    assert version == ".".join(map(str, sys.version_info[:3]))
    stamp.write_text("3.11.0\n" + rest)
    assert environment(clone, pip)[0] == 0
    assert calls(pip) == 4


def test_environment_is_made_again_where_the_clone_was_moved(clone: Path, pip: Path) -> None:
    environment(clone, pip)
    moved = clone.rename(clone.with_name("moved"))
    assert environment(moved, pip)[0] == 0
    assert calls(pip) == 4


def test_an_environment_that_is_not_ours_is_made_again(clone: Path, pip: Path) -> None:
    script(clone / ".venv/bin/python", "exit 1")
    assert environment(clone, pip)[0] == 0
    assert calls(pip) == 2


def test_an_evidence_environment_has_a_lock_of_its_own_and_not_the_course(clone: Path, pip: Path) -> None:
    assert environment(clone, pip)[0] == 0
    (clone / "requirements-tpu.lock").write_text("two==2\n")
    (clone / "pyproject.toml").write_text("changed\n")
    for _ in range(2):
        assert environment(clone, pip, "evidence")[0] == 0
        (third,) = pip.read_text().splitlines()[2:]
        assert third.endswith("-r requirements-tpu.lock")
    assert (clone / f"build/evidence-3.{sys.version_info.minor}/stamp").is_file()
    (clone / "requirements-tpu.lock").write_text("three==3\n")
    assert environment(clone, pip, "evidence")[0] == 0
    assert calls(pip) == 4


@pytest.mark.parametrize("fault", ["fail", "kill its caller"])
def test_an_environment_cut_short_is_never_used(clone: Path, pip: Path, fault: str) -> None:
    environment(clone, pip)
    lock = (clone / "requirements.lock").read_text()
    (clone / "requirements.lock").write_text("two==2\n")
    code, output = environment(clone, pip, PIP_DOES=fault)
    if fault == "fail":
        assert code == 2
        assert output.splitlines()[-1].startswith("next: ")
    else:
        assert code == -signal.SIGKILL
    assert not (clone / ".venv/stamp").exists()
    (clone / "requirements.lock").write_text(lock)  # what the first stamp was for
    assert environment(clone, pip)[0] == 0
    assert calls(pip) == 2 + 1 + 2


def test_a_second_command_waits_for_the_environment_and_uses_it(clone: Path, pip: Path) -> None:
    command = [sys.executable, "tools/environment.py"]
    variables = {**os.environ, "PYTHONPATH": str(pip.with_name("stubs")), "PIP_LOG": str(pip), "PIP_DOES": "wait"}
    first = subprocess.Popen(command, cwd=clone, env=variables, stdout=subprocess.DEVNULL)
    wait_until(lambda: calls(pip))
    with subprocess.Popen(command, cwd=clone, env=variables, stdout=subprocess.PIPE, text=True) as second:
        assert second.stdout
        assert second.stdout.readline() == "Waiting for another command that is making the environment.\n"
        Path(f"{pip}.go").touch()
        assert second.stdout.read() == ""
    assert (first.wait(), second.returncode, calls(pip)) == (0, 0, 2)


# The Makefile


def targets() -> dict[str, str]:
    """The documented targets of the Makefile, and what help says of each."""
    return dict(re.findall(r"^([a-z-]+):.*## (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_help_lists_every_documented_target() -> None:
    assert set(targets()) == {"help", "serve", "site", "test", "check", "audit-site", "lock"}
    code, output = run(ROOT, MAKE, "help")
    assert code == 0
    for name, text in targets().items():
        assert re.search(rf"^  make {name} +{re.escape(text)}$", output, re.MULTILINE)
    assert run(ROOT, MAKE) == (code, output)


def test_the_commands_of_the_readme_are_targets() -> None:
    commands = re.findall(r"\bmake ([a-z-]+)[`\s]", (ROOT / "README.md").read_text())
    assert {"serve", "test"} <= set(commands) <= set(targets())


def test_make_stops_at_a_wrong_python(clone: Path, tmp_path: Path) -> None:
    python_stub(tmp_path / "python3.10", "3.10.13")
    code, output = run(clone, MAKE, "test", f"PYTHON={tmp_path / 'python3.10'}")
    assert code == 2
    assert "python3.10 is 3.10.13.\nnext: " in output
    assert "runs" not in output


def test_make_test_runs_every_other_check_before_the_tests(clone: Path) -> None:
    code, output = run(clone, MAKE, "--dry-run", "test")
    assert code == 0
    steps = [
        "environment.py",
        "ruff check",
        "ruff format",
        "-m mypy",
        "chromium.py",
        "tools.interpreters",
        "build_figures.py --check",
        "-m pytest",
    ]
    places = [output.index(step) for step in steps]
    assert places == sorted(places)


MKDOCS_BUILDS = """
import os, pathlib, signal, sys
new = pathlib.Path(sys.argv[sys.argv.index("--site-dir") + 1])
new.mkdir(parents=True, exist_ok=True)
(new / "index.html").write_text("new")
match os.environ["MKDOCS_DOES"]:
    case "fail": sys.exit(1)
    case "end its caller": os.kill(os.getppid(), signal.SIGTERM)
    case "kill its caller": os.kill(os.getppid(), signal.SIGKILL)
"""


def make_site(clone: Path, mkdocs: str) -> int:
    """Run `make site` with a stand-in for MkDocs that does as told; returns the exit code."""
    script(
        clone / ".venv/bin/python",
        f'case "$1" in -c) echo 3.12.0;; tools/static_site.py) exec {sys.executable} $1;; esac',
    )
    stubs = package(clone.with_name("stubs") / "mkdocs", __main__=MKDOCS_BUILDS)
    return run(clone, MAKE, "site", PYTHONPATH=stubs, MKDOCS_DOES=mkdocs)[0]


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_new_site_replaces_the_whole_old_one(clone: Path) -> None:
    script(clone / "site/gone.html", "old")
    assert make_site(clone, "build") == 0
    assert files(clone / "site") == ["index.html"]
    assert not [path for path in (clone / "build").iterdir() if path.is_dir()]


@pytest.mark.parametrize("fault", ["fail", "end its caller", "kill its caller"])
def test_a_site_that_was_not_finished_leaves_the_old_one(clone: Path, fault: str) -> None:
    script(clone / "site/old.html", "old")
    assert make_site(clone, fault) != 0
    assert files(clone / "site") == ["old.html"]
    assert make_site(clone, "build") == 0
    assert files(clone / "site") == ["index.html"]


def test_the_old_site_comes_back_where_its_exchange_was_cut_short(clone: Path) -> None:
    script(clone / "build/old-site/old.html", "old")
    assert make_site(clone, "fail") != 0
    assert files(clone / "site") == ["old.html"]


# Serving

MKDOCS_STUB = """
import http.server, sys
host, port = sys.argv[-1].split(":")
try:
    http.server.HTTPServer((host, int(port)), http.server.BaseHTTPRequestHandler).serve_forever()
except KeyboardInterrupt:
    pass
"""


@pytest.fixture
def port_8000_is_busy() -> Iterator[None]:
    try:
        server = socket.create_server(("127.0.0.1", 8000))
    except OSError:  # somebody else is there
        yield
    else:
        with server:
            yield


@pytest.mark.usefixtures("port_8000_is_busy")
def test_serve_opens_the_first_lesson_and_ends_at_ctrl_c(tmp_path: Path, clone: Path) -> None:
    for name in ("second", "first"):
        script(clone / "lessons_src" / name / "lesson.md", "")
    stubs = package(tmp_path / "stubs/mkdocs", __main__=MKDOCS_STUB)
    opened = tmp_path / "opened"
    browser = script(tmp_path / "browser", f'echo "$1" > {opened}.new; mv {opened}.new {opened}')
    with subprocess.Popen(
        [sys.executable, "tools/serve.py"],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(stubs), "BROWSER": f"{browser} %s"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as server:
        try:
            wait_until(opened.exists)
        finally:
            os.killpg(server.pid, signal.SIGINT)  # what a terminal does at Ctrl-C
        output, _ = server.communicate()
    assert server.returncode == 0
    busy = re.match(r"Port 8000 is busy: using (80\d\d)\.\n", output)
    assert busy, output
    address = f"http://127.0.0.1:{busy[1]}/lessons/first.html"
    assert f"\nThe first lesson: {address}\n" in output
    assert opened.read_text() == f"{address}\n"


# Chromium

PLAYWRIGHT_STUB = """
import os
class Playwright:
    class chromium: executable_path = os.environ["FETCHED"]
    def __enter__(self): return self
    def __exit__(self, *_): pass
sync_playwright = Playwright
"""
PLAYWRIGHT_FETCHES = """
import os, sys
assert sys.argv[1:] == ["install", "chromium"]
print("fetching")
if os.environ.get("ONLINE"):
    with open(os.open(os.environ["FETCHED"], os.O_CREAT | os.O_WRONLY, 0o755), "w") as file:
        print("#!" + os.environ["SH"] + "\\necho Chromium 140.0", file=file)
"""


def find_chromium(bin_: Path, **environment: str | Path) -> tuple[int, str]:
    stubs = package(bin_.with_name("stubs") / "playwright", sync_api=PLAYWRIGHT_STUB, __main__=PLAYWRIGHT_FETCHES)
    given: dict[str, str | Path] = {"PYTHONPATH": stubs, "FETCHED": bin_.with_name("fetched"), "SH": str(SH)}
    return run(stubs, sys.executable, ROOT / "tests/site/chromium.py", path=bin_, **given, **environment)


def test_chromium_is_the_first_that_answers_not_the_first_name(bin_: Path) -> None:
    script(bin_ / "chromium", "echo Chromium is a snap that is absent; exit 127")
    script(bin_ / "chromium-browser", "echo Chromium 140.0.7339.127 snap")
    chrome = script(bin_ / "google-chrome", "echo Google Chrome 140.0")
    assert find_chromium(bin_) == (0, f"Chromium: {chrome}\n")


def test_a_named_chromium_is_the_only_candidate(tmp_path: Path, bin_: Path) -> None:
    script(bin_ / "chromium", "echo Chromium 140.0")
    mine = script(tmp_path / "mine", "echo Chromium 141.0")
    assert find_chromium(bin_, CHROMIUM=mine) == (0, f"Chromium: {mine}\n")
    code, output = find_chromium(bin_, CHROMIUM="absent")
    assert code == 2
    assert output.splitlines()[-1] == "next: unset CHROMIUM"


def test_playwrights_chromium_is_fetched_once_where_the_machine_has_none(tmp_path: Path, bin_: Path) -> None:
    fetched = tmp_path / "fetched"
    notice = "This machine has no Chromium: fetching Playwright's own.\nfetching\n"
    assert find_chromium(bin_, ONLINE="yes") == (0, f"{notice}Chromium: {fetched}\n")
    assert find_chromium(bin_, ONLINE="yes") == (0, f"Chromium: {fetched}\n")


@pytest.mark.parametrize("manager", chromium.PACKAGE_MANAGERS)
def test_no_chromium_and_no_way_to_fetch_one_fails_with_one_command(bin_: Path, manager: str) -> None:
    script(bin_ / manager, "exit 1")
    code, output = find_chromium(bin_)
    assert code == 2
    command = output.splitlines()[-1].removeprefix("next: ").removeprefix("sudo ")
    if sys.platform == "linux" and chromium.distribution() != "ubuntu":
        assert command == chromium.PACKAGE_MANAGERS[manager]


@pytest.mark.parametrize(
    ("system", "distribution", "command"),
    [
        ("darwin", "", "brew install --cask google-chrome"),
        ("linux", "ubuntu", f"{sys.executable} -m playwright install --with-deps chromium"),
        ("linux", "debian", "sudo apt-get install -y chromium"),
    ],
)
def test_the_command_that_installs_chromium_fits_the_system(
    monkeypatch: pytest.MonkeyPatch, bin_: Path, system: str, distribution: str, command: str
) -> None:
    script(bin_ / "apt-get", "exit 1")
    monkeypatch.setenv("PATH", str(bin_))
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(chromium, "distribution", lambda: distribution)
    assert chromium.install_command() == command


# The lock


LOCKS = ("requirements.lock", "requirements-tpu.lock")


def pins(lock: str) -> list[tuple[Requirement, list[str]]]:
    """Each requirement of a lock, with its hashes."""
    text = re.sub(r"^ *#.*\n", "", (ROOT / lock).read_text(), flags=re.MULTILINE)
    entries = [re.split(r"\s+--hash=", entry) for entry in text.replace("\\\n", "").splitlines()]
    return [(Requirement(entry), hashes) for entry, *hashes in entries]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_hashes_everything(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host", text)
    for requirement, hashes in pins(lock):
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), requirement


def pinned(lock: str, python: str, system: str) -> dict[str, Requirement]:
    """What a lock installs on a Python and a system, by name."""
    where = {name: str(value) for name, value in default_environment().items()}
    where |= {"sys_platform": system, "python_full_version": python, "python_version": python[:4]}
    here = [pin for pin, _ in pins(lock) if not pin.marker or pin.marker.evaluate(where)]
    assert len({pin.name for pin in here}) == len(here)
    return {pin.name: pin for pin in here}


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.11.2", "3.11.7", "3.12.1", "3.13.0"])
def test_the_lock_holds_one_version_of_everything_that_the_project_asks_for(python: str, system: str) -> None:
    here = pinned("requirements.lock", python, system)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    asked = [
        *project["project"]["dependencies"],
        *extras["site"],
        *extras["test"],
        *project["dependency-groups"]["build"],
    ]
    for requirement in map(Requirement, asked):
        (pin,) = here[requirement.name].specifier
        assert requirement.specifier.contains(pin.version), requirement
    assert here["jax"].specifier == here["jaxlib"].specifier


@pytest.mark.parametrize("python", ["3.11.7", "3.12.1", "3.13.0"])
def test_the_evidence_tests_get_the_jax_of_the_course_and_its_tpu_compiler(python: str) -> None:
    here, course = (pinned(lock, python, "linux") for lock in reversed(LOCKS))
    assert {"jax", "libtpu"} <= set(here)
    assert all(pin.specifier == course[name].specifier for name, pin in here.items() if name in course)


# Continuous integration


def ci(tmp_path: Path, bin_: Path, missing: tuple[str, ...] = (), make: str = "true") -> tuple[int, list[str]]:
    """Run a copy of .ci/run with stand-ins; returns its exit code and what it called, in order."""
    for name in ("bash", "dirname"):
        (bin_ / name).symlink_to(str(shutil.which(name)))
    for name in ("chromium", "node", "npm", "java"):
        if name not in missing:
            script(bin_ / name, "true")
    for name, then in {"make": make, "apt-get": "true"}.items():
        script(bin_ / name, f'echo "{name} $*" >> {tmp_path}/called; {then}')
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / "ci/run")
    code, _ = run(tmp_path, bin_ / "bash", tmp_path / "ci/run", path=bin_)
    return code, (tmp_path / "called").read_text().splitlines()


def test_ci_runs_the_tests_then_the_audit_and_installs_nothing_that_is_there(tmp_path: Path, bin_: Path) -> None:
    assert ci(tmp_path, bin_) == (0, ["make test", "make audit-site"])


def test_ci_installs_what_is_missing_in_one_go(tmp_path: Path, bin_: Path) -> None:
    code, called = ci(tmp_path, bin_, missing=("chromium", "java"))
    assert code == 0
    assert called[:2] == ["apt-get update -q", "apt-get install -q -y chromium default-jre-headless"]
    assert called[2:] == ["make test", "make audit-site"]


def test_ci_fails_at_once_where_the_tests_fail(tmp_path: Path, bin_: Path) -> None:
    assert ci(tmp_path, bin_, make="exit 2") == (2, ["make test"])
