"""What is no fault: every place for a fence, every text in code and output, every kind of lesson and value."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import psutil
import pytest

from tests.engine.tiny import FRONT, LESSON, NASTY, PAGE, RECORD, TEXT, Book, cell, code_blocks

CODE = 'text = """\n\ta\tb\n\n  c\n"""\n\nif text:\n    print(text)\n'
SAID = "\n\ta\tb\n\n  c"


def indent(text: str, prefix: str) -> str:
    return "".join(f"{prefix}{line}".rstrip(" ") + "\n" for line in text.rstrip("\n").split("\n"))


def built(book: Book) -> str:
    """The HTML of the page, after a build without an error."""
    result = book.build()
    assert (result.code, result.err) == (0, "")
    return book.html()


FENCE = f"```python {{.run #cell}}\n{CODE}```\n"
PLACES = {
    "at the margin": (FENCE, r'<div id="cell"'),
    "indented by three spaces": (indent(FENCE, "   "), r'<div id="cell"'),
    "between tildes": (FENCE.replace("```", "~~~"), r'<div id="cell"'),
    "between many backticks": (FENCE.replace("```", "`````"), r'<div id="cell"'),
    "closed by more backticks": (FENCE[:-1] + "``  \n", r'<div id="cell"'),
    "right after a paragraph": (f"Text:\n{FENCE}More text.\n", r'<p>Text:</p>\s*<div id="cell".*<p>More text.</p>'),
    "right after a list item": (f"- item\n{indent(FENCE, '    ')}", r'<li>\s*<p>item</p>\s*<div id="cell"'),
    "in a list": (f"- item\n\n{indent(FENCE, '    ')}", r'<li>\s*<p>item</p>\s*<div id="cell"'),
    "in a list, by a tab": (f"- item\n\n{indent(FENCE, chr(9))}", r'<li>\s*<p>item</p>\s*<div id="cell"'),
    "in a numbered list": (f"1. item\n\n{indent(FENCE, '    ')}\n2. next\n", r'<li>\s*<p>item</p>\s*<div id="cell"'),
    "in a list in a list": (
        f"- item\n\n    - inner\n\n{indent(FENCE, '        ')}",
        r'<ul>\s*<li>\s*<p>inner</p>\s*<div id="cell"',
    ),
    "in a quote": (f"> quote\n>\n{indent(FENCE, '> ')}", r'<blockquote>\s*<p>quote</p>\s*<div id="cell"'),
    "in a list in a quote": (
        f"> - item\n>\n{indent(FENCE, '>     ')}",
        r'<blockquote>\s*<ul>\s*<li>\s*<p>item</p>\s*<div id="cell"',
    ),
    "in a quote in a list": (
        f"- item\n\n    > quote\n    >\n{indent(FENCE, '    > ')}",
        r'<li>\s*<p>item</p>\s*<blockquote>\s*<p>quote</p>\s*<div id="cell"',
    ),
    "in a hint": (f"/// hint\n{FENCE}///\n", r'<details class="hint">\s*<summary>Hint</summary>\s*<div id="cell"'),
    "in a predict": (
        f"/// predict\n{FENCE}//// reveal\n////\n///\n",
        r'<div class="admonition predict">\s*<p class="admonition-title">Predict</p>\s*<div id="cell"',
    ),
    "in a reveal": (
        f"/// predict\n//// reveal\n{FENCE}////\n///\n",
        r'<details class="reveal">\s*<summary>Reveal</summary>\s*<div id="cell"',
    ),
    "in a list in a hint in a hint in a predict": (
        f"/// predict\n//// hint\n///// hint\n- item\n\n{indent(FENCE, '    ')}/////\n////\n//// reveal\n////\n///\n",
        r'<details class="hint">.*<details class="hint">.*<li>\s*<p>item</p>\s*<div id="cell"',
    ),
}


@pytest.mark.parametrize(("fence", "place"), PLACES.values(), ids=PLACES)
def test_fence_runs_and_is_shown(fence: str, place: str, book: Book) -> None:
    book.put(fence)
    page = built(book)
    blocks = code_blocks(page)
    assert blocks["cell"].rstrip("\n") == CODE.rstrip("\n")
    assert blocks["cell-output"].rstrip("\n") == SAID
    assert re.search(place, page, re.DOTALL)


def test_fence_in_a_solution_and_in_an_exercise_runs(book: Book) -> None:
    book.write("lessons_src/tiny-01/exercises/ask/solution.py", "### BEGIN SOLUTION\nsix = 6\n### END SOLUTION\n")
    inner = FENCE.replace("#cell", "#more") + "\nprint\n"
    book.put(f"/// exercise\n    name: ask\n\n{FENCE}\n//// solution\n{inner}////\n///\n")
    page = built(book)
    assert re.search(r'<div class="admonition exercise">.*<div id="cell".*<details class="solution">', page, re.DOTALL)
    blocks = code_blocks(page)
    assert blocks["solution-ask"] == "six = 6\n"
    assert blocks["more-output"].rstrip("\n") == SAID


def test_output_of_a_predict_waits_in_its_reveal(book: Book) -> None:
    book.put(f"/// predict\n{cell('print(5)')}\n//// reveal\nIt is five.\n////\n///\n")
    page = built(book)
    assert re.search(r'<div id="cell".*<details class="reveal">.*<div id="cell-output".*It is five', page, re.DOTALL)


@pytest.mark.parametrize(
    "encoded",
    [
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.rstrip("\n").encode(),
    ],
    ids=["CRLF", "CR", "byte order mark", "no end of the last line"],
)
def test_file_as_another_editor_saves_it_gives_the_same_page(encoded: bytes, book: Book) -> None:
    before = book.read(PAGE), book.read(RECORD)
    book.write(LESSON, encoded)
    result = book.build()
    assert (result.code, result.executed) == (0, [])
    assert (book.read(PAGE), book.read(RECORD)) == before


@pytest.mark.parametrize(("before", "after"), [("", ""), ("- item\n\n", "    "), ("> quote\n>\n", "> ")])
def test_no_text_in_code_or_output_becomes_markup(before: str, after: str, book: Book) -> None:
    plain = f'text = r"""{NASTY}"""\nprint(text)'
    page_before = book.html()
    book.put(before + indent(f"``````python {{.run #cell}}\n{plain}\n``````\n", after))
    page = built(book)
    blocks = code_blocks(page)
    assert blocks["cell"].rstrip("\n") == plain
    said = "\n".join(line.rstrip() for line in NASTY.rstrip("\n").split("\n"))
    assert blocks["cell-output"].rstrip("\n") == said
    assert said in blocks["recorded-run"]
    for markup in ("<h2", "<h1", "<details", "<a ", "<script", "<hr", "<abbr", "admonition", "<math", "no-id"):
        code = re.sub("<pre>.*?</pre>", "", page, flags=re.DOTALL)
        assert code.count(markup) == page_before.count(markup), markup


def test_listing_is_shown_and_not_run(book: Book) -> None:
    book.put("```text\n$ python -c 'print(1)'\n```")
    assert "$ python -c 'print(1)'\n</code>" in built(book)
    assert book.build().executed == []


def test_inline_code_may_name_a_block_word(book: Book) -> None:
    book.put("Write `/// predict` there, or\n`///`.")
    assert "<code>/// predict</code>" in built(book)


def test_lesson_without_steps_has_no_main(book: Book) -> None:
    book.swap(".step #double", ".run #double")
    book.swap(".step #use", ".run #use")
    book.swap("/// main\n///\n", "")
    built(book)
    assert json.loads(book.read(RECORD))["main"] == []
    assert not (book.root / "docs/lessons/tiny-01").exists()


def test_lesson_without_cells_is_a_page(book: Book) -> None:
    book.write(LESSON, f"{FRONT}\n## Words\n\nOnly words.\n")
    assert "Only words." in built(book)


def test_of_shows_and_runs_every_kind_of_symbol(book: Book) -> None:
    source = (
        "import functools\n\n\n"
        "@functools.cache\ndef once():\n    return LIMIT\n\n\n"
        'class Pair:\n    """Two."""\n\n    left: int = 1\n\n\n'
        "LIMIT: int = (\n    7\n)\nTEXT = '''a\n\nb'''\n"
    )
    book.write("tiny/kern.py", book.read("tiny/kern.py") + "\n\n" + source)
    names = 'of="tiny.kern:LIMIT, once, Pair, TEXT"'
    book.put(
        f"{cell('import functools')}\n```python {{.run #symbols {names}}}\n```\n\n```python {{.run #more}}\n"
        "print(once(), Pair.left, TEXT)\n```\n"
    )
    blocks = code_blocks(built(book))
    assert blocks["symbols"] == (
        "LIMIT: int = (\n    7\n)\n\n\n@functools.cache\ndef once():\n    return LIMIT\n\n\n"
        "class Pair:\n    \"\"\"Two.\"\"\"\n\n    left: int = 1\n\n\nTEXT = '''a\n\nb'''\n"
    )
    assert blocks["more-output"] == "7 1 a\n\nb\n"


def test_of_counts_lines_as_python_does(book: Book) -> None:
    book.write("tiny/kern.py", 'PAGE = "\x0c \u2028"\n' + book.read("tiny/kern.py"))
    book.put("Anew.")
    assert code_blocks(built(book))["double"].startswith("def double(x):")


VALUES = {
    "import numpy as np\nvalue = np.arange(4, dtype=np.int8).reshape(2, 2)": [[0, 1], [2, 3]],
    "import numpy as np\nvalue = np.array([True, False])": [True, False],
    "import numpy as np\nvalue = np.array(['a', 'b'])": ["a", "b"],
    "import numpy as np\nvalue = {'f32': np.float32(0.5), 'i64': np.int64(3), 'b': np.bool_(True)}": {
        "f32": 0.5,
        "i64": 3,
        "b": True,
    },
    "import numpy as np, ml_dtypes\nvalue = np.array([1.5, -2], ml_dtypes.bfloat16)": [1.5, -2.0],
    "import ml_dtypes\nvalue = ml_dtypes.bfloat16(0.25)": 0.25,
    "value = (1, None, [True, 'é \\ud800'], {})": [1, None, [True, "é \\ud800"], {}],
}


@pytest.mark.parametrize(("code", "kept"), VALUES.items(), ids=[code.split("value = ")[1] for code in VALUES])
def test_value_is_kept(code: str, kept: object, book: Book) -> None:
    book.put(cell(code, 'keep="value"'))
    built(book)
    assert json.loads(book.read(RECORD))["cells"]["cell"]["kept"]["value"] == kept


def test_kept_value_stands_in_prose_titles_and_captions(book: Book) -> None:
    kept = cell('n = 3\nname = "float32[2,4]"\nshape = (2, 4)\nyes = True', 'keep="n, name, shape, yes"')
    book.put(
        f"{kept}\nSee `{{{{ cell.shape }}}}`, {{{{cell.name}}}}, {{{{ cell.yes }}}}.\n\n"
        "/// hint | The {{ cell.n }}\nMore.\n///\n"
    )
    page = built(book)
    assert "See <code>(2, 4)</code>, float32[2,4], True." in page
    assert "<summary>The 3</summary>" in page


def test_expected_exception_and_warning_pass(book: Book) -> None:
    book.put(
        cell("import warnings\n\nwarnings.warn('old', DeprecationWarning)", 'warns="DeprecationWarning"')
        + "\n```python {.run #fail raises=\"IndexError\"}\nprint('so far')\n[][0]\n```\n"
    )
    assert code_blocks(built(book))["fail-output"] == "so far\nIndexError: list index out of range\n"


def test_output_of_processes_threads_and_file_descriptors_is_recorded_in_order(book: Book) -> None:
    book.put(
        cell(
            "import os, subprocess, threading\n\n"
            "print('one')\n"
            "os.system('echo two')\n"
            "subprocess.run(['echo', 'three'], check=True)\n"
            "thread = threading.Thread(target=print, args=('four',))\n"
            "thread.start()\nthread.join()\n"
            "os.write(1, b'five\\xff\\n')".replace("print('one')", "print('one', flush=True)")
        )
    )
    assert code_blocks(built(book))["cell-output"] == "one\ntwo\nthree\nfive\ufffd\nfour\n"


def test_colours_are_removed_and_control_characters_shown(book: Book) -> None:
    code = r"print('\x1b[1;31mred\x1b[0m', '\x07bell\r', '\x1b]0;title\x07', 'a\u202eb', '\u200d', '\x85\u2028é\t.')"
    book.put(cell(code))
    said = code_blocks(built(book))["cell-output"]
    assert said == r"red \x07bell\x0d \x1b]0;title\x07 a\u202eb \u200d \x85\u2028é" + "\t.\n"


def test_control_characters_of_an_expected_exception_are_shown(book: Book) -> None:
    book.put(cell(r"raise ValueError('\x1b[1mbold\x1b[0m \x02\ud800')", 'raises="ValueError"'))
    assert code_blocks(built(book))["cell-output"] == "ValueError: bold \\x02\\ud800\n"


LEFT_BEHIND = """
import os, subprocess, sys, threading, time
sleep = [sys.executable, "-c", "import time; time.sleep(1000)  # of a lesson"]
if not os.fork():
    os.setsid()
    os.execv(sleep[0], sleep)
