"""Build the static site beside the old one, and put it in its place when it is whole."""

import fcntl
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE, NEW, OLD = ROOT / "site", ROOT / "build/site", ROOT / "build/old-site"


def main() -> int:
    """Return MkDocs' exit status; `site/` changes only when it is 0. A second build waits for the first."""
    NEW.parent.mkdir(exist_ok=True)
    with open(ROOT / "build/site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if OLD.exists() and not SITE.exists():  # a swap was cut short
            OLD.rename(SITE)
        shutil.rmtree(OLD, ignore_errors=True)
        print("Building the site.", flush=True)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(NEW)]
        status = subprocess.run(command, cwd=ROOT).returncode
        if status:
            return status
        for interrupt in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(interrupt, signal.SIG_IGN)
        if SITE.exists():
            SITE.rename(OLD)
        NEW.rename(SITE)
        shutil.rmtree(OLD, ignore_errors=True)
    print("The site is in site/: open site/index.html, or copy the folder to any web host.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: site/ is as it was before")
