"""A tiny book in a folder of its own, built in this process: one lesson, one module for `of=`, no JAX."""

from __future__ import annotations

import contextlib
import html
import io
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from markdown import Markdown

from build_figures import main
from pallas_course.engine import verify
from pallas_course.engine.build import run
from pallas_course.engine.lesson import Project

CONFIG = Path(__file__).parents[2] / "mkdocs.yml"
LESSON = "lessons_src/tiny-01/lesson.md"
RECORD = "lessons_src/tiny-01/outputs.json"
PAGE = "docs/lessons/tiny-01.md"

FRONT = """\
---
id: tiny-01
title: A tiny lesson
phase: 1 · Tiny
minutes: 5
runs_on: CPU
objectives: [See the engine work]
references: [{title: JAX, url: "https://docs.jax.dev/"}]
---
"""
ENDING = """\
/// main
///

/// record
///
"""
TEXT = f"""\
{FRONT}
## The problem

Doubling:

```python {{.step #double title="Twice" of="tiny.kern:double"}}
```

```python {{.step #use keep="four"}}
four = double(2)
print("four:", four)
```

Here.

{ENDING}"""
HERE = 1 + TEXT.split("\n").index("Here.")
KERN = '''\
"""A module to take symbols from."""

from tiny.base import TWO


def double(x):
    """Twice `x`."""
    return 2 * x


LIMIT = 10
'''
RECORDED = {
    "time": "2026-01-02T03:04:05Z",
    "versions": {"python": "3.12.1", "jax": "0.12.0", "jaxlib": "0.12.0", "numpy": "2.4.0"},
    "platform": "Linux x86_64",
    "backend": "cpu",
    "device": "cpu",
}
"""What a record says of the machine that ran the lesson; the same wherever the tests run."""
FILES = {
    LESSON: TEXT,
    "tiny/__init__.py": "",
    "tiny/base.py": "TWO = 2\n",
    "tiny/kern.py": KERN,
    "tiny/other.py": "THREE = 3\n",
}


@dataclass(frozen=True)
class Built:
    """What one run of the build said. `shown`: the ids of the lessons it executed."""

    code: int
    out: str
    err: str

    @property
    def executed(self) -> list[str]:
        return [line.split(":")[0] for line in self.out.splitlines() if ": running its" in line]


@dataclass(frozen=True)
class Book:
    """A course in `root`."""

    root: Path

    def build(self, *arguments: str) -> Built:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = run(main, Project(self.root), arguments)
            except SystemExit as stop:  # argparse
                code = int(stop.code or 0)
        return Built(code, out.getvalue(), err.getvalue())

    def read(self, file: str = LESSON) -> str:
        return (self.root / file).read_bytes().decode()

    def write(self, file: str, text: str | bytes) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def swap(self, old: str, new: str, file: str = LESSON) -> None:
        text = self.read(file)
        assert old in text, f"{old!r} is not in {file}"
        self.write(file, text.replace(old, new, 1))

    def put(self, text: str) -> None:
        """Put `text` where the untouched lesson says "Here."."""
        self.write(LESSON, TEXT.replace("Here.\n", text.rstrip("\n") + "\n"))

    def html(self, page: str = PAGE) -> str:
        """The page as the site's own Markdown shows it."""
        source = self.read(page).split("---\n", 2)[2]
        return markdown(self.root).reset().convert(source)

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Bytes and time of change of every file; Python's own caches left out."""
        files = (path for path in self.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def new_book(root: Path) -> Book:
    book = Book(root)
    for file, text in FILES.items():
        book.write(file, text)
    shutil.copy(CONFIG, root / "mkdocs.yml")
    return book


def markdown(root: Path) -> Markdown:
    return verify.site_markdown(Project(root))


def cell(code: str, attributes: str = "") -> str:
    return f"```python {{.run #cell{attributes and ' ' + attributes}}}\n{code}\n```\n"


Edit = Callable[[Book], None]


def put(text: str) -> Edit:
    return lambda book: book.put(text)


def swap(old: str, new: str, file: str = LESSON) -> Edit:
    return lambda book: book.swap(old, new, file)


def write(file: str, text: str | bytes) -> Edit:
    return lambda book: book.write(file, text)


def delete(file: str) -> Edit:
    return lambda book: (book.root / file).unlink()


def both(*edits: Edit) -> Edit:
    def edit(book: Book) -> None:
        for one in edits:
            one(book)

    return edit


@dataclass(frozen=True)
class Fault:
    """One way for a lesson to be wrong, what the build says of it, and the edit that its `next:` names.

    broken, mended: an edit of the tiny book, or the text that stands where the lesson says "Here.".
    says: `line: problem` in lesson.md, or `path:line: problem`.
    """

    name: str
    broken: Edit | str
    says: str
    next: str
    mended: Edit | str


def code_blocks(page: str) -> dict[str, str]:
    """The text of each code block of a page's HTML that has an id."""
    found = re.findall(r'<div id="([^"]*)" class="[^"]*highlight">.*?<pre>(.*?)</pre>', page, re.DOTALL)
    return {name: html.unescape(re.sub("<.*?>", "", body)) for name, body in found}


NASTY = r"""
```
~~~~~
    ```python {.run #other}
///
/// predict | No block
</code></pre></details>
--8<-- "other.md"
{{ use.four }}
$x^2$ \(y\)
## No heading
<script>alert(1)</script>
	tab	tab
[link](https://example.org/) ![image](x.png) <https://example.org/>
&amp; é ✓ 漢字 🙂
{: #no-id }
{#no-id .no-class}
[^1]: note
*[HTML]: abbreviation
---
- item
> quote

   end
"""
"""Text that is markup for somebody; nothing of it may become markup on a page."""
