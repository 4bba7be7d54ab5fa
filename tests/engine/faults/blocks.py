"""Blocks, their options, their places, and what the build fills."""

from __future__ import annotations

from tests.engine.tiny import HERE, LESSON, Fault, both, cell, put, swap, write

SOLUTION = "lessons_src/tiny-01/exercises/ask/solution.py"
GOOD_SOLUTION = "### BEGIN SOLUTION\nsix = double(3)\n### END SOLUTION\nprint(six)\n"
EXERCISE = """\
/// exercise | Ask
    name: ask

Double three.

//// solution
////
///
"""
PREDICT = """\
/// predict
What is it?

//// reveal
Four.
////
///
"""


def exercise(name: str, solution: str | bytes, says: str, next_step: str, mended: str) -> Fault:
    """A fault in an exercise's solution file."""
    return Fault(
        name,
        both(put(EXERCISE), write(SOLUTION, solution)),
        f"{SOLUTION}:{says}",
        next_step,
        write(SOLUTION, mended),
    )


FAULTS = [
    Fault(
        "unknown block",
        PREDICT.replace("predict", "predicts"),
        "23: unknown block `predicts`",
        "write `predict`.",
        PREDICT,
    ),
    Fault(
        "block is not closed",
        "/// hint\nThink.",
        "23: the `hint` block is not closed before `main` at line 26",
        "add a line `///` above that, or write `//// main` there and `////` where it ends.",
        "/// hint\nThink.\n///\n",
    ),
    Fault(
        "last block is not closed",
        swap("/// record\n///\n", "/// record\n"),
        "28: the `record` block is not closed",
        "add a line `///` where it ends.",
        swap("/// record\n", "/// record\n///\n"),
    ),
    Fault(
        "inner block is not closed",
        PREDICT.replace("\n////\n", "\n"),
        "26: the `reveal` block is not closed",
        "add a line `////` where it ends.",
        PREDICT,
    ),
    Fault(
        "block closed by other slashes",
        "/// hint\nThink.\n////",
        "25: `////` closes no open block",
        "remove the line, or open the block it closes.",
        "/// hint\nThink.\n///",
    ),
    Fault(
        "inner block has no more slashes than the outer",
        PREDICT.replace("////", "///"),
        "23: the `predict` block is not closed before `reveal` at line 26",
        "add a line `///` above that, or write `//// reveal` there and `////` where it ends.",
        PREDICT,
    ),
    Fault(
        "block line with a typing error",
        "/// hint: Think",
        "23: cannot read the block line `/// hint: Think`",
        "write `/// word | title`, or `///` to close.",
        "/// hint | Think\n///",
    ),
    Fault(
        "block line is indented",
        "- item\n\n    /// hint | More",
        "25: a block line is indented or quoted",
        "start it at the margin.",
        "- item\n\n/// hint | More\n///",
    ),
    Fault(
        "block line is quoted",
        "> /// hint | More",
        "23: a block line is indented or quoted",
        "start it at the margin.",
        "/// hint | More\n///",
    ),
    Fault(
        "options where none belong",
        "/// hint\n    name: ask\n///",
        "24: `hint` takes no options",
        "leave an empty line above, and start the text at the margin.",
        "/// hint\n\nname: ask\n///",
    ),
    Fault(
        "unknown option",
        both(put(EXERCISE.replace("    name: ask", "    nome: ask")), write(SOLUTION, GOOD_SOLUTION)),
        "24: the `exercise` block has an unknown key `nome`",
        "write `name`, or remove the line.",
        put(EXERCISE),
    ),
    Fault(
        "option given twice",
        both(put(EXERCISE.replace("    name: ask", "    name: ask\n    name: tell")), write(SOLUTION, GOOD_SOLUTION)),
        f"25: the `exercise` block has `name` twice; first at {LESSON}:24",
        "remove one of the two.",
        put(EXERCISE),
    ),
    Fault(
        "option is missing",
        both(put(EXERCISE.replace("    name: ask\n", "")), write(SOLUTION, GOOD_SOLUTION)),
        "23: the `exercise` block has no `name`",
        "add `name: ...`.",
        put(EXERCISE),
    ),
    Fault(
        "option is no text",
        both(put(EXERCISE.replace("name: ask", "name: 7")), write(SOLUTION, GOOD_SOLUTION)),
        "24: `name` in the `exercise` block is not a text in quotes: '7'",
        "write a text in quotes.",
        both(
            put(EXERCISE.replace("name: ask", 'name: "seven"')),
            write(SOLUTION.replace("ask", "seven"), GOOD_SOLUTION),
        ),
    ),
    Fault(
        "text follows the options at once",
        both(put(EXERCISE.replace("ask\n\n", "ask\n")), write(SOLUTION, GOOD_SOLUTION)),
        "25: text follows the options of `exercise` at once",
        "leave an empty line after the options.",
        put(EXERCISE),
    ),
    Fault(
        "predict without a reveal",
        "/// predict\nWhat is it?\n///",
        "23: the `predict` block has no `reveal`",
        "add `//// reveal` and `////` in it.",
        "/// predict\nWhat is it?\n\n//// reveal\n////\n///",
    ),
    Fault(
        "predict with two reveals",
        PREDICT.replace("////\n///", "////\n//// reveal\n////\n///"),
        f"29: a second `reveal` in the `predict` of {LESSON}:23",
        "merge the two.",
        PREDICT,
    ),
    Fault(
        "predict in a predict",
        "/// predict\n\n//// hint\n\n///// predict\n\n////// reveal\n//////\n/////\n////\n\n//// reveal\n////\n///",
        "27: a predict block stands in another",
        "close the outer one first.",
        "/// predict\n\n//// hint\n////\n\n//// reveal\n////\n///\n\n/// predict\n\n//// reveal\n////\n///",
    ),
    Fault(
        "reveal outside predict",
        "/// reveal\nFour.\n///",
        "23: a `reveal` stands outside `predict`",
        "put it directly into its `predict` block.",
        "/// predict\n//// reveal\nFour.\n////\n///",
    ),
    Fault(
        "reveal deeper in predict",
        "/// predict\n\n//// hint\n\n///// reveal\n/////\n////\n///",
        "27: a `reveal` stands outside `predict`",
        "put it directly into its `predict` block.",
        "/// predict\n\n//// hint\n////\n\n//// reveal\n////\n///",
    ),
    Fault(
        "solution outside exercise",
        "/// solution\nSix.\n///",
        "23: a `solution` stands outside `exercise`",
        "put it directly into its `exercise` block.",
        both(put(EXERCISE), write(SOLUTION, GOOD_SOLUTION)),
    ),
    Fault(
        "exercise without a solution",
        both(put(EXERCISE.replace("//// solution\n////\n", "")), write(SOLUTION, GOOD_SOLUTION)),
        "23: the `exercise` block has no `solution`",
        "add `//// solution` and `////` in it.",
        put(EXERCISE),
    ),
    Fault(
        "solution file is missing",
        EXERCISE,
        "24: there is no exercises/ask/solution.py",
        "correct `name:`, or write that file in the lesson's folder.",
        write(SOLUTION, GOOD_SOLUTION),
    ),
    Fault(
        "exercise named like a path",
        both(put(EXERCISE.replace("name: ask", "name: ../ask")), write(SOLUTION, GOOD_SOLUTION)),
        "24: there is no exercises/../ask/solution.py",
        "correct `name:`, or write that file in the lesson's folder.",
        put(EXERCISE),
    ),
    Fault(
        "two exercises of one name",
        both(put(EXERCISE + "\n" + EXERCISE), write(SOLUTION, GOOD_SOLUTION)),
        f"33: the id `ask` is taken by {LESSON}:24",
        "rename one of the two.",
        both(
            put(EXERCISE + "\n" + EXERCISE.replace("name: ask", "name: tell")),
            write(SOLUTION.replace("ask", "tell"), GOOD_SOLUTION),
        ),
    ),
    exercise(
        "solution not ended",
        "### BEGIN SOLUTION\nprint(6)\n",
        "1: the solution is not ended",
        "add `### END SOLUTION` after its last line.",
        "### BEGIN SOLUTION\nprint(6)\n### END SOLUTION\n",
    ),
    exercise(
        "solution never begun",
        "print(6)\n### END SOLUTION\n",
        "2: a solution ends that never began",
        "add `### BEGIN SOLUTION` above it.",
        "### BEGIN SOLUTION\nprint(6)\n### END SOLUTION\n",
    ),
    exercise(
        "solution begun in another",
        "### BEGIN SOLUTION\nx = 1\n### BEGIN SOLUTION\nprint(6)\n### END SOLUTION\n",
        "3: a solution begins inside the one of line 1",
        "end that one first.",
        "### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n### BEGIN SOLUTION\nprint(6)\n### END SOLUTION\n",
    ),
    exercise(
        "solution is not UTF-8",
        b"print('caf\xe9')\n",
        "1: byte 0xe9 is not UTF-8",
        "save the file as UTF-8.",
        "print(6)\n",
    ),
    Fault(
        "no main block",
        swap("/// main\n///\n", ""),
        "1: the lesson has steps but no `main` block",
        "add the lines `/// main` and `///` where it belongs.",
        swap("/// record", "/// main\n///\n\n/// record"),
    ),
    Fault(
        "two main blocks",
        "/// main\n///",
        f"26: a second `main` block; the first is at {LESSON}:23",
        "remove one of the two.",
        "Here.",
    ),
    Fault(
        "main without steps",
        both(swap(".step #double", ".run #double"), swap(".step #use", ".run #use")),
        "25: a `main` block in a lesson without steps",
        "remove it.",
        swap("/// main\n///\n", ""),
    ),
    Fault(
        "no record block",
        swap("/// record\n///\n", ""),
        "1: the lesson has cells but no `record` block",
        "add the lines `/// record` and `///` where it belongs.",
        swap("/// main", "/// record\n///\n\n/// main"),
    ),
    Fault(
        "text in a block that the build fills",
        swap("/// main\n///", "/// main\n\nRun it.\n///"),
        "27: a `main` block holds nothing but its options",
        "indent an option by four spaces; move other text out of the block.",
        swap("/// main\n\nRun it.\n///", "Run it.\n\n/// main\n///"),
    ),
    Fault(
        "fence in a block that the build fills",
        swap("/// main\n///", "/// main\n\n" + cell("print(1)") + "///"),
        "27: a `main` block holds nothing but its options",
        "move the fence out of the block.",
        swap("/// main\n\n" + cell("print(1)") + "///", cell("print(1)") + "\n/// main\n///"),
    ),
    Fault(
        "block in a block that the build fills",
        swap("/// main\n///", "/// main\n//// hint\n////\n///"),
        "26: a `main` block holds nothing",
        "close `main` before `hint`.",
        swap("/// main\n//// hint\n////\n///", "/// main\n///\n\n/// hint\n///"),
    ),
    Fault(
        "title of a block that the build fills",
        swap("/// main", "/// main | The program"),
        "25: `main` takes no title",
        "write `/// main`, and the title above it as a heading.",
        swap("/// main | The program", "## The program\n\n/// main"),
    ),
    Fault(
        "reference to an unknown value",
        "It is {{ use.five }}.",
        "23: no cell recorded `use.five`",
        'add keep="five" to the cell, or use one of: use.four.',
        "It is {{ use.four }}.",
    ),
    Fault(
        "reference without a cell",
        "It is {{ four }}.",
        "23: `{{ four }}` names no kept value",
        "write {{ cell.name }}: a cell's id and a name in its `keep`.",
        "It is {{ use.four }}.",
    ),
    Fault(
        "reference to a value that could turn into markup",
        cell('name = "<b>"', 'keep="name"') + "\nIt is {{ cell.name }}.",
        "27: `cell.name` holds `<`, which could turn into markup: `<b>`",
        "keep a number, a list of numbers or plain words for it.",
        cell('name = "bold"', 'keep="name"') + "\nIt is {{ cell.name }}.",
    ),
    Fault(
        "malformed TeX",
        "It is\n$x^{2$.",
        "24: formula `x^{2`: its braces do not balance",
        "close every `{`; write a literal brace as `\\{`.",
        "It is\n$x^{2}$.",
    ),
    Fault(
        "second title",
        put("# Another title\n"),
        f"{HERE}: `Another title` is a second title of the page",
        "begin the heading with `## `: the title comes from the front matter.",
        swap("# Another title", "## Another title"),
    ),
    Fault(
        "link to an anchor that is not there",
        put("See [the problem](#the-problm).\n"),
        f"{HERE}: the link `#the-problm` leads nowhere on the page",
        "write `the-problem`.",
        swap("#the-problm", "#the-problem"),
    ),
    Fault(
        "picture of another host",
        put("![A picture](https://example.com/x.png)\n"),
        f"{HERE}: the page would use a file of another host: `https://example.com/x.png`",
        "remove it: a page works offline and asks no other host.",
        swap("![A picture](https://example.com/x.png)", "A picture."),
    ),
    Fault(
        "script in the text",
        put("<script>alert(1)</script>\n"),
        f"{HERE}: the page would use a script or a frame: `<script`",
        "remove it: a page works offline and asks no other host.",
        swap("<script>alert(1)</script>", "Text."),
    ),
]
