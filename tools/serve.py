"""Serve the site on this machine, open the first lesson in the browser, and end at Ctrl-C."""

import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST_PORT = 8000


def free_port() -> int:
    """The first port from 8000 on that is free."""
    for port in range(FIRST_PORT, FIRST_PORT + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that just ended is no hindrance
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port != FIRST_PORT:
            print(f"Port {FIRST_PORT} is busy: using {port}.")
        return port
    raise SystemExit(f"Ports {FIRST_PORT} to {FIRST_PORT + 99} are busy.\nnext: end a server that holds one of them")


def answers(port: int) -> bool:
    """Whether the server is up; MkDocs takes connections only once the site is built."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def has_screen() -> bool:
    """Whether a browser can open a window; without one, Python would start a browser inside this terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def main() -> int:
    """Serve until Ctrl-C (exit code 0), or until MkDocs itself ends (its exit code)."""
    for end in (signal.SIGINT, signal.SIGTERM):  # SIGINT too: a shell's background job starts out ignoring it
        signal.signal(end, signal.default_int_handler)
    lesson = min(path.parent.name for path in ROOT.glob("lessons_src/*/lesson.md"))
    port = free_port()
    address = f"http://127.0.0.1:{port}/lessons/{lesson}.html"
    print("Building the site.", flush=True)
    server = subprocess.Popen([sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"], cwd=ROOT)
    try:
        while server.poll() is None and not answers(port):
            time.sleep(0.1)
        if server.poll() is None:
            print(f"\nThe first lesson: {address}\nCtrl-C ends the server.\n", flush=True)
            if has_screen():
                webbrowser.open(address)
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        server.wait()
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
