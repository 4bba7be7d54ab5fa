"""The course's own kernels on every rung: climb, record beside the kernel, compare with the record."""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pallas_course import fingerprint
from pallas_course.evidence import chips
from pallas_course.evidence.pool import Task, run
from pallas_course.evidence.verdict import NOT_RUN, PASS, Verdict, today
from pallas_course.kernels import versions
from pallas_course.kernels.contract import Contract

FORMAT = 1
FOLDER = Path(__file__).resolve().parents[1] / "kernels"
LIMIT = 120.0


@dataclass(frozen=True)
class Climbed:
    """A kernel by its module's name: the function, its contract, and the keyword its block goes by."""

    function: str
    contract: str
    block: str = "block"

    def stated(self, name: str) -> Contract:
        """The contract of the kernel called ``name``."""
        import importlib

        contract: Contract = getattr(importlib.import_module(f"pallas_course.kernels.{name}"), self.contract)
        return contract


KERNELS = {"axpy": Climbed("blocked_axpy", "AXPY")}


def source(name: str) -> str:
    """A hash of the kernel's module and the contract's."""
    return fingerprint.of_kernel(FOLDER, name)


def climb(name: str, told: Callable[[str], None]) -> list[Verdict]:
    """Every case of the contract, in every dtype, with every block, on every rung; what cannot run says why."""
    climbed, contract = KERNELS[name], KERNELS[name].stated(name)
    cases: dict[str, dict[str, Any]] = {}
    keys: dict[str, tuple[str, str, str]] = {}
    for case, dtype, block in itertools.product(contract.cases, contract.dtypes, contract.blocks):
        key = f"{case.name}, {dtype}, {block}"
        keys[key] = (case.name, dtype, str(block))
        module = f"pallas_course.kernels.{name}"
        cases[key] = {
            "name": key,
            "target": {"module": module, "function": climbed.function},
            "oracle": {"module": module, "function": climbed.contract},
            "contract": {"module": module, "name": climbed.contract, "case": case.name, "dtype": dtype},
            "static": {climbed.block: str(block)},
        }
    jobs = [
        [
            Task(key, rung, chip)
            for key in group
            for rung, chip in (("interpret", "v5e"), ("simulate", "v5e"), ("lower", "v5e"), ("lower", "h100"))
        ]
        for group in _groups(list(cases), 8)
    ]
    told(f"{name}: {len(cases)} cases; interpret, simulate, lower")
    done = run(cases, jobs, LIMIT)
    compiling: list[list[Task]] = []
    verdicts: list[Verdict] = []
    accepted = {(item.verdict.case, item.verdict.chip): item.verdict for item in done if item.verdict.rung == "lower"}
    for key, chip in itertools.product(cases, chips.CHIPS):
        lowering = accepted[key, chips.CHIPS[chip].platform]
        if reason := chips.missing(chip):
            verdicts.append(Verdict("compile", NOT_RUN, case=key, chip=chip, reason=reason))
        elif lowering.status != PASS:
            verdicts.append(Verdict("compile", NOT_RUN, case=key, chip=chip, reason="its lowering is refused"))
        else:
            compiling.append([Task(key, "compile", chip)])
    told(f"{name}: {len(compiling)} compiles, each in a process of its own")
    done += run(cases, compiling, LIMIT)
    verdicts += [item.verdict for item in done]
    for rung in ("execute", "time"):
        verdicts.append(Verdict(rung, NOT_RUN, reason="no accelerator has run it"))
    return [_labelled(verdict, keys) for verdict in verdicts]


