"""A book of fixture lessons through the whole engine, compared with golden files.

`pytest --refresh-golden` rewrites them; read the difference before you commit it.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pallas_course.engine import record
from pallas_course.engine.execute import Run
from pallas_course.engine.lesson import Lesson, Project
from pallas_course.engine.record import Record
from tests.engine.tiny import CONFIG, RECORDED, Book

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Each golden file's path and the text it must have."""
    root = tmp_path_factory.mktemp("golden") / "book"
    shutil.copytree(HERE / "book", root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CONFIG, root)
    make = record.make

    def make_anywhere(project: Project, lesson: Lesson, run: Run, old: Record | None) -> Record:
        return replace(make(project, lesson, run, old), recorded=RECORDED)

    book = Book(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "make", make_anywhere)
        built = book.build()
    assert (built.code, built.err) == (0, "")
    files = {}
    for lesson in Project(root).lesson_ids():
        # Figures have tests of their own, and their bytes belong to one version of matplotlib.
        page = re.sub("<svg.*?</svg>", "<svg></svg>", book.read(f"docs/lessons/{lesson}.md"), flags=re.DOTALL)
        files[f"{lesson}/page.md"] = page
        files[f"{lesson}/outputs.json"] = book.read(f"lessons_src/{lesson}/outputs.json")
        if (root / f"docs/lessons/{lesson}/main.py").exists():
            files[f"{lesson}/main.txt"] = book.read(f"docs/lessons/{lesson}/main.py")
    return files


def test_pages_records_and_programs_are_golden(made: dict[str, str], request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--refresh-golden"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for name, text in made.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_text(text, encoding="utf-8")
    for name, text in made.items():
        assert (GOLDEN / name).is_file(), f"{name} is missing: run pytest --refresh-golden"
        assert text == (GOLDEN / name).read_text(encoding="utf-8"), name


def test_every_golden_file_is_used(made: dict[str, str]) -> None:
    there = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file()}
    assert there == set(made)


def test_book_has_every_construct(made: dict[str, str]) -> None:
    """What a golden page cannot notice the absence of."""
    from pallas_course.engine.fence import ATTRIBUTES, CLASSES
    from pallas_course.engine.figures import KINDS
    from pallas_course.engine.parse import BLOCKS

    text = "\n".join(path.read_text(encoding="utf-8") for path in (HERE / "book").rglob("lesson.md"))
    for word in BLOCKS:
        assert re.search(rf"^/{{3,}} {word}\b", text, re.MULTILINE), word
    for attribute in ATTRIBUTES:
        assert f' {attribute}="' in text, attribute
    for name in CLASSES:
        assert f"{{.{name} #" in text, name
    for kind in KINDS:
        assert f"kind: {kind}" in text, kind
