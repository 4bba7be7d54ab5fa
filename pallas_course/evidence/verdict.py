"""What was seen on one rung, and what was found there: records that go to and come from JSON."""

import dataclasses
import datetime
from dataclasses import dataclass, field
from typing import Any, Literal

RUNGS = ("interpret", "simulate", "lower", "compile", "execute", "time")
PASS, FAIL, NOT_RUN = "pass", "fail", "not run"
LEFT_OUT = "left out: "
"""How an entry of a verdict's ``runs`` begins that says what its rung did not do."""
NEVER_REACHED = "the function never reached a Pallas call"
NO_ORACLE = f"{LEFT_OUT}values were not compared, since no oracle was given"


Code = Literal[
    "syntax", "import", "name", "exit", "inputs", "oracle", "result", "abort", "hang", "memory", "no-kernel",
    "out-of-bounds", "race", "unwritten", "uninitialised", "revisit", "order", "copies", "memory-space", "trace",
    "lowering", "vmem", "alignment", "x64", "unsupported-dtype", "compile", "execute", "gradient", "slope", "shape",
    "keyword", "wrong-values", "rungs",
]  # fmt: skip
"""What a finding can be called; findings.EXPLAINED has an entry for each."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong; ``where`` is a line, a block or an element."""

    code: Code
    message: str
    where: str = ""
    region: tuple[tuple[int, int], ...] | None = None  # (first, past the last) per axis of an output
    output: int = 0
    shape: tuple[int, ...] | None = None  # of that output, where a region or a count is told of it


@dataclass(frozen=True)
class Verdict:
    """One rung's answer for one kernel on one case.

    ``facts`` are static (bytes, blocks, compiler figures), but for the seconds that the rung "time" measures. ``runs``
    names what a rung tried, and after LEFT_OUT what it did not.
    """

    rung: str
    status: str
    case: str = ""
    chip: str = ""
    dtype: str = ""
    block: str = ""
    reason: str = ""  # of a failure: code and first meaningful line; of not run: what is missing
    source: str = ""  # hash of the kernel's source
    versions: dict[str, str] = field(default_factory=dict)
    date: str = ""
    runs: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """The rung, with its chip where it has one: ``compile v5e``."""
        return f"{self.rung} {self.chip}".strip()

    def as_json(self) -> dict[str, Any]:
        """The fields that are set."""
        return {key: value for key, value in dataclasses.asdict(self).items() if value not in ("", (), {}, None)}


def from_json(data: dict[str, Any]) -> Verdict:
    """The verdict that ``as_json`` wrote."""
    findings = tuple(map(_finding, data.get("findings", ())))
    return Verdict(**{**data, "runs": tuple(data.get("runs", ())), "findings": findings})


def _finding(item: dict[str, Any]) -> Finding:
    region, shape = item.get("region"), item.get("shape")
    pairs = None if region is None else tuple(map(tuple, region))
    return Finding(**{**item, "region": pairs, "shape": None if shape is None else tuple(shape)})


def failed(rung: str, findings: list[Finding], **rest: Any) -> Verdict:
    """A failure for the first finding, or a pass where there is none."""
    reason = f"{findings[0].code}: {findings[0].message}" if findings else ""
    return Verdict(rung, FAIL if findings else PASS, reason=reason, findings=tuple(findings), **rest)


def today() -> str:
    """The date of a record, UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


class Misuse(Exception):
    """A question that has no answer: what is wrong with it, and what to ask."""

    def __init__(self, wrong: str, do: str) -> None:
        super().__init__(wrong)
        self.wrong, self.do = wrong, do
