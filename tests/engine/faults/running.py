"""Cells that fail when they run, or whose results cannot be recorded."""

from __future__ import annotations

from tests.engine.tiny import KERN, Edit, Fault, both, cell, put, swap, write

EXPECT = "mend the code at that line, or mark the cell raises={} if it is meant to fail."
KILLED = "remove the call that ends it (os._exit, a kill, a crash in native code)."
ANOTHER = cell("print(1)")


def code(name: str, code: str, says: str, next_step: str, mended: str, attributes: str = "") -> Fault:
    """A fault in a cell's code."""
    return Fault(name, cell(code, attributes), says, next_step, cell(mended, attributes))


def attribute(name: str, attributes: str, code: str, says: str, next_step: str, mended: str) -> Fault:
    """A fault in what a cell is said to do."""
    return Fault(name, cell(code, attributes), says, next_step, cell(code, mended))


def kept(name: str, code: str, says: str, next_step: str, mended: str) -> Fault:
    """A fault in a kept value."""
    return Fault(
        name,
        cell(code, 'keep="value"'),
        f"23: cell `cell` cannot keep `value`: {says}",
        next_step,
        cell(mended, 'keep="value"'),
    )


def solution(text: str) -> Edit:
    return write("lessons_src/tiny-01/exercises/ask/solution.py", text)


EXERCISE = put("/// exercise | Ask\n    name: ask\n\n//// solution\n////\n///\n")

