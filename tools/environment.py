"""Make the environment in .venv from requirements.lock, unless its stamp says that it is already that one."""

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
STAMP = VENV / "stamp"


def stamp() -> str:
    """Everything that an environment is made from: the Python, this folder (its scripts name it), and two files."""
    sources = [(ROOT / name).read_bytes() for name in ("requirements.lock", "pyproject.toml")]
    digests = [hashlib.sha256(source).hexdigest() for source in sources]
    return "\n".join([platform.python_version(), sys.base_prefix, str(ROOT), *digests, ""])


def run(*command: str | Path) -> None:
    """Run a command whose output the user sees; SystemExit with code 2 where it fails."""
    if subprocess.run(command, cwd=ROOT).returncode:
        print(f"The environment is not complete: {command[2]} failed, and says why above.", file=sys.stderr)
        print("next: see that this machine is online and has 2 GB free, then run the command again", file=sys.stderr)
        raise SystemExit(2)


def make() -> None:
    """Make the environment anew; its stamp is removed first and written last, so a half-made one is never used."""
    print(f"Making the environment in .venv with Python {platform.python_version()}: 130 packages, 1.5 GB.", flush=True)
    print("Its last step, installing what was fetched, is silent for about half a minute.", flush=True)
    STAMP.unlink(missing_ok=True)
    # Not sys.executable: from inside the old environment that would delete the Python which deletes it.
    base = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    run(base, "-m", "venv", "--clear", VENV)
    pip = (VENV / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--no-compile")
    run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", "requirements.lock")
    run(*pip, "--quiet", "--no-deps", "--no-build-isolation", "--editable", ".")
    unfinished = STAMP.with_suffix(".new")
    unfinished.write_text(stamp())
    os.replace(unfinished, STAMP)


def main() -> None:
    """Wait for another command that makes the environment, then make it where it is absent or out of date."""
    with open(ROOT / "requirements.lock", "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another command that is making the environment.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not STAMP.is_file() or STAMP.read_text() != stamp():
            make()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Interrupted: the next run makes the environment again from the start.") from None
