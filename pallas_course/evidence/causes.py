"""Findings as causes: what several rungs, chips and shapes say of one fault is one entry, the most telling first."""

import re
from dataclasses import dataclass

from pallas_course.evidence.audit import GIVEN, Report, is_derived
from pallas_course.evidence.findings import EXPLAINED, explanation
from pallas_course.evidence.verdict import FAIL, Finding, Verdict

Seen = tuple[Finding, Verdict]

# What says why values are wrong: a run that ended at the fault, a race, or a finding about the same elements.
_ENDED = ("race", "out-of-bounds", "hang")
_SAME_ELEMENTS = ("unwritten", "uninitialised", "order", "copies")
_VALUES = (*_SAME_ELEMENTS, "shape", "wrong-values", "rungs", "keyword")
_GENERIC = [EXPLAINED[code] for code in ("trace", "lowering", "compile")]
_KINDS = list(EXPLAINED)


@dataclass(frozen=True)
class Entry:
    """One cause: the finding that tells most of it, first, and all others that tell of it, each with its verdict."""

    seen: tuple[Seen, ...]

    @property
    def finding(self) -> Finding:
        """The finding that names the cause."""
        return self.seen[0][0]

    @property
    def derived(self) -> bool:
        """Whether it shows on shapes that the audit made up, and on nothing that was given."""
        return all(is_derived(verdict.case) for _, verdict in self.seen)

    @property
    def own(self) -> list[Verdict]:
        """The verdicts that hold the finding's own kind."""
        return [verdict for finding, verdict in self.seen if finding.code == self.finding.code]

    @property
    def also(self) -> list[tuple[str, list[Verdict]]]:
        """What else is said of it, with who says it: the first message of each other kind."""
        head, at = self.seen[0]
        told: dict[tuple[str, str], tuple[str, list[Verdict]]] = {}
        for finding, verdict in self.seen:
            kind = (finding.code, "" if finding.code in _VALUES else _shape(finding.message))
            if verdict.rung == "compile" and verdict.case == at.case:
                kind = (finding.code, finding.message)  # with the numbers of its chip
            told.setdefault(kind, (finding.message, []))[1].append(verdict)
        found: dict[str, list[Verdict]] = {}
        for message, verdicts in told.values():
            if message != head.message:
                found.setdefault(message, []).extend(verdicts)
        return list(found.items())


def _shape(message: str) -> str:
    """A message without its numbers, in which messages of one cause differ."""
    return re.sub(r"\d+", "", message)


def entries(report: Report) -> list[Entry]:
    """Every cause once: those on what was given before those on derived shapes alone, the most telling first."""
    every = [
        (finding, verdict) for verdict in report.verdicts if verdict.status == FAIL for finding in verdict.findings
    ]
    groups: dict[tuple[str, str], list[Seen]] = {}
    for finding, verdict in every:
        groups.setdefault(_cause(_behind(finding, verdict, every)), []).append((finding, verdict))
    found = [Entry(tuple(sorted(group, key=_first))) for group in groups.values()]
    return sorted(found, key=lambda entry: (entry.derived, _KINDS.index(entry.finding.code)))


def _first(seen: Seen) -> tuple[bool, bool, int]:
    finding, verdict = seen
    return is_derived(verdict.case), verdict.case != GIVEN, _KINDS.index(finding.code)


def _behind(finding: Finding, verdict: Verdict, every: list[Seen]) -> Finding:
    """The finding on the same case that says why these values are wrong; the finding itself where none does."""
    if finding.code != "wrong-values" and finding.code not in _SAME_ELEMENTS:
        return finding
    same = [other for other, its in every if its.case == verdict.case]
    causes = [other for other in same if other.code in _ENDED]
    if finding.code == "wrong-values":
        place = finding.output, finding.where
        causes += [other for other in same if other.code in _SAME_ELEMENTS and (other.output, other.where) == place]
    return causes[0] if causes else finding


def _cause(finding: Finding) -> tuple[str, str]:
    told = explanation(finding)
    if finding.code in _VALUES:
        place = f"output {finding.output}"
    elif re.search(r":\d+$", finding.where):
        place = finding.where
    else:
        place = _shape(finding.message) if told in _GENERIC else ""
    return told.means, place