FAULTS = [
    code(
        "exception",
        'print("before")\n\n1 / 0',
        "26: cell `cell` raised ZeroDivisionError: division by zero",
        EXPECT.format('"ZeroDivisionError"'),
        'print("before")\n\n1 / 1',
    ),
    attribute(
        "exception that is meant",
        "",
        "1 / 0",
        "24: cell `cell` raised ZeroDivisionError: division by zero",
        EXPECT.format('"ZeroDivisionError"'),
        'raises="ZeroDivisionError"',
    ),
    code(
        "exception with many lines",
        'raise ValueError("first\\nsecond\\x1b[31m")',
        "24: cell `cell` raised ValueError: first\nsecond",
        EXPECT.format('"ValueError"'),
        "pass",
    ),
    code(
        "syntax error",
        "four = 4\nif four\n    print(four)",
        "25: cell `cell` raised SyntaxError: expected ':'",
        "mend the code at that line.",
        "four = 4\nif four:\n    print(four)",
    ),
    code(
        "indentation error",
        "four = 4\n  four",
        "25: cell `cell` raised IndentationError: unexpected indent",
        "mend the code at that line.",
        "four = 4\nfour",
    ),
    Fault(
        "exception in a step",
        swap("double(2)", "double()"),
        "19: cell `use` raised TypeError: double() missing 1 required positional argument: 'x'",
        "mend the code at that line.",
        swap("double()", "double(2)"),
    ),
    Fault(
        "exception in a symbol of of=",
        both(swap("2 * x", "2 * y", "tiny/kern.py"), put("Here.")),
        "19: cell `use` raised NameError: name 'y' is not defined\n  in tiny/kern.py:8, double",
        "mend the code at that line.",
        swap("2 * y", "2 * x", "tiny/kern.py"),
    ),
    Fault(
        "exception while a symbol of of= is made",
        both(
            put('```python {.run #cell of="tiny.kern:HALF"}\n```'),
            write("tiny/kern.py", KERN + "HALF = LIMIT / 0\n"),
            swap("double(2)", "double(2)\nLIMIT = 10"),
        ),
        "24: cell `cell` raised ZeroDivisionError: division by zero\n  in tiny/kern.py:12",
        EXPECT.format('"ZeroDivisionError"'),
        write("tiny/kern.py", KERN + "HALF = LIMIT / 2\n"),
    ),
    Fault(
        "exception in an imported module",
        both(put(cell("import tiny.other\n\ntiny.other.f()")), write("tiny/other.py", "def f():\n    1 / 0\n")),
        "26: cell `cell` raised ZeroDivisionError: division by zero\n  in tiny/other.py:2, f",
        EXPECT.format('"ZeroDivisionError"'),
        write("tiny/other.py", "def f():\n    1 / 1\n"),
    ),
    Fault(
        "exception while a module is imported",
        both(put(cell("import tiny.other")), write("tiny/other.py", "THREE = 3\n1 / 0\n")),
        "24: cell `cell` raised ZeroDivisionError: division by zero\n  in tiny/other.py:2",
        EXPECT.format('"ZeroDivisionError"'),
        write("tiny/other.py", "THREE = 3\n"),
    ),
    Fault(
        "syntax error in an imported module",
        both(put(cell("import tiny.other")), write("tiny/other.py", "THREE = 3\ndef f()\n")),
        "24: cell `cell` raised SyntaxError: expected ':'\n  in tiny/other.py:2",
        "mend the code at that line.",
        write("tiny/other.py", "THREE = 3\ndef f(): ...\n"),
    ),
    Fault(
        "imported module is not there",
        cell("import tiny.another"),
        "24: cell `cell` raised ModuleNotFoundError: No module named 'tiny.another'",
        EXPECT.format('"ModuleNotFoundError"'),
        cell("import tiny.other"),
    ),
    Fault(
        "exception in a solution",
        both(EXERCISE, solution("def ask():\n    return double(3) / 0\n\n\nask()\n")),
        "24: cell `ask` raised ZeroDivisionError: division by zero\n"
        "  in lessons_src/tiny-01/exercises/ask/solution.py:2, ask",
        "mend the code at that line.",
        solution("def ask():\n    return double(3) / 1\n\n\nask()\n"),
    ),
    Fault(
        "syntax error in a solution",
        both(EXERCISE, solution("ask = 1\nif ask\n")),
        "24: cell `ask` raised SyntaxError: expected ':'\n  in lessons_src/tiny-01/exercises/ask/solution.py:2",
        "mend the code at that line.",
        solution("ask = 1\nif ask: pass\n"),
    ),
    code(
        "cell runs too long",
        "import time\n\ntime.sleep(60)",
        "23: cell `cell` did not end within 1 s",
        'make it smaller, or give it more time, as in timeout="300".',
        "import time\n\ntime.sleep(0)",
        'timeout="1"',
    ),
    code(
        "interpreter is killed",
        "import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)",
        "23: cell `cell` was killed by SIGKILL",
        KILLED,
        "import os, signal",
    ),
    code(
        "interpreter is killed by a signal without a name",
        "import os\n\nos.kill(os.getpid(), 40)",
        "23: cell `cell` was killed by signal 40",
        KILLED,
        "import os",
    ),
    code(
        "os._exit",
        "import os\n\nos._exit(0)",
        "23: cell `cell` ended the interpreter (exit code 0)",
        KILLED,
        "import os",
    ),
    code(
        "segmentation fault",
        "import ctypes\n\nctypes.string_at(0)",
        "23: cell `cell` was killed by SIGSEGV",
        KILLED,
        "import ctypes",
    ),
    code(
        "interpreter ends and leaves children behind",
        "import os, time\n\nif os.fork():\n    os._exit(3)\nwhile True:\n    time.sleep(0.1)\n    print(1, flush=True)",
        "23: cell `cell` ended the interpreter (exit code 3)",
        KILLED,
        "import os",
    ),
    code(
        "sys.exit",
        "import sys\n\nsys.exit(0)",
        "26: cell `cell` called sys.exit",
        "remove the call: the next cells still have to run.",
        "import sys",
    ),
    code(
        "input",
        "name = input()",
        "24: cell `cell` asked for input",
        "write the value into the cell: nobody is there to type.",
        'name = "JAX"',
    ),
    code(
        "output over the limit",
        'print("x" * 70_000)',
        "23: cell `cell` printed more than 64 KB",
        "print less: a shape, a count, the first rows.",
        'print("x" * 60_000)',
    ),
    code(
        "endless prints",
        'while True:\n    print("x" * 1000)',
        "23: cell `cell` printed more than 64 KB",
        "print less: a shape, a count, the first rows.",
        'print("x" * 1000)',
    ),
    code(
        "endless prints of children",
        "import os\n\nfor _ in range(3):\n    os.fork()\nwhile True:\n    print(1)",
        "23: cell `cell` printed more than 64 KB",
        "print less: a shape, a count, the first rows.",
        "print(1)",
    ),
    code(
        "record over the limit",
        'a = b = c = "x" * 400_000',
        "23: the record takes 1200 KB, more than 1000; most of it is cell `cell`",
        "print or keep less in that cell.",
        'a = b = c = "x" * 4_000',
        'keep="a, b, c"',
    ),
    code(
        "text on stderr",
        'import sys\n\nprint("look out", file=sys.stderr)',
        "23: cell `cell` wrote to stderr: look out",
        "mend what it complains of, or print to stdout.",
        'print("look out")',
    ),
    code(
        "text on stderr of a child",
        'import os\n\nos.system("echo look out >&2")',
        "23: cell `cell` wrote to stderr: look out",
        "mend what it complains of, or print to stdout.",
        'import os\n\nos.system("echo look out")',
    ),
    code(
        "unexpected warning",
        'import warnings\n\nwarnings.warn("old", DeprecationWarning)',
        "26: cell `cell` warned: DeprecationWarning: old",
        'mend the call, or expect it with warns="DeprecationWarning".',
        "import warnings",
    ),
    attribute(
        "warning that is meant",
        "",
        'import warnings\n\nwarnings.warn("old", DeprecationWarning)',
        "26: cell `cell` warned: DeprecationWarning: old",
        'mend the call, or expect it with warns="DeprecationWarning".',
        'warns="DeprecationWarning"',
    ),
    attribute(
        "warning of another class",
        'warns="UserWarning"',
        'import warnings\n\nwarnings.warn("old", DeprecationWarning)',
        "26: cell `cell` warned: DeprecationWarning: old",
        'mend the call, or expect it with warns="DeprecationWarning".',
        'warns="DeprecationWarning"',
    ),
    attribute(
        "expected warning is absent",
        'warns="UserWarning"',
        "four = 4",
        "23: cell `cell` did not warn of UserWarning",
        "remove `warns=`, or make the cell warn.",
        "",
    ),
    attribute(
        "expected exception is absent",
        'raises="ValueError"',
        "four = 4",
        "23: cell `cell` did not raise ValueError",
        "remove `raises=`, or make the cell raise it.",
        "",
    ),
    attribute(
        "exception of another type",
        'raises="ValueError"',
        "[][0]",
        "24: cell `cell` raised IndexError: list index out of range, not ValueError",
        'write raises="IndexError", or mend the cell.',
        'raises="IndexError"',
    ),
    attribute(
        "exception of a more special type",
        'raises="LookupError"',
        "[][0]",
        "24: cell `cell` raised IndexError: list index out of range, not LookupError",
        'write raises="IndexError", or mend the cell.',
        'raises="IndexError"',
    ),
    attribute(
        "kept name is not defined",
        'keep="five"',
        "fiv = 5",
        "23: cell `cell` keeps `five` but does not define it",
        "define it in the cell, or correct `keep=`.",
        'keep="fiv"',
    ),
    kept(
        "kept value is not a number",
        'value = {"a": [1.0, float("nan")]}',
        "it holds nan, which is no JSON number",
        "keep a count, a mask or a text of it.",
        'value = str(float("nan"))',
    ),
    kept(
        "kept array holds an infinity",
        "import numpy as np\n\nvalue = np.array([1, -np.inf], np.float32)",
        "it holds -inf, which is no JSON number",
        "keep a count, a mask or a text of it.",
        "import numpy as np\n\nvalue = np.isinf(np.array([1, -np.inf], np.float32))",
    ),
    kept(
        "kept array is too large",
        "import numpy as np\n\nvalue = np.zeros(10_001)",
        "it has 10001 elements, more than 10000",
        "keep a slice or a summary.",
        "import numpy as np\n\nvalue = np.zeros(10_000)",
    ),
    kept(
        "kept text is too large",
        'value = "x" * 600_000',
        "it takes 600002 bytes, more than 500000",
        "keep a slice or a summary.",
        'value = ("x" * 600_000)[:80]',
    ),
    kept(
        "kept integer is too large",
        "value = 10**5000",
        "it holds an integer of more than 64 bits",
        "keep a text of it.",
        'value = f"1 and {5000} zeros"',
    ),
    kept(
        "kept value holds itself",
        "value = []\nvalue.append(value)",
        "it is nested too deep",
        "keep a flat value.",
        "value = [1]",
    ),
    kept(
        "kept value is not JSON",
        "value = {1, 2}",
        "set values are not JSON",
        "keep a number, a text, a list, a dict or an array.",
        "value = [1, 2]",
    ),
    kept(
        "kept array is complex",
        "import numpy as np\n\nvalue = np.array([1j])",
        "an array of complex128 is not JSON",
        "keep numbers or texts.",
        "import numpy as np\n\nvalue = np.array([1j]).imag",
    ),
    kept(
        "kept dict has a number as its key",
        "value = {1: 2}",
        "a dict's keys are not all texts",
        "make them texts.",
        'value = {"1": 2}',
    ),
    code(
        "address in the output",
        "print(object())",
        "23: cell `cell` prints `0xADDRESS`: an address differs on every run",
        "let it say what the object holds; write a hexadecimal number without its 0x.",
        'print("an object")',
    ),
    code(
        "path in the output",
        'print("/home/somebody/notes.txt")',
        "23: cell `cell` prints `/home/somebody/notes.txt`: an absolute path differs on every machine",
        "let it say the file's name alone.",
        'print("notes.txt")',
    ),
    code(
        "path on Windows in the output",
        r'print(r"in C:\Users\somebody\notes.txt")',
        r"23: cell `cell` prints `C:\Users\somebody\notes.txt`: an absolute path differs on every machine",
        "let it say the file's name alone.",
        'print("notes.txt")',
    ),
    code(
        "path as an address of a file",
        'print("file:///home/somebody/notes.txt")',
        "23: cell `cell` prints `file:///home/somebody/notes.txt`: an absolute path differs on every machine",
        "let it say the file's name alone.",
        'print("notes.txt")',
    ),
    code(
        "path in a kept value",
        'files = [{"/home/somebody/notes.txt": 1}]',
        "23: cell `cell` keeps `/home/somebody/notes.txt`: an absolute path differs on every machine",
        "let it say the file's name alone.",
        'files = [{"notes.txt": 1}]',
        'keep="files"',
    ),
    code(
        "path in an expected exception",
        'raise ValueError("no /home/somebody/notes.txt")',
        "23: cell `cell` prints `/home/somebody/notes.txt`: an absolute path differs on every machine",
        "let it say the file's name alone.",
        'raise ValueError("no notes.txt")',
        'raises="ValueError"',
    ),
    Fault(
        "step needs a run cell",
        swap(".step #double", ".run #double"),
        "19: main.py alone raised NameError: name 'double' is not defined",
        "move what the step needs into a .step cell: main.py has no .run cells.",
        swap(".run #double", ".step #double"),
    ),
    Fault(
        "step prints what a run cell decides",
        cell("four = 5") + "\n```python {.step #more}\n\nprint(four)\n```",
        "27: main.py alone prints `4` where `more` on the page prints `5`",
        "let no step depend on a .run cell, and let each end what it prints with a new line.",
        cell("five = 5") + "\n```python {.step #more}\n\nprint(four)\n```",
    ),
    Fault(
        "step ends in the middle of a line",
        '```python {.step #more}\nprint("more", end="")\n```',
        "23: main.py alone prints `morePASS: tiny-01` where `more` on the page prints `more`",
        "let no step depend on a .run cell, and let each end what it prints with a new line.",
        '```python {.step #more}\nprint("more")\n```',
    ),
    Fault(
        "future import after the first step",
        "```python {.step #more}\n\nfrom __future__ import annotations\n```",
        "25: main.py alone raised SyntaxError: from __future__ imports must occur at the beginning of the file",
        "mend the code at that line.",
        "Here.",
    ),
    Fault(
        "data file that the stamp does not see",
        both(
            put(cell("import tiny.other\n\nprint(tiny.other.TEXT)")),
            write("tiny/data.txt", "data"),
            write(
                "tiny/other.py", "from pathlib import Path\n\nTEXT = Path(__file__).with_name('data.txt').read_text()\n"
            ),
        ),
        "1: running the lesson used tiny/data.txt, which no import statement names: a change there would go unseen",
        "put the data into a cell.",
        put(cell('TEXT = "data"\nprint(TEXT)')),
    ),
    Fault(
        "import that the stamp does not see",
        cell('import importlib\n\nprint(importlib.import_module("tiny.other").THREE)'),
        "1: running the lesson used tiny/other.py, which no import statement names: a change there would go unseen",
        "import it with an import statement.",
        cell("import tiny.other\n\nprint(tiny.other.THREE)"),
    ),
]