def _groups(items: list[str], size: int) -> list[list[str]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _labelled(verdict: Verdict, keys: dict[str, tuple[str, str, str]]) -> Verdict:
    import dataclasses

    case, dtype, block = keys.get(verdict.case, ("", "", ""))
    return dataclasses.replace(verdict, case=case, dtype=dtype, block=block, facts=_small(verdict.facts))


def _small(facts: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in facts.items() if type(value) is int}
    for kernel in facts.get("kernels", ()):
        kept |= {name: kernel[name] for name in ("grid", "bytes_moved", "least_bytes", "vmem_bytes") if name in kernel}
    return kept


def packed(verdicts: list[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as groups of one answer: rung, chip, dtype, block, status and reason, with their cases and facts."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    order = {verdict.rung: place for place, verdict in enumerate(verdicts)}
    for verdict in sorted(verdicts, key=lambda v: (order[v.rung], v.chip, v.dtype, v.block)):
        key = (verdict.rung, verdict.chip, verdict.dtype, verdict.block, verdict.status, verdict.reason)
        names = ("rung", "chip", "dtype", "block", "status", "reason")
        group = groups.setdefault(key, {**{n: v for n, v in zip(names, key, strict=True) if v}, "cases": {}})
        group["cases"][verdict.case] = verdict.facts
    for group in groups.values():
        if not any(group["cases"].values()):
            group["cases"] = list(group["cases"])
    return list(groups.values())


def verdicts(record: dict[str, Any]) -> list[Verdict]:
    """The verdicts of one entry of a kernel's record, each with its source, versions and date."""
    shared = {"source": record["source"], "versions": record["versions"], "date": record["date"]}
    found = []
    for group in record["verdicts"]:
        cases = group["cases"] if isinstance(group["cases"], dict) else {case: {} for case in group["cases"]}
        rest = {name: value for name, value in group.items() if name != "cases"}
        found += [Verdict(**rest, **shared, case=case, facts=facts) for case, facts in cases.items()]
    return found


def read(name: str) -> list[dict[str, Any]]:
    """The entries of a kernel's record, one for each set of versions; empty where there is none."""
    path = FOLDER / "evidence" / f"{name}.json"
    if not path.is_file():
        return []
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["format"] > FORMAT:
        raise ValueError(f"{path.name}: format {data['format']} is newer than this program, which reads {FORMAT}")
    entries: list[dict[str, Any]] = data["entries"]
    return entries


def _write(name: str, entries: list[dict[str, Any]]) -> None:
    lines = [f'{{\n "format": {FORMAT},\n "kernel": {json.dumps(name)},\n "entries": [']
    for place, entry in enumerate(entries):
        head = {key: value for key, value in entry.items() if key != "verdicts"}
        rows = ",\n".join(f"   {json.dumps(group)}" for group in entry["verdicts"])
        comma = "," if place < len(entries) - 1 else ""
        lines.append(f'  {json.dumps(head)[:-1]}, "verdicts": [\n{rows}\n  ]}}{comma}')
    path = FOLDER / "evidence" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n ]\n}\n", encoding="utf-8")


def record(names: list[str], told: Callable[[str], None]) -> int:
    """Climb with each kernel whose source or versions have no entry yet, and write the entry. 0, or 1 for a failure."""
    worst = 0
    for name in names:
        entries, key = read(name), (source(name), versions.installed())
        entry = next((e for e in entries if e["source"] == key[0] and _covers(e["versions"], key[1])), None)
        if entry is not None:
            told(f"{name}: unchanged, recorded {entry['date']}")
        else:
            found = climb(name, told)
            entry = {"source": key[0], "versions": key[1], "date": today(), "verdicts": packed(found)}
            # An entry of another source says nothing about this kernel.
            kept = [e for e in entries if e["source"] == key[0] and e["versions"] != key[1]]
            _write(name, sorted([*kept, entry], key=lambda e: json.dumps(e["versions"], sort_keys=True)))
        told(f"{name}: {counts(verdicts(entry))}")
    return worst


def _covers(recorded: dict[str, str], here: dict[str, str]) -> bool:
    """Whether a record was made with what is installed here: JAX and every compiler there is; NumPy only checks."""
    return all(recorded.get(name) == version for name, version in here.items() if name != "numpy")


def counts(found: list[Verdict]) -> str:
    """How many verdicts passed, failed and were not run."""
    words = [verdict.status for verdict in found]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def check(names: list[str], told: Callable[[str], None]) -> int:
    """Climb again and compare with the record, writing nothing. 0: the same; 1: something differs or has no record.

    The entry of the installed versions is compared, else the newest one. Where this machine lacks a compiler, its
    verdicts are counted as not compared.
    """
    worst = 0
    for name in names:
        entries = [entry for entry in read(name) if entry["source"] == source(name)]
        if not entries:
            told(f"{name}: no record of this source\nnext: pallas-course evidence {name}")
            worst = 1
            continue
        same = next((e for e in entries if e["versions"]["jax"] == versions.installed()["jax"]), entries[-1])
        old, new = _keyed(verdicts(same)), _keyed(climb(name, told))
        missing = [
            key for key in old if key in new and NOT_RUN in (new[key][0], old[key][0]) and new[key][0] != old[key][0]
        ]
        differ = [key for key in old.keys() | new.keys() if key not in missing and old.get(key) != new.get(key)]
        for key in sorted(differ)[:20]:
            told(f"{name}: {' '.join(filter(None, key))}: recorded {old.get(key)}, now {new.get(key)}")
        told(
            f"{name}: {len(new) - len(differ) - len(missing)} as recorded, {len(differ)} differ, "
            f"{len(missing)} not compared"
        )
        if differ:
            told(f"next: see why, then pallas-course evidence {name}")
            worst = 1
    return worst


def _keyed(found: list[Verdict]) -> dict[tuple[str, ...], tuple[str, str]]:
    return {(v.rung, v.chip, v.dtype, v.block, v.case): (v.status, v.reason.split(":")[0]) for v in found}
