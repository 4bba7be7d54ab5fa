"""Which room may import what, read from the code; and that the site builds where JAX and matplotlib are absent."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.faults.figures import figure
from tests.engine.tiny import new_book

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pallas_course"
# Each room, and a file with a rule of its own: the rooms it may import, and the packages besides Python's.
SITE = {"latex2mathml", "markdown", "markdown_it", "matplotlib", "psutil", "pygments", "pymdownx", "tqdm", "yaml"}
LEARNER = {"jax", "jaxlib", "jax_plugins", "libtpu", "ml_dtypes", "numpy"}
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "kernels": ({"kernels"}, {"jax", "numpy"}),
    "evidence": ({"evidence", "kernels", "fingerprint", "records"}, LEARNER),
    "checker": ({"checker", "kernels"}, LEARNER),
    "engine": ({"engine", "fingerprint", "records"}, SITE),
    "engine/child.py": (set(), {"numpy"}),
    "cli.py": ({"kernels", "evidence", "checker", "engine"}, LEARNER | SITE),
    "fingerprint.py": (set(), set()),
    "records.py": (set(), set()),
    "__init__.py": (set(), set()),
}
LONGEST = 500
# Files above LONGEST lines, each with its reason.
LONG = {
    "pallas_course/engine/figures.py": "the kinds of figure share their measures, colours and checks",
    "tests/test_setup.py": "one way from a bare clone to a served page, told in its order",
}


def imports(path: Path) -> set[str]:
    """The dotted names that a file imports, wherever in it."""
    found = set()
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            found |= {".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names}
    return found


def at_once(path: Path) -> list[str]:
    """The import statements that run when the file is imported."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def files(room: str) -> list[Path]:
    place = PACKAGE / room
    found = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [path for path in found if path == place or path.relative_to(PACKAGE).as_posix() not in ALLOWED]


def test_every_file_is_in_a_room() -> None:
    assert {path for room in ALLOWED for path in files(room)} == set(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("room", ALLOWED)
def test_room_imports_only_what_it_may(room: str) -> None:
    rooms, packages = ALLOWED[room]
    allowed = {f"pallas_course.{name}" for name in rooms} | packages | set(sys.stdlib_module_names)
    for path in files(room):
        for name in imports(path):
            short = ".".join(name.split(".")[: 2 if name.startswith("pallas_course.") else 1])
            assert short in allowed, f"{path.relative_to(ROOT)} imports {name}"


def test_command_line_imports_its_rooms_only_where_a_command_needs_them() -> None:
    lines = [line for path in files("cli.py") for line in at_once(path)]
    assert not [line for line in lines if "pallas_course." in line]


def test_matplotlib_is_imported_only_to_draw() -> None:
    lines = [line for path in files("engine") for line in at_once(path)]
    assert not [line for line in lines if "matplotlib" in line]


def test_nothing_of_the_package_imports_the_build_step() -> None:
    assert not [path.name for path in PACKAGE.rglob("*.py") if "build_figures" in imports(path)]


def test_build_step_imports_the_engine_alone() -> None:
    ours = {name for name in imports(ROOT / "build_figures.py") if name.split(".")[0] not in sys.stdlib_module_names}
    assert {".".join(name.split(".")[:2]) for name in ours} == {"pallas_course.engine"}


def test_no_file_is_long_without_a_reason() -> None:
    code = [
        *PACKAGE.rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "tools").rglob("*.py"),
        ROOT / "build_figures.py",
    ]
    long = {path.relative_to(ROOT).as_posix() for path in code if len(path.read_text("utf-8").splitlines()) > LONGEST}
    assert long == set(LONG)


WITHOUT = """
import sys
from pathlib import Path

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "jaxlib", "numpy", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from build_figures import main
from pallas_course.engine.build import run
from pallas_course.engine.lesson import Project

sys.exit(run(main, Project(Path(sys.argv[1])), []))
"""


def test_site_is_built_from_records_without_jax_and_matplotlib(tmp_path: Path) -> None:
    book = new_book(tmp_path / "book")
    book.put(figure())
    assert book.build().code == 0
    before = book.tree()
    shutil.rmtree(book.root / "docs")
    command = [sys.executable, "-W", "error", "-c", WITHOUT, str(book.root)]

    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (built.returncode, built.stderr) == (0, "")
    assert built.stdout == "wrote docs/lessons/tiny-01/main.py\nwrote docs/lessons/tiny-01.md\n"
    assert {file: data for file, (data, _) in book.tree().items()} == {file: data for file, (data, _) in before.items()}
