"""Climb the ladder with anybody's function, and say what was checked, found and not run."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pallas_course.evidence import chips, compiled, shapes
from pallas_course.evidence.pool import Task, run
from pallas_course.evidence.verdict import FAIL, NOT_RUN, RUNGS, Verdict, from_json, today
from pallas_course.kernels import versions

GIVEN, DERIVED = "given", "derived"


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
    """Every verdict, and the exit status that follows from them."""

    request: Request
    cases: dict[str, str]
    verdicts: tuple[Verdict, ...]
    versions: dict[str, str]
    date: str

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
    """Run the rungs in worker processes. Whatever the audited code does is in the report; nothing of it is raised."""
    wanted = request.rungs or RUNGS[:4]
    named = request.chips or (("v5e",) if chips.missing("v5e") is None else ())
    assumed = next((chip for chip in named if chip in chips.TPUS), "v5e")
    lowered = list({chips.CHIPS[chip].platform: chip for chip in reversed(named or ("v5e",))}.values())
    cases = _cases(request, assumed)
    absent: list[Verdict] = []
    climbing: tuple[list[Task], list[Task]] = ([], [])
    compiling: list[list[Task]] = []
    for name in cases:
        steps = [Task(name, rung, assumed) for rung in ("interpret", "simulate") if rung in wanted]
        steps += [Task(name, "lower", chip) for chip in reversed(lowered) if "lower" in wanted]
        # One process for what was given and one for the rest: starting JAX costs more than a small kernel.
        climbing[is_derived(name)].extend(steps)
        for chip in named if "compile" in wanted else ():
            if reason := chips.missing(chip):
                absent.append(Verdict("compile", NOT_RUN, case=name, chip=chip, reason=reason))
            else:
                more = [Task(name, compiled.RUNG, chip)] if name == GIVEN and chip in chips.TPUS else []
                compiling.append([Task(name, "compile", chip), *more])
    if "compile" in wanted and not named:
        absent.append(Verdict("compile", NOT_RUN, case=GIVEN, reason=chips.missing("v5e") or "no chip was named"))
    for rung in ("execute", "time"):
        if not request.rungs or rung in wanted:
            absent.append(Verdict(rung, NOT_RUN, case=GIVEN, reason="needs an accelerator, and this machine has none"))
    done = run(cases, [job for job in [*climbing, *compiling] if job], request.limit)
    order = {name: place for place, name in enumerate(cases)}
    verdicts = [_relative(verdict, request.target) for verdict in compiled.joined(done)] + absent
    verdicts.sort(key=lambda v: (order[v.case], RUNGS.index(v.rung)))
    titles = {name: _title(case) for name, case in cases.items()}
    return Report(request, titles, tuple(verdicts), versions.installed(), today())


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
    if request.inputs is None:
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
