"""Source files, read and never imported: their lines, symbols for `of=`, and which project files some code imports."""

from __future__ import annotations

import ast
import unicodedata
import warnings
from pathlib import Path

from pallas_course.engine.errors import LessonError
from pallas_course.engine.lesson import Chunk, Location, Project


def read_lines(path: Path, name: str) -> list[str]:
    """The lines of a file of a lesson, `name` in messages. Raises LessonError where it is no plain UTF-8 text."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise LessonError(Location(name, 1), "the file is missing", "write it, or remove its folder.") from None
    except OSError as error:
        raise LessonError(
            Location(name, 1), f"the file cannot be read: {error.strerror}", "make it a readable file."
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = Location(name, raw.count(b"\n", 0, error.start) + 1)
        raise LessonError(at, f"byte {raw[error.start]:#04x} is not UTF-8", "save the file as UTF-8.") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        # some Python functions end a line at these characters, others do not
        bad = next((char for char in line if char != "\t" and unicodedata.category(char) in ("Cc", "Zl", "Zp")), None)
        if bad is not None:
            raise LessonError(
                Location(name, number), f"control character U+{ord(bad):04X} in the text", "remove the character."
            )
    return lines


def symbols(project: Project, of: str, at: Location) -> tuple[Chunk, ...]:
    """The source of each symbol that `of` names, as `package.module:name, name`.

    Raises LessonError at `at` when the module is not the project's, does not parse, or does not define a name.
    """
    module, colon, names = of.partition(":")
    wanted = [name.strip() for name in names.split(",")]
    if not colon or not all(name.isidentifier() for name in wanted):
        raise LessonError(
            at,
            f"`of` is not `module:name`: `{of}`",
            'write of="package.module:name" or of="package.module:name, name".',
        )
    path = _file(project, module)
    if path is None:
        raise LessonError(at, f"the project has no module `{module}`", "correct `of=`, or add the module.")
    name_of = project.relative(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        defined = _top_level(_tree(text))
    except UnicodeDecodeError as error:
        raise LessonError(at, f"{name_of} is not UTF-8", f"save {name_of} as UTF-8.") from error
    except SyntaxError as error:
        raise LessonError(
            at, f"{name_of}:{error.lineno or 1} is not Python: {error.msg}", f"mend {name_of} at that line."
        ) from error
    lines = text.split("\n")
    chunks = []
    for name in wanted:
        if name not in defined:
            raise LessonError(
                at,
                f"no `{name}` at the top level of {name_of}\n  it defines: {', '.join(defined) or 'nothing'}",
                "correct `of=`, or restore the name.",
            )
        first, last = defined[name]
        chunks.append(Chunk("\n".join(lines[first - 1 : last]) + "\n", Location(name_of, first)))
    return tuple(chunks)


def imported_files(project: Project, code: str) -> set[Path]:
    """Every project file that running `code` imports, directly or through other project files."""
    found: set[Path] = set()
    _follow(project, code, "", found)
    return found


def _file(project: Project, module: str) -> Path | None:
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    place = project.root.joinpath(*module.split("."))
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _tree(code: str | bytes) -> ast.Module:
    """`code` parsed, without its warnings: running it shows them. Raises SyntaxError for whatever is not Python."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, nesting too deep
        raise SyntaxError(str(error) or "it is nested too deep") from error


def _top_level(tree: ast.Module) -> dict[str, tuple[int, int]]:
    """Name to first and last line, of functions, classes and constants, in file order."""
    found: dict[str, tuple[int, int]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name] = (first, node.end_lineno or node.lineno)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    found[target.id] = (node.lineno, node.end_lineno or node.lineno)
    return found


def _follow(project: Project, code: str | bytes, package: str, found: set[Path]) -> None:
    try:
        tree = _tree(code)
    except SyntaxError:
        return  # running it reports the error with its line
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            _add(project, name, found)


def _add(project: Project, module: str, found: set[Path]) -> None:
    """Add `module` and the packages above it, since importing it runs those too."""
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        path = _file(project, name)
        if path is None or path in found:
            continue
        found.add(path)
        package = name if path.name == "__init__.py" else ".".join(parts[: end - 1])
        _follow(project, path.read_bytes(), package, found)
