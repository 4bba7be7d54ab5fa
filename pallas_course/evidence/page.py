"""An audit's report as one HTML file that needs nothing else: no script, no font, no picture from anywhere."""

import functools
import html
import importlib.metadata
from collections.abc import Iterable
from typing import Any

from pallas_course.evidence import text
from pallas_course.evidence.audit import GIVEN, Report
from pallas_course.evidence.causes import Entry, entries
from pallas_course.evidence.findings import explanation
from pallas_course.evidence.svg import owner_map, visit_order, wrong_region
from pallas_course.evidence.verdict import Finding

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #69727b; --soft: #f2f4f7; --block: #4a90d0;
  --bad: #b3261e; --good: #1d6b35; --link: #0b57a4 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #14181c; --line: #8b959f; --soft: #1e242a;
  --block: #4f92cc; --bad: #ff8a80; --good: #7fd69a; --link: #8cc0f5 } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 66rem;
  margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: break-word }
h1, h2, h3 { line-height: 1.25; margin: 1.75rem 0 .5rem } article h3 { margin-top: .25rem } a { color: var(--link) }
.lead { font-size: 1.15rem } .wide { overflow-x: auto } table { border-collapse: collapse }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; white-space: nowrap }
.fail { color: var(--bad); font-weight: 600 } .pass { color: var(--good) }
article { background: var(--soft); padding: .5rem 1rem; margin: 1rem 0; border-left: .25rem solid var(--bad) }
dt { font-weight: 600 } dd { margin: 0 0 .4rem 0 }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem 2rem }
figure { margin: 0; max-width: 27rem } figcaption { font-weight: 600 } svg { width: 100%; height: auto; display: block }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink) } .paper { fill: var(--paper) }
.block { fill: var(--block); stroke: var(--line); stroke-width: .75 } .edge { fill: none; stroke: var(--ink) }
.bad-line { stroke: var(--bad); stroke-width: 1.25; fill: none }
.way { stroke: var(--ink); stroke-width: 1.5; fill: none }
.step { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round }
.start { fill: var(--paper); stroke: var(--ink); stroke-width: 2 } .end { fill: var(--ink) }
.wrong { fill: var(--bad); fill-opacity: .4; stroke: var(--bad); stroke-width: 1.5 }
.ring { fill: none; stroke: var(--bad); stroke-width: 1.5 }
"""


def page(report: Report) -> str:
    """The whole page."""
    name = html.escape(report.request.target["function"])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit of {name}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><main>'
        f'<h1>Audit of {name}</h1><p class="lead">{html.escape(text.headline(report))}</p>'
        f"{_table(report)}{_findings(report)}{_figures(report)}{_rest(report)}</main></body></html>\n"
    )


def _table(report: Report) -> str:
    names = text.columns(report)
    if not names:
        return ""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in ("case", *names, "arguments"))
    statuses = {(v.case, v.name): v.status for v in report.verdicts}
    rows = []
    for case, title in report.cases.items():
        cells = "".join(_cell(statuses.get((case, name), "")) for name in names)
        rows.append(
            f'<tr><th scope="row">{html.escape(case)}</th>{cells}<td><code>{html.escape(title)}</code></td></tr>'
        )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<h2>Checked</h2><div class="wide" role="region" aria-label="Cases and rungs" tabindex="0">{table}</div>'


def _cell(status: str) -> str:
    return f'<td class="{status.replace(" ", "-")}">{status}</td>' if status else "<td></td>"


def _findings(report: Report) -> str:
    found, parts = entries(report), []
    for derived, heading in ((False, "Found on what was given"), (True, "Found on derived shapes alone")):
        chosen = [_finding(entry, report) for entry in found if entry.derived == derived]
        parts += [f"<h2>{heading}</h2>", *chosen] if chosen else []
    return "".join(parts)


def _finding(entry: Entry, report: Report) -> str:
    finding, told = entry.finding, explanation(entry.finding)
    said = [("Seen by", text.on_cases(entry.own, report)), ("Where", finding.where)]
    said += [("Also", f"{text.on_cases(verdicts, report)}: {message}") for message, verdicts in entry.also]
    said += [("Means", told.means), ("Do", told.do)]
    rows = [f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in said if value]
    if shown := _explained(finding):
        rows.append("<dt>Explained</dt>" + "".join(f"<dd>{words}</dd>" for words in shown))
    return f"<article><h3>{finding.code}: {html.escape(finding.message)}</h3><dl>{''.join(rows)}</dl></article>"


def _explained(finding: Finding) -> list[str]:
    """The lesson and the museum cases, linked where the installed package states where its pages are."""
    told, shown = explanation(finding), [html.escape(words) for words in text.explained_by(finding)]
    pages = [f"generated/catches.html#{name}" for name in told.museum]
    pages += [f"lessons/{told.lesson}.html"] * bool(told.lesson)
    if site := _site():
        return [
            f'<a href="{html.escape(f"{site}/{page}")}">{words}</a>' for words, page in zip(shown, pages, strict=True)
        ]
    return shown


@functools.cache
def _site() -> str:
    try:
        urls = importlib.metadata.metadata("pallas-course").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:  # run from its folder
        return ""
    found = (url.partition(", ") for url in urls)
    return next((url.rstrip("/") for name, _, url in found if name == "Documentation"), "")


def _figures(report: Report) -> str:
    parts = [
        f'<h3>{html.escape(heading)}</h3><div class="figures">'
        + "".join(f"<figure><figcaption>{caption}</figcaption>{drawing}</figure>" for caption, drawing in drawings)
        + "</div>"
        for heading, drawings in drawn(report)
    ]
    return f"<h2>Figures</h2>{''.join(parts)}" if parts else ""


def drawn(report: Report) -> list[tuple[str, list[tuple[str, str]]]]:
    """For each output of each kernel on the given case: a heading, and drawings with their captions."""
    given = [verdict for verdict in report.verdicts if verdict.case == GIVEN]
    kernels: list[dict[str, Any]] = next((v.facts["kernels"] for v in given if "kernels" in v.facts), [])
    told = [pair for entry in entries(report) for pair in entry.seen]
    wrong = [f for f, verdict in told if verdict.case == GIVEN and f.region is not None]
    orders = _orders(kernels, next((verdict.facts["order"] for verdict in given if "order" in verdict.facts), []))
    found = []
    for kernel, order in zip(kernels, orders, strict=True):
        if not isinstance(kernel["grid"], list):
            continue
        outputs = [window for window in kernel["windows"] if window["role"] == "output"]
        for place, window in enumerate(outputs):
            finding = next((f for f in wrong if _fits(f, place, window, outputs)), None)
            wrong = [f for f in wrong if f is not finding]
            region = finding.region if finding else None
            leading = tuple(low for low, _ in region[:-2]) if region else ()
            named = {**window, "name": f"output {place}"}
            drawings = [
                ("Which program owns which block", owner_map(named, kernel["grid"], leading)),
                ("In which order the blocks are visited", visit_order(named, kernel["grid"], order, leading)),
                ("The first wrong elements", "" if region is None else wrong_region(named, kernel["grid"], region)),
            ]
            if drawings := [(caption, drawing) for caption, drawing in drawings if drawing]:
                found.append((f"{kernel['name']}, output {place}", drawings))
    return found


def _fits(finding: Finding, place: int, window: dict[str, Any], outputs: list[dict[str, Any]]) -> bool:
    """Whether a finding's output is this window: by its place where the shape agrees, else by the shape alone."""
    shape = list(finding.shape or ())
    own = finding.output < len(outputs) and outputs[finding.output]["shape"] == shape
    return window["shape"] == shape and (place == finding.output or not own)


