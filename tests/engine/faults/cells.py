"""Fences, cells and their attributes."""

from __future__ import annotations

from tests.engine.tiny import LESSON, TEXT, Fault, both, cell, put, swap, write

TAKEN = "rename the cell or the heading."


def attributes(name: str, written: str, says: str, next_step: str, mended: str) -> Fault:
    """A fault in a cell's braces."""
    return Fault(
        name,
        f"```python {{{written}}}\nprint(1)\n```",
        f"23: {says}",
        next_step,
        f"```python {{{mended}}}\nprint(1)\n```",
    )


def of(name: str, written: str, says: str, next_step: str, mended: str = "tiny.kern:LIMIT") -> Fault:
    """A fault in what `of=` names."""
    return Fault(
        name,
        f'```python {{.run #cell of="{written}"}}\n```',
        f"23: {says}",
        next_step,
        f'```python {{.run #cell of="{mended}"}}\n```',
    )


FAULTS = [
    attributes("unknown attribute", '.run #cell kepe="x"', "unknown attribute `kepe`", "write `keep`.", ".run #cell"),
    attributes(
        "unknown attribute like no other",
        '.run #cell xyz="x"',
        "unknown attribute `xyz`",
        "use one of: keep, of, raises, timeout, title, warns.",
        ".run #cell",
    ),
    attributes("unknown class", ".runs #cell", "unknown class `.runs`", "write `run`.", ".run #cell"),
    attributes(
        "no class", "#cell", "a cell is either .step or .run", "write exactly one of .step and .run.", ".run #cell"
    ),
    attributes(
        "two classes",
        ".step .run #cell",
        "a cell is either .step or .run",
        "write exactly one of .step and .run.",
        ".run #cell",
    ),
    attributes("no id", ".run", "the cell has no id", "add `#name` after its class.", ".run #name"),
    attributes("two ids", ".run #one #two", "the cell has two ids: one, two", "keep one of them.", ".run #one"),
    attributes(
        "bad id",
        ".run #a_b",
        "`#a_b` cannot be a cell's id",
        "use lower-case words joined by hyphens, as in #changed-grid.",
        ".run #a-b",
    ),
    attributes(
        "id taken but for its case",
        ".run #Use",
        "`#Use` cannot be a cell's id",
        "use lower-case words joined by hyphens, as in #changed-grid.",
        ".run #use-more",
    ),
    attributes(
        "id of another cell",
        ".run #use",
        f"the id `use` is taken by {LESSON}:18",
        "rename one of the two.",
        ".run #use-more",
    ),
    attributes(
        "id of a heading",
        ".run #the-problem",
        "the page has the id `the-problem` twice; a heading's anchor may be the other one",
        TAKEN,
        ".run #my-problem",
    ),
    Fault(
        "id in raw HTML",
        '<a id="here"></a>Here, and <b id="here">here</b>.',
        "23: the page has the id `here` twice; a heading's anchor may be the other one",
        TAKEN,
        '<a id="here"></a>Here, and <b>here</b>.',
    ),
    attributes(
        "id that the build uses",
        ".run #recorded-run",
        "the page has the id `recorded-run` twice; a heading's anchor may be the other one",
        TAKEN,
        ".run #my-run",
    ),
    attributes(
        "attribute given twice",
        '.run #cell title="A" title="B"',
        "attribute `title` is given twice",
        "keep one of them.",
        '.run #cell title="A"',
    ),
    attributes(
        "empty attribute",
        '.run #cell title=" "',
        "attribute `title` is empty",
        "give it a value, or remove it.",
        ".run #cell",
    ),
    attributes(
        "escaped quote",
        r'.run #cell title="The \"grid\""',
        r"""cannot read `title="The \"grid\""` in the cell's braces""",
        'write .class, #id or key="value" with double quotes and no backslash.',
        '.run #cell title="The grid"',
    ),
    attributes(
        "single quotes",
        ".run #cell title='A'",
        "cannot read `title='A'` in the cell's braces",
        'write .class, #id or key="value" with double quotes and no backslash.',
        '.run #cell title="A"',
    ),
    Fault(
        "no closing brace",
        "```python {.run #cell\nprint(1)\n```",
        "23: the cell's `{` is not closed on its line",
        "end the line with `}`.",
        "```python {.run #cell}\nprint(1)\n```",
    ),
    attributes(
        "raises is no name",
        '.run #cell raises="ValueError: no"',
        "`raises` is not the name of an exception: `ValueError: no`",
        'write one class name, as in raises="ValueError".',
        ".run #cell",
    ),
    attributes(
        "timeout is no number",
        '.run #cell timeout="2 min"',
        "`timeout` is not whole seconds: `2 min`",
        'write seconds from 1 to 9999, as in timeout="300".',
        '.run #cell timeout="300"',
    ),
    attributes(
        "keep is no name",
        '.run #cell keep="a b"',
        "`keep` is not a list of names: `a b`",
        'write keep="name" or keep="one, two".',
        ".run #cell",
    ),
    attributes(
        "name kept twice",
        '.run #cell keep="four"',
        f"`four` is already kept by the cell at {LESSON}:18",
        "keep it under another name.",
        ".run #cell",
    ),
    attributes(
        "step meant to fail",
        '.step #cell raises="ValueError"',
        "a step cannot be meant to fail or warn: main.py runs it",
        "write .run for .step.",
        ".run #cell",
    ),
    of(
        "of= is malformed",
        "tiny.kern",
        "`of` is not `module:name`: `tiny.kern`",
        'write of="package.module:name" or of="package.module:name, name".',
    ),
    of(
        "of= names no module",
        "tiny.kernel:LIMIT",
        "the project has no module `tiny.kernel`",
        "correct `of=`, or add the module.",
    ),
    of(
        "of= names what cannot be a module",
        "tiny-kern:LIMIT",
        "the project has no module `tiny-kern`",
        "correct `of=`, or add the module.",
    ),
    of(
        "of= names a module of Python's",
        "json:loads",
        "the project has no module `json`",
        "correct `of=`, or add the module.",
    ),
    of(
        "of= names no symbol",
        "tiny.kern:LIMITS",
        "no `LIMITS` at the top level of tiny/kern.py\n  it defines: double, LIMIT",
        "correct `of=`, or restore the name.",
    ),
    Fault(
        "of= and code",
        '```python {.run #cell of="tiny.kern:LIMIT"}\nLIMIT = 11\n```',
        "23: a cell with `of=` has code of its own",
        "empty the fence: `of=` shows and runs the module's source.",
        '```python {.run #cell of="tiny.kern:LIMIT"}\n```',
    ),
    Fault(
        "module of of= is not Python",
        swap("def double(x):", "def double(x)", "tiny/kern.py"),
        "15: tiny/kern.py:6 is not Python: expected ':'",
        "mend tiny/kern.py at that line.",
        swap("def double(x)", "def double(x):", "tiny/kern.py"),
    ),
    Fault(
        "module of of= is not UTF-8",
        both(put('```python {.run #cell of="tiny.name:NAME"}\n```'), write("tiny/name.py", b"NAME = 'caf\xe9'\n")),
        "23: tiny/name.py is not UTF-8",
        "save tiny/name.py as UTF-8.",
        write("tiny/name.py", "NAME = 'café'\n"),
    ),
    *(
        Fault(
            f"{word} fence that would not be run",
            f"```{word}\nprint(1)\n```",
            f"23: a `{word}` fence would be shown without having been run",
            "write ```python {.run #name} (or .step); show what a program prints as its recorded output.",
            "```python {.run #name}\nprint(1)\n```",
        )
        for word in ("python", "py", "Python", "python3", "pycon", "numpy")
    ),
    Fault(
        "fence without a language",
        "```\nplain\n```",
        "23: the fence names no language",
        "write ```python {.run #name}, or ```text.",
        "```text\nplain\n```",
    ),
    Fault(
        "unknown language",
        "```pythn {.run #cell}\nprint(1)\n```",
        "23: unknown language `pythn`",
        "write ```text, or a language Pygments knows.",
        "```text\nprint(1)\n```",
    ),
    Fault(
        "attributes on another language",
        '```bash {title="Shell"}\nls\n```',
        '23: `bash {title="Shell"}`: only a python fence takes attributes',
        "write ```bash alone.",
        "```bash\nls\n```",
    ),
    Fault(
        "indented code",
        "Like this:\n\n    print(1)",
        "25: indented text would be shown as code that nobody ran",
        "remove the indentation, or put the code in a fence.",
        "Like this:\n\n" + cell("print(1)"),
    ),
    Fault(
        "indented code for the site's Markdown alone",
        "1) item\n\n    more",
        "25: the page shows a code block that is no fence of the lesson",
        "remove its indentation or its raw HTML; put code into a cell.",
        "1) item\n\nmore",
    ),
    Fault(
        "code in raw HTML",
        "<pre>print(1)</pre>",
        "23: the page shows a code block that is no fence of the lesson",
        "remove its indentation or its raw HTML; put code into a cell.",
        cell("print(1)"),
    ),
    Fault(
        "fence is not closed",
        write(LESSON, TEXT + "\n```text\nthe end\n"),
        "31: the fence is not closed",
        "add a line ``` after its last line.",
        write(LESSON, TEXT + "\n```text\nthe end\n```\n"),
    ),
    Fault(
        "fence is not closed before the next",
        "```python {.run #cell}\nprint(1)\n\nAnd:\n\n```text\n1\n```",
        "23: the fence is not closed before line 28, which begins with ``` too",
        "add a line ``` above it, or make this fence longer: ````.",
        "```python {.run #cell}\nprint(1)\n```\n\nAnd:\n\n```text\n1\n```",
    ),
    Fault(
        "fence closed by a shorter one",
        write(LESSON, TEXT + "\n````text\nthe end\n```\n"),
        "31: the fence is not closed",
        "add a line ```` after its last line.",
        write(LESSON, TEXT + "\n````text\nthe end\n```\n````\n"),
    ),
    Fault(
        "fence in raw HTML",
        f"<div>\n{cell('print(1)')}</div>",
        "24: this looks like a fence but is not read as one",
        "put it on a line of its own outside raw HTML and comments, with an empty line before it.",
        cell("print(1)"),
    ),
    Fault(
        "fence in a comment",
        f"<!--\n{cell('print(1)')}-->",
        "24: this looks like a fence but is not read as one",
        "put it on a line of its own outside raw HTML and comments, with an empty line before it.",
        cell("print(1)"),
    ),
    Fault(
        "fence on the line of a list marker",
        "- ```python {.run #cell}\n  print(1)\n  ```",
        "23: the fence stands on the line of its list marker",
        "start the fence on a line of its own, indented by four spaces.",
        "- item\n\n    ```python {.run #cell}\n    print(1)\n    ```",
    ),
    Fault(
        "fence too little indented in a list",
        "- item\n\n  ```python {.run #cell}\n  print(1)\n  ```",
        "25: a fence in a list is indented by 2 spaces, not 4",
        "indent the fence, and its list item's other lines, by 4 spaces.",
        "- item\n\n    ```python {.run #cell}\n    print(1)\n    ```",
    ),
    Fault(
        "fence too little indented in a list within a list",
        "- item\n    - inner\n\n      ```python {.run #cell}\n      print(1)\n      ```",
        "26: a fence in a list is indented by 6 spaces, not 8",
        "indent the fence, and its list item's other lines, by 8 spaces.",
        "- item\n    - inner\n\n        ```python {.run #cell}\n        print(1)\n        ```",
    ),
]
