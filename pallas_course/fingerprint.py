"""A hash of what a Python file does. Needs Python alone, so that a record and its reader compute the same."""

import ast
import hashlib
import io
import tokenize
from pathlib import Path


def of_files(*paths: Path) -> str:
    """A hash of the files' code, comments and docstrings left out; alike on every Python."""
    text = "".join(_code(path.read_text(encoding="utf-8")) for path in paths)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_kernel(kernels: Path, name: str) -> str:
    """The hash a kernel's record carries, ``source``: its module and the contract's in the folder ``kernels``."""
    return of_files(*(kernels / f"{module}.py" for module in (name, "contract")))


def _code(text: str) -> str:
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            for line in range(first.lineno, (first.end_lineno or first.lineno) + 1):
                lines[line - 1] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())
