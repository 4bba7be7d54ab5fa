"""Make an environment from its lock, unless its stamp says that it is already that one.

Without an argument .venv, with the course in it. With ``evidence``, this Python's build/evidence-3.N for the tests that
run kernels on several versions of JAX: JAX and the TPU compiler alone.
"""

import fcntl
import os
import platform
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = sys.argv[1:] == ["evidence"]
PYTHON = f"python3.{sys.version_info.minor}"
FOLDER = Path("build", PYTHON.replace("python", "evidence-")) if EVIDENCE else Path(".venv")
LOCK = "requirements-tpu.lock" if EVIDENCE else "requirements.lock"
SIZE = "13 packages, 1.1 GB" if EVIDENCE else "about 120 packages, 1.5 GB"
STAMP = ROOT / FOLDER / "stamp"
PIP = (FOLDER / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-input", "install")


def stamp() -> list[str]:
    """Everything that an environment is made from: the Python, this folder (its scripts name it), and one file or two.

    The last is what packages know nothing of.
    """
    sources = [(ROOT / name).read_bytes() for name in ([LOCK] if EVIDENCE else [LOCK, "pyproject.toml"])]
    return [platform.python_version(), sys.base_prefix, str(ROOT), *(sha256(source).hexdigest() for source in sources)]


def run(*command: str | Path) -> None:
    """Run a command whose output the user sees; SystemExit with code 2 where it fails."""
    if subprocess.run(command, cwd=ROOT).returncode:
        print(f"The environment is not complete: {command[2]} failed, and says why above.", file=sys.stderr)
        print("next: see that this machine is online and has 2 GB free, then run the command again", file=sys.stderr)
        raise SystemExit(2)


def install_packages() -> None:
    """Make the environment anew, from the lock."""
    print(f"Making {FOLDER} with Python {platform.python_version()}: {SIZE}.", flush=True)
    print("Its last step, installing what was fetched, is silent for about half a minute.", flush=True)
    # Not sys.executable: from inside the old environment that would delete the Python which deletes it.
    run(Path(sys.base_prefix, "bin", PYTHON), "-m", "venv", "--clear", FOLDER)
    run(*PIP, "--no-compile", "--require-hashes", "--only-binary", ":all:", "-r", LOCK)


def install_course() -> None:
    """Put the course itself into the environment, as the folder that it is."""
    run(*PIP, "--quiet", "--no-deps", "--no-build-isolation", "--editable", ".")


def main() -> None:
    """Make what is absent or out of date. The stamp is removed first and written last: half of it is never used."""
    with open(ROOT / LOCK, "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another command that is making the environment.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = stamp()
        made = STAMP.read_text().splitlines() if STAMP.is_file() else []
        if made == wanted:
            return
        STAMP.unlink(missing_ok=True)
        if EVIDENCE or made[:-1] != wanted[:-1]:  # more than pyproject.toml, of which packages know nothing
            install_packages()
        if not EVIDENCE:
            install_course()
        unfinished = STAMP.with_suffix(".new")
        unfinished.write_text("\n".join(wanted))
        os.replace(unfinished, STAMP)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Interrupted: the next run makes the environment again from the start.") from None
