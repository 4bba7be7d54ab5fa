"""The Pythons of this machine that run, and the environments that the evidence tests have with two of them.

A Python is found by running it and asking for its version: a name on the PATH may be a shim that leads nowhere.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LINES = ((11,), (12, 13))
"""Minor versions of Python that get the same JAX from the lock: one environment each."""
MINORS = tuple(minor for line in LINES for minor in line)
COMPILER = platform.system() == "Linux" and platform.machine() == "x86_64"
"""Whether the TPU compiler exists for this machine."""
ASK = "import sys; print(*sys.version_info[:3], sep='.'); import ensurepip, venv"


class Interpreter(NamedTuple):
    """A Python that ran and can make environments; version is what it said: (3, 12, 1)."""

    path: Path
    version: tuple[int, ...]

    @property
    def release(self) -> str:
        """The version as it is written: 3.12.1."""
        return ".".join(map(str, self.version))

    @property
    def environment(self) -> Path:
        """Where the evidence tests' environment for its minor version lies."""
        return ROOT / f"build/evidence-3.{self.version[1]}"


def candidates() -> Iterator[Path]:
    """Where a Python may be: this one's base, the folders of pyenv and of uv, the PATH. Not each of them runs."""
    names = [f"python3.{minor}" for minor in MINORS]
    yield Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    homes = [
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions"),
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local/share/uv/python")),
    ]
    if root := said("pyenv", "root"):
        homes.append(Path(root, "versions"))
    for home in homes:
        yield from (path for name in names for path in sorted(home.glob(f"*/bin/{name}")))
    for folder in os.get_exec_path():
        yield from (path for name in names if (path := Path(folder, name)).is_file())


def found() -> dict[int, Interpreter]:
    """The Python that stands for each minor version: this one itself, else the newest."""
    best: dict[int, Interpreter] = {}
    for path in dict.fromkeys(candidates()):
        parts = said(path, "-c", ASK).split(".")
        if len(parts) != 3 or not all(part.isdigit() for part in parts):
            continue
        here = Interpreter(path, tuple(map(int, parts)))
        minor = here.version[1]
        if minor not in best or (minor != sys.version_info.minor and here.version > best[minor].version):
            best[minor] = here
    return best


def chosen(every: dict[int, Interpreter]) -> list[Interpreter | None]:
    """For each of LINES the Python that its environment is made with: this one itself, else the oldest; or None."""
    own = sys.version_info.minor
    lines = [sorted(line, key=lambda minor: (minor != own, minor)) for line in LINES]
    return [next((every[minor] for minor in line if minor in every), None) for line in lines]


def said(*command: str | Path) -> str:
    """What a command prints; nothing where it cannot be run or fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> int:
    """Make the environments, and say which Pythons are not here."""
    if not COMPILER:
        print("The museum is not run: the TPU compiler exists for Linux on x86-64 only.")
        return 0
    every = found()
    for interpreter in filter(None, chosen(every)):
        made = subprocess.run([interpreter.path, ROOT / "tools/environment.py", "evidence"])
        if made.returncode:
            return made.returncode
    if absent := [f"3.{minor}" for minor in MINORS if minor not in every]:
        print(f"This machine has no Python {', '.join(absent)} that runs.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
