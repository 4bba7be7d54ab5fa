"""The file itself, and its front matter."""

from __future__ import annotations

from tests.engine.tiny import FRONT, LESSON, TEXT, Book, Edit, Fault, both, delete, swap, write


def missing(key: str) -> Fault:
    line = next(line for line in FRONT.splitlines() if line.startswith(f"{key}:"))
    return Fault(
        f"{key} is missing",
        swap(f"{line}\n", ""),
        f"1: the front matter has no `{key}`",
        f"add `{key}: ...`.",
        swap("---\n", f"---\n{line}\n"),
    )


def title(written: str, says: str, next_step: str, mended: str) -> Fault:
    return Fault(
        f"title is {written!r}",
        swap("title: A tiny lesson", f"title: {written}"),
        f"3: {says}",
        next_step,
        swap(f"title: {written}", f"title: {mended}"),
    )


def rename(old: str, new: str) -> Edit:
    def edit(book: Book) -> None:
        (book.root / "lessons_src" / old).rename(book.root / "lessons_src" / new)

    return edit


def folder_for_file(book: Book) -> None:
    delete(LESSON)(book)
    (book.root / LESSON).mkdir()


def file_for_folder(book: Book) -> None:
    (book.root / LESSON).rmdir()
    book.write(LESSON, TEXT)


