"""What was seen on one rung, and what was found there: records that go to and come from JSON."""

import dataclasses
import datetime
from dataclasses import dataclass, field
from typing import Any

RUNGS = ("interpret", "simulate", "lower", "compile", "execute", "time")
PASS, FAIL, NOT_RUN = "pass", "fail", "not run"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong; ``code`` is a word of findings.EXPLAINED, ``where`` a line, block or element."""

    code: str
    message: str
    where: str = ""
    region: tuple[tuple[int, int], ...] | None = None  # (first, past the last) per axis of an output
    output: int = 0
    shape: tuple[int, ...] | None = None  # of that output, where a region or a count is told of it


@dataclass(frozen=True)
class Verdict:
    """One rung's answer for one kernel on one case.

    ``facts`` are static: bytes, blocks and compiler figures, never a time. ``runs`` names what a rung tried.
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
