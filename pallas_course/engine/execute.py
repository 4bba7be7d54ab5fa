"""Run a lesson: each lesson in a fresh process, its cells in order, with a deadline and an output limit.

`main.py` runs alone in a second fresh process: what proves that the steps stand without the rest of the page.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from pallas_course.engine import source
from pallas_course.engine.errors import LessonError
from pallas_course.engine.lesson import Cell, Chunk, Lesson, Location, Project

CHILD = Path(__file__).with_name("child.py")
OUTPUT_LIMIT = 64 * 1024  # bytes one cell may print
START_LIMIT = 60.0  # seconds until the first cell begins
WORKERS = max(2, os.cpu_count() or 1)

# What makes runs differ is fixed. `forget` is removed from the environment, since it would change results.
FIXED = {
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8:backslashreplace",
    "PYTHONUTF8": "1",
    "JAX_PLATFORMS": "cpu",
    # The same instructions on every x86 processor. On AVX512-BF16, jaxlib 0.12.0 aborts on some bfloat16 slices.
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "svg",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "NO_COLOR": "1",
    "COLUMNS": "100",
}
FORGET = ("PYTHON", "JAX_", "XLA_", "LIBTPU_", "TPU_", "LC_", "LANG", "FORCE_COLOR", "CLICOLOR", "COVERAGE")

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True)
class Output:
    """What one cell left: its text as lines, kept values, and the exception it was meant to raise."""

    text: tuple[str, ...]
    kept: dict[str, Any] = field(default_factory=dict)
    raised: str | None = None


@dataclass(frozen=True)
class Run:
    """One execution of a whole lesson. `facts`: versions, platform, backend, device."""

    outputs: dict[str, Output]
    main: tuple[str, ...]
    facts: dict[str, Any]


Progress = Callable[[str], None]


def main_text(lesson: Lesson) -> tuple[str, list[tuple[int, Location]]]:
    """The lesson's main.py, and for each of its chunks the line it starts on and where it was written."""
    lines: list[str] = []
    places: list[tuple[int, Location]] = []
    for cell in lesson.steps:
        if lines:
            lines += ["", ""]
        for number, chunk in enumerate(cell.chunks):
            if number:
                lines += ["", ""]
            code = chunk.code.lstrip("\n")
            skipped = len(chunk.code) - len(code)
            places.append((len(lines) + 1, Location(chunk.at.path, chunk.at.line + skipped)))
            lines += code.rstrip("\n").split("\n")
    return "\n".join([*lines, "", "", f'print("PASS: {lesson.id}")', ""]), places


def execute(project: Project, lessons: Sequence[Lesson], progress: Progress) -> dict[str, Run | LessonError]:
    """Run each lesson; a failing one gives its error and does not stop the others."""
    with ThreadPoolExecutor(WORKERS) as pool:
        stop: list[bool] = []
        try:
            pages = {lesson.id: pool.submit(_page, project, lesson, progress, stop) for lesson in lessons}
            mains = {lesson.id: pool.submit(_main, project, lesson, stop) for lesson in lessons if lesson.steps}
            found: dict[str, Run | LessonError] = {}
            for lesson in lessons:
                try:
                    page = pages[lesson.id].result()
                    main = mains[lesson.id].result() if lesson.steps else ()
                    _all_files_known(project, lesson, page.files)
                    _same_as_steps(lesson, page.outputs, main)
                    found[lesson.id] = Run(page.outputs, main, page.facts)
                except LessonError as error:
                    found[lesson.id] = error
            return found
        finally:
            stop.append(True)  # an interrupt ends the processes too
            pool.shutdown(wait=False, cancel_futures=True)


def _page(project: Project, lesson: Lesson, progress: Progress, stop: list[bool]) -> _Job:
    job = _Job(project, lesson, lesson.cells, stop, progress)
    job.run()
    return job


