"""Which block shapes a TPU takes, and how much VMEM they may need: one kernel, many blocks, recorded."""

import json
from collections.abc import Callable
from typing import Any

from pallas_course.evidence import chips, ladder
from pallas_course.evidence.pool import Task, run
from pallas_course.evidence.verdict import NOT_RUN, PASS, today

FORMAT = 1
KERNEL = "axpy"
CHIPS = ("v5e", "v6e")
DTYPES = ("float32", "bfloat16")
ROWS, COLUMNS = (1, 2, 4, 8, 16, 24, 100), (64, 100, 128, 200, 256, 512)
SHAPE = (208, 1024)
"""The map's matrix: no block spans one of its axes, which would be another way to be accepted."""
LARGE_ROWS, LARGE_COLUMNS = (128, 256, 384, 512, 640, 768, 1024), 2048
"""Blocks from 1 to 8 MiB of float32, for the VMEM figure. Each divides its matrix, four blocks high: an array that is
padded first was seen to be accepted far beyond the limit, which says nothing of the block."""


def climb(told: Callable[[str], None]) -> list[dict[str, Any]]:
    """Rows of part ("map", "vmem"), dtype, block, chip, status, and where they apply reason and vmem_bytes.

    chip is "tpu" for lowering and "" for the VMEM need, which grid and windows give.
    """
    cases: dict[str, dict[str, Any]] = {}
    keys: dict[str, tuple[str, str, tuple[int, int]]] = {}

    def add(part: str, dtype: str, block: tuple[int, int], shape: tuple[int, int]) -> None:
        key = f"{part}, {dtype}, {block}"
        keys[key] = (part, dtype, block)
        cases[key] = {
            "name": key,
            "target": {"module": f"pallas_course.kernels.{KERNEL}", "function": ladder.KERNELS[KERNEL].function},
            "args": [{"dtype": dtype, "shape": list(shape)}] * 2,
            "static": {ladder.KERNELS[KERNEL].block: str(block)},
        }

    for dtype in DTYPES:
        for rows in ROWS:
            for columns in COLUMNS:
                add("map", dtype, (rows, columns), SHAPE)
    for rows in LARGE_ROWS:
        add("vmem", "float32", (rows, LARGE_COLUMNS), (4 * rows, LARGE_COLUMNS))
    names = list(cases)
    jobs = [[Task(key, "lower") for key in names[at : at + 12]] for at in range(0, len(names), 12)]
    jobs.append([Task(key, "interpret") for key in names if keys[key][0] == "vmem"])
    told(f"legality: {len(names)} blocks")
    done = [item.verdict for item in run(cases, jobs, ladder.LIMIT)]
    lowered = [verdict.case for verdict in done if verdict.rung == "lower" and verdict.status == PASS]
    jobs = [[Task(key, "compile", chip)] for key in lowered for chip in CHIPS if chips.missing(chip) is None]
    told(f"legality: {len(jobs)} compiles, each in a process of its own")
    done += [item.verdict for item in run(cases, jobs, ladder.LIMIT)]
    found = []
    for verdict in sorted(
        done, key=lambda v: (names.index(v.case), v.rung != "interpret", v.rung == "compile", v.chip)
    ):
        part, dtype, block = keys[verdict.case]
        row: dict[str, Any] = {"part": part, "dtype": dtype, "block": list(block), "chip": verdict.chip}
        row["status"] = verdict.status
        if verdict.reason:
            row["reason"] = verdict.reason
        if verdict.rung == "interpret":
            row["vmem_bytes"] = verdict.facts["kernels"][0]["vmem_bytes"]
        found.append(row)
    return found


def read() -> dict[str, Any]:
    """The record; empty where there is none."""
    path = ladder.FOLDER / "evidence" / "legality.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if data.get("format", 0) > FORMAT:
        raise ValueError(f"{path.name}: format {data['format']} is newer than this program, which reads {FORMAT}")
    return data


def record(told: Callable[[str], None]) -> int:
    """Try every block and write the record, where kernel or versions changed since. 0; 3 without the TPU compiler."""
    if reason := next(filter(None, map(chips.missing, CHIPS)), None):
        told(f"legality: not run: {reason}")
        return 3
    old, source = read(), ladder.source(KERNEL)
    if old.get("source") == source and old["versions"] == chips.versions_for_tpu():
        told(f"legality: unchanged, recorded {old['date']}")
        return 0
    head = {"format": FORMAT, "kernel": KERNEL, "source": source, "versions": chips.versions_for_tpu(), "date": today()}
    head |= {"shape": list(SHAPE), "limits": {chip: chips.TPUS[chip].scoped_vmem for chip in CHIPS}}
    rows = ",\n".join(f"  {json.dumps(row)}" for row in climb(told))
    path = ladder.FOLDER / "evidence" / "legality.json"
    path.write_text(f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}\n', encoding="utf-8")
    told("legality: recorded")
    return 0


def check(told: Callable[[str], None]) -> int:
    """Try every block again and compare with the record, writing nothing. 0: the same; 1: not."""
    old, new = _keyed(read().get("rows", [])), _keyed(climb(told))
    missing = [key for key in old if key not in new and key[3] in CHIPS and chips.missing(key[3])]
    differ = [key for key in old.keys() | new.keys() if key not in missing and old.get(key) != new.get(key)]
    for key in sorted(differ)[:20]:
        told(f"legality: {' '.join(filter(None, key))}: recorded {old.get(key)}, now {new.get(key)}")
    told(f"legality: {len(new)} run again, {len(differ)} differ, {len(missing)} not compared")
    if differ:
        told("next: see why, then pallas-course evidence legality")
    return int(differ != [])


def _keyed(rows: list[dict[str, Any]]) -> dict[tuple[str, ...], tuple[str, str, int]]:
    return {
        (row["part"], row["dtype"], str(row["block"]), row["chip"]): (
            row["status"],
            row.get("reason", "").split(":")[0],
            row.get("vmem_bytes", 0),
        )
        for row in rows
        if row["status"] != NOT_RUN
    }
