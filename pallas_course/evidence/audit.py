"""Climb the ladder with anybody's function, and say what was checked, found and not run."""

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pallas_course import fingerprint
from pallas_course.evidence import accelerator, chips, compiled, shapes
from pallas_course.evidence.pool import Pool, Task, named
from pallas_course.evidence.verdict import FAIL, NOT_RUN, RUNGS, Misuse, Verdict, from_json, today
from pallas_course.kernels import versions

GIVEN, DERIVED = "given", "derived"
NOT_DERIVED = {
    False: "the arguments have no size above one",
    True: "the arguments come from --inputs, and no others are made up",
}


@dataclass(frozen=True)
class Request:
    """What to audit. Paths are absolute; ``args`` and ``kwargs`` as shapes.parse reads them.

    ``variants`` holds, by keyword, Python literals: the first is used, the others must give the same result.
    """

    target: dict[str, str]
    args: list[dict[str, Any]] = field(default_factory=list)
    kwargs: dict[str, dict[str, Any]] = field(default_factory=dict)
    variants: dict[str, list[str]] = field(default_factory=dict)
    inputs: dict[str, str] | None = None
    oracle: dict[str, str] | None = None
    tolerance: tuple[float, float] | None = None
    chips: tuple[str, ...] = ()
    rungs: tuple[str, ...] = ()
    grad: bool = False
    strict: bool = False
    limit: float = 30.0


@dataclass(frozen=True)
class Report:
    """Every verdict, and the exit status that follows from them. ``left_out`` gives what was not tried, and why."""

    request: Request
    cases: dict[str, str]
    verdicts: tuple[Verdict, ...]
    versions: dict[str, str]
    date: str
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def given(self) -> list[Verdict]:
        """Verdicts on what the user gave, gradients and other blocks among it."""
        return [verdict for verdict in self.verdicts if not is_derived(verdict.case)]

    @property
    def unavailable(self) -> list[Verdict]:
        """Verdicts of rungs that were asked for and could not run on what was given."""
        asked = {"interpret", "simulate", "lower", *self.request.rungs}
        return [
            verdict
            for verdict in self.given
            if verdict.status == NOT_RUN and (verdict.rung in asked or verdict.chip in self.request.chips)
        ]

    @property
    def exit(self) -> int:
        """0: every rung asked for passed on what was given; 1: findings; 3: a rung or chip asked for could not run."""
        counted = self.verdicts if self.request.strict else self.given
        if any(verdict.status == FAIL for verdict in counted):
            return 1
        return 3 if self.unavailable else 0


def is_derived(case: str) -> bool:
    """Whether a case's shapes were made up by the audit."""
    return case.startswith(DERIVED)


def audit(request: Request) -> Report:
    """Run the rungs in worker processes. Whatever the audited code does is in the report.

    Raises Misuse when the functions that are named do not exist, or do not take what they would be given.
    """
    wanted = request.rungs or RUNGS[:5]
    named_chips = request.chips or (("v5e",) if chips.missing("v5e") is None else ())
    assumed = next((chip for chip in named_chips if chip in chips.TPUS), "v5e")
    lowered = list({chips.CHIPS[chip].platform: chip for chip in reversed(named_chips or ("v5e",))}.values())
    cases = _cases(request, assumed)
    left_out = {}
    if set(wanted) & set(RUNGS[:4]) and not any(map(is_derived, cases)):
        left_out["derived shapes"] = NOT_DERIVED[request.inputs is not None]
    absent: list[Verdict] = []
    jobs: list[list[Task]] = []
    compiling: list[list[Task]] = []
    for name in cases:
        steps = [Task(name, rung, assumed) for rung in ("interpret", "simulate") if rung in wanted]
        jobs.append(steps + [Task(name, "lower", chip) for chip in reversed(lowered) if "lower" in wanted])
        for chip in named_chips if "compile" in wanted else ():
            if reason := chips.missing(chip):
                absent.append(Verdict("compile", NOT_RUN, case=name, chip=chip, reason=reason))
            else:
                more = [Task(name, compiled.RUNG, chip)] if name == GIVEN and chip in chips.TPUS else []
                compiling.append([Task(name, "compile", chip), *more])
    if "compile" in wanted and not named_chips:
        absent.append(Verdict("compile", NOT_RUN, case=GIVEN, reason=chips.missing("v5e") or "no chip was named"))
    jobs = [job for job in [*jobs, *compiling] if job]
    with Pool() as pool:
        (loaded,) = pool.run(cases, [[Task(GIVEN, "load", assumed)]], request.limit)
        if loaded.misuse:
            raise Misuse(*loaded.misuse)
        unloadable = loaded.verdict.status == FAIL
        if unloadable:
            # Once is enough: no shape changes it.
            cases, left_out = {GIVEN: cases[GIVEN]}, {"derived shapes": "the file could not be loaded"}
            absent = [verdict for verdict in absent if verdict.case == GIVEN]
            tasks = [task for job in jobs for task in job if task.case == GIVEN]
            found = [named(loaded.verdict, task) for task in tasks if task.rung != compiled.RUNG]
        else:
            found = compiled.joined(pool.run(cases, jobs, request.limit))
    found += absent + _on_accelerator(request, cases[GIVEN], wanted, unloadable)
    order = {name: place for place, name in enumerate(cases)}
    found.sort(key=lambda v: (order[v.case], RUNGS.index(v.rung)))
    titles = {name: _title(case) for name, case in cases.items()}
    return Report(request, titles, _complete(request, cases, found), versions.installed(), today(), left_out)


