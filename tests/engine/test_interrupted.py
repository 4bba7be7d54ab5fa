"""A build that is stopped, or that the machine refuses, leaves whole files and no process."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pallas_course.engine.errors import UsageError
from pallas_course.engine.record import write_whole
from tests.engine.tiny import LESSON, PAGE, RECORD, Book, cell

ROOT = Path(__file__).parents[2]


def wait_until(true: Callable[[], object]) -> None:
    for _ in range(2000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def lessons_running(book: Book) -> list[psutil.Process]:
    """Processes that run code of this book, by the environment that only they have."""
    every = psutil.process_iter(["environ", "status"])
    return [
        one
        for one in every
        if (one.info["environ"] or {}).get("PYTHONPATH") == str(book.root) and one.info["status"] != "zombie"
    ]


@pytest.fixture
def waiting(book: Book) -> Book:
    """A book whose first cell tells that it runs, and then waits."""
    sign = book.root.parent / "started"
    wait = f"import time\nopen({str(sign)!r}, 'w').close()\ntime.sleep(100)"
    book.swap("## The problem\n", "## The problem\n\n" + cell(wait))
    return book


def test_interrupt_leaves_all_as_it_was_and_no_process(waiting: Book) -> None:
    sign = waiting.root.parent / "started"

    def interrupt() -> None:
        wait_until(sign.exists)
        os.kill(os.getpid(), signal.SIGINT)

    before = waiting.tree()
    thread = threading.Thread(target=interrupt)
    thread.start()
    built = waiting.build()
    thread.join()
    assert (built.code, built.err) == (2, "interrupted: what was not finished is as it was before\n")
    assert waiting.tree() == before
    assert lessons_running(waiting) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_build_that_is_killed_leaves_no_process(waiting: Book) -> None:
    code = (
        "import sys; from pathlib import Path; from build_figures import main;"
        "from pallas_course.engine.build import run; from pallas_course.engine.lesson import Project;"
        "run(main, Project(Path(sys.argv[1])), [])"
    )
    build = subprocess.Popen([sys.executable, "-c", code, str(waiting.root)], cwd=ROOT, stdout=subprocess.DEVNULL)
    wait_until((waiting.root.parent / "started").exists)
    assert len(lessons_running(waiting)) >= 1
    build.kill()
    build.wait()
    wait_until(lambda: not lessons_running(waiting))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_file_that_cannot_be_replaced_stays_whole(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.md"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UsageError if isinstance(error, OSError) else KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_text_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "page.md"
    assert write_whole(path, "é\n") is True
    before = path.stat()
    assert write_whole(path, "é\n") is False
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert path.read_bytes() == "é\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644


def test_full_disk_is_told_and_the_next_build_goes_on(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.put(cell("print('new')"))
    old_page = book.read(PAGE)
    replace = os.replace

    def refuse_page(source: str, target: Path) -> None:
        if target.suffix == ".md":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse_page)
        built = book.build()
    assert built.code == 2
    assert built.err == (
        "tiny-01.md: cannot write it: No space left on device\n"
        "  next: make room or make the folder writable, then run again.\n"
    )
    assert '"new"' in book.read(RECORD)
    assert book.read(PAGE) == old_page
    assert not [file for file in book.tree() if Path(file).name.startswith(".")]

    built = book.build()
    assert (built.code, built.executed) == (0, [])
    assert "new" in book.read(PAGE)


def test_cell_that_writes_into_the_project_is_refused(book: Book) -> None:
    book.put(
        "```python {.run #write}\n"
        'import pathlib\n\nimport tiny.kern\n\npathlib.Path(tiny.kern.__file__).with_name("left.txt").touch()\n'
        "```\n"
    )
    built = book.build()
    assert built.err.startswith(f"{LESSON}:1: running the lesson used tiny/left.txt, which no import statement names")
