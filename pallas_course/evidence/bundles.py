"""What a TPU program would issue, counted from its compiler's final bundles, with no TPU.

libtpu can write the instruction bundles it ends with as text. The scalar half of that text decides how often each loop
turns and which copies start, and depends on the grid alone in the kernels here: so it is executed, and vector work is
skipped. A value that the text does not hold (an address, an SMEM read) is unknown, and so is what is computed from it;
an unknown that decides a branch or a copy stops the count, as does any opcode without a rule below. Nothing is guessed.

The text is no public format, and both it and the numbers move between versions: rules hold for ``LIBTPUS`` alone.
"""

import importlib.metadata
import operator
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LIBTPUS = ("0.0.42.1", "0.0.50.1")
SLOTS = ("MXU", "XLU", "VALU", "VPOP", "EUP", "VLOAD", "VLOAD:FILL", "VSTORE", "VSTORE:SPILL", "SALU")
GRANULE = {"v4": 512, "v5e": 32, "v6e": 32, "v7x": 32}
"""Bytes of one unit of a copy's size. A v5p is left out: its two cores share a grid, and the text does not say how."""

WORD = 1 << 32
DELAY = 4  # bundles issued after a branch before it takes effect
MOST = 50_000_000  # bundles, far beyond any program here: a loop that does not end is a fault of these rules

Value = int | None
State = dict[str, Value]  # registers by name ("s9", "p0") and SMEM cells by address
Rule = Callable[[State], Value]

TESTS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
ARITHMETIC: dict[str, Callable[..., int]] = {
    "smov": lambda a: a,
    "sadd.s32": operator.add,
    "ssub.s32": operator.sub,
    "smul.u32": operator.mul,
    "sshll.u32": operator.lshift,
    "sshrl.u32": operator.rshift,
    "sshra.s32": lambda a, b: _signed(a) >> b,
    "sand.u32": operator.and_,
    "sor.u32": operator.or_,
    "sxor.u32": operator.xor,
    "smin.u32": min,
    "smax.u32": max,
    "pmov": lambda a: a,
    "pneg": lambda a: 1 - a,
    "por": operator.or_,
    "pand": operator.and_,
    "pnand": lambda a, b: 1 - (a & b),
    "scalar_select": lambda predicate, a, b: a if predicate else b,
    **{f"scmp.{name}.u32.totalorder": test for name, test in TESTS.items()},
    **{
        f"scmp.{name}.s32.totalorder": lambda a, b, test=test: test(_signed(a), _signed(b))
        for name, test in TESTS.items()
    },
}
# Addresses, and scalars that come out of vectors or out of the divider: unknown.
UNKNOWN = re.compile(r"scalar_lea\.|int_to_ptr\.|inlined_call_operand\.|scalar_parameter_address$|spop\.drf$|v[a-z]")
# No effect on a scalar register or on control: vectors, the divider, and waits, which no count can see.
SKIPPED = re.compile(r"v[a-z]|sdivrem\.|dma\.done|shalt\.err$|sfence$|compiler-scheduling-barrier$")
BUNDLE = re.compile(r"\s*(0x[0-9a-f]+|0)\s+(?:LH|LB|LE|PB|PF|CT)?\s*:\s*[> ]*\{", re.ASCII)


class Unreadable(Exception):
    """The dump holds something that no rule covers, or a count that would be a guess."""


@dataclass(frozen=True)
class Issued:
    """Bundles issued; bytes copied by direction, "hbm_to_vmem" and the like; the share of each slot's issues in use."""

    bundles: int
    copied: dict[str, int]
    slots: dict[str, float]

    @property
    def outside(self) -> int:
        """Bytes copied to and from HBM."""
        return sum(size for way, size in self.copied.items() if "hbm" in way)

    @property
    def used(self) -> dict[str, float]:
        """The slots in use at all, with three digits."""
        return {slot: round(share, 3) for slot, share in self.slots.items() if round(share, 3)}


@dataclass(frozen=True)
class Step:
    """One scalar instruction: what it does, to what, by which rule, and under which predicate."""

    does: str
    to: str
    value: Rule
    predicate: Rule


