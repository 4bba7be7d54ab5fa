"""The build step: lesson files to records, figures and pages. Read `main` from top to bottom.

usage: python build_figures.py [--check | --force] [lesson ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

try:
    from pallas_course.engine.build import Build, run
    from pallas_course.engine.lesson import Project
except ModuleNotFoundError as error:  # a Python outside the environment
    print(f"build_figures.py: this Python has no {error.name}", file=sys.stderr)
    print("  next: `make pages`, or after it `.venv/bin/python build_figures.py`", file=sys.stderr)
    sys.exit(2)


def main(build: Build) -> None:
    """The way of every chosen lesson; a lesson that fails leaves the others alone and its own files as they were."""
    build.parse()
    build.load_records()
    build.execute_stale()
    build.draw()
    build.render()
    build.verify()
    build.tabulate()
    build.compare() if build.check else build.write()


if __name__ == "__main__":
    sys.exit(run(main, Project(Path(__file__).resolve().parent), sys.argv[1:]))
