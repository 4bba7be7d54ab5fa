"""The museum on every rung: each file as it stands, recorded in one table, which a page shows and a test reads."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pallas_course import fingerprint
from pallas_course.evidence import chips, museum, shapes
from pallas_course.evidence.pool import Task, run
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, Verdict, today

FORMAT = 1
RECORD = Path(museum.__file__).with_name("verdicts.json")
LIMIT = 40.0
TOGETHER = 8  # cases that share a process on the rungs without a compiler

_STAMP = re.compile(r"\bF\d{4} [\d:.]+ +\d+ ")  # time and process, in the last words of a compiler

WRONG = {"wrong-values", "unwritten", "uninitialised", "order", "copies", "rungs", "shape"}
"""Findings about values; any other is an error that stopped the rung."""


def word(verdict: Verdict) -> str:
    """A verdict as the museum's ABOUT writes it: pass, wrong, refused, hang, abort, not run."""
    if verdict.status == PASS:
        return "pass"
    if verdict.status == NOT_RUN:
        return "not run"
    code = verdict.findings[0].code
    return code if code in ("hang", "abort") else "wrong" if code in WRONG else "refused"


def climb(
    chosen: list[museum.Case], told: Callable[[str], None], *, together: bool = False
) -> dict[str, dict[str, Any]]:
    """What each file says on each rung: name → rung → {"word", and where it is no pass "code" and "reason"}.

    A rung is "interpret", "compile:v5e"; "grad" is the interpreted gradient; "derived interpret" is a rung on the other
    shapes that a file names. Each compile has a process of its own, or with ``together`` that of the file's other
    rungs, which takes a fifth of the time.
    """
    cases: dict[str, dict[str, Any]] = {}
    quick: list[Task] = []
    alone: list[Task] = []
    labels: dict[str, tuple[str, str]] = {}

    def add(case: museum.Case, key: str, prefix: str, rungs: list[str], **spec: Any) -> None:
        file = str(case.path)
        cases[key] = {
            "name": key,
            "target": {"file": file, "function": "kernel"},
            "oracle": {"file": file, "function": "reference"},
            "args": [shapes.parse(text)[1] for text in spec.pop("args", case.about["args"])],
            "inputs": {"file": file, "function": "make"} if "inputs" in case.about else None,
            **spec,
        }
        for rung in rungs:
            name, _, chip = rung.partition(":")
            task = Task(key, name, chip or "v5e")
            labels[task.id] = (case.name, prefix or rung)
            (alone if name == "compile" else quick).append(task)

    for case in chosen:
        verdicts = case.about["verdicts"]
        add(case, case.name, "", [rung for rung in verdicts if rung != "grad"])
        if "grad" in verdicts:
            add(case, f"{case.name}, gradient", "grad", ["interpret"], grad=True)
        if derived := case.about.get("derived"):
            for rung in derived["verdicts"]:
                add(case, f"{case.name}, derived", f"derived {rung}", [rung], args=derived["args"], inputs=None)
    absent = [task for task in alone if chips.missing(task.chip)]
    compiling = [task for task in alone if task not in absent]
    jobs = [
        [task for task in (quick + compiling if together else quick) if task.case in group]
        for group in (list(cases)[at : at + TOGETHER] for at in range(0, len(cases), TOGETHER))
    ]
    jobs += [] if together else [[task] for task in compiling]
    told(f"museum: {len(chosen)} files, {len(quick)} rungs without a compiler, {len(jobs)} processes")
    done = [(item.task, item.verdict) for item in run(cases, [job for job in jobs if job], LIMIT)]
    done += [
        (task, Verdict("compile", NOT_RUN, chip=task.chip, reason=chips.missing(task.chip) or "")) for task in absent
    ]
    found: dict[str, dict[str, Any]] = {case.name: {} for case in chosen}
    order = {task_id: place for place, task_id in enumerate(labels)}
    for task, verdict in sorted(done, key=lambda pair: order[pair[0].id]):
        name, rung = labels[task.id]
        said = {"word": word(verdict)}
        if verdict.status == FAIL:
            said["code"] = verdict.findings[0].code
        if verdict.reason:
            code = said.get("code", "")
            said["reason"] = _STAMP.sub("", verdict.reason.removeprefix(f"{code}: ").splitlines()[0])
        found[name][rung] = said
    return found


def read() -> dict[str, dict[str, Any]]:
    """The record: name of each file → {"source", "versions", "date", "verdicts"}. Empty where there is none."""
    if not RECORD.is_file():
        return {}
    data = json.loads(RECORD.read_text(encoding="utf-8"))
    if data["format"] > FORMAT:
        raise ValueError(f"{RECORD.name}: format {data['format']} is newer than this program, which reads {FORMAT}")
    files: dict[str, dict[str, Any]] = data["files"]
    return files


def record(told: Callable[[str], None]) -> int:
    """Run each file whose code or versions have no entry yet, and write the record. 0; 3 without the TPU compiler."""
    if reason := chips.missing("v5e"):
        told(f"museum: not run: {reason}")
        return 3
    old, here, every = read(), chips.versions_for_tpu(), museum.cases()
    fresh = {
        case.name: old[case.name]
        for case in every
        if case.name in old
        and old[case.name]["source"] == fingerprint.of_files(case.path)
        and old[case.name]["versions"] == here
    }
    changed = [case for case in every if case.name not in fresh]
    found = climb(changed, told) if changed else {}
    for case in changed:
        fresh[case.name] = {
            "source": fingerprint.of_files(case.path),
            "versions": here,
            "date": today(),
            "verdicts": found[case.name],
        }
    rows = ",\n".join(f"  {json.dumps(case.name)}: {json.dumps(fresh[case.name])}" for case in every)
    RECORD.write_text(f'{{\n "format": {FORMAT},\n "files": {{\n{rows}\n }}\n}}\n', encoding="utf-8")
    told(f"museum: {len(changed)} run, {len(every) - len(changed)} unchanged")
    return 0


def check(told: Callable[[str], None]) -> int:
    """Run every file again and compare words and codes with the record, writing nothing. 0: the same; 1: not."""
    old, every = read(), museum.cases()
    new = climb(every, told, together=True)
    differ = missing = 0
    for case in every:
        entry = old.get(case.name, {"source": "", "verdicts": {}})
        if entry["source"] != fingerprint.of_files(case.path):
            told(f"museum: {case.name} has no record of this source")
            differ += 1
            continue
        for rung, said in new[case.name].items():
            recorded = entry["verdicts"].get(rung, {})
            now, before = ((item.get("word"), item.get("code")) for item in (said, recorded))
            if now == before:
                continue
            if rung.startswith("compile") and now[0] == "not run":
                missing += 1
                continue
            told(f"museum: {case.name}, {rung}: recorded {before}, now {now}")
            differ += 1
    told(f"museum: {len(every)} files run again, {differ} differences, {missing} not compared")
    if differ:
        told("next: see why, then pallas-course evidence museum")
    return int(differ > 0)
