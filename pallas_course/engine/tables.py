"""Pages made of records alone: every verdict of every kernel, and what each rung catches of the museum's faults."""

from __future__ import annotations

import ast
import html
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pallas_course import fingerprint
from pallas_course.engine import ladder, legality
from pallas_course.engine.errors import LessonError
from pallas_course.engine.lesson import Location, Project

MUSEUM_RUNGS = {
    "interpret": "Interpreted",
    "simulate": "Simulated TPU memory",
    "lower": "Lowered for TPU",
    "compile:v5e": "Compiled for TPU v5e",
    "compile:v6e": "Compiled for TPU v6e",
}
# Rungs that some faults need besides: another chip, a GPU, the gradient, other shapes.
EXTRA = {
    "compile:v4": "Compiled for TPU v4",
    "lower:h100": "Lowered for a GPU",
    "compile:h100": "Compiled for an NVIDIA H100",
    "grad": "Gradient, interpreted",
    **{f"derived {rung}": f"{name}, other shapes" for rung, name in MUSEUM_RUNGS.items()},
}
NEEDS = {
    "compile:v4": "caught by the compiler of another chip, TPU v4",
    "lower:h100": "caught where the kernel is lowered for a GPU",
    "compile:h100": "caught by the compiler of a GPU, NVIDIA H100",
    "grad": "caught in the gradient",
    **{f"derived {rung}": f"caught on other shapes, by: {name}" for rung, name in MUSEUM_RUNGS.items()},
    "": "caught by no rung that a machine without the chip can climb",
}
CAUGHT = ("wrong", "refused", "hang", "abort")
WORDS = {
    "pass": "pass",
    "wrong": "wrong",
    "refused": "refused",
    "hang": "hangs",
    "abort": "aborts",
    "not run": "not run",
}

_FRONT = "---\ntitle: {title}\ndescription: {description}\n---\n\n# {title}\n"
_MARKUP = re.compile(r"[`*_{}\[\]#|$~\\!^]|///")


VERDICTS = """\
Each kernel of the course was tried on every case of its contract, in each dtype, with each of its blocks. Every verdict
below was recorded by the rung it stands beside. [About the evidence](../evidence.md) says what a rung shows and what it
cannot show.
"""
CATCHES = """\
Here are {count} kernels with one known fault each. Some were reported in public, some were planted. Every one was run
on every rung, and what the rung said was recorded.
"""
PREDICT = """\
A rung that passes a wrong kernel has not failed. It looked at something else.

Read each cause, and say which rungs will catch it before you open the answer. A rung can say *pass*, *wrong* for wrong
values, *refused* for an error, *hangs*, or *aborts* where its process died. *Not run* means that the rung's own tool
cannot take such a kernel.
"""


@dataclass(frozen=True)
class Fault:
    """One file of the museum: what it says of itself, and what each rung said of it."""

    name: str
    about: dict[str, Any]
    verdicts: dict[str, dict[str, str]]
    made: str

    @property
    def first(self) -> str:
        """The lowest rung that catches it, "" where none does."""
        return next((rung for rung in [*MUSEUM_RUNGS, *EXTRA] if self.caught(rung)), "")

    def caught(self, rung: str) -> bool:
        return self.verdicts.get(rung, {}).get("word") in CAUGHT


def pages(project: Project, *, anew: bool) -> dict[Path, str]:
    """The text of each page, and figure on one, that has a record to be made of. `anew`: draw the figures again.

    Raises LessonError for a record that no longer fits.
    """
    made: dict[Path, str] = {}
    if names := ladder.known(project):
        made |= legality.svgs(project, anew=anew)
        made[project.tables / "verdicts.md"] = _verdicts(project, names, made)
    if project.museum.joinpath("verdicts.json").is_file():
        made[project.tables / "catches.md"] = _catches(faults(project))
    return made


def faults(project: Project) -> list[Fault]:
    """The museum's faults with their verdicts, by name; its right kernels are left out."""
    path = project.museum / "verdicts.json"
    mend = "run `pallas-course evidence museum`."
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] > ladder.FORMAT:
            raise ValueError(f"format {data['format']} is newer than this engine, which reads {ladder.FORMAT}")
        recorded = data["files"]
        found = []
        for file in sorted(project.museum.glob("*.py")):
            if file.stem == "__init__":
                continue
            entry = recorded.get(file.stem, {})
            if entry.get("source") != fingerprint.of_files(file):
                raise LessonError(
                    Location(project.relative(file), 1), "the file changed since its verdicts were recorded", mend
                )
            made = f"{ladder.day(entry['date'])}, with {ladder.with_versions(entry['versions'])}"
            found.append(Fault(file.stem, _about(file), entry["verdicts"], made))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise LessonError(Location(project.relative(path), 1), f"the record cannot be read: {said}", mend) from error
    return found


