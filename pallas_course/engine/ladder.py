"""Recorded verdicts of the course's kernels, read as data, and the ladder that a lesson shows of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from pallas_course import fingerprint
from pallas_course.engine.errors import LessonError
from pallas_course.engine.lesson import Location, Project

FORMAT = 1
CHIPS = {
    "v4": "TPU v4",
    "v5e": "TPU v5e",
    "v5p": "TPU v5p",
    "v6e": "TPU v6e",
    "v7x": "TPU7x",
    "h100": "NVIDIA H100",
    "tpu": "TPU",
    "gpu": "GPU",
}
RUNGS = {
    "interpret": "Interpreted",
    "simulate": "Simulated TPU memory",
    "lower": "Lowered for {chip}",
    "compile": "Compiled for {chip}",
    "execute": "Executed on a chip",
    "time": "Timed on a chip",
}
# What a pass on a rung proves, and what it does not.
MEANING = {
    "interpret": ("values, on whole arrays of a CPU", "tile rules, memory, order, speed"),
    "simulate": ("values, and blocks inside their arrays, written once, without a race", "tile rules, memory, speed"),
    "lower": ("the accelerator's rules accept block shapes and operations", "values; the limits of one chip"),
    "compile": ("the chip's own compiler accepts the program", "values; time"),
    "execute": ("values on that chip", "values on another chip; time"),
    "time": ("speed on that chip, beside a baseline", "speed on another chip or with other versions"),
}
VERSIONS = {
    "jax": "JAX",
    "jaxlib": "jaxlib",
    "numpy": "NumPy",
    "libtpu": "libtpu",
    "jax-cuda12-plugin": "JAX's CUDA plugin",
}


@dataclass(frozen=True)
class Group:
    """Cases of one kernel that got the same answer from one rung. Empty text where a field does not apply."""

    rung: str
    chip: str
    dtype: str
    block: str
    status: str
    reason: str
    cases: tuple[str, ...]

    @property
    def name(self) -> str:
        return RUNGS[self.rung].format(chip=CHIPS.get(self.chip, self.chip))

    @property
    def refused(self) -> str:
        """The word for what did not pass: compilers refuse, values fail."""
        if self.status != "fail":
            return self.status
        return "refused" if self.rung in ("lower", "compile") else "failed"


@dataclass(frozen=True)
class Entry:
    """All verdicts of one kernel with one set of versions."""

    kernel: str
    versions: dict[str, str]
    date: str
    groups: tuple[Group, ...]

    @property
    def made(self) -> str:
        """When and with what: `30 November 2026, with JAX 0.12.0.1, ...`."""
        return f"{day(self.date)}, with {with_versions(self.versions)}"

    @property
    def blocks(self) -> list[str]:
        return list(dict.fromkeys(group.block for group in self.groups if group.block))


def known(project: Project) -> list[str]:
    """The kernels that have a record."""
    return sorted(
        path.stem for path in project.verdicts.glob("*.json") if (project.kernels / f"{path.stem}.py").is_file()
    )


def read(project: Project, kernel: str) -> list[Entry]:
    """The entries of a kernel's record, oldest JAX first.

    Raises LessonError where the record is of another source than the kernel's, or cannot be read.
    """
    path, module = project.verdicts / f"{kernel}.json", project.kernels / f"{kernel}.py"
    mend = f"run `pallas-course evidence {kernel}`."
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] > FORMAT:
            raise ValueError(f"format {data['format']} is newer than this engine, which reads {FORMAT}")
        entries = [_entry(kernel, item) for item in data["entries"] if item["source"] == _source(project, kernel)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise LessonError(Location(project.relative(path), 1), f"the record cannot be read: {said}", mend) from error
    if not entries:
        raise LessonError(
            Location(project.relative(module), 1), "the kernel changed since its evidence was recorded", mend
        )
    return sorted(entries, key=lambda entry: [int(part) for part in re.findall(r"\d+", entry.versions["jax"])])


def markdown(project: Project, kernels: Iterable[str]) -> list[str]:
    """The lines of a lesson's ladder: the newest entry of each kernel it teaches."""
    lines: list[str] = []
    for kernel in kernels:
        lines += _kernel(read(project, kernel)[-1])
    return lines