def _on_accelerator(
    request: Request, given: dict[str, Any], wanted: tuple[str, ...], unloadable: bool
) -> list[Verdict]:
    """Verdicts of the rungs that need an accelerator, on what was given; a time is taken only when asked for."""
    rungs = [rung for rung in ("execute", "time") if rung in wanted]
    reason = accelerator.absent() or ("the file could not be loaded" if unloadable else None)
    found = [Verdict(rung, NOT_RUN, case=GIVEN, reason=reason) for rung in rungs if reason]
    if not request.rungs:
        found.append(
            Verdict("time", NOT_RUN, case=GIVEN, reason=reason or "it is taken only when asked for: --rung time")
        )
    if reason or not rungs:
        return found
    with Pool(accelerator.environment()) as pool:
        done = pool.run({GIVEN: {**given, "chip": ""}}, [[Task(GIVEN, rung) for rung in rungs]], request.limit)
    return found + [item.verdict for item in done]


def _complete(request: Request, cases: dict[str, dict[str, Any]], found: list[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts as records that stand alone: source, block, versions and date in each."""
    source, here = _source(Path(request.target["file"])), versions.installed()
    blocks = {
        name: ", ".join(f"{key}={value}" for key, value in case["static"].items()) for name, case in cases.items()
    }
    for verdict in found:
        for kernel in verdict.facts.get("kernels", ())[:1]:
            block = next((window["block"] for window in kernel["windows"] if window["role"] == "output"), None)
            blocks[verdict.case] = blocks[verdict.case] or (f"({', '.join(map(str, block))})" if block else "")
    return tuple(
        dataclasses.replace(
            _relative(verdict, request.target),
            source=source,
            block=blocks[verdict.case],
            versions=here,
            date=today(),
        )
        for verdict in found
    )


def _source(path: Path) -> str:
    try:
        return fingerprint.of_files(path)
    except Exception:  # noqa: BLE001  no Python, so there is no code to tell from comments; its reader raises anything
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _cases(request: Request, assumed: str) -> dict[str, dict[str, Any]]:
    """What is run, by name: as given, with other blocks, on derived shapes, and the gradient."""
    first = {name: literals[0] for name, literals in request.variants.items()}
    others = [{**first, name: literal} for name, literals in request.variants.items() for literal in literals[1:]]
    base: dict[str, Any] = {
        "target": request.target,
        "args": request.args,
        "kwargs": request.kwargs,
        "static": first,
        "inputs": request.inputs,
        "oracle": request.oracle,
        "tolerance": request.tolerance,
        "chip": assumed,
    }
    cases = {GIVEN: {**base, "alternatives": others}}
    for static in others:
        changed = ", ".join(f"{name}={literal}" for name, literal in static.items() if literal != first[name])
        cases[f"{GIVEN}, {changed}"] = {**base, "static": static}
    if request.grad:
        cases[f"{GIVEN}, gradient"] = {**base, "grad": True}
    # What needs an accelerator runs on what was given alone.
    if request.inputs is None and set(request.rungs or RUNGS) & set(RUNGS[:4]):
        for name, (args, kwargs) in shapes.derived(request.args, request.kwargs).items():
            cases[f"{DERIVED} {name}"] = {**base, "args": args, "kwargs": kwargs, "derived": True}
    return {name: {**case, "name": name} for name, case in cases.items()}


def _title(case: dict[str, Any]) -> str:
    if case["inputs"]:
        return f"arguments of {case['inputs']['function']}()"
    shown = [shapes.write(item) for item in case["args"]]
    return (
        ", ".join(shown + [f"{name}={shapes.write(item)}" for name, item in case["kwargs"].items()]) or "no arguments"
    )


def _relative(verdict: Verdict, target: dict[str, str]) -> Verdict:
    """The verdict with places in the target's own folder written without that folder."""
    folder = str(Path(target["file"]).parent) + os.sep if target.get("file") else ""
    if not folder:
        return verdict
    text = json.dumps(verdict.as_json()).replace(json.dumps(folder)[1:-1], "")
    return from_json(json.loads(text))
