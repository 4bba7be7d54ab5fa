"""The fences of a lesson file: where markdown-it finds them, and what each is, a cell to run or a listing to show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments.lexers import find_lexer_class_by_name
from pygments.lexers.python import Python2Lexer, PythonConsoleLexer, PythonLexer
from pygments.util import ClassNotFound

from pallas_course.engine import source
from pallas_course.engine.errors import LessonError, nearest
from pallas_course.engine.lesson import NAME, Cell, Chunk, Listing, Location, Project

CLASSES = ("step", "run")
ATTRIBUTES = ("title", "of", "raises", "warns", "keep", "timeout")

_ATTRIBUTE = re.compile(r'\s*(?:\.(?P<cls>[\w-]+)|#(?P<id>[^\s}"=]+)|(?P<key>[\w-]+)="(?P<value>[^"\\]*)")(?=\s|$)')


@dataclass(frozen=True)
class Fence:
    """A fence as markdown-it read it, from the line `at` up to the line with the index `last` (exclusive, from 0).

    prefix: what stands before each of its lines on the page, when it is inside a quote or a list.
    """

    at: Location
    last: int
    prefix: str
    info: str
    content: str


def find(path: str, lines: Sequence[str], body: int) -> Iterator[Fence]:
    """Every fence from the line with the index `body` on, in order.

    Raises LessonError for one that the site would read in another way, and for code that is indented, not fenced.
    """
    containers: list[str] = []
    for token in MarkdownIt("commonmark").parse("\n" * body + "\n".join([*lines[body:], ""])):
        if token.type in ("blockquote_open", "list_item_open"):
            containers.append("> " if token.type == "blockquote_open" else "    ")
        elif token.type in ("blockquote_close", "list_item_close"):
            containers.pop()
        elif token.type == "code_block":
            assert token.map is not None
            raise LessonError(
                Location(path, token.map[0] + 1),
                "indented text would be shown as code that nobody ran",
                "remove the indentation, or put the code in a fence.",
            )
        elif token.type == "fence":
            yield _fence(path, lines, token, "".join(containers))


def _fence(path: str, lines: Sequence[str], token: Token, prefix: str) -> Fence:
    assert token.map is not None
    first, last = token.map
    at = Location(path, first + 1)
    inner = token.content.split("\n")[:-1]
    if len(inner) > last - first - 2:
        raise LessonError(at, "the fence is not closed", f"add a line {token.markup} after its last line.")
    opening = next((number for number, line in enumerate(inner) if line.lstrip().startswith(token.markup)), None)
    if opening is not None:
        raise LessonError(
            at,
            f"the fence is not closed before line {first + opening + 2}, which begins with {token.markup} too",
            f"add a line {token.markup} above it, or make this fence longer: {token.markup + token.markup[0]}.",
        )
    before = lines[first][: lines[first].index(token.markup)].expandtabs(4)
    if before.strip(" >"):
        raise LessonError(
            at,
            "the fence stands on the line of its list marker",
            "start the fence on a line of its own, indented by four spaces.",
        )
    spaces = before.replace("> ", "").replace(">", "")
    needed = prefix.replace("> ", "")
    if needed and spaces != needed:
        raise LessonError(
            at,
            f"a fence in a list is indented by {len(spaces)} spaces, not {len(needed)}",
            f"indent the fence, and its list item's other lines, by {len(needed)} spaces.",
        )
    return Fence(at, last, prefix, token.info.strip(), token.content)


def read(project: Project, fence: Fence) -> Cell | Listing:
    """What the fence is. Raises LessonError for a word, class or attribute that is not known, and a bad `of=`."""
    at = fence.at
    language, brace, rest = fence.info.partition("{")
    language = language.strip()
    if not language:
        raise LessonError(at, "the fence names no language", "write ```python {.run #name}, or ```text.")
    if language == "python" and brace:
        return _cell(project, fence, rest)
    word = language.split()[0]
    try:
        lexer = find_lexer_class_by_name(word)
    except ClassNotFound:
        raise LessonError(at, f"unknown language `{word}`", "write ```text, or a language Pygments knows.") from None
    if issubclass(lexer, PythonLexer | Python2Lexer | PythonConsoleLexer):
        raise LessonError(
            at,
            f"a `{word}` fence would be shown without having been run",
            "write ```python {.run #name} (or .step); show what a program prints as its recorded output.",
        )
    if fence.info != word:
        raise LessonError(at, f"`{fence.info}`: only a python fence takes attributes", f"write ```{word} alone.")
    return Listing(at, fence.prefix, word, fence.content)


def _cell(project: Project, fence: Fence, rest: str) -> Cell:
    at = fence.at
    if not rest.rstrip().endswith("}"):
        raise LessonError(at, "the cell's `{` is not closed on its line", "end the line with `}`.")
    classes, ids, values = _attributes(at, rest.rstrip()[:-1])
    if len(classes) != 1:
        raise LessonError(at, "a cell is either .step or .run", "write exactly one of .step and .run.")
    if not ids:
        raise LessonError(at, "the cell has no id", "add `#name` after its class.")
    if len(ids) > 1:
        raise LessonError(at, f"the cell has two ids: {', '.join(ids)}", "keep one of them.")
    if not NAME.fullmatch(ids[0]):
        raise LessonError(
            at, f"`#{ids[0]}` cannot be a cell's id", "use lower-case words joined by hyphens, as in #changed-grid."
        )
    keep = _names(at, values, "keep")
    for attribute in ("raises", "warns"):
        if attribute in values and not values[attribute].isidentifier():
            raise LessonError(
                at,
                f"`{attribute}` is not the name of an exception: `{values[attribute]}`",
                f'write one class name, as in {attribute}="ValueError".',
            )
    timeout = values.get("timeout", "120")
    if not re.fullmatch(r"[1-9]\d{0,3}", timeout):
        raise LessonError(
            at, f"`timeout` is not whole seconds: `{timeout}`", 'write seconds from 1 to 9999, as in timeout="300".'
        )
    if classes == ["step"] and ("raises" in values or "warns" in values):
        raise LessonError(at, "a step cannot be meant to fail or warn: main.py runs it", "write .run for .step.")
    chunks: tuple[Chunk, ...]
    if "of" in values:
        if fence.content.strip():
            raise LessonError(
                at,
                "a cell with `of=` has code of its own",
                "empty the fence: `of=` shows and runs the module's source.",
            )
        chunks = source.symbols(project, values["of"], at)
        shown = "\n\n".join(chunk.code for chunk in chunks)
    else:
        shown = fence.content
        chunks = (Chunk(shown, Location(at.path, at.line + 1)),)
    return Cell(
        at=at,
        id=ids[0],
        kind=classes[0],
        prefix=fence.prefix,
        shown=shown,
        chunks=chunks,
        title=values.get("title", ""),
        of=values.get("of", ""),
        raises=values.get("raises", ""),
        warns=values.get("warns", ""),
        keep=keep,
        timeout=float(timeout),
    )


def _attributes(at: Location, text: str) -> tuple[list[str], list[str], dict[str, str]]:
    classes: list[str] = []
    ids: list[str] = []
    values: dict[str, str] = {}
    position = 0
    while text[position:].strip():
        match = _ATTRIBUTE.match(text, position)
        if not match:
            raise LessonError(
                at,
                f"cannot read `{text[position:].strip()}` in the cell's braces",
                'write .class, #id or key="value" with double quotes and no backslash.',
            )
        position = match.end()
        if match["cls"]:
            if match["cls"] not in CLASSES:
                raise LessonError(at, f"unknown class `.{match['cls']}`", f"{nearest(match['cls'], CLASSES)}.")
            classes.append(match["cls"])
        elif match["id"]:
            ids.append(match["id"])
        else:
            key = match["key"]
            if key not in ATTRIBUTES:
                raise LessonError(at, f"unknown attribute `{key}`", f"{nearest(key, ATTRIBUTES)}.")
            if key in values:
                raise LessonError(at, f"attribute `{key}` is given twice", "keep one of them.")
            if not match["value"].strip():
                raise LessonError(at, f"attribute `{key}` is empty", "give it a value, or remove it.")
            values[key] = match["value"].strip()
    return classes, ids, values


def _names(at: Location, values: dict[str, str], key: str) -> tuple[str, ...]:
    if key not in values:
        return ()
    names = tuple(name.strip() for name in values[key].split(","))
    for name in names:
        if not name.isidentifier():
            raise LessonError(
                at, f"`{key}` is not a list of names: `{values[key]}`", f'write {key}="name" or {key}="one, two".'
            )
    return names