def unread(chip: str) -> str:
    """Why the dumps of this machine's libtpu cannot be read for ``chip``; "" where they can."""
    if (found := importlib.metadata.version("libtpu")) not in LIBTPUS:
        return f"libtpu is {found}, and its bundles are read as {' and '.join(LIBTPUS)} write them"
    return "" if chip in GRANULE else f"no rule says how the cores of a {chip} share a program"


def dumping(folder: str) -> dict[str, str]:
    """The environment in which libtpu, which reads it as it starts, writes each program's bundles into ``folder``."""
    flags = os.environ.get("LIBTPU_INIT_ARGS", "")
    return {"LIBTPU_INIT_ARGS": f"{flags} --xla_jf_dump_to={folder} --xla_jf_dump_llo_text=true".strip()}


def together(issued: Iterable[Issued]) -> Issued:
    """Several programs as one: sums, and each slot's share of all the bundles."""
    every = list(issued)
    total = sum(one.bundles for one in every)
    copied = Counter[str]()
    for one in every:
        copied.update(one.copied)
    slots = {slot: sum(one.slots[slot] * one.bundles for one in every) / total for slot in every[0].slots}
    return Issued(total, dict(copied), slots)


def programs(folder: Path, chip: str, names: set[str] | None = None, most: int = MOST) -> dict[str, Issued]:
    """Count the kernels and fusions dumped in ``folder``, by the name of their HLO instruction: all, or ``names``.

    Raises Unreadable for a program of more than ``most`` bundles, too.
    """
    counted = {}
    for path in sorted(folder.glob("*-final_bundles.txt")):
        named = re.fullmatch(r"(\d+)-(.+)-\d+-final_bundles\.txt", path.name)
        # <...> and TLP start and end the whole program; they hold no part of a kernel.
        if named and not named[2].startswith("<") and named[2] != "TLP" and (names is None or named[2] in names):
            tables = list(folder.glob(f"{named[1]}-*-final_hlo-static-per-bundle-utilization.txt"))
            if len(tables) != 1:
                raise Unreadable(f"{len(tables)} tables for the bundles of {named[2]}")
            counted[named[2]] = count(path.read_text(), tables[0].read_text(), GRANULE[chip], most)
    return counted


def count(text: str, table: str, granule: int, most: int = MOST) -> Issued:
    """Execute the scalar control of one program's final bundles; ``table`` is its use of slots, bundle by bundle."""
    bundles = list(_bundles(text))
    regions: dict[str, int] = {}
    for place, bundle in enumerate(bundles):
        for region in re.findall(r"Start(?:/End empty)? region (\d+)", bundle):
            regions.setdefault(region, place)
    steps = [list(_steps(bundle)) for bundle in bundles]
    times, copied, state = [0] * len(steps), Counter[str](), State()
    place = total = left = 0
    target: int | None = None
    while place < len(steps):
        times[place] += 1
        total += 1
        if total > most:
            raise Unreadable(f"no end after {most:,} bundles")
        written = State()
        for step in steps[place]:
            holds = step.predicate(state)
            if holds == 0:
                continue
            value = step.value(state)
            if step.does == "set":
                written[step.to] = value if holds else None
            elif holds is None or value is None:
                raise Unreadable(f"bundle {place}: an unknown value decides a {step.does}")
            elif step.does == "copy":
                copied[step.to] += value * granule
            elif target is not None:
                raise Unreadable(f"bundle {place}: a branch while another is taking effect")
            else:
                target, left = regions[step.to], DELAY + 1
        state.update(written)
        place += 1
        if target is not None:
            left -= 1
            if left == 0:
                place, target = target, None
    return Issued(total, dict(copied), _slots(table, times))


def _bundles(text: str) -> Iterator[str]:
    """Each bundle with the lines that belong to it."""
    held: list[str] = []
    for line in text.splitlines():
        if BUNDLE.match(line):
            if held:
                yield "\n".join(held)
            held = [line]
        elif held:
            held.append(line)
    yield "\n".join(held)


