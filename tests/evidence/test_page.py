"""The page of a report: it stands alone, and its figures say what they show."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from pallas_course.evidence import audit, page
from pallas_course.evidence.svg import owner_map, visit_order, wrong_region
from pallas_course.evidence.verdict import NOT_RUN, Finding, Verdict, failed
from tests.evidence.windows import EVERY, Window, window

UNWRITTEN = Finding(
    "unwritten",
    "is not written in 80 elements",
    "output 0, elements [16:20, 0:128]",
    ((16, 20), (0, 128)),
    0,
    (20, 300),
)


def kernel(grid: list[int], *windows: Window, name: str = "body") -> dict[str, Any]:
    return {"name": name, "where": "k.py:3", "kind": "pallas_call", "grid": grid, "windows": list(windows)}


def report(*verdicts: Verdict) -> audit.Report:
    asked = audit.Request(target={"file": "kernel.py", "function": "kernel"})
    cases = {"given": "f32[20,300], f32[20,300]", "derived ragged": "f32[11,165], f32[11,165]"}
    return audit.Report(asked, cases, verdicts, {"jax": "0.12"}, "2026-01-01")


def floor(rung: str, *findings: Finding, **facts: Any) -> Verdict:
    shown, grid, _, _ = EVERY["floor grid"]
    return failed(rung, list(findings), case="given", facts={"kernels": [kernel(grid, shown)], **facts})


def titles(shown: audit.Report) -> list[str]:
    return re.findall("<title>([^<]*)</title>", page.page(shown))[1:]


def words(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_every_figure_has_a_role_a_title_and_a_description() -> None:
    for shown, grid, order, region in EVERY.values():
        drawings = [owner_map(shown, grid), visit_order(shown, grid, order)]
        drawings.append(wrong_region(shown, grid, region) if region is not None else "")
        for svg in filter(None, drawings):
            root = ElementTree.fromstring(svg)
            assert root.get("role") == "img"
            assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]
            assert len(root[1].text or "") > 30


def test_the_owner_map_names_programs_and_what_nobody_owns() -> None:
    shown, grid, _, _ = EVERY["floor grid"]
    said = words(owner_map(shown, grid))
    assert said[0] == "outputs: 20 × 300 in blocks of 8 × 128"
    assert {"(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)", "0", "128", "256", "300", "rows ↓", "16", "20"} <= set(said)
    assert "owned by no program: 1,904 elements" in said
    assert "a block, with the program that owns it: (i, j)" in said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("reduction", "(1, 0, 0–3)"),
        ("64 programs", "(0–63,)"),
        ("one block", "the only program"),
        ("a single value", "outputs: a single value"),
        ("400 blocks", "a block; of 400 programs, the first is the palest"),
        ("outside", "3 programs write outside the output, first (1,)"),
        ("no program", "owned by no program: 1,024 elements"),
        ("leading axis", "drawn: outputs[0, :, :]"),
        ("wide", "columns →, not to scale"),
        ("one-dimensional", "elements →"),
    ],
)
def test_the_owner_map_says(name: str, said: str) -> None:
    shown, grid, _, _ = EVERY[name]
    assert said in words(owner_map(shown, grid))


def test_blocks_that_are_not_known_have_no_owner_map_and_no_order() -> None:
    shown, grid, _, region = EVERY["unknown blocks"]
    assert owner_map(shown, grid) == visit_order(shown, grid, [[0]]) == ""
    assert region is not None
    assert "the first wrong elements: [8:16, 0:128]" in words(wrong_region(shown, grid, region))


def test_a_block_left_and_visited_again_is_marked_and_one_visited_in_a_row_is_not() -> None:
    shown, grid, order, _ = EVERY["revisits"]
    assert "left and visited again: 4 blocks" in words(visit_order(shown, grid, order))
    assert "1, 5, …" in words(visit_order(shown, grid, order))
    shown, grid, order, _ = EVERY["reduction"]
    assert {"1–4", "5–8", "9–12", "13–16"} <= set(words(visit_order(shown, grid, order)))
    assert "visited again" not in visit_order(shown, grid, order)


def test_an_order_that_ends_early_says_so() -> None:
    shown, grid, order, _ = EVERY["revisits, stopped"]
    assert "the last, where the run ended" in words(visit_order(shown, grid, order))
    assert "left and visited again: 1 block" in words(visit_order(shown, grid, order))


def test_grid_points_of_another_grid_are_not_drawn() -> None:
    shown, grid, _, _ = EVERY["floor grid"]
    assert visit_order(shown, grid, [[0, 0], [0, 2]]) == visit_order(shown, grid, [[0]]) == ""


def test_the_wrong_region_names_its_elements_and_its_program() -> None:
    shown, grid, _, region = EVERY["leading axis"]
    assert region is not None
    said = words(wrong_region(shown, grid, region))
    assert "the first wrong elements: [2, 8:16, 130]" in said
    assert "a block; the wrong one is of program (2, 1, 1)" in said
    assert "drawn: outputs[2, :, :]" in said


def test_any_rung_that_knows_the_blocks_gives_the_figures() -> None:
    assert titles(report(floor("simulate", UNWRITTEN, order=[[0, 0], [0, 1], [1, 0], [1, 1]]))) == [
        "Owner map",
        "Visit order",
        "First wrong region",
    ]
    assert titles(report(floor("lower"))) == ["Owner map"]
    assert titles(report(Verdict("lower", NOT_RUN, case="given"))) == []


def test_elements_are_drawn_that_another_finding_explains() -> None:
    wrong = Finding("wrong-values", "differs", UNWRITTEN.where, UNWRITTEN.region, 0, (20, 300))
    astray = Finding("out-of-bounds", "block (0, 4) lies outside", "k.py:3")
    shown = report(floor("interpret", wrong), failed("simulate", [astray], case="given"))
    assert titles(shown) == ["Owner map", "First wrong region"]


def test_two_outputs_and_two_kernels_each_have_their_figures() -> None:
    left, right = (window([16, 128], [8, 128], [2], lambda i: (i, 0)) for _ in range(2))
    narrow = window([16, 8], [8, 8], [2], lambda i: (i, 0))
    second = Finding(
        "unwritten", "is not written", "output 1, elements [8:16, 0:128]", ((8, 16), (0, 128)), 1, (16, 128)
    )
    facts = {"kernels": [kernel([2], left, right, name="one"), kernel([2], narrow, name="two")]}
    facts |= {"order": [[0], [1], [0], [1]]}
    drawn = page.drawn(report(failed("simulate", [second], case="given", facts=facts)))
    assert [(heading, len(drawings)) for heading, drawings in drawn] == [
        ("one, output 0", 2),
        ("one, output 1", 3),
        ("two, output 0", 2),
    ]


def test_visits_that_cannot_be_told_apart_are_not_drawn() -> None:
    block = window([16, 128], [8, 128], [2], lambda i: (i, 0))
    facts = {"kernels": [kernel([2], block, name="one"), kernel([2], block, name="two")]}
    assert titles(report(failed("simulate", [], case="given", facts=facts | {"order": [[0], [1], [0]]}))) == [
        "Owner map",
        "Owner map",
    ]


def test_nothing_from_the_audited_code_becomes_html() -> None:
    bad = (Finding("trace", "<script>alert(1)</script>", "<b>"),)
    shown = page.page(report(Verdict("interpret", "fail", case="given", reason='"<i>', findings=bad)))
    assert not re.search("<(script|b|i)>", shown)


def test_explanations_are_links_where_the_package_states_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_site", lambda: "https://example.org/course")
    shown = page.page(report(floor("interpret", UNWRITTEN)))
    assert '<a href="https://example.org/course/generated/catches.html#floor_grid">museum case floor_grid' in shown
    assert '<a href="https://example.org/course/lessons/kernels-01.html">lesson kernels-01</a>' in shown
