"""Find the Chromium that the site's tests drive, or fetch one; there is no third way on."""

import os
import platform
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC_PATHS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
PACKAGE_MANAGERS = {
    "apt-get": "apt-get install -y chromium",
    "dnf": "dnf install -y chromium",
    "pacman": "pacman -S --noconfirm chromium",
    "zypper": "zypper install -y chromium",
    "apk": "apk add chromium",
}
PLAYWRIGHTS_PATH = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


class ChromiumMissing(RuntimeError):
    """No Chromium is here and none could be fetched; the message ends with the command that installs one."""


def find() -> str:
    """The path of a Chromium or Chrome that runs: $CHROMIUM, or one of this machine, or Playwright's own.

    Raises ChromiumMissing.
    """
    if named := os.environ.get("CHROMIUM"):
        if runs(named):
            return named
        raise ChromiumMissing(f"CHROMIUM is {named}, which is no Chromium that runs here.\nnext: unset CHROMIUM")
    for path in (*map(shutil.which, NAMES), *MAC_PATHS):
        if path and runs(path):
            return path
    own = subprocess.run([sys.executable, "-c", PLAYWRIGHTS_PATH], capture_output=True, text=True).stdout.strip()
    if not runs(own):
        print("This machine has no Chromium: fetching Playwright's own.", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdin=subprocess.DEVNULL)
    if runs(own):
        return own
    names = ", ".join(NAMES)
    raise ChromiumMissing(
        f"No Chromium: none of {names} runs, and Playwright's own could not be fetched.\nnext: {install_command()}"
    )


def runs(path: str) -> bool:
    """Whether this answers as a Chromium that can open the pages which tests write."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError:
        return False
    # Ubuntu's snap says so in its version; it may not read temporary folders.
    return answer.returncode == 0 and "Chrom" in answer.stdout and not answer.stdout.rstrip().endswith("snap")


def install_command() -> str:
    """The one command that installs a Chromium on this system."""
    if sys.platform == "darwin":
        return "brew install --cask google-chrome"
    sudo = "" if os.geteuid() == 0 else "sudo "
    manager = next(filter(shutil.which, PACKAGE_MANAGERS), None)
    if manager is None or distribution() == "ubuntu":  # Ubuntu's package is the snap
        return f"{sys.executable} -m playwright install --with-deps chromium"
    return sudo + PACKAGE_MANAGERS[manager]


def distribution() -> str:
    """The short name of the Linux distribution, or nothing."""
    try:
        return platform.freedesktop_os_release()["ID"]
    except OSError:
        return ""


if __name__ == "__main__":
    try:
        print(f"Chromium: {find()}")
    except ChromiumMissing as missing:
        print(missing, file=sys.stderr)
        raise SystemExit(2) from None
