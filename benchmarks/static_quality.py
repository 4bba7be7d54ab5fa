"""Bytes moved and bundles issued by this course's kernels beside public ones, compiled for TPUs that are not here.

``python benchmarks/static_quality.py`` compiles each entry of ``ENTRIES`` and its anchors for each of ``CHIPS``, prints
the ratios, writes them to ``static_quality.json`` beside this file and into ``docs/static-quality.md``, and reports
each target that was missed. Exit 0: all met; 1: one missed; 2: something needed is not there, or cannot be read.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pallas_course.evidence import bundles, chips  # noqa: E402

RECORD = HERE / "static_quality.json"
PAGE = HERE.parent / "docs" / "static-quality.md"
TABLES = re.compile(r"(?<=<!-- measured -->\n).*(?=<!-- end of measured -->)", re.DOTALL)
CHIPS = ("v5e", "v6e")
LIMIT = 600  # seconds for one program


def axpy(x: Any, y: Any, block: tuple[int, int]) -> Any:
    from pallas_course.kernels.axpy import blocked_axpy
    from pallas_course.kernels.targets import targeted

    return targeted(blocked_axpy)(x, y, block, target="tpu")


@dataclass(frozen=True)
class Entry:
    """A kernel, what it is compared with, and the ratios it is held to.

    ``kernel`` takes the arguments and ``block=``; an anchor takes the arguments alone. The first of ``blocks`` is held
    to the targets, the others show what a choice of block costs. The least a program can move is each array once.
    """

    name: str
    formula: str
    arguments: tuple[tuple[str, tuple[int, ...]], ...]
    kernel: Callable[..., Any]
    blocks: tuple[tuple[int, ...], ...]
    anchors: dict[str, Callable[..., Any]]
    most_bytes: float
    most_bundles: dict[str, float]

    def programs(self) -> dict[str, Callable[..., Any]]:
        """Everything to compile, by the name it has in the record."""
        kernels = {
            f"blocks {block}": lambda *arrays, block=block: self.kernel(*arrays, block=block) for block in self.blocks
        }
        return kernels | self.anchors


ENTRIES = (
    Entry(
        name="axpy",
        formula="2·x + y",
        arguments=(("float32", (4096, 4096)), ("float32", (4096, 4096))),
        kernel=axpy,
        blocks=((256, 2048), (256, 512), (8, 128)),
        anchors={"XLA": lambda x, y: 2.0 * x + y},
        most_bytes=1.05,
        most_bundles={"XLA": 1.10},
    ),
)


def measure(entry: Entry, program: str, chip: str) -> dict[str, Any]:
    """Compile one program for a chip and read its dump: bytes, least bytes, bundles, share of each slot in use.

    Runs in a process of its own, since libtpu reads where to dump as it starts. Raises bundles.Unreadable.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= bundles.dumping(folder)
        import jax

        place = chips.sharding(chip)
        arrays = [jax.ShapeDtypeStruct(shape, dtype, sharding=place) for dtype, shape in entry.arguments]
        call = jax.jit(entry.programs()[program])
        with chips.assumed(chip):
            results = jax.tree.leaves(jax.eval_shape(call, *arrays))
            compiled = call.lower(*arrays).compile()
        counted = bundles.programs(Path(folder), chip)
    outside = copied_between(str(compiled.as_text()), set(counted))
    whole = bundles.together(counted.values())
    return {
        "bytes": whole.outside + outside,
        "least_bytes": sum(array.size * array.dtype.itemsize for array in (*arrays, *results)),
        "bundles": whole.bundles,
        "slots": whole.used,
    }


def copied_between(program: str, counted: set[str]) -> int:
    """Bytes that a compiled program copies between HBM and VMEM outside the kernels and fusions that were counted.

    Raises bundles.Unreadable if it does anything else that was not counted.
    """
    entry = program[program.index("\nENTRY ") :].partition("\n}")[0]
    free = {"parameter", "constant", "bitcast", "tuple", "get-tuple-element", "copy-done"}
    bytes_copied = 0
    ran = set()
    for name, result, opcode in re.findall(r"%([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\(", entry):
        if opcode == "copy-start" and "S(1)" in result:
            bits, shape = re.findall(r"^\([a-z]+(\d+)\[([\d,]*)\]", result)[0]
            bytes_copied += math.prod(map(int, filter(None, shape.split(",")))) * int(bits) // 8
        elif opcode not in free:
            ran.add(name)
    if ran != counted:
        raise bundles.Unreadable(f"the program runs {sorted(ran)}; the dumps hold {sorted(counted)}")
    return bytes_copied


def missing() -> str | None:
    """What keeps this script from running here, and what to do; or None."""
    for module, extra in (("pallas_course", ""), ("jax", ""), ("libtpu", "[tpu]")):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed\nnext: pip install -e '.{extra}'"
    if reason := next(filter(None, map(bundles.unread, CHIPS)), ""):
        return (
            f"{reason}\n"
            f"next: pip install 'libtpu=={bundles.LIBTPUS[-1]}' with the JAX that it belongs to, in Python 3.12"
        )
    return None


