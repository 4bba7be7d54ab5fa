"""One worker process as seen from outside: how it is started, what it says, what it may use, how it ends."""

import contextlib
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pallas_course.evidence import findings
from pallas_course.evidence.verdict import Code

KEPT = 16_000  # characters of what a worker prints
ROOT = Path(__file__).resolve().parents[2]
PAGE, PAGES = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
MEMORY = min(8 << 30, PAGE * PAGES // 2)
"""Bytes one worker may hold."""


class Lost(RuntimeError):
    """The process that starts workers is gone."""


class Starter:
    """A process that has imported JAX and started nothing of it. Workers are forked from it, which saves the import.

    It ends, and with it every worker that is left, when this one closes it or dies. Its methods may be called by many
    threads.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self._control, theirs = socket.socketpair()
        self._asking = threading.Lock()
        path = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
        with theirs:
            self._process = subprocess.Popen(
                # -P: a file of the user's called random.py or queue.py is not what Python and JAX import.
                [sys.executable, "-P", "-m", "pallas_course.evidence.worker", "start", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                # One thread, or what is forked from it would lack the others.
                env={"OPENBLAS_NUM_THREADS": "1", **environment, "PYTHONPATH": path},
                start_new_session=True,
            )
        self._printed = _Tail(self._process.stdout)

    def ask(self, request: str, fds: tuple[int, ...] = ()) -> str:
        """Its answer to "start", with a worker's channel and what it prints to, or to "status PID". Raises Lost."""
        with self._asking, contextlib.suppress(OSError):
            socket.send_fds(self._control, [request.encode()], fds)
            if answer := self._control.recv(64):
                return answer.decode()
        raise Lost(f"the process that starts workers has ended\n{self._printed.text()}")

    def close(self) -> None:
        """End it, and every worker that is left."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for an answer
        self._process.wait()
        self._control.close()


class Worker:
    """A worker process with one job. Whatever the audited code does to it, ``end`` ends it and its children."""

    def __init__(self, starter: Starter, job: dict[str, Any]) -> None:
        self._starter = starter
        self._status: int | None = None
        self._channel, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            self.pid = int(starter.ask("start", (theirs.fileno(), writing)))
        except BaseException:
            self._channel.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        self._printed = _Tail(os.fdopen(reading, "rb"))
        self._lines: queue.Queue[str] = queue.Queue()
        with contextlib.suppress(OSError):
            self._channel.sendall(json.dumps(job).encode() + b"\n")
        self._pump = threading.Thread(target=self._read, daemon=True)
        self._pump.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._channel.makefile() as stream:
            for line in stream:
                self._lines.put(line)

    def heard(self, seconds: float) -> dict[str, Any] | None:
        """What it says next, or None where it says nothing for so long."""
        with contextlib.suppress(queue.Empty):
            message: dict[str, Any] = json.loads(self._lines.get(timeout=seconds))
            return message
        return None

    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        if self._status is None:
            try:
                answer = self._starter.ask(f"status {self.pid}")
            except Lost:  # the audited code may have ended that one
                answer = "runs" if Path(f"/proc/{self.pid}").exists() else str(-signal.SIGKILL)
            self._status = None if answer == "runs" else int(answer)
        return self._status

    def watch(self, limit: float) -> "Watch":
        """A limit on what it uses from now on."""
        return Watch(self.pid, limit)

    def end(self) -> None:
        """Kill it and its whole group: what the audited code started ends with it. Then read what it still said."""
        if self._channel.fileno() < 0:
            return
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                kill(self.pid, signal.SIGKILL)
        for _ in range(100):
            if self.status() is not None:
                break
            time.sleep(0.01)
        self._pump.join(1)
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        self._channel.close()

    def last_words(self, status: int) -> str:
        """How it ended, with what it printed last."""
        lines = [line.strip() for line in self._printed.text().splitlines() if line.strip()]
        fatal = next((line for line in lines if re.search(r"Check fail|^F\d{4} |Fatal", line)), "")
        last = fatal or (lines[-1] if lines and status else "")
        said = f": {findings.tidied(last)[:200]}" if last else ""
        if status < 0:
            return f"the process was ended by {signal.Signals(-status).name}{said}"
        return f"the process ended itself with status {status}{said}"


class Watch:
    """A limit on the processor time of a process, on the time it waits without using any, and on its memory.

    On a busy machine a process that gets on is left alone, up to ten times the limit. Where the system does not tell
    processor time and memory (no /proc), the limit is on time alone.
    """

    def __init__(self, pid: int, limit: float) -> None:
        self._pid, self._limit = pid, limit
        self._began = self._moved = time.monotonic()
        self._first = self._last = self._spent()

    def _spent(self) -> float | None:
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _held(self) -> int:
        try:
            return int(Path(f"/proc/{self._pid}/statm").read_text().split()[1]) * PAGE
        except OSError:
            return 0

    def over(self) -> tuple[Code, str] | None:
        """Why the process is to be ended: a finding's code, and what it did."""
        if self._held() > MEMORY:
            return "memory", f"it held more than {MEMORY / 2**30:.3g} GiB of memory"
        now, spent = time.monotonic(), self._spent()
        late: tuple[Code, str] = "hang", f"no answer within {self._limit:g} s"
        if spent is None or self._first is None or self._last is None:
            return late if now - self._began > self._limit else None
        if spent - self._last > 0.1:
            self._last, self._moved = spent, now
        if spent - self._first > self._limit or now - self._began > 10 * self._limit:
            return late
        return late if now - self._moved > self._limit else None


class _Tail:
    """Drains a pipe for as long as it is open, keeping only its end."""

    def __init__(self, stream: Any) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, args=(stream,), daemon=True)
        self._thread.start()

    def _drain(self, stream: Any) -> None:
        with contextlib.suppress(ValueError, OSError), stream:
            while chunk := stream.read1(65536):
                self._kept = (self._kept + chunk)[-KEPT:]

    def text(self) -> str:
        """What was kept, once the process has ended."""
        self._thread.join(1)
        return self._kept.decode(errors="replace")
