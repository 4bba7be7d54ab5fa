"""An audit's report as text and as JSON."""

from typing import Any

from pallas_course.evidence.audit import GIVEN, Report, is_derived
from pallas_course.evidence.findings import explanation
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, PROVES, RUNGS, Finding, Verdict


def headline(report: Report) -> str:
    """One sentence: what was checked, what was found, what was not run."""
    function = report.request.target["function"]
    ran = [verdict for verdict in report.verdicts if verdict.status != NOT_RUN]
    rungs = ", ".join(dict.fromkeys(v.name for v in ran)) or "nothing"
    derived = sum(map(is_derived, report.cases))
    cases = f"{len(report.cases) - derived} given and {derived} derived case{'' if derived == 1 else 's'}"
    own = len(grouped(report, derived=False))
    made_up = len(grouped(report, derived=True))
    found = f"{own} finding{'' if own == 1 else 's'} on what was given" if own else "nothing found on what was given"
    if derived:
        found += f", {made_up or 'none'} on derived shapes"
    left = ", ".join(dict.fromkeys(v.name for v in report.verdicts if v.status == NOT_RUN))
    return f"{function}: checked {rungs} on {cases}: {found}; not run: {left or 'none'}."


def grouped(report: Report, *, derived: bool) -> list[tuple[Finding, list[Verdict]]]:
    """Each finding once, with the verdicts that hold it, in the order they were found."""
    groups: dict[Finding, list[Verdict]] = {}
    for verdict in report.verdicts:
        if is_derived(verdict.case) == derived and verdict.status == FAIL:
            for finding in verdict.findings:
                groups.setdefault(finding, []).append(verdict)
    return list(groups.items())


def text(report: Report) -> str:
    """The whole report: headline, a line per case, findings, what was not run, versions."""
    lines = [headline(report), ""]
    if any(verdict.facts.get("own_mode") for verdict in report.verdicts):
        lines += [
            "The code sets an interpret mode of its own. The audit replaced it; on an accelerator it still holds.",
            "",
        ]
    columns = list(dict.fromkeys(v.name for v in report.verdicts))
    columns.sort(key=lambda name: RUNGS.index(name.split()[0]))
    columns = [name for name in columns if any(v.name == name and v.status != NOT_RUN for v in report.verdicts)]
    width = max(map(len, report.cases))
    for case, title in report.cases.items():
        statuses = {v.name: v.status for v in report.verdicts if v.case == case}
        cells = [f"{name}: {statuses[name]}" for name in columns if name in statuses]
        lines += [f"{case:{width}}  {title}", f"{'':{width}}  {' · '.join(cells)}"]
    for derived, heading in ((False, "Found on what was given"), (True, "Found on shapes the audit derived")):
        if groups := grouped(report, derived=derived):
            lines += ["", f"{heading}:"]
            for finding, verdicts in groups:
                lines += _entry(finding, verdicts)
    if stated := static(report):
        lines += ["", "Static facts of what was given:", *(f"  {line}" for line in stated)]
    lines += ["", "Not run:"]
    lines += [f"  {name}: {reason}" for name, reason in not_run(report)]
    lines += ["", "What a pass says:"]
    lines += [
        f"  {rung}: {PROVES[rung]}"
        for rung in RUNGS
        if any(v.rung == rung and v.status == PASS for v in report.verdicts)
    ]
    lines += [
        "",
        "Made with "
        + ", ".join(f"{name} {version}" for name, version in report.versions.items())
        + f", {report.date}.",
    ]
    return "\n".join(lines) + "\n"


def static(report: Report) -> list[str]:
    """What grids, index maps and compilers say of the given case: bytes and blocks, never a time."""
    lines = []
    for verdict in report.verdicts:
        if verdict.case != GIVEN:
            continue
        for kernel in verdict.facts.get("kernels", ()):
            parts = [f"grid {kernel['grid']}"]
            if "bytes_moved" in kernel:
                ratio = kernel["bytes_moved"] / max(1, kernel["least_bytes"])
                parts.append(f"moves {kernel['bytes_moved']:,} bytes, {ratio:.3g} times the least")
            if "vmem_bytes" in kernel:
                parts.append(f"windows and scratch take {kernel['vmem_bytes']:,} bytes of VMEM")
            lines.append(f"{kernel['name']} ({kernel['where']}): {'; '.join(parts)}")
        sizes = {name: verdict.facts[name] for name in verdict.facts if name.endswith("_bytes")}
        if sizes:
            listed = ", ".join(f"{name.removesuffix('_bytes')} {size:,}" for name, size in sizes.items())
            lines.append(f"{verdict.name}, bytes: {listed}")
    return lines


def _entry(finding: Finding, verdicts: list[Verdict]) -> list[str]:
    told = explanation(finding)
    seen: dict[str, list[str]] = {}
    for verdict in verdicts:
        seen.setdefault(verdict.case, []).append(verdict.name)
    rungs = "; ".join(f"{case}: {', '.join(names)}" for case, names in seen.items())
    lines = [f"  {finding.code}: {finding.message}", f"    seen by    {rungs}"]
    if finding.where:
        lines.append(f"    where      {finding.where}")
    lines += [f"    means      {told.means}", f"    do         {told.do}"]
    if shown := explained_by(finding):
        lines.append(f"    explained  {shown}")
    return lines


def explained_by(finding: Finding) -> str:
    """The lesson and the museum case that explain a finding."""
    told = explanation(finding)
    return ", ".join([f"lesson {told.lesson}"] * bool(told.lesson) + [f"museum case {told.museum}"] * bool(told.museum))


def not_run(report: Report) -> list[tuple[str, str]]:
    """Each rung that did not run and why, cases of one reason together; and what a rung that ran left out."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for verdict in report.verdicts:
        if verdict.status == NOT_RUN:
            reasons.setdefault((verdict.name, verdict.reason), []).append(verdict.case)
        for run in verdict.runs:
            if run.startswith("left out"):
                reasons.setdefault((verdict.name, run), []).append(verdict.case)
    return [(f"{name} ({'; '.join(cases)})", reason) for (name, reason), cases in reasons.items()]


def as_json(report: Report) -> dict[str, Any]:
    """The report as data; ``format`` rises when a field changes its meaning."""
    findings = [
        {
            "code": finding.code,
            "message": finding.message,
            "where": finding.where,
            "region": finding.region,
            "output": finding.output,
            "derived": derived,
            "seen": [{"case": v.case, "rung": v.rung, "chip": v.chip} for v in verdicts],
            "means": explanation(finding).means,
            "do": explanation(finding).do,
            "explained": explained_by(finding),
        }
        for derived in (False, True)
        for finding, verdicts in grouped(report, derived=derived)
    ]
    return {
        "format": 1,
        "headline": headline(report),
        "exit": report.exit,
        "cases": report.cases,
        "findings": findings,
        "not_run": [{"what": what, "reason": reason} for what, reason in not_run(report)],
        "verdicts": [verdict.as_json() for verdict in report.verdicts],
        "versions": report.versions,
        "date": report.date,
    }
