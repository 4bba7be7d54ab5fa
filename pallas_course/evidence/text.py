"""An audit's report as text and as JSON."""

import functools
import statistics
import textwrap
from collections.abc import Iterable
from typing import Any

from pallas_course.evidence import museum
from pallas_course.evidence.audit import GIVEN, Report, is_derived
from pallas_course.evidence.causes import Entry, entries
from pallas_course.evidence.findings import explanation
from pallas_course.evidence.verdict import FAIL, LEFT_OUT, NOT_RUN, PASS, RUNGS, Finding, Verdict

_STOPS = ("syntax", "import", "name", "exit", "inputs", "result", "no-kernel", "trace", "hang", "abort", "memory")
# Findings that come with, or after, a comparison of values.
_COMPARED = ("unwritten", "uninitialised", "shape", "keyword", "wrong-values", "rungs")

MUSEUM = (
    "Museum cases are files of pallas_course/evidence/museum, with one fault each. The course's page "
    '"What each rung catches" shows what every rung says of them.'
)
OWN_MODE = (
    "The code sets an interpret mode of its own. Interpretation and simulation set it aside; on an accelerator it "
    "would still hold."
)
WIDTH = 80  # of a line, but for the first, those of the table and those that hold a command


def headline(report: Report) -> str:
    """One sentence: what was checked, what was found, what was not run."""
    function = report.request.target["function"]
    ran = [verdict for verdict in report.verdicts if verdict.status != NOT_RUN]
    found = entries(report)
    left = f"; not run: {', '.join(missing)}" if (missing := _missing(report)) else ""
    if not ran:
        return f"{function} was not checked: no rung ran{left}."
    given = [(v.case, v.name) for v in ran if not is_derived(v.case)]
    if given and found and found[0].finding.code in _STOPS:
        told = {(verdict.case, verdict.name) for _, verdict in found[0].seen}
        if told.issuperset(given):
            said = f"{found[0].finding.code}: {found[0].finding.message}".rstrip(".")
            return f"{function} could not be checked: {said}{left}."
    derived = len({v.case for v in ran if is_derived(v.case)})
    places = [report.cases[GIVEN]] if given else []
    places += [f"other values of {name}" for name, values in report.request.variants.items() if len(values) > 1]
    places += ["the gradient"] * report.request.grad
    places += [f"{derived} derived shape{'s' * (derived > 1)}"] * bool(derived)
    rungs = listed(dict.fromkeys(v.name for v in sorted(ran, key=lambda v: RUNGS.index(v.rung))))
    alone = sum(entry.derived for entry in found)
    own = len(found) - alone
    said = f"{counted(own)} on what was given, {counted(alone, 'none')} on derived shapes alone"
    said = said if derived and found else counted(own)
    return f"{function} was checked on {listed(places)} by {rungs}, {_against(report)}: {said}{left}."