def _all_files_known(project: Project, lesson: Lesson, files: Sequence[str]) -> None:
    """Every project file that the run opened must be one that the stamps cover."""
    known: set[Path] = set()
    for cell in lesson.cells:
        for chunk in cell.chunks:
            known |= source.imported_files(project, chunk.code)
            known.add(project.root / chunk.at.path)
    root = project.root.resolve()
    unseen = [file for file in map(Path, files) if project.root / file.relative_to(root) not in known]
    if unseen:
        file = min(unseen, key=lambda file: file.name == "__init__.py")  # the package came with its module
        name = file.relative_to(root).as_posix()
        raise LessonError(
            lesson.start,
            f"running the lesson used {name}, which no import statement names: a change there would go unseen",
            "import it with an import statement." if file.suffix == ".py" else "put the data into a cell.",
        )


def _main(project: Project, lesson: Lesson, stop: list[bool]) -> tuple[str, ...]:
    text, places = main_text(lesson)
    at = lesson.steps[0].at

    def written(line: int) -> Location:
        start, place = max((pair for pair in places if pair[0] <= line), key=lambda pair: pair[0], default=(1, at))
        return Location(place.path, place.line + line - start)

    alone = Cell(
        at,
        "main.py",
        "step",
        "",
        text,
        (Chunk(text, Location("main.py", 1)),),
        timeout=sum(cell.timeout for cell in lesson.steps),
    )
    job = _Job(project, lesson, (alone,), stop, lambda _: None)
    job.sources = {"main.py": text}
    job.written = written
    return job.run()["main.py"].text


def _same_as_steps(lesson: Lesson, outputs: dict[str, Output], main: tuple[str, ...]) -> None:
    """main.py must print what its steps print on the page, or the reader sees two truths. Empty lines do not count."""
    alone = [line for line in main if line]
    steps = [(cell, line) for cell in lesson.steps for line in outputs[cell.id].text if line]
    for number, (cell, line) in enumerate(steps):
        here = alone[number] if number < len(alone) else ""
        if here != line:
            raise LessonError(
                cell.at,
                f"main.py alone prints `{here}` where `{cell.id}` on the page prints `{line}`",
                "let no step depend on a .run cell, and let each end what it prints with a new line.",
            )