def in_a_process(entry: Entry, program: str, chip: str) -> dict[str, Any]:
    """``measure`` elsewhere. Raises bundles.Unreadable with what the process said, should it fail."""
    command = [sys.executable, __file__, "--measure", entry.name, program, chip]
    try:
        ran = subprocess.run(command, env=chips.environment(), capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise bundles.Unreadable(f"{entry.name}, {program}, {chip}: not done after {LIMIT} s") from None
    if ran.returncode:
        said = (ran.stderr.strip() or f"exit code {ran.returncode}").splitlines()[-1]
        raise bundles.Unreadable(f"{entry.name}, {program}, {chip}: {said}")
    measured: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return measured


def record(entry: Entry, chips: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """An entry's part of the record: what it is held to, each measurement with its ratios, and the targets missed."""
    missed = []
    for chip, programs in chips.items():
        for name, program in programs.items():
            program["bytes_ratio"] = round(program["bytes"] / program["least_bytes"], 3)
            program["bundles_ratio"] = {
                anchor: round(program["bundles"] / programs[anchor]["bundles"], 3)
                for anchor in entry.anchors
                if name not in entry.anchors
            }
        held = programs[f"blocks {entry.blocks[0]}"]
        ratios = {"bytes moved, against the least": (held["bytes_ratio"], entry.most_bytes)} | {
            f"bundles, against {anchor}": (held["bundles_ratio"][anchor], most)
            for anchor, most in entry.most_bundles.items()
        }
        missed += [
            f"{chip}, blocks {entry.blocks[0]}: {what}: {ratio}, at most {most}"
            for what, (ratio, most) in ratios.items()
            if ratio > most
        ]
    return {
        "formula": entry.formula,
        "arguments": [f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in entry.arguments],
        "held": f"blocks {entry.blocks[0]}",
        "most_bytes_ratio": entry.most_bytes,
        "most_bundles_ratio": entry.most_bundles,
        "missed": missed,
        "chips": chips,
    }


def tables(measured: dict[str, Any]) -> str:
    """The record as Markdown: one table per kernel."""
    lines = []
    for name, kernel in measured["kernels"].items():
        anchors = list(kernel["most_bundles_ratio"])
        least = next(iter(kernel["chips"][CHIPS[0]].values()))["least_bytes"]
        targets = [f"{kernel['most_bytes_ratio']:.2f} × the least bytes"] + [
            f"{most:.2f} × the bundles of {anchor}" for anchor, most in kernel["most_bundles_ratio"].items()
        ]
        arguments = ", ".join(f"`{argument}`" for argument in kernel["arguments"])
        columns = ["Chip", "Program", "Bytes / least", "Bundles", *(f"Bundles / {a}" for a in anchors), "Busiest slot"]
        lines += [
            f"### {name}: {kernel['formula']}",
            "",
            f"Arguments: {arguments}. Every array moved once makes {least / 2**20:,.0f} MiB. Held to its targets with "
            f"{kernel['held']}: at most {' and '.join(targets)}. "
            + (f"**Missed:** {'; '.join(kernel['missed'])}." if kernel["missed"] else "Met on every chip."),
            "",
            f"| {' | '.join(columns)} |",
            f"| --- | --- | --: | --: | {'--: | ' * len(anchors)}--- |",
        ]
        for chip, programs in kernel["chips"].items():
            for program, facts in programs.items():
                slot, share = max(facts["slots"].items(), key=lambda item: item[1])
                ratios = [facts["bundles_ratio"].get(anchor) for anchor in anchors]
                cells = [chip, program, f"{facts['bytes_ratio']:.3f}", f"{facts['bundles']:,}"]
                cells += [f"{ratio:.2f}" if ratio else "–" for ratio in ratios] + [f"{slot} {share:.0%}"]
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    return "\n".join([*lines, f"Measured on {measured['date']} with {versions}.", ""])


def main() -> int:
    """Measure everything, or with ``--measure`` one program, for the process that asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--measure", nargs=3, metavar=("ENTRY", "PROGRAM", "CHIP"), help=argparse.SUPPRESS)
    asked = parser.parse_args().measure
    entries = {entry.name: entry for entry in ENTRIES}
    if asked:
        print(json.dumps(measure(entries[asked[0]], *asked[1:])))
        return 0
    if problem := missing():
        print(f"{Path(__file__).name}: {problem}", file=sys.stderr)
        return 2
    jobs = [(entry, program, chip) for entry in ENTRIES for chip in CHIPS for program in entry.programs()]
    try:
        with ThreadPoolExecutor(2) as pool:
            results = dict(
                zip(((e.name, c, p) for e, p, c in jobs), pool.map(lambda job: in_a_process(*job), jobs), strict=True)
            )
    except bundles.Unreadable as error:
        print(
            f"{Path(__file__).name}: {error}\nnext: give bundles.py a rule for it, or leave the program out",
            file=sys.stderr,
        )
        return 2
    measured: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"Python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "libtpu")},
        "kernels": {
            entry.name: record(
                entry, {chip: {p: results[entry.name, chip, p] for p in entry.programs()} for chip in CHIPS}
            )
            for entry in ENTRIES
        },
    }
    RECORD.write_text(json.dumps(measured, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(
        TABLES.sub(lambda _: "\n" + tables(measured) + "\n", PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )
    print(tables(measured))
    return 1 if any(kernel["missed"] for kernel in measured["kernels"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
