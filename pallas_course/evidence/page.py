"""An audit's report as one HTML file that needs nothing else: no script, no font, no picture from anywhere."""

import html
from typing import Any

from pallas_course.evidence import text
from pallas_course.evidence.audit import GIVEN, Report
from pallas_course.evidence.findings import explanation
from pallas_course.evidence.svg import owner_map, visit_order, wrong_region
from pallas_course.evidence.verdict import NOT_RUN, PROVES, RUNGS, Finding, Verdict

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #8a929b; --one: #cfe3f7; --two: #e7f1da;
  --bad: #b3261e; --good: #1d6b35; --soft: #eef1f4 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #14181c; --line: #7d8790; --one: #234463;
  --two: #35482a; --bad: #ff8a80; --good: #7fd69a; --soft: #20262c } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left }
.fail { color: var(--bad); font-weight: 600 } .pass { color: var(--good) }
article { background: var(--soft); padding: .5rem 1rem; margin: 1rem 0; border-left: .25rem solid var(--bad) }
dt { font-weight: 600 } dd { margin: 0 0 .4rem 0 } figure { margin: 1.5rem 0 } svg { max-width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink) } code { overflow-wrap: anywhere }
"""


def page(report: Report) -> str:
    """The whole page."""
    name = html.escape(report.request.target["function"])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit of {name}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><main>'
        f"<h1>Audit of {name}</h1><p>{html.escape(text.headline(report))}</p>"
        f"{_table(report)}{_findings(report)}{_figures(report)}{_rest(report)}</main></body></html>\n"
    )


def _table(report: Report) -> str:
    columns = list(dict.fromkeys(v.name for v in sorted(report.verdicts, key=lambda v: RUNGS.index(v.rung))))
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    rows = []
    for case, title in report.cases.items():
        found = {v.name: v for v in report.verdicts if v.case == case}
        cells = "".join(_cell(found.get(column)) for column in columns)
        rows.append(f'<tr><th scope="row">{html.escape(case)}<br><code>{html.escape(title)}</code></th>{cells}</tr>')
    return f'<h2>Checked</h2><table><tr><th scope="col">case</th>{head}</tr>{"".join(rows)}</table>'


def _cell(verdict: Verdict | None) -> str:
    status = verdict.status if verdict else ""
    reason = f' title="{html.escape(verdict.reason, quote=True)}"' if verdict and verdict.reason else ""
    return f'<td class="{status.replace(" ", "-")}"{reason}>{status}</td>'


def _findings(report: Report) -> str:
    parts = ["<h2>Found</h2>"]
    for derived, heading in ((False, "On what was given"), (True, "On shapes the audit derived")):
        groups = text.grouped(report, derived=derived)
        parts.append(f"<h3>{heading}</h3>" + ("" if groups else "<p>Nothing.</p>"))
        parts += [_finding(finding, verdicts) for finding, verdicts in groups]
    return "".join(parts)


def _finding(finding: Finding, verdicts: list[Verdict]) -> str:
    told = explanation(finding)
    seen = "; ".join(dict.fromkeys(f"{v.case}, {v.name}" for v in verdicts))
    entries = [("Seen by", seen), ("Where", finding.where), ("Means", told.means), ("Do", told.do)]
    entries.append(("Explained", text.explained_by(finding)))
    listed = "".join(f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in entries if value)
    return f"<article><h4>{finding.code}: {html.escape(finding.message)}</h4><dl>{listed}</dl></article>"


def _figures(report: Report) -> str:
    windows, order, grid = drawn(report)
    drawings = []
    for place, window in enumerate(windows):
        regions = [
            f.region for v in report.given if v.case == GIVEN for f in v.findings if f.output == place and f.region
        ]
        drawings.append(("Which program owns which block of " + window["name"], owner_map(window, grid)))
        if order:
            drawings.append(("In which order the simulated TPU visits them", visit_order(window, grid, order)))
        if regions:
            drawings.append(("The first wrong region", wrong_region(window, grid, regions[0])))
    figures = "".join(
        f"<figure>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>" for caption, svg in drawings if svg
    )
    return f"<h2>Figures</h2>{figures}" if figures else ""


def drawn(report: Report) -> tuple[list[dict[str, Any]], list[list[int]], list[int]]:
    """What the figures show: output windows of the first kernel as given, the order of its programs, and its grid."""
    given = {verdict.rung: verdict for verdict in report.verdicts if verdict.case == GIVEN}
    kernels = given["interpret"].facts.get("kernels", []) if "interpret" in given else []
    if not kernels:
        return [], [], []
    windows = [window for window in kernels[0]["windows"] if window.get("begins")]
    order = given["simulate"].facts.get("order", []) if "simulate" in given and len(kernels) == 1 else []
    return windows, order, kernels[0]["grid"]


def _rest(report: Report) -> str:
    stated = "".join(f"<li>{html.escape(line)}</li>" for line in text.static(report))
    left = "".join(f"<li>{html.escape(name)}: {html.escape(reason)}</li>" for name, reason in text.not_run(report))
    ran = [rung for rung in RUNGS if any(v.rung == rung and v.status != NOT_RUN for v in report.verdicts)]
    says = "".join(f"<li>{rung}: {html.escape(PROVES[rung])}</li>" for rung in ran)
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return (
        f"<h2>Static facts of what was given</h2><ul>{stated}</ul>"
        f"<h2>Not run</h2><ul>{left}</ul><h2>What a pass says</h2><ul>{says}</ul>"
        f"<p>Made with {html.escape(versions)}, {report.date}.</p>"
    )