class _Job:
    """One child process and what it said."""

    def __init__(
        self, project: Project, lesson: Lesson, cells: Sequence[Cell], stop: list[bool], progress: Progress
    ) -> None:
        self.project = project
        self.lesson = lesson
        self.cells = {cell.id: cell for cell in cells}
        self.stop = stop
        self.progress = progress
        self.sources = {lesson.path: "\n".join(lesson.lines)}
        self.written: Callable[[int], Location] | None = None
        self.outputs: dict[str, Output] = {}
        self.facts: dict[str, Any] = {}
        self.files: list[str] = []
        self.now: Cell | None = None

    def run(self) -> dict[str, Output]:
        with tempfile.TemporaryDirectory(prefix="lesson-", ignore_cleanup_errors=True) as folder:
            place = Path(folder)
            home = place / "cwd"
            home.mkdir()
            job = place / "job.json"
            job.write_text(json.dumps(self._description()), encoding="utf-8")
            ours, theirs = socket.socketpair()
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", str(CHILD), str(job), str(theirs.fileno())],
                    cwd=home,
                    env=self._environment(home),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            finally:
                theirs.close()
            try:
                self._listen(process, ours)
            finally:
                _end(process, home)
                ours.close()
                for stream in (process.stdout, process.stderr):
                    assert stream is not None
                    stream.close()
        return self.outputs

    def _description(self) -> dict[str, Any]:
        return {
            "root": str(self.project.root.resolve()),
            "sources": self.sources,
            "cells": [
                {
                    "id": cell.id,
                    "chunks": [
                        {"code": chunk.code, "path": chunk.at.path, "line": chunk.at.line} for chunk in cell.chunks
                    ],
                    "raises": cell.raises,
                    "warns": cell.warns,
                    "keep": list(cell.keep),
                }
                for cell in self.cells.values()
            ],
        }

    def _environment(self, home: Path) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(FORGET)}
        return {**kept, **FIXED, "PYTHONPATH": str(self.project.root.resolve()), "TMPDIR": str(home)}

    def _listen(self, process: subprocess.Popen[bytes], ours: socket.socket) -> None:
        """Read until the child has said its facts, or fail the cell that was running."""
        assert process.stdout is not None
        assert process.stderr is not None
        streams = {"said": ours.fileno(), "out": process.stdout.fileno(), "err": process.stderr.fileno()}
        texts = {name: bytearray() for name in streams}
        selector = selectors.DefaultSelector()
        for name, number in streams.items():
            os.set_blocking(number, False)
            selector.register(number, selectors.EVENT_READ, name)
        deadline = time.monotonic() + START_LIMIT

        def drain(name: str) -> bool:
            """Take what is there; False at the end of the stream."""
            while True:
                try:
                    data = os.read(streams[name], 1 << 16)
                except BlockingIOError:
                    return True
                except ConnectionResetError:  # the child died before it took our answer
                    return False
                if not data:
                    return False
                texts[name] += data
                if name != "said" and len(texts[name]) > OUTPUT_LIMIT:
                    raise self._error(
                        f"printed more than {OUTPUT_LIMIT // 1024} KB", "print less: a shape, a count, the first rows."
                    )

        def drain_all() -> bool:
            for name in streams:
                drain(name)
            return True

        with selector:
            while not self.facts:
                if self.stop:
                    raise KeyboardInterrupt
                left = deadline - time.monotonic()
                if left <= 0:
                    limit = self.now.timeout if self.now else START_LIMIT
                    raise self._error(
                        f"did not end within {limit:.0f} s",
                        'make it smaller, or give it more time, as in timeout="300".',
                    )
                for key, _ in selector.select(min(left, 0.5)):
                    if not drain(key.data):
                        selector.unregister(key.fd)
                ended = process.poll() is not None and drain_all()
                while b"\n" in texts["said"]:
                    line, _, rest = bytes(texts["said"]).partition(b"\n")
                    texts["said"] = bytearray(rest)
                    message = json.loads(line)
                    if "start" in message:
                        self.now = self.cells[message["start"]]
                        self.progress(self.now.id)
                        deadline = time.monotonic() + self.now.timeout
                    elif "end" in message:
                        drain_all()
                        self._finish(message, texts)
                        texts["out"].clear()
                        texts["err"].clear()
                    else:
                        self.facts, self.files = message["facts"], message["files"]
                    with contextlib.suppress(OSError):  # a child that died meanwhile is noticed below
                        ours.send(b".")
                if ended and not self.facts:
                    raise self._died(process.returncode, texts["err"])

    def _finish(self, message: dict[str, Any], texts: dict[str, bytearray]) -> None:
        cell = self.cells[message["end"]]
        if message.get("problem"):
            raise self._failed(cell, message["problem"])
        complaint = texts["err"].decode("utf-8", "replace").strip()
        if complaint:
            raise self._error(
                f"wrote to stderr: {visible(complaint.splitlines()[0])}",
                "mend what it complains of, or print to stdout.",
            )
        text = visible(texts["out"].decode("utf-8", "replace"))
        lines = text.rstrip("\n").split("\n") if text.strip() else []
        raised = message["raised"] and visible(message["raised"])
        self.outputs[cell.id] = Output(tuple(line.rstrip() for line in lines), message["kept"], raised)

    def _error(self, what: str, next_step: str) -> LessonError:
        if self.now is None:
            return LessonError(self.lesson.start, f"the lesson's process {what} before its first cell", next_step)
        return LessonError(self.now.at, f"cell `{self.now.id}` {what}", next_step)

    def _died(self, code: int, err: bytearray) -> LessonError:
        how = f"ended the interpreter (exit code {code})"
        if code < 0:
            names = {number.value: number.name for number in signal.Signals}
            how = f"was killed by {names.get(-code, f'signal {-code}')}"
        last = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
        said = f": {visible(last[-1])}" if last else ""
        return self._error(f"{how}{said}", "remove the call that ends it (os._exit, a kill, a crash in native code).")

    def _place(self, places: list[list[Any]], cell: Cell) -> tuple[Location, str]:
        """The lesson's line to name for an error with this traceback, and the project's line when it lies deeper."""
        at, deeper = cell.at, ""
        for path, line, name in places:
            where = self._project_location(path, line)
            if where is None:
                continue
            if where.path == self.lesson.path:
                at, deeper = where, ""
            else:
                deeper = f"\n  in {where}" + (f", {name}" if name and not name.startswith("<") else "")
        return at, deeper

    def _project_location(self, path: str, line: int) -> Location | None:
        if self.written is not None and path == "main.py":
            return self.written(line)
        try:
            relative = os.path.relpath(path, self.project.root.resolve()) if os.path.isabs(path) else path
        except ValueError:
            return None
        inside = (self.project.root / relative).is_file() and not relative.startswith(("..", "."))
        return Location(Path(relative).as_posix(), line) if inside and "site-packages" not in relative else None

    def _failed(self, cell: Cell, problem: dict[str, Any]) -> LessonError:
        at, deeper = self._place(problem["places"], cell)
        syntax = problem.get("type") in ("SyntaxError", "IndentationError", "TabError")
        kind, name = problem["kind"], f"cell `{cell.id}`"
        if kind == "not raised":
            return LessonError(
                cell.at, f"{name} did not raise {cell.raises}", "remove `raises=`, or make the cell raise it."
            )
        if kind == "not warned":
            return LessonError(
                cell.at, f"{name} did not warn of {cell.warns}", "remove `warns=`, or make the cell warn."
            )
        if kind == "not kept":
            return LessonError(
                cell.at,
                f"{name} keeps `{problem['name']}` but does not define it",
                "define it in the cell, or correct `keep=`.",
            )
        if kind == "not plain":
            way, _, out = problem["message"].rpartition("; ")
            return LessonError(cell.at, f"{name} cannot keep `{problem['name']}`: {way}", f"{out}.")
        said = f"{problem['type']}: {visible(problem['message'])}".rstrip(": ")
        if kind == "warned":
            return LessonError(
                at, f"{name} warned: {said}", f'mend the call, or expect it with warns="{problem["type"]}".'
            )
        if problem["type"] == "SystemExit":
            return LessonError(at, f"{name} called sys.exit", "remove the call: the next cells still have to run.")
        if problem["type"] == "EOFError" and "reading a line" in problem["message"]:
            return LessonError(at, f"{name} asked for input", "write the value into the cell: nobody is there to type.")
        if cell.raises:
            return LessonError(
                at,
                f"{name} raised {said}{deeper}, not {cell.raises}",
                f'write raises="{problem["type"]}", or mend the cell.',
            )
        step = "mend the code at that line"
        if cell.id == "main.py":
            name = "main.py alone"
            step = step if syntax else "move what the step needs into a .step cell: main.py has no .run cells"
        elif cell.kind == "run" and not syntax:
            step += f', or mark the cell raises="{problem["type"]}" if it is meant to fail'
        return LessonError(at, f"{name} raised {said}{deeper}", f"{step}.")


def _end(process: subprocess.Popen[bytes], home: Path) -> None:
    """Kill the child, its session and every process it left."""
    left: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        if process.poll() is None:
            left = psutil.Process(process.pid).children(recursive=True)
        else:  # it died and its children have no parent any more: their environment still names its folder
            every = psutil.process_iter(["environ"])
            left = [other for other in every if (other.info["environ"] or {}).get("TMPDIR") == str(home)]
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for other in left:
        with contextlib.suppress(psutil.Error):
            other.kill()
    process.wait()


def visible(text: str) -> str:
    """`text` with colour escapes removed and every other control or direction character written out."""
    text = _COLOURS.sub("", text.replace("\r\n", "\n"))
    return "".join(
        char
        if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp", "Cs")
        else f"\\x{ord(char):02x}"
        if ord(char) < 256
        else f"\\u{ord(char):04x}"
        for char in text
    )