def _orders(kernels: list[dict[str, Any]], order: list[list[int]]) -> Iterable[list[list[int]]]:
    """The recorded grid points of each kernel; of several kernels, only where every program left one."""
    counts = [len(window["begins"]) for k in kernels for window in k["windows"][-1:] if "begins" in window]
    if len(kernels) == 1:
        return [order]
    if len(counts) < len(kernels) or sum(counts) != len(order):
        return [[] for _ in kernels]
    ends = [sum(counts[: place + 1]) for place in range(len(counts))]
    return [order[end - count : end] for end, count in zip(ends, counts, strict=True)]


def _rest(report: Report) -> str:
    lists = [
        ("Static facts of what was given", text.static(report)),
        ("Measured on what was given", text.measured(report)),
        ("Not run", [f"{what}: {reason}" for what, reason in text.not_run(report)]),
        ("What a pass says", [f"{name}: {what}" for name, what in text.says(report)]),
    ]
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    parts = [
        f"<h2>{heading}</h2><ul>{''.join(f'<li>{html.escape(item)}</li>' for item in items)}</ul>"
        for heading, items in lists
        if items
    ]
    own = f"<p>{text.OWN_MODE}</p>" if text.own_mode(report) else ""
    made = f"<p>{html.escape(text.ended(report))} Made with {html.escape(versions)}, {report.date}.</p>"
    return f"{''.join(parts)}{own}{made}"