def _about(file: Path) -> dict[str, Any]:
    for statement in ast.parse(file.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "ABOUT":
            about: dict[str, Any] = ast.literal_eval(statement.value)
            return about
    raise ValueError(f"{file.name} has no ABOUT")


def _verdicts(project: Project, names: Iterable[str], svgs: dict[Path, str]) -> str:
    lines = [
        _front("Recorded verdicts", "Kernels, rungs, chips and versions: every recorded verdict of the course."),
        VERDICTS,
    ]
    for name in names:
        lines += [f"## {name}", ""]
        for entry in reversed(ladder.read(project, name)):
            lines += [f"### {name} with JAX {entry.versions['jax']}", "", *ladder.table(entry), ""]
            if told := ladder.reasons(entry):
                lines += ["What did not pass, and why:", "", *told, ""]
            lines += [f"Recorded {entry.made}.", ""]
    if data := legality.read(project):
        lines += legality.section(data, svgs)
    return "\n".join(lines).rstrip("\n") + "\n"


def _catches(found: list[Fault]) -> str:
    first = Counter(fault.first for fault in found)
    passed = sum(not fault.caught("interpret") for fault in found)
    rows = [
        f"| {name} | {sum(fault.caught(rung) for fault in found)} | {first[rung]} |"
        for rung, name in MUSEUM_RUNGS.items()
    ]
    others = [f"{first[rung]} {how}" for rung, how in NEEDS.items() if first[rung]]
    rest = sum(first[rung] for rung in NEEDS)
    lines = [
        _front("What each rung catches", "Kernels with one known fault each, and what every rung says of them."),
        CATCHES.format(count=len(found)),
        f"**With `interpret=True` alone, {passed} of the {len(found)} pass.**",
        "",
        "| Rung | Faults it catches | Faults it is the first to catch |",
        "| --- | --- | --- |",
        *rows,
        "",
        *([f"The remaining {rest}: {'; '.join(others)}.", ""] if others else []),
        PREDICT,
    ]
    for fault in found:
        lines += _fault(fault)
    lines += ["## All faults on all rungs", "", "/// reveal | The whole table", ""]
    lines += [f"| Fault | {' | '.join(MUSEUM_RUNGS.values())} |", f"| --- |{' --- |' * len(MUSEUM_RUNGS)}"]
    for fault in found:
        words = [_word(fault.verdicts.get(rung, {})) for rung in MUSEUM_RUNGS]
        lines.append(f"| {_text(fault.about['title'])} | {' | '.join(words)} |")
    lines += ["", "///", ""]
    for made in dict.fromkeys(fault.made for fault in found):
        lines += [f"Recorded {made}.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _fault(fault: Fault) -> list[str]:
    about = fault.about
    lines = [f"## {_text(about['title'])} {{ #{fault.name} }}", "", f"{_sentence(about['cause'])}", ""]
    shapes = ", ".join(about["args"])
    lines += [f"Arguments: `{shapes}`. The kernel: `pallas_course/evidence/museum/{fault.name}.py`.", ""]
    lines += ["/// reveal | Which rungs catch it", "", "| Rung | Says | Why |", "| --- | --- | --- |"]
    for rung, name in (MUSEUM_RUNGS | EXTRA).items():
        if said := fault.verdicts.get(rung):
            why = _text(ladder.short(said.get("reason", "")).replace("pallas_course/evidence/museum/", ""))
            lines.append(f"| {name} | {_word(said)} | {why} |")
    lines += [
        "",
        f"- Symptom: {_text(about['symptom'])}",
        f"- Mend: {_text(about['mend'])}",
        f"- Source: {_source(about['source'])}",
    ]
    if derived := about.get("derived"):
        lines.append(f"- Other shapes: `{', '.join(derived['args'])}`")
    return [*lines, "", "///", ""]


def _word(said: dict[str, str]) -> str:
    word = WORDS[said.get("word", "not run")]
    return word if word in ("pass", "not run") else f"**{word}**"


def _source(source: str) -> str:
    found = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", source)
    return f"[{_text(source)}](https://github.com/{found[1]}/issues/{found[2]})" if found else _text(source)


def _sentence(text: str) -> str:
    return _text(text[:1].upper() + text[1:]) + "." * (not text.endswith("."))


def _text(text: str) -> str:
    """A recorded text with whatever could be markup as character references."""
    return _MARKUP.sub(lambda found: "".join(f"&#{ord(char)};" for char in found[0]), html.escape(text, quote=False))


def _front(title: str, description: str) -> str:
    return _FRONT.format(title=title, description=json.dumps(description))
