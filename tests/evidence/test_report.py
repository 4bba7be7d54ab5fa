"""What a report says: one entry for one cause, no more than was compared, and every field that is documented."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pallas_course.evidence import audit, causes, text
from pallas_course.evidence.findings import EXPLAINED
from pallas_course.evidence.verdict import FAIL, NOT_RUN, PASS, Finding, Verdict, failed

ORACLE = {"file": "kernel.py", "function": "reference"}
CASES = {"given": "f32[20,300]", "derived aligned": "f32[24,384]", "derived ragged": "f32[11,165]"}
VALUES = Finding("wrong-values", "differs from the oracle in 8 of 16 elements", "output 0, elements [0:2, 0:4]")
UNWRITTEN = Finding("unwritten", "is not written in 8 of 16 elements", "output 0, elements [0:2, 0:4]")
ASTRAY = Finding("out-of-bounds", 'block (0, 4) of input "x_ref" lies outside', "kernel.py:12")
IMPORT = Finding("import", "ModuleNotFoundError: No module named 'nothing'", "kernel.py:1")
VMEM = Finding("vmem", "E1001: Scoped allocation with size 48.00M and limit 16.00M")
ABSENT = [Verdict(rung, NOT_RUN, case="given", reason="needs an accelerator") for rung in ("execute", "time")]


def report(*verdicts: Verdict, cases: dict[str, str] = CASES, **request: Any) -> audit.Report:
    asked = audit.Request(target={"file": "kernel.py", "function": "kernel"}, **request)
    shown = {name: title for name, title in cases.items() if name in {"given", *(v.case for v in verdicts)}}
    return audit.Report(asked, shown, verdicts, {"jax": "0.12"}, "2026-01-01")


def ran(rung: str, *findings: Finding, case: str = "given", **rest: Any) -> Verdict:
    return failed(rung, list(findings), case=case, **rest)


@pytest.mark.parametrize(
    ("verdicts", "asked", "said"),
    [
        (
            [ran("interpret"), ran("simulate"), ran("lower", chip="tpu"), *ABSENT],
            {"oracle": ORACLE},
            "kernel was checked on f32[20,300] by interpret, simulate and lower tpu, its values against reference: "
            "nothing found; not run: execute, time.",
        ),
        (
            [
                ran("interpret"),
                ran("interpret", case="derived aligned"),
                ran("interpret", VALUES, case="derived ragged"),
            ],
            {"oracle": ORACLE},
            "kernel was checked on f32[20,300] and 2 derived shapes by interpret, its values against reference: "
            "nothing found on what was given, 1 finding on derived shapes alone.",
        ),
        (
            [ran("simulate", UNWRITTEN), ran("compile", VMEM, chip="v5e")],
            {},
            "kernel was checked on f32[20,300] by simulate and compile v5e, its values against nothing, since no "
            "oracle was given: 2 findings.",
        ),
        (
            [ran("simulate", ASTRAY)],
            {"oracle": ORACLE},
            "kernel was checked on f32[20,300] by simulate, its values against nothing, since no run came to its end: "
            "1 finding.",
        ),
        (
            [ran("lower", chip="tpu")],
            {"oracle": ORACLE},
            "kernel was checked on f32[20,300] by lower tpu, which compute no values: nothing found.",
        ),
        (ABSENT, {}, "kernel was not checked: no rung ran; not run: execute, time."),
        (
            [
                ran("interpret", IMPORT),
                ran("lower", IMPORT, chip="tpu"),
                ran("interpret", IMPORT, case="derived ragged"),
            ],
            {},
            "kernel could not be checked: import: ModuleNotFoundError: No module named 'nothing'.",
        ),
        (
            [ran("interpret"), Verdict("simulate", NOT_RUN, case="given"), ran("simulate", case="derived aligned")],
            {"oracle": ORACLE},
            "kernel was checked on f32[20,300] and 1 derived shape by interpret and simulate, its values against "
            "reference: nothing found; not run: simulate (given).",
        ),
        (
            [ran("interpret"), ran("simulate", runs=("left out: races, since 200 programs are more than 160",))],
            {"grad": True, "variants": {"block": ["(8, 128)", "(16, 128)"]}},
            "kernel was checked on f32[20,300], other values of block and the gradient by interpret and simulate, its "
            "values against nothing, since no oracle was given: nothing found; not run: the search for races.",
        ),
    ],
)
def test_the_first_line_says_what_was_checked_found_and_not_run(
    verdicts: list[Verdict], asked: dict[str, Any], said: str
) -> None:
    assert text.headline(report(*verdicts, **asked)) == said


def flat(said: str) -> str:
    """A report without its line breaks."""
    return " ".join(said.split())


def codes(*verdicts: Verdict) -> list[tuple[str, bool]]:
    return [(entry.finding.code, entry.derived) for entry in causes.entries(report(*verdicts))]


def test_a_cause_seen_on_several_rungs_and_shapes_is_one_entry() -> None:
    ragged = dataclasses.replace(UNWRITTEN, message="is not written in 3 of 9 elements", where="output 0, elements [0]")
    both = [ran("interpret", VALUES), ran("simulate", UNWRITTEN), ran("simulate", ragged, case="derived ragged")]
    assert codes(*both) == [("unwritten", False)]
    said = text.text(report(*both))
    assert "  unwritten: is not written in 8 of 16 elements\n    seen by    simulate (every case)\n" in said
    assert "    also       interpret (given): differs from the oracle in 8 of 16 elements\n" in said
    assert "3 of 9" not in said


def test_wrong_values_elsewhere_are_a_cause_of_their_own() -> None:
    elsewhere = dataclasses.replace(VALUES, where="output 0, elements [0:4, 0:4]")
    assert codes(ran("interpret", elsewhere), ran("simulate", UNWRITTEN)) == [
        ("unwritten", False),
        ("wrong-values", False),
    ]


def test_a_run_that_ended_explains_the_wrong_values_of_its_own_case_alone() -> None:
    verdicts = [ran("interpret", VALUES), ran("simulate", ASTRAY), ran("interpret", VALUES, case="derived ragged")]
    assert codes(*verdicts) == [("out-of-bounds", False), ("wrong-values", True)]


def test_two_outputs_that_nobody_writes_are_two_causes() -> None:
    second = Finding("unwritten", "is not written in 8 of 16 elements", "output 1, elements [0:2]", output=1)
    assert codes(ran("simulate", UNWRITTEN, second)) == [("unwritten", False)] * 2


def test_two_errors_at_two_lines_are_two_causes_and_one_at_one_line_is_one() -> None:
    here, there = (Finding("trace", "ValueError: no", f"kernel.py:{line}") for line in (3, 4))
    assert codes(ran("interpret", here), ran("simulate", there)) == [("trace", False)] * 2
    assert codes(ran("interpret", here), ran("simulate", here), ran("simulate", here, case="derived ragged")) == [
        ("trace", False)
    ]
    nowhere = [Finding("compile", f"MosaicError: {what}") for what in ("of 3 rows", "of 8 rows", "another")]
    chips = ("v4", "v5e", "v6e")
    assert codes(*(ran("compile", f, chip=c) for f, c in zip(nowhere, chips, strict=True))) == [("compile", False)] * 2


def test_what_each_chip_says_of_one_cause_stands_in_one_entry() -> None:
    other = dataclasses.replace(VMEM, message="E1001: Scoped allocation with size 48.00M and limit 32.00M")
    (entry,) = causes.entries(report(ran("compile", VMEM, chip="v5e"), ran("compile", other, chip="v6e")))
    assert [(message, [v.chip for v in verdicts]) for message, verdicts in entry.also] == [(other.message, ["v6e"])]


def test_what_is_said_of_one_cause_in_other_words_is_told_once_and_in_other_numbers_it_is_not() -> None:
    here = [
        Finding("trace", f"ValueError: {said}", "kernel.py:9")
        for said in ("1 is too small", "37 are not divided by 128", "173 are not divided by 128")
    ]
    cases = ("given", "derived aligned", "derived ragged")
    verdicts = [ran(rung, f, case=c) for rung in ("interpret", "lower") for f, c in zip(here, cases, strict=True)]
    (entry,) = causes.entries(report(*verdicts))
    assert [(message, len(others)) for message, others in entry.also] == [(here[1].message, 4)]
    values = [dataclasses.replace(VALUES, message=f"differs in {n} elements, of them NaN" * n) for n in (1, 2)]
    (entry,) = causes.entries(
        report(*(ran("interpret", f, case=c) for f, c in zip(values, ("given", "derived ragged"), strict=True)))
    )
    assert entry.also == []


def test_the_most_telling_cause_stands_first_and_derived_shapes_last() -> None:
    verdicts = [
        ran("simulate", UNWRITTEN, case="derived ragged"),
        ran("interpret", dataclasses.replace(VALUES, output=1)),
        ran("simulate", Finding("rungs", "differs from interpret=True", output=2)),
        ran("compile", VMEM, chip="v5e"),
    ]
    assert codes(*verdicts) == [("vmem", False), ("wrong-values", False), ("rungs", False), ("unwritten", True)]


KERNEL = {"name": "body", "where": "k.py:3", "grid": [2], "vmem_bytes": 4096, "least_bytes": 2048, "array_bytes": 2048}


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ({"bytes_moved": 3072}, "grid (2,); moves 3 KiB, 1.5 times the least possible, 2 KiB; blocks"),
        (
            {"bytes_moved": 2048},
            "moves 2 KiB, the least possible; blocks with their second buffers, and scratch, take 4 KiB",
        ),
        (
            {"bytes_moved": 512, "least_bytes": 512},
            "moves 512 bytes, the least possible; 1.5 KiB of its arrays are never copied; blocks",
        ),
        (
            {"bytes_unknown": "the kernel copies by itself"},
            "bytes moved not known: the kernel copies by itself; blocks",
        ),
        ({"grid": [], "vmem_bytes": 0}, "body (k.py:3): no grid: one program "),
        ({"grid": "decided at run time"}, "grid decided at run time"),
        ({"bytes_moved": 5 << 20, "least_bytes": 5 << 20, "array_bytes": 5 << 20}, "moves 5 MiB"),
    ],
)
def test_static_facts_are_told_in_sizes_one_can_read(kernel: dict[str, Any], said: str) -> None:
    facts = {"kernels": [KERNEL | kernel]}
    told = flat(text.text(report(ran("interpret", facts=facts), ran("lower", facts=facts))))
    assert told.count(said) == told.count("k.py:3") == 1


def test_what_a_compiler_states_is_told() -> None:
    compiled = ran("compile", chip="v5e", facts={"argument_bytes": 1024, "temporary_bytes": 0, "program_bytes": 1})
    assert "  compile v5e: argument 1 KiB, temporary 0 bytes, program 1 byte\n" in text.text(report(compiled))


def test_need_and_bundles_of_a_compile_are_told_or_why_they_are_not_known() -> None:
    stated = {"program_bytes": 1, "vmem_need_bytes": 5120, "bundles": 7000, "copied_bytes": 2048}
    slots = {"slots": {"SALU": 0.25, "VLOAD": 0.5}}
    left = {"program_bytes": 1, "left_out": {"bundles": "no rule for it", "vmem_need_bytes": "hang: no answer"}}
    said = flat(
        text.text(report(ran("compile", chip="v5e", facts=stated | slots), ran("compile", chip="v5p", facts=left)))
    )
    assert (
        "compile v5e: program 1 byte; needs 5 KiB of VMEM; 7,000 bundles scheduled, with VLOAD in use in 50% of its "
        "chances; copies 2 KiB from and to HBM " in said
    )
    assert (
        "compile v5p: program 1 byte; bundles not known: no rule for it; VMEM need not known: hang: no answer " in said
    )


@pytest.mark.parametrize(
    ("verdicts", "asked", "said"),
    [
        (
            [ran("interpret")],
            {},
            "interpret (given): no element shows memory that nobody set, on a CPU; its values were compared with "
            "nothing",
        ),
        (
            [ran("interpret")],
            {"oracle": ORACLE},
            "interpret (given): each value agrees with reference's, within the tolerance, on a CPU",
        ),
        (
            [ran("interpret", case="given, gradient"), ran("interpret", VALUES)],
            {"oracle": ORACLE, "grad": True},
            "interpret (given, gradient): each gradient is the slope between two points",
        ),
        (
            [ran("interpret")],
            {"variants": {"block": ["1", "2"], "scale": ["1"]}},
            "its values were compared with nothing; they are the same for each value of block",
        ),
        (
            [ran("simulate")],
            {},
            "simulate (given): no block outside its array, no output block visited again, no element",
        ),
        ([ran("simulate"), ran("interpret")], {}, "no race; values as interpret=True's"),
        ([ran("simulate"), ran("interpret")], {"oracle": ORACLE}, "no race; values as reference's"),
        (
            [ran("simulate", runs=("parallel axes in order 1", "two cores", "copies as early as possible"))],
            {},
            "no race; the same with early and late copies, three orders of the parallel axes and two cores",
        ),
        (
            [ran("lower", chip="tpu")],
            {},
            "lower tpu (given): JAX translates the kernel for the accelerator; nothing about",
        ),
        (
            [ran("compile", chip="v6e")],
            {},
            "compile v6e (given): the chip's own compiler accepts the kernel; nothing about",
        ),
    ],
)
def test_what_a_pass_says_follows_from_what_was_compared(
    verdicts: list[Verdict], asked: dict[str, Any], said: str
) -> None:
    cases = {"given": "f32[8]", "given, gradient": "f32[8]"}
    assert said in flat(text.text(report(*verdicts, cases=cases, **asked))).split("What a pass says:")[1]


def test_a_chip_that_ran_the_kernel_is_told_with_its_medians_and_its_baseline() -> None:
    seconds = {"kernel_seconds": [0.001, 0.0012, 0.009], "baseline_seconds": [0.002, 0.002, 0.002]}
    verdicts = [ran("execute", chip="TPU v5e"), ran("time", chip="TPU v5e", facts=seconds)]
    said = flat(text.text(report(*verdicts, oracle=ORACLE)))
    assert "by execute TPU v5e and time TPU v5e, its values against reference: nothing found." in said
    assert "time TPU v5e: 1.2 ms, and reference 2 ms; medians of 3 runs" in said
    assert "execute TPU v5e (given): each value agrees with reference's, within the tolerance, on this chip" in said
    assert "agrees with interpret=True's" in flat(text.text(report(verdicts[0])))


def test_races_that_were_not_looked_for_are_not_claimed_to_be_absent() -> None:
    said = text.text(report(ran("simulate", runs=("left out: races, since 200 programs are more than 160",))))
    assert "no race" not in said
    assert "simulate (given): races, since 200 programs are more than 160\n" in said


def test_a_heading_without_anything_under_it_is_left_out() -> None:
    said = text.text(report(ran("lower", UNWRITTEN, chip="tpu")))
    for heading in ("Not run", "What a pass says", "Static facts", "Found on derived shapes"):
        assert heading not in said
    assert "Found" not in text.text(report(ran("interpret")))


def test_what_did_not_run_for_one_reason_is_one_line() -> None:
    assert "Not run:\n  execute, time (given): needs an accelerator\n" in text.text(report(ran("interpret"), *ABSENT))


def test_the_table_has_a_row_for_each_case_and_a_column_for_each_rung_that_ran() -> None:
    verdicts = [ran("lower", chip="tpu"), ran("interpret", VALUES), ran("interpret", case="derived ragged"), *ABSENT]
    rows = text.text(report(*verdicts)).split("\n\n")[1].splitlines()
    assert rows == [
        "case            interpret  lower tpu  arguments",
        "given           fail       pass       f32[20,300]",
        "derived ragged  pass       -          f32[11,165]",
    ]


@pytest.mark.parametrize(
    ("verdicts", "asked", "said"),
    [
        ([ran("interpret")], {}, "Exit status 0: every rung asked for passed on what was given."),
        ([ran("interpret", VALUES)], {}, "Exit status 1: there are findings."),
        (ABSENT, {"rungs": ("execute",)}, "Exit status 3: asked for and not run: execute."),
    ],
)
def test_the_exit_status_is_told_with_its_reason(verdicts: list[Verdict], asked: dict[str, Any], said: str) -> None:
    assert said in text.text(report(*verdicts, **asked))


def test_no_report_says_that_a_kernel_is_correct() -> None:
    everything = [ran("interpret"), ran("simulate"), ran("lower", chip="tpu"), ran("compile", chip="v5e")]
    said = text.text(report(*everything, oracle=ORACLE)) + text.text(report(*everything))
    assert not re.search(r"\b(in)?correct|\bright\b|\bproves?\b", said.lower())


def test_a_museum_case_is_named_with_its_title_and_the_place_where_it_is() -> None:
    said = text.text(report(ran("simulate", UNWRITTEN)))
    assert "explained museum case floor_grid (Floor-divided grid); " in flat(said)
    assert "pallas_course/evidence/museum" in said
    assert "museum" not in text.text(report(ran("interpret", IMPORT)))


DOCUMENTED = Path(__file__).parents[2] / "docs" / "audit.md"


def test_every_field_of_the_json_is_documented_and_every_documented_field_is_there() -> None:
    finding = dataclasses.replace(UNWRITTEN, region=((0, 2), (0, 4)), shape=(4, 4))
    facts = {"kernels": [KERNEL | {"bytes_moved": 1, "kind": "pallas_call", "windows": []}], "order": [[0]]}
    full = Verdict(
        "compile", FAIL, "given", "v5e", "float32", "(8, 128)", "unwritten: x", "ab", {"jax": "1"}, "2026-01-01",
        ("two cores",), facts, (finding,),
    )  # fmt: skip
    produced = set(_names(json.loads(json.dumps(text.as_json(report(full, *ABSENT))))))
    table = DOCUMENTED.read_text("utf-8").split("## The report as JSON")[1].split("Facts are static")[0]
    documented = set(re.findall(r"^\| `([\w.\[\]]+)` \|", table, re.MULTILINE))
    assert documented == produced
    (own,) = (line for line in table.splitlines() if line.startswith("| `verdicts[].findings` |"))
    assert set(re.findall(r"`(\w+)`", own)) == {field.name for field in dataclasses.fields(Finding)}


def _names(value: Any, prefix: str = "") -> list[str]:
    """``findings[].code`` and the like; what has a table or a line of its own, and what is data, is left out."""
    found = []
    for name, inner in value.items():
        path = f"{prefix}{name}"
        found.append(path)
        if path in ("verdicts[].facts", "verdicts[].findings", "cases", "versions"):
            continue
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            found += [other for item in inner for other in _names(item, f"{path}[].")]
    return found


def test_every_code_is_documented_in_the_words_of_the_report() -> None:
    table = DOCUMENTED.read_text("utf-8").split("## What a finding is called")[1].split("\n## ")[0]
    assert dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", table, re.MULTILINE)) == {
        code: told.means for code, told in EXPLAINED.items()
    }


def test_a_verdict_without_findings_passed() -> None:
    assert ran("interpret").status == PASS