def _steps(bundle: str) -> Iterator[Step]:
    """The instructions of a bundle that bear on scalars, copies or control. Raises Unreadable for an unknown opcode."""
    sizes = re.findall(r"/\*size_in_granules=\*/(%?\w+)", bundle)
    body = re.sub(r"/\*.*?\*/|\[(?:thread|resolvable):[^\]]*\]", "", bundle[bundle.index("{") + 1 :], flags=re.DOTALL)
    for text in body[: body.rindex("}")].split(";;"):
        if not text.strip():
            continue
        written, opcode, rest = re.fullmatch(r"\s*(?:%(\w+) = )?([\w.-]+)\s*(.*?)\s*", text, re.DOTALL).groups()  # type: ignore[union-attr]
        register = re.search(r"_([sp]\d+)$", written or "")
        guard = re.match(r"\((!?%\w+)\)(?:,\s*|\s+|$)", rest)
        predicate = _read(guard[1]) if guard else (lambda state: 1)
        operands = re.findall(
            r"\([^()]*\)|\[[^\[\]]*(?:\[[^\[\]]*\])?[^\[\]]*\]|[^\s,]+", rest[guard.end() if guard else 0 :]
        )
        if opcode.startswith("dma.") and not opcode.startswith("dma.done"):
            yield Step("copy", opcode.removeprefix("dma."), _read(sizes.pop(0)), predicate)
        elif opcode == "sbr.rel":
            yield Step("branch", operands[-1].removeprefix("$region"), lambda state: 1, predicate)
        elif opcode == "sst" and "%" not in operands[0]:
            yield Step("set", operands[0], _read(operands[1]), predicate)
        elif not register:
            if not SKIPPED.match(opcode):
                raise Unreadable(f"no rule for {opcode}: {' '.join(text.split())}")
        elif opcode == "smov" and operands[0].startswith("("):
            test, unless = operands[0].strip("()").split(",")
            yield Step("set", register[1], _apply(ARITHMETIC["scalar_select"], [test, operands[1], unless]), predicate)
        elif opcode == "sld" and "%" not in operands[0]:
            yield Step("set", register[1], _read(operands[0]), predicate)
        elif opcode in ARITHMETIC:
            yield Step("set", register[1], _apply(ARITHMETIC[opcode], operands), predicate)
        elif UNKNOWN.match(opcode) or opcode == "sld":
            yield Step("set", register[1], lambda state: None, predicate)
        elif opcode != "sphi" or any(not operand.endswith("_" + register[1]) for operand in operands):
            raise Unreadable(f"no rule for {opcode}: {' '.join(text.split())}")


def _read(operand: str) -> Rule:
    """A rule that gives an operand's value: a number, a register, a negated predicate, an SMEM cell; else unknown."""
    operand = operand.strip()
    if operand.startswith("!"):
        positive = _read(operand[1:])
        return lambda state: None if (value := positive(state)) is None else 1 - value
    if re.fullmatch(r"0x[0-9a-f]+|\d+", operand):
        number = int(operand, 0)
        return lambda state: number
    name = operand.rpartition("_")[2] if operand.startswith("%") else operand
    return lambda state: state.get(name)


def _apply(rule: Callable[..., int], operands: list[str]) -> Rule:
    reads = [_read(operand) for operand in operands]

    def value(state: State) -> Value:
        values = [read(state) for read in reads]
        return None if None in values else rule(*values) % WORD

    return value


def _signed(value: int) -> int:
    return value - WORD if value >= WORD // 2 else value


def _slots(table: str, times: list[int]) -> dict[str, float]:
    """The share in use of what each slot could have issued, over the bundles as often as they were."""
    head, rows = table.split("== UTILIZATION:\n")
    units, capacity = head.strip().splitlines()[-2:]
    names, most = units.replace(" ", "").split(","), [int(number) for number in capacity.split()]
    if unknown := [name for name in names if name not in SLOTS]:
        raise Unreadable(f"no rule for a slot {unknown[0]}")
    used = [[int(number) for number in row.split()] for row in rows.splitlines()]
    if len(used) != len(times) or len(names) != len(most):
        raise Unreadable(f"a table of {len(used)} rows and {len(names)} slots for {len(times)} bundles")
    total = sum(times)
    return {
        name: sum(often * row[slot] for often, row in zip(times, used, strict=True)) / total / most[slot]
        for slot, name in enumerate(names)
    }
