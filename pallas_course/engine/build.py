"""The build's stages, each over every lesson that is still whole, and its command line."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from pallas_course.engine import check, draw, execute, ladder, parse, record, render, tables, verify
from pallas_course.engine.errors import LessonError, UsageError
from pallas_course.engine.lesson import Lesson, Project
from pallas_course.engine.record import Record
from pallas_course.engine.render import Page


@dataclass
class Build:
    """One run of the build. `check`: run everything and write nothing. `force`: run what is fresh too."""

    project: Project
    ids: list[str]
    whole: bool
    check: bool
    force: bool
    lessons: dict[str, Lesson] = field(default_factory=dict)
    recorded: dict[str, Record | None] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    figures: dict[str, dict[str, str]] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    tables: dict[Path, str] = field(default_factory=dict)
    errors: list[LessonError] = field(default_factory=list)
    drift: dict[str, list[str]] = field(default_factory=dict)

    def parse(self) -> None:
        for lesson_id in self.ids:
            with self.one(lesson_id):
                self.lessons[lesson_id] = parse.parse(self.project, lesson_id)

    def load_records(self) -> None:
        for lesson_id in list(self.lessons):
            with self.one(lesson_id):
                self.recorded[lesson_id] = record.load(self.project, lesson_id, replace=self.force)

    def execute_stale(self) -> None:
        stale = {}
        for lesson_id, lesson in self.lessons.items():
            why = record.why_stale(self.project, lesson, self.recorded[lesson_id])
            if self.check or self.force or why:
                stale[lesson_id] = lesson
                say(f"{lesson_id}: running its {len(lesson.cells)} cells" + (f" ({why})" if why else ""))
            else:
                fresh = self.recorded[lesson_id]
                assert fresh is not None
                self.records[lesson_id] = fresh
        cells = sum(len(lesson.cells) for lesson in stale.values())
        with tqdm(total=cells, unit="cell", leave=False, disable=None) as bar:

            def progress(cell: str) -> None:
                bar.set_postfix_str(cell)
                bar.update()

            results = execute.execute(self.project, list(stale.values()), progress) if stale else {}
        for lesson_id, result in results.items():
            with self.one(lesson_id):
                if isinstance(result, LessonError):
                    raise result
                old = self.recorded[lesson_id]
                self.records[lesson_id] = record.make(self.project, stale[lesson_id], result, old)
                if self.check:
                    self.differs(lesson_id, check.drift_of_outputs(stale[lesson_id], old, self.records[lesson_id]))

    def draw(self) -> None:
        for lesson_id, lesson in list(self.lessons.items()):
            with self.one(lesson_id):
                self.figures[lesson_id] = draw.draw(
                    self.project, lesson, self.records[lesson_id], anew=self.check or self.force
                )

    def render(self) -> None:
        for lesson_id, lesson in list(self.lessons.items()):
            with self.one(lesson_id):
                shown = ladder.markdown(self.project, lesson.kernels)
                self.pages[lesson_id] = render.render(lesson, self.records[lesson_id], self.figures[lesson_id], shown)

    def tabulate(self) -> None:
        try:
            self.tables = tables.pages(self.project, anew=self.check or self.force)
        except LessonError as error:
            if str(error) not in map(str, self.errors):  # a lesson that shows the same record told it
                self.errors.append(error)

    def verify(self) -> None:
        markdown = verify.site_markdown(self.project)
        for lesson_id, lesson in list(self.lessons.items()):
            with self.one(lesson_id):
                verify.verify(markdown, lesson, self.pages[lesson_id])

    def compare(self) -> None:
        for lesson in self.lessons.values():
            if lesson.id not in self.drift:  # else its files differ too, as they must
                self.differs(lesson.id, check.drift_of_files(self.project, lesson, self._files(lesson)))
        self.differs("", check.drift_of_tables(self.project, self.tables))

    def write(self) -> None:
        changed = 0
        for files in [*map(self._files, self.lessons.values()), self.tables]:
            for path, text in files.items():
                if record.write_whole(path, text):
                    say(f"wrote {self.project.relative(path)}")
                    changed += 1
        if self.whole:
            changed += self._remove_what_no_lesson_makes()
        if not changed and not self.errors:
            say(f"{len(self.lessons)} lesson{'s' * (len(self.lessons) != 1)}: nothing to do")

    def differs(self, lesson_id: str, messages: list[str]) -> None:
        if messages:
            self.drift[lesson_id] = messages

    @contextmanager
    def one(self, lesson_id: str) -> Iterator[None]:
        """Work on one lesson: its error is kept, and the later stages leave it out."""
        try:
            yield
        except LessonError as error:
            self.errors.append(error)
            self.lessons.pop(lesson_id, None)

    def _files(self, lesson: Lesson) -> dict[Path, str]:
        """Everything a lesson's build writes, the record first: what the others are made from."""
        page, pages = self.pages[lesson.id], self.project.pages
        files = {record.path_of(self.project, lesson.id): self.records[lesson.id].text()}
        for figure in lesson.figures:
            files[draw.path_of(self.project, figure)] = self.figures[lesson.id][figure.id]
        if page.main:
            files[pages / lesson.id / "main.py"] = page.main
        files[pages / f"{lesson.id}.md"] = page.text
        return files

    def _remove_what_no_lesson_makes(self) -> int:
        pages = self.project.pages
        stale = [path for path in pages.glob("*") if path.stem not in self.ids]
        stale += [pages / name for name, page in self.pages.items() if not page.main and (pages / name).is_dir()]
        for path in stale:
            say(f"removed {self.project.relative(path)}: no lesson makes it")
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return len(stale)