FAULTS = [
    Fault(
        "file is missing",
        delete(LESSON),
        "1: the file is missing",
        "write it, or remove its folder.",
        write(LESSON, TEXT),
    ),
    Fault(
        "file is a folder",
        folder_for_file,
        "1: the file cannot be read: Is a directory",
        "make it a readable file.",
        file_for_folder,
    ),
    Fault(
        "bytes are not UTF-8",
        write(LESSON, TEXT.encode().replace(b"Here.", b"A caf\xe9.")),
        "23: byte 0xe9 is not UTF-8",
        "save the file as UTF-8.",
        write(LESSON, TEXT.replace("Here.", "A café.")),
    ),
    Fault(
        "control character",
        "A bell:\n\x07.",
        "24: control character U+0007 in the text",
        "remove the character.",
        "A bell:\n.",
    ),
    Fault(
        "line separator, which some readers take for a new line",
        "One\u2028two.",
        "23: control character U+2028 in the text",
        "remove the character.",
        "One two.",
    ),
    Fault(
        "no front matter",
        swap("---\nid:", "id:"),
        "1: no front matter",
        "start the file with `---`, its keys, and another `---`.",
        swap("id:", "---\nid:"),
    ),
    Fault(
        "front matter is not closed",
        swap("---\n\n## The problem", "\n## The problem"),
        "1: the front matter is not closed",
        "end it with a line `---`.",
        swap("\n## The problem", "---\n\n## The problem"),
    ),
    *map(missing, ("id", "title", "phase", "minutes", "runs_on", "objectives", "references")),
    Fault(
        "unknown key",
        swap("minutes: 5", "minuets: 5"),
        "5: the front matter has an unknown key `minuets`",
        "write `minutes`, or remove the line.",
        swap("minuets", "minutes"),
    ),
    Fault(
        "unknown key like no other",
        swap("minutes: 5", "minutes: 5\nxyz: 1"),
        "6: the front matter has an unknown key `xyz`",
        "use one of: id, kernels, minutes, objectives, phase, references, requires, runs_on, title, "
        "or remove the line.",
        swap("xyz: 1\n", ""),
    ),
    Fault(
        "key given twice",
        swap("phase:", "title: Another\nphase:"),
        f"4: the front matter has `title` twice; first at {LESSON}:3",
        "remove one of the two.",
        swap("title: Another\n", ""),
    ),
    Fault(
        "minutes is a word",
        swap("minutes: 5", "minutes: five"),
        "5: `minutes` in the front matter is not a positive whole number: 'five'",
        "write a positive whole number.",
        swap("minutes: five", "minutes: 5"),
    ),
    Fault(
        "minutes is zero",
        swap("minutes: 5", "minutes: 0"),
        "5: `minutes` in the front matter is not a positive whole number: '0'",
        "write a positive whole number.",
        swap("minutes: 0", "minutes: 5"),
    ),
    Fault(
        "minutes is a truth value",
        swap("minutes: 5", "minutes: true"),
        "5: `minutes` in the front matter is not a positive whole number: 'true'",
        "write a positive whole number.",
        swap("minutes: true", "minutes: 5"),
    ),
    title(
        "2026-01-01",
        "`title` in the front matter is not a text in quotes: '2026-01-01'",
        "write a text in quotes.",
        '"2026-01-01"',
    ),
    title("13", "`title` in the front matter is not a text in quotes: '13'", "write a text in quotes.", '"13"'),
    title("", "`title` in the front matter is not a text: ''", "write a text.", "A tiny lesson"),
    title(
        "2026-13-40",
        "YAML cannot read the value of `title`: month must be in 1..12",
        "put it in quotes.",
        '"2026-13-40"',
    ),
    title(
        "A tiny: lesson",
        "the front matter is not YAML: mapping values are not allowed here",
        "mend that line; quote a text that holds `: ` or `#`.",
        '"A tiny: lesson"',
    ),
    title(
        '"A\n\n  lesson"',
        "`title` in the front matter is not a text on one line: 'A\\nlesson'",
        "write a text on one line.",
        '"A lesson"',
    ),
    title("[A, lesson]", "`title` in the front matter is not a text: ['A', 'lesson']", "write a text.", '"A, lesson"'),
    title(
        "A \ufffe lesson",
        "the front matter holds U+FFFE, which YAML cannot read",
        "remove the character.",
        "A lesson",
    ),
    Fault(
        "front matter is nested without end",
        swap("[See the engine work]", "[" * 3000 + "]" * 3000),
        "2: the front matter is nested too deep",
        "write plain values.",
        swap("[" * 3000 + "]" * 3000, "[See the engine work]"),
    ),
    Fault(
        "objectives is a text",
        swap("[See the engine work]", "See the engine work"),
        "7: `objectives` in the front matter is not a list of texts on one line each: 'See the engine work'",
        "write a list of texts on one line each.",
        swap("See the engine work", "[See the engine work]"),
    ),
    Fault(
        "objectives is empty",
        swap("[See the engine work]", "[]"),
        "7: `objectives` in the front matter is not a list of texts on one line each: []",
        "write a list of texts on one line each.",
        swap("[]", "[See the engine work]"),
    ),
    Fault(
        "reference without a url",
        swap(', url: "https://docs.jax.dev/"', ""),
        "8: `references` in the front matter is not a list of {title: ..., url: https://...}: [{'title': 'JAX'}]",
        "write a list of {title: ..., url: https://...}.",
        swap("{title: JAX", '{title: JAX, url: "https://docs.jax.dev/"'),
    ),
    Fault(
        "reference to a script",
        swap("https://docs.jax.dev/", "javascript:alert(1)"),
        "8: `references` in the front matter is not a list of {title: ..., url: https://...}: "
        "[{'title': 'JAX', 'url': 'javascript:alert(1)'}]",
        "write a list of {title: ..., url: https://...}.",
        swap("javascript:alert(1)", "https://docs.jax.dev/"),
    ),
    Fault(
        "front matter is a list",
        swap(FRONT, "---\n- id\n---\n"),
        "2: the front matter is not `key: value` lines",
        "write one `key: value` a line.",
        swap("---\n- id\n---\n", FRONT),
    ),
    Fault(
        "id is not the folder's name",
        swap("id: tiny-01", "id: tiny-02"),
        "2: the lesson's id `tiny-02` is not its folder's name",
        "write `id: tiny-01`, or rename the folder.",
        swap("id: tiny-02", "id: tiny-01"),
    ),
    Fault(
        "id cannot be an address",
        write("lessons_src/Tiny_2/lesson.md", TEXT.replace("tiny-01", "Tiny_2")),
        "lessons_src/Tiny_2/lesson.md:2: `Tiny_2` cannot be an address",
        "use lower-case letters, digits and hyphens.",
        both(rename("Tiny_2", "tiny-2"), write("lessons_src/tiny-2/lesson.md", TEXT.replace("tiny-01", "tiny-2"))),
    ),
    Fault(
        "phase has no name",
        swap("phase: 1 · Tiny", 'phase: "13"'),
        """4: `phase` in the front matter is not a number and a name, as in "13 · Pallas kernels": '13'""",
        'write a number and a name, as in "13 · Pallas kernels".',
        swap('phase: "13"', 'phase: "13 · Tiny"'),
    ),
    Fault(
        "required lesson does not exist",
        swap("minutes: 5\n", "minutes: 5\nrequires: [tiny-02]\n"),
        "6: it requires `tiny-02`, which is no lesson",
        "write `tiny-01`.",
        swap("requires: [tiny-02]", "requires: [tiny-01]"),
    ),
]