if not os.fork():
    time.sleep(1000)
children = [
    subprocess.Popen(sleep),
    subprocess.Popen(sleep, start_new_session=True, env=ENV),
    subprocess.Popen([*sleep[:2], f"import subprocess; subprocess.Popen({sleep})"]),
]
threading.Thread(target=time.sleep, args=(1000,)).start()
print("done")
"""


def sleepers() -> list[int]:
    found = psutil.process_iter(["cmdline", "status"])
    return [one.pid for one in found if "# of a lesson" in " ".join(one.info["cmdline"] or ()) and one.is_running()]


@pytest.mark.parametrize("end", ["", "os._exit(3)"])
def test_threads_and_processes_left_behind_end_with_the_lesson(end: str, book: Book) -> None:
    book.put(cell(LEFT_BEHIND.replace("ENV", "None" if end else "{}") + end))
    result = book.build()
    assert result.code == (1 if end else 0), result.err
    psutil.wait_procs([psutil.Process(pid) for pid in sleepers() if psutil.pid_exists(pid)], timeout=5)
    assert sleepers() == []
    assert not [child for child in psutil.Process().children() if "child.py" in " ".join(child.cmdline())]


def test_fork_that_leaves_its_cell_ends_there(book: Book) -> None:
    code = "import os\n\npid = os.fork()\nprint(os.waitpid(pid, 0)[1] if pid else 'child')"
    book.put(cell(code) + "\n```python {.run #next}\nprint('once')\n```\n")
    blocks = code_blocks(built(book))
    assert (blocks["cell-output"], blocks["next-output"]) == ("child\n0\n", "once\n")


def test_lesson_runs_in_a_folder_of_its_own(book: Book) -> None:
    book.put(cell("from pathlib import Path\n\nPath('note.txt').write_text('x')\nprint(Path('note.txt').read_text())"))
    before = set(book.tree())
    built(book)
    assert set(book.tree()) == before


def test_environment_of_the_author_changes_no_result(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONHASHSEED", "JAX_PLATFORMS", "LC_ALL", "PYTHONWARNINGS", "XLA_FLAGS"):
        monkeypatch.setenv(name, "7")
    book.put(
        cell(
            "import os\n\n"
            "print(os.environ['PYTHONHASHSEED'], os.environ['JAX_PLATFORMS'], os.environ['LC_ALL'])\n"
            "print('7' in os.environ.values())"
        )
    )
    assert code_blocks(built(book))["cell-output"] == "0 cpu C.UTF-8\nFalse\n"


def test_emoji_and_quotes_in_the_title_reach_the_page(book: Book) -> None:
    book.swap("title: A tiny lesson", "title: 'A \"tiny\" 🙂 lesson'")
    book.swap("runs_on: CPU", "runs_on: CPU & <GPU>")
    page = built(book)
    assert book.read(PAGE).splitlines()[1] == r'title: "A \"tiny\" 🙂 lesson"'
    assert "CPU &amp; &lt;GPU&gt;</p>" in page


def test_warning_about_the_code_itself_may_be_expected_and_hides_no_import(book: Book) -> None:
    kind = "SyntaxWarning" if sys.version_info >= (3, 12) else "DeprecationWarning"
    book.put(cell('import tiny.other\n\nprint("\\d", tiny.other.THREE)', f'warns="{kind}"'))
    assert code_blocks(built(book))["cell-output"] == "\\d 3\n"
    book.write("tiny/other.py", "THREE = 33\n")
    assert book.build().executed == ["tiny-01"]


def test_module_of_the_same_name_as_its_package_is_the_package(book: Book) -> None:
    book.write("tiny/kern/__init__.py", Path(book.root / "tiny/kern.py").read_text())
    book.write("tiny/kern.py", "x = 1\n")
    book.put("Anew.")
    assert code_blocks(built(book))["double"].startswith("def double(x):")