def listed(words: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = list(words) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def counted(number: int, none: str = "nothing") -> str:
    """``3 findings``, or ``nothing found``."""
    return f"{number} finding{'s' * (number > 1)}" if number else f"{none} found" if none == "nothing" else none


def _against(report: Report) -> str:
    valued = [v for v in report.verdicts if v.rung in ("interpret", "simulate", "execute") and v.status != NOT_RUN]
    if not valued:
        return "which compute no values"
    if report.request.oracle is None:
        return "its values against nothing, since no oracle was given"
    if any(map(_compared, valued)):
        return f"its values against {report.request.oracle['function']}"
    return "its values against nothing, since no run came to its end"


def _compared(verdict: Verdict) -> bool:
    """Whether a verdict of a run with an oracle says something of the values."""
    return verdict.status == PASS or (
        verdict.status == FAIL and all(finding.code in _COMPARED for finding in verdict.findings)
    )


def _missing(report: Report) -> list[str]:
    """The rungs that did not run, with the cases where they ran on others; and what a rung that ran left out."""
    names: dict[str, list[str]] = {}
    for verdict in report.verdicts:
        if verdict.status == NOT_RUN:
            names.setdefault(verdict.name, []).append(verdict.case)
    ran = {verdict.name for verdict in report.verdicts if verdict.status != NOT_RUN}
    found = [f"{name} ({', '.join(cases)})" if name in ran else name for name, cases in names.items()]
    return found + ["the search for races"] * any(not _raced(verdict) for verdict in report.verdicts)


def _raced(verdict: Verdict) -> bool:
    return not any(run.startswith(f"{LEFT_OUT}races") for run in verdict.runs)


def text(report: Report) -> str:
    """The whole report: headline, a row per case, what was found, what was not run, what a pass says, versions."""
    parts = [headline(report)]
    if own_mode(report):
        parts.append(_wrapped(OWN_MODE, "", 0))
    parts.append("\n".join(_table(report)))
    found = entries(report)
    for derived, heading in ((False, "Found on what was given"), (True, "Found on derived shapes alone")):
        parts += _section(heading, (_entry(entry, report) for entry in found if entry.derived == derived))
    if any(explanation(entry.finding).museum for entry in found):
        parts.append(_wrapped(MUSEUM, "", 0))
    parts += _section("Static facts of what was given", ([_wrapped(line)] for line in static(report)))
    parts += _section("Measured on what was given", ([_wrapped(line)] for line in measured(report)))
    parts += _section("Not run", ([f"  {what}: {reason}"] for what, reason in not_run(report)))
    parts += _section("What a pass says", ([_wrapped(f"{name}: {what}")] for name, what in says(report)))
    made = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    parts.append(f"{ended(report)}\nMade with {made}, {report.date}.")
    return "\n\n".join(parts) + "\n"


def own_mode(report: Report) -> bool:
    """Whether the audited code asks for an interpret mode itself."""
    return any(verdict.facts.get("own_mode") for verdict in report.verdicts)


def _section(heading: str, items: Iterable[list[str]]) -> list[str]:
    lines = [line for item in items for line in item]
    return ["\n".join([f"{heading}:", *lines])] if lines else []


def _wrapped(words: str, indent: str = "  ", hanging: int = 4) -> str:
    return textwrap.fill(
        words,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def columns(report: Report) -> list[str]:
    """The rungs that ran on some case, lowest first."""
    ran = [verdict for verdict in report.verdicts if verdict.status != NOT_RUN]
    return list(dict.fromkeys(v.name for v in sorted(ran, key=lambda v: RUNGS.index(v.rung))))


def _table(report: Report) -> list[str]:
    names = columns(report)
    statuses = {(v.case, v.name): v.status for v in report.verdicts}
    rows = [["case", *names, "arguments"]]
    rows += [
        [case, *(statuses.get((case, name), "-") for name in names), title] for case, title in report.cases.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _entry(entry: Entry, report: Report) -> list[str]:
    finding = entry.finding
    told = explanation(finding)
    lines = [("seen by", on_cases(entry.own, report)), ("where", finding.where)]
    lines += [("also", f"{on_cases(verdicts, report)}: {message}") for message, verdicts in entry.also]
    lines += [("means", told.means), ("do", told.do), ("explained", "; ".join(explained_by(finding)))]
    return [
        _wrapped(f"{finding.code}: {finding.message}"),
        *(_wrapped(words, f"    {name:10} ", 15) for name, words in lines if words),
    ]


def on_cases(verdicts: Iterable[Verdict], report: Report) -> str:
    """``interpret, simulate (given); lower tpu (derived ragged)``: rungs of one list of cases together."""
    cases: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.case not in cases.setdefault(verdict.name, []):
            cases[verdict.name].append(verdict.case)
    groups: dict[frozenset[str], list[str]] = {}
    for name, seen in cases.items():
        groups.setdefault(frozenset(seen), []).append(name)
    return "; ".join(f"{', '.join(names)} ({_cases(seen, report)})" for seen, names in groups.items())


def _cases(seen: Iterable[str], report: Report) -> str:
    named = [case for case in report.cases if case in set(seen)]
    return "every case" if len(named) == len(report.cases) > 1 else ", ".join(named)


@functools.cache
def _titles() -> dict[str, str]:
    return {case.name: case.about["title"] for case in museum.cases()}


def explained_by(finding: Finding) -> list[str]:
    """The lesson and the museum cases that explain a finding, each in words."""
    told = explanation(finding)
    shown = [f"museum case {name} ({_titles()[name]})" for name in told.museum]
    return shown + [f"lesson {told.lesson}"] * bool(told.lesson)


def size(number: int) -> str:
    """``512 bytes``, ``12 KiB``, ``1.5 MiB``."""
    if number < 1024:
        return f"{number} byte{'s' * (number != 1)}"
    unit, name = (1 << 20, "MiB") if number >= 1 << 20 else (1 << 10, "KiB")
    return f"{number / unit:,.4g} {name}"


def static(report: Report) -> list[str]:
    """What grids, index maps and compilers say of the given case: bytes and blocks, never a time."""
    lines = []
    for verdict in report.verdicts:
        if verdict.case != GIVEN:
            continue
        for kernel in verdict.facts.get("kernels", ()):
            line = f"{kernel['name']} ({kernel['where']}): {'; '.join(_kernel(kernel))}"
            if line not in lines:
                lines.append(line)
        if verdict.rung == "compile" and verdict.facts:
            lines.append(f"{verdict.name}: {'; '.join(_compiled(verdict.facts))}")
    return lines


def _compiled(facts: dict[str, Any]) -> list[str]:
    names = ("argument", "output", "temporary", "program")
    parts = [", ".join(f"{name} {size(facts[f'{name}_bytes'])}" for name in names if f"{name}_bytes" in facts)]
    if "vmem_need_bytes" in facts:
        parts.append(f"needs {size(facts['vmem_need_bytes'])} of VMEM")
    if "bundles" in facts:
        slot, share = max(facts["slots"].items(), key=lambda item: item[1])
        parts.append(f"{facts['bundles']:,} bundles scheduled, with {slot} in use in {share:.0%} of its chances")
        parts.append(f"copies {size(facts['copied_bytes'])} from and to HBM")
    words = {"vmem_need_bytes": "VMEM need", "bundles": "bundles"}
    return parts + [f"{words[name]} not known: {reason}" for name, reason in facts.get("left_out", {}).items()]


def measured(report: Report) -> list[str]:
    """What the rung "time" measured: the kernel beside its baseline."""
    lines = []
    for verdict in report.verdicts:
        if "kernel_seconds" in verdict.facts:
            kernel, baseline = (verdict.facts[f"{name}_seconds"] for name in ("kernel", "baseline"))
            middle = [f"{statistics.median(seconds) * 1000:.4g} ms" for seconds in (kernel, baseline)]
            who = report.request.oracle["function"] if report.request.oracle else "the baseline"
            lines.append(f"{verdict.name}: {middle[0]}, and {who} {middle[1]}; medians of {len(kernel)} runs")
    return lines


def _kernel(kernel: dict[str, Any]) -> list[str]:
    grid = kernel["grid"]
    shape = f"({', '.join(map(str, grid))}{',' * (len(grid) == 1)})" if isinstance(grid, list) else grid
    parts = ["no grid: one program" if grid == [] else f"grid {shape}"]
    if "bytes_moved" in kernel:
        moved, least = kernel["bytes_moved"], kernel["least_bytes"]
        times = f"{moved / max(1, least):.3g} times the least possible, {size(least)}"
        parts.append(f"moves {size(moved)}, {times if moved > least else 'the least possible'}")
        if left := kernel["array_bytes"] - least:
            parts.append(f"{size(left)} of its arrays are never copied")
    elif "bytes_unknown" in kernel:
        parts.append(f"bytes moved not known: {kernel['bytes_unknown']}")
    if kernel.get("vmem_bytes"):
        parts.append(f"blocks with their second buffers, and scratch, take {size(kernel['vmem_bytes'])} of VMEM")
    return parts


def not_run(report: Report) -> list[tuple[str, str]]:
    """What did not run and why, those of one reason together; and what a rung that ran left out."""
    reasons: dict[str, list[Verdict]] = {}
    for verdict in report.verdicts:
        told = [verdict.reason] * (verdict.status == NOT_RUN)
        for reason in told + [run.removeprefix(LEFT_OUT) for run in verdict.runs if run.startswith(LEFT_OUT)]:
            reasons.setdefault(reason, []).append(verdict)
    found = [(on_cases(verdicts, report), reason) for reason, verdicts in reasons.items()]
    return found + list(report.left_out.items())


def says(report: Report) -> list[tuple[str, str]]:
    """For each rung that passed: on which cases, and what follows from that; no more than was compared."""
    found = []
    for rung in RUNGS:
        passed = [verdict for verdict in report.verdicts if verdict.rung == rung and verdict.status == PASS]
        if passed:
            what = {"interpret": _interpreted, "simulate": _simulated}.get(rung, _told)(report, passed)
            found.append((on_cases(passed, report), what))
    return found


def _interpreted(report: Report, passed: list[Verdict]) -> str:
    plain = [verdict for verdict in passed if not verdict.case.endswith("gradient")]
    said = []
    if plain and report.request.oracle:
        said.append(f"each value agrees with {report.request.oracle['function']}'s, within the tolerance, on a CPU")
    elif plain:
        said.append("no element shows memory that nobody set, on a CPU; its values were compared with nothing")
    if any(verdict.case == GIVEN for verdict in plain) and not report.request.oracle:
        names = [name for name, values in report.request.variants.items() if len(values) > 1]
        said += [f"they are the same for each value of {listed(names)}"] * bool(names)
    if len(plain) < len(passed):
        said.append("each gradient is the slope between two points")
    return "; ".join(said)


def _simulated(report: Report, passed: list[Verdict]) -> str:
    runs = {run for verdict in passed for run in verdict.runs}
    said = ["no block outside its array, no output block visited again, no element from memory nobody set"]
    said[0] += ", no race" * all(map(_raced, passed))
    interpreted = {
        verdict.case for verdict in report.verdicts if verdict.rung == "interpret" and verdict.status == PASS
    }
    if report.request.oracle:
        said.append(f"values as {report.request.oracle['function']}'s")
    elif all(verdict.case in interpreted for verdict in passed):
        said.append("values as interpret=True's")
    tried = ["early and late copies"] * any(run.startswith("copies") for run in runs)
    tried += ["three orders of the parallel axes"] * any(run.startswith("parallel") for run in runs)
    tried += ["two cores"] * ("two cores" in runs)
    return "; ".join(said + [f"the same with {listed(tried)}"] * bool(tried))


def _told(report: Report, passed: list[Verdict]) -> str:
    whose = report.request.oracle["function"] if report.request.oracle else "interpret=True"
    return {
        "lower": "JAX translates the kernel for the accelerator; nothing about values",
        "compile": "the chip's own compiler accepts the kernel; nothing about values or time",
        "execute": f"each value agrees with {whose}'s, within the tolerance, on this chip",
        "time": "what this chip took, with these versions; nothing about other chips",
    }[passed[0].rung]


def ended(report: Report) -> str:
    """The exit status and what it follows from."""
    unavailable = listed(dict.fromkeys(v.name for v in report.unavailable)) if report.unavailable else ""
    why = {
        0: "every rung asked for passed on what was given",
        1: "there are findings" + (" (--strict counts derived shapes)" if report.request.strict else ""),
        3: f"asked for and not run: {unavailable}",
    }
    return f"Exit status {report.exit}: {why[report.exit]}."


def as_json(report: Report) -> dict[str, Any]:
    """The report as data; ``format`` rises when a field changes its meaning."""
    return {
        "format": 1,
        "headline": headline(report),
        "exit": report.exit,
        "cases": report.cases,
        "findings": [_as_json(entry) for entry in entries(report)],
        "not_run": [{"what": what, "reason": reason} for what, reason in not_run(report)],
        "verdicts": [verdict.as_json() for verdict in report.verdicts],
        "versions": report.versions,
        "date": report.date,
    }


def _as_json(entry: Entry) -> dict[str, Any]:
    finding, told = entry.finding, explanation(entry.finding)
    return {
        "code": finding.code,
        "message": finding.message,
        "where": finding.where,
        "output": finding.output,
        "region": finding.region,
        "derived": entry.derived,
        "seen": [
            {"case": v.case, "rung": v.rung, "chip": v.chip, "code": other.code, "message": other.message}
            for other, v in entry.seen
        ],
        "means": told.means,
        "do": told.do,
        "lesson": told.lesson,
        "museum": list(told.museum),
    }