def table(entry: Entry) -> list[str]:
    """Rungs, with their chips, by blocks: how many of the cases passed, and what became of the others."""
    blocks = entry.blocks
    lines = [f"| Rung | {' | '.join(blocks)} |", f"| --- |{' --- |' * len(blocks)}"]
    for name, groups in _by_rung(entry).items():
        cells = [_counted([group for group in groups if group.block in ("", block)]) for block in blocks]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def reasons(entry: Entry) -> list[str]:
    """Each reason for which something did not pass, once: a list."""
    told: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, groups in _by_rung(entry).items():
        for block in ["", *entry.blocks]:
            for group in groups:
                if group.reason and group.block == block:
                    told.setdefault((group.refused, short(group.reason)), {}).setdefault(name, []).append(block)
    lines = []
    for (word, reason), where in told.items():
        together: dict[str, list[str]] = {}
        for name, blocks in where.items():
            listed = ", ".join(filter(None, dict.fromkeys(blocks)))
            together.setdefault(f", blocks {listed}" if listed else "", []).append(name)
        places = "; ".join(f"{', '.join(names)}{blocks}" for blocks, names in together.items())
        lines.append(f"- {places}: {word}: {plain(reason)}")
    return lines


def meaning(rungs: Iterable[str]) -> list[str]:
    """What a pass on each rung proves and what it does not: a table."""
    rows = [f"| {RUNGS[rung].format(chip='a chip')} | {' | '.join(MEANING[rung])} |" for rung in rungs]
    return ["| Rung | A pass proves | It does not prove |", "| --- | --- | --- |", *rows]


def short(reason: str) -> str:
    """The first sentence of a recorded reason, without the code of its kind."""
    text = re.sub(r"^[a-z][a-z-]*: ", "", reason)
    found = re.match(r".*?\.(?= [A-Z])", text)
    return found[0] if found else text


def plain(text: str) -> str:
    """A recorded text as Markdown shows it: as code where it holds markup of any kind, whatever it is."""
    if not re.search(r"[`<>&*_$\\{}|~#\[\]:/]", text):
        return text
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def day(text: str) -> str:
    """`30 November 2026` for 2026-11-30."""
    found = date.fromisoformat(text)
    return f"{found.day} {found:%B %Y}"


def with_versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{VERSIONS.get(name, name)} {version}" for name, version in versions.items())


def _source(project: Project, kernel: str) -> str:
    try:
        return fingerprint.of_kernel(project.kernels, kernel)
    except (OSError, SyntaxError):  # running the kernel's cells tells the author of it
        return ""


def _entry(kernel: str, item: dict[str, Any]) -> Entry:
    groups = [
        Group(
            **{name: group.get(name, "") for name in ("rung", "chip", "dtype", "block", "status", "reason")},
            cases=tuple(group["cases"]),
        )
        for group in item["verdicts"]
    ]
    return Entry(kernel, dict(item["versions"]), item["date"], tuple(groups))


def _by_rung(entry: Entry) -> dict[str, list[Group]]:
    places, chips = list(RUNGS), list(CHIPS)
    found: dict[str, list[Group]] = {}
    order = sorted(
        entry.groups, key=lambda group: (places.index(group.rung), chips.index(group.chip) if group.chip else -1)
    )
    for group in order:
        found.setdefault(group.name, []).append(group)
    return found


def _counted(groups: list[Group]) -> str:
    """`22 of 22 pass`, `4 of 22 pass, 18 refused`, `not run`."""
    counts = Counter({"pass": 0})
    for group in groups:
        counts[group.refused] += len(group.cases)
    total = sum(counts.values())
    rest = [f"{count} {word}" for word, count in counts.items() if word != "pass"]
    if counts["not run"] == total:
        return "not run"
    return ", ".join([f"{counts['pass']} of {total} pass", *rest])


def _kernel(entry: Entry) -> list[str]:
    cases = len({(group.dtype, case) for group in entry.groups if group.dtype for case in group.cases})
    rungs = list(dict.fromkeys(group.rung for group in entry.groups))
    return [
        f"Each block shape of `{entry.kernel}` was tried on {cases} cases: the shapes of its contract in each dtype.",
        "",
        *table(entry),
        "",
        *meaning(sorted(rungs, key=list(RUNGS).index)),
        "",
        "What did not pass, and why:",
        "",
        *reasons(entry),
        "",
        f"Recorded {entry.made}.",
        "",
    ]