def run(stages: Callable[[Build], None], project: Project, arguments: Sequence[str]) -> int:
    """Run `stages` as the command line asks. 0: done; 1: the content is wrong or drifted; 2: wrong use or our fault."""
    try:
        build = _request(project, arguments)
        stages(build)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: what was not finished is as it was before", file=sys.stderr)
        return 2
    except Exception:  # noqa: BLE001 - whatever else is raised is our own fault
        traceback.print_exc()
        print("this is a fault of the build itself, not of a lesson", file=sys.stderr)
        return 2
    for message in [*chain(*build.drift.values()), *map(str, build.errors)]:
        print(message, file=sys.stderr)
    if build.drift:
        command = " ".join(["python build_figures.py --force", *filter(None, build.drift)])
        print(f"  next: look at the difference; to accept it run `{command}`", file=sys.stderr)
    if build.check and not build.drift and not build.errors:
        say(f"{len(build.lessons)} lesson{'s' * (len(build.lessons) != 1)} run again: all as recorded")
    return 1 if build.drift or build.errors else 0


def say(text: str) -> None:
    print(text, flush=True)


def _request(project: Project, arguments: Sequence[str]) -> Build:
    parser = argparse.ArgumentParser(
        prog="build_figures.py", description="Execute, record, draw and render the lessons."
    )
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument(
        "--check", action="store_true", help="run everything, write nothing, exit 1 with a diff on drift"
    )
    modes.add_argument("--force", action="store_true", help="run lessons whose record is fresh, too")
    parser.add_argument("lesson", nargs="*", help="lesson ids (default: all)")
    options = parser.parse_args(arguments)
    known = project.lesson_ids()
    for lesson_id in options.lesson:
        if lesson_id not in known:
            like = difflib.get_close_matches(lesson_id, known, n=1)
            raise UsageError(
                f"build_figures.py: there is no lesson `{lesson_id}`",
                f"write `{like[0]}`" if like else f"use one of: {', '.join(known) or '(lessons_src has no lesson)'}",
            )
    chosen = list(dict.fromkeys(options.lesson)) or known
    return Build(project, chosen, whole=not options.lesson, check=options.check, force=options.force)
