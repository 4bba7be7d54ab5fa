"""Figures: what is drawn, that it can stand in any page, that anybody can read it, and what bad data are told."""

from __future__ import annotations

import inspect
import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from pallas_course.engine import figures
from pallas_course.engine.figures import PALETTES, FigureError, css, draw, draw_with

SVG = "{http://www.w3.org/2000/svg}"
TILES = {"logical": [5, 11], "padded": [6, 12], "block": [2, 4], "grid": [3, 3]}
OWNERS = {
    "kind": "heatmap",
    "values": [[row // 2 * 3 + column // 4 for column in range(11)] for row in range(5)],
    "unit": "program ID (categorical label)",
    "rows": list(range(5)),
    "columns": list(range(11)),
    "xlabel": "logical column",
    "ylabel": "logical row",
}
WORDS = {"name": "fig", "title": "Who owns what", "description": "Nine programs."}


def matrix(values: list[list[int]]) -> dict[str, Any]:
    return {**OWNERS, "values": values, "rows": list(range(len(values))), "columns": list(range(len(values[0])))}


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def line_chart(data: Any, axes: Any) -> None:
    axes.plot(data, [1, 4, 2], marker="o", label="first")
    axes.bar(data, [1, 2, 3], color="C11", hatch="//", edgecolor="silver")
    axes.set_xlabel("block rows")
    axes.legend()


@pytest.fixture(scope="module", params=["tiles", "categories", "own"])
def svg(request: pytest.FixtureRequest) -> str:
    if request.param == "own":
        return draw_with(line_chart, [1, 2, 3], **WORDS)
    return draw(request.param, {"tiles": TILES, "categories": OWNERS}[request.param], **WORDS)


# What is drawn.


def test_each_of_nine_tiles_names_its_program_its_grid_coordinate_and_the_logical_cells_it_owns() -> None:
    found = "\n".join(texts(draw("tiles", TILES, **WORDS)))
    rows, columns = ["rows 0–1", "rows 2–3", "row 4"], ["columns 0–3", "columns 4–7", "columns 8–10"]
    for program, (i, j) in enumerate(itertools.product(range(3), range(3))):
        assert f"program {program}\ngrid ({i}, {j})\n{rows[i]}\n{columns[j]}" in found
    assert found.count("program ") == 9
    assert "logical matrix (5, 11)" in found
    assert "padding to (6, 12)" in found


def hatched(svg: str) -> list[str]:
    """The outlines filled with a pattern rather than with a colour."""
    root = ElementTree.fromstring(svg)
    return [path.get("d", "") for path in root.iter(f"{SVG}path") if "fill: url(#" in path.get("style", "")]


def test_padding_is_hatched_and_a_matrix_without_padding_has_no_hatching() -> None:
    assert len(hatched(draw("tiles", TILES, **WORDS))) == 3  # beside the matrix, below it, in the legend
    aligned = draw("tiles", {"logical": [4, 8], "padded": [4, 8], "block": [2, 4], "grid": [2, 2]}, **WORDS)
    assert not hatched(aligned)
    assert not [text for text in texts(aligned) if "padding" in text]


@pytest.mark.parametrize("grid", [(1, 1), (1, 6), (6, 1), (2, 5), (6, 6)])
@pytest.mark.parametrize("block", [(1, 1), (2, 4), (8, 16)])
def test_any_small_grid_labels_every_tile(grid: tuple[int, int], block: tuple[int, int]) -> None:
    padded = [grid[0] * block[0], grid[1] * block[1]]
    logical = [padded[0] - block[0] // 2, padded[1] - block[1] // 2]
    found = texts(draw("tiles", {"logical": logical, "padded": padded, "block": block, "grid": grid}, **WORDS))
    coordinates = Counter(text.removeprefix("grid ") for text in found)
    assert all(coordinates[str(tile)] == 1 for tile in itertools.product(range(grid[0]), range(grid[1])))


def test_each_category_is_named_once_in_its_region_and_once_in_a_legend_under_its_unit() -> None:
    found = texts(draw("categories", OWNERS, **WORDS))
    legend = found.index("program ID (categorical label)")
    assert found[:9] == [str(program) for program in range(9)]
    assert found[legend + 1 :] == [str(program) for program in range(9)]
    assert "logical row ↓" in found
    assert "logical column →" in found


def labels(values: list[list[int]]) -> list[str]:
    """The labels inside the regions: bold, as nothing else is."""
    root = ElementTree.fromstring(draw("categories", matrix(values), **WORDS))
    return [element.text or "" for element in root.iter(f"{SVG}text") if "font-weight: 700" in element.get("style", "")]


def test_a_value_in_two_places_is_named_in_both_and_touching_at_a_corner_is_not_touching() -> None:
    assert labels([[1, 2], [2, 1]]) == ["1", "2", "2", "1"]
    assert labels([[1, 2, 1]]) == ["1", "2", "1"]


def test_the_label_of_a_bent_region_stands_on_the_region() -> None:
    values = [[1, 1, 1, 1], [1, 2, 2, 2], [1, 2, 2, 2]]
    assert labels(values) == ["1", "2"]
    root = ElementTree.fromstring(draw("categories", matrix(values), **WORDS))
    bent = next(element for element in root.iter(f"{SVG}text") if element.text == "1")
    assert 32 < float(bent.get("y", "")) < 62  # the first row, of 30 units, starts 32 from the top


def test_the_colour_of_a_value_is_its_place_among_the_values() -> None:
    root = ElementTree.fromstring(draw("categories", matrix([[40, -7], [1000, 0]]), **WORDS))
    slots = {
        element.text: slot
        for element in root.iter(f"{SVG}text")
        for slot in re.findall(r"--fig-cat-text-(\d+)", element.get("style", ""))
    }
    assert slots == {"-7": "0", "0": "1", "40": "2", "1000": "3"}


# That it can stand in any page.


def test_the_same_data_give_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: red\n")
    script = "\n".join(
        [
            "from __future__ import annotations",
            "import sys; sys.path.insert(0, sys.argv[1])",
            "from pallas_course.engine.figures import draw, draw_with",
            inspect.getsource(line_chart),
            f"svg = draw('tiles', {TILES!r}, **{WORDS!r}) + draw('categories', {OWNERS!r}, **{WORDS!r})",
            f"sys.stdout.buffer.write((svg + draw_with(line_chart, [1, 2, 3], **{WORDS!r})).encode())",
        ]
    )
    root = Path(figures.__file__).parents[2]
    seen = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", script, str(root)],
            cwd=cwd,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed, cwd in (("1", root), ("2", tmp_path))
    }
    here = (
        draw("tiles", TILES, **WORDS) + draw("categories", OWNERS, **WORDS) + draw_with(line_chart, [1, 2, 3], **WORDS)
    )
    assert seen == {here.encode()}


def test_nothing_of_the_machine_the_day_or_the_tool_is_in_the_file(svg: str) -> None:
    assert svg.startswith("<svg ")
    assert svg.endswith("</svg>\n")
    for foreign in (
        os.sep + "home",
        str(Path.home()),
        os.getcwd(),
        "atplotlib",
        "metadata",
        "<!--",
        "<style",
        "<image",
    ):
        assert foreign not in svg
    assert not re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d", svg)
    assert re.findall(r"https?://[^\"]*", svg)[1:] in ([], ["http://www.w3.org/1999/xlink"])


def test_no_blank_line_ends_the_figure_for_markdown() -> None:
    svg = draw("tiles", TILES, name="fig", title="One\n\n  two", description="First.\n\nSecond.\n")
    assert "\n\n" not in svg
    assert not re.search(r"^\s", svg, re.MULTILINE)  # four spaces would be a code block
    assert ">First. Second.</desc>" in svg


def test_every_id_bears_the_name_of_the_figure_and_every_reference_finds_its_id(svg: str) -> None:
    ids = re.findall(r'\bid="([^"]*)"', svg)
    assert ids
    assert all(found.startswith("fig-") for found in ids)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', svg)) <= {(i, "") for i in ids} | {("", i) for i in ids}
    assert 'href="' not in svg.replace('xlink:href="', "")


def test_a_screen_reader_is_given_the_title_and_the_description() -> None:
    title, description = "Padding < & >", 'A "quoted" description.'
    root = ElementTree.fromstring(draw("tiles", TILES, name="fig", title=title, description=description))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "fig-title fig-desc"
    assert [(child.tag, child.get("id"), child.text) for child in root[:2]] == [
        (f"{SVG}title", "fig-title", title),
        (f"{SVG}desc", "fig-desc", description),
    ]


def test_the_picture_takes_the_width_it_is_given(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    assert root.get("viewBox", "").startswith("0 0 340 ")
    assert root.get("width") is root.get("height") is None


def test_data_are_text_and_never_formulas_or_elements() -> None:
    svg = draw("categories", {**OWNERS, "unit": "$x$ <b>&", "columns": [*range(10), "$y$"]}, **WORDS)
    assert "$x$ <b>&" in texts(svg)
    assert "$y$" in texts(svg)
    assert "<b>" not in svg


# That anybody can read it.


def test_the_smallest_text_is_legible_on_a_phone(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    scale = 328 / float(root.get("viewBox", "").split()[2])
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)]
    assert len(sizes) == len(texts(svg)) > 3
    assert min(sizes) * scale >= 9.5


def test_letters_come_from_the_system_and_end_in_sans_serif(svg: str) -> None:
    assert re.findall(r"font-family[=:]\s*(.*?sans-serif)", svg) == ["\"'DejaVu Sans', Verdana, system-ui, sans-serif"]
    assert svg.count("font-family") == 1


def test_every_colour_is_a_variable_with_its_light_value_behind_it(svg: str) -> None:
    light = "|".join(re.escape(f"var({variable}, {value})") for variable, value in PALETTES["light"].items())
    paints = re.findall(r'(?:fill|stroke|color)(?:: |=")([^;"]*)', svg)
    assert len(paints) > 20
    assert [paint for paint in paints if not re.fullmatch(rf"none|url\(#fig-\w+\)|{light}", paint)] == []
    assert svg.count("#") == len(re.findall(rf"{light}|url\(#|href=\"#", svg))


def test_the_style_sheet_gives_both_palettes_of_the_site_every_variable() -> None:
    blocks = re.findall(r'^\[data-md-color-scheme="(\w+)"\] \{\n(.*?)^\}\n', css(), re.MULTILINE | re.DOTALL)
    declared = {scheme: dict(re.findall(r"^  (--[\w-]+): (#\w{6});$", body, re.MULTILINE)) for scheme, body in blocks}
    assert declared == {"default": PALETTES["light"], "slate": PALETTES["dark"]}
    assert PALETTES["light"].keys() == PALETTES["dark"].keys()
    assert len(PALETTES["light"]) == 4 + 2 * 12


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) + 0.05 for colour in (one, other))
    return light / dark


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB, white D65."""
    t = TO_XYZ @ rgb.clip(0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
EYES = {
    "full colour": (30, np.eye(3)),
    "protanopia": (18, [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "deuteranopia": (18, [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "tritanopia": (18, [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}


def paint(element: ElementTree.Element) -> str:
    """The variable that fills an element, `none`, or `url` for a pattern."""
    found = re.search(r"fill: (?:var\()?([\w-]+)", element.get("style", ""))
    return found[1] if found else "--fig-fg"


def grounds(svg: str) -> list[tuple[str, str, str]]:
    """Each text, its colour, and the fill last drawn under it."""
    boxes: list[tuple[list[float], list[float], str]] = []
    found = []
    for element in ElementTree.fromstring(svg).iter():
        if element.tag == f"{SVG}path" and paint(element) != "none":
            for outline in element.get("d", "").split("M")[1:]:
                numbers = [float(number) for number in re.findall(r"-?[\d.]+", outline)]
                boxes.append((numbers[::2], numbers[1::2], paint(element)))
        elif element.tag == f"{SVG}text":
            x, y = float(element.get("x", "")), float(element.get("y", "")) - 2
            under = [fill for xs, ys, fill in boxes if min(xs) < x < max(xs) and min(ys) < y < max(ys)]
            found.append((element.text or "", paint(element), under[-1]))
    return found


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("tiles", TILES),
        ("tiles", {"logical": [5, 11], "padded": [6, 15], "block": [3, 5], "grid": [2, 3]}),
        ("tiles", {"logical": [21, 23], "padded": [24, 24], "block": [4, 4], "grid": [6, 6]}),
        ("categories", OWNERS),
        ("categories", matrix([[(3 * row + column) % 12 for column in range(12)] for row in range(8)])),
    ],
)
def test_every_text_stands_out_from_its_ground(kind: str, data: object) -> None:
    found = grounds(draw(kind, data, **WORDS))
    for (text, colour, ground), palette in itertools.product(found, PALETTES.values()):
        assert contrast(palette[colour], palette[ground]) >= 4.5, (text, colour, ground)
    if kind == "categories":
        assert {ground for _, _, ground in found} > {f"--fig-cat-{i}" for i in range(9)}


@pytest.mark.parametrize("palette", list(PALETTES.values()), ids=list(PALETTES))
def test_letters_lines_and_hatching_stand_out_from_the_page(palette: dict[str, str]) -> None:
    for text in ("--fig-fg", "--fig-muted"):
        assert contrast(palette[text], palette["--fig-bg"]) >= 4.5
    for i in range(12):
        assert contrast(palette[f"--fig-cat-text-{i}"], palette[f"--fig-cat-{i}"]) >= 4.5
    assert contrast(palette["--fig-hatch"], palette["--fig-bg"]) >= 3


@pytest.mark.parametrize("palette", list(PALETTES.values()), ids=list(PALETTES))
@pytest.mark.parametrize("eyes", list(EYES))
def test_any_two_categories_differ_to_every_kind_of_eye(palette: dict[str, str], eyes: str) -> None:
    least, seen_as = EYES[eyes]
    seen = [lab(np.asarray(seen_as) @ linear(palette[f"--fig-cat-{i}"])) for i in range(12)]
    for i, j in itertools.combinations(range(12), 2):
        assert np.linalg.norm(seen[i] - seen[j]) >= least, (i, j)


@pytest.mark.parametrize("palette", list(PALETTES.values()), ids=list(PALETTES))
def test_categories_differ_in_greyscale_and_are_no_ramp(palette: dict[str, str]) -> None:
    lightness = [float(lab(linear(palette[f"--fig-cat-{i}"]))[0]) for i in range(12)]
    for i, j in itertools.combinations(range(12), 2):
        assert abs(lightness[i] - lightness[j]) >= (20 if (j - i) % 2 else 4), (i, j)
    steps = np.sign(np.diff(lightness))
    assert all(one != following for one, following in itertools.pairwise(steps))


def test_neighbouring_tiles_of_the_ownership_map_differ_strongly_in_greyscale() -> None:
    values = np.array(OWNERS["values"])
    pairs = {
        *zip(values[1:].flat, values[:-1].flat, strict=True),
        *zip(values[:, 1:].flat, values[:, :-1].flat, strict=True),
    }
    lightness = [float(lab(linear(PALETTES["light"][f"--fig-cat-{i}"]))[0]) for i in range(9)]
    assert min(abs(lightness[i] - lightness[j]) for i, j in pairs if i != j) >= 20


# What bad data are told.


@pytest.mark.parametrize(
    ("data", "problem", "next_step"),
    [
        ([5, 11], "the data are a list, not a dict", "logical, padded, block and grid"),
        ({}, "the data lack logical, padded, block, grid", "four pairs"),
        ({**TILES, "values": []}, "the data hold values", "logical, padded, block and grid"),
        ({**TILES, "block": [2]}, "block is [2], not two positive whole numbers", "pairs"),
        ({**TILES, "block": [2, 4.0]}, "block is [2, 4.0]", "pairs"),
        ({**TILES, "block": [2, True]}, "block is [2, True]", "pairs"),
        ({**TILES, "block": [2, 0]}, "block is [2, 0]", "pairs"),
        ({**TILES, "block": "24"}, "block is '24'", "pairs"),
        ({**TILES, "padded": [6, 11]}, "3 blocks of 4 columns are 12, but 11 columns are padded", "padded shape"),
        ({**TILES, "logical": [7, 11]}, "7 logical rows need 4 blocks of 2, but the grid has 3", "just covers"),
        ({**TILES, "logical": [4, 11]}, "4 logical rows need 2 blocks of 2, but the grid has 3", "just covers"),
        ({**TILES, "grid": [7, 3], "padded": [14, 12], "logical": [14, 11]}, "7 rows is too fine", "at most 6 by 6"),
        (
            {"logical": [8, 6000], "padded": [8, 6000], "block": [8, 1000], "grid": [1, 6]},
            "the labels of 6 tiles do not fit",
            "fewer columns",
        ),
    ],
)
def test_tiles_say_what_the_data_lack(data: object, problem: str, next_step: str) -> None:
    check("tiles", data, problem, next_step)


@pytest.mark.parametrize(
    ("data", "problem", "next_step"),
    [
        (None, "the data are a NoneType, not a dict", "kind 'heatmap', values, unit"),
        ({k: v for k, v in OWNERS.items() if k != "unit"}, "the data lack unit", "unit"),
        ({**OWNERS, "colour": 1}, "the data hold colour", "kind 'heatmap'"),
        ({**OWNERS, "kind": "map"}, "kind is 'map'", "'heatmap'"),
        ({**OWNERS, "values": []}, "values is not a list of rows", "whole numbers"),
        ({**OWNERS, "values": [[], []]}, "one of them is empty", "whole numbers"),
        ({**OWNERS, "values": [1, 2]}, "values is not a list of rows", "whole numbers"),
        ({**OWNERS, "values": [[1, 2], [1]]}, "row 1 of values holds 1 values, row 0 holds 2", "as many"),
        ({**OWNERS, "values": [[1, 2.5]]}, "row 0 of values holds 2.5", "whole numbers"),
        ({**OWNERS, "values": [[1, True]]}, "row 0 of values holds True", "whole numbers"),
        ({**OWNERS, "rows": 5}, "rows is 5, not a list of names", "each of the rows"),
        ({**OWNERS, "columns": [None] * 11}, "not a list of names", "each of the columns"),
        ({**OWNERS, "rows": [0, 1]}, "rows names 2 rows, values has 5", "one name for each"),
        (
            {**OWNERS, "rows": [0, 1, 2, 3, "a very long name"]},
            "'a very long name' in rows is too long",
            "nine letters",
        ),
        ({**OWNERS, "unit": ""}, "unit, xlabel and ylabel are ['',", "text"),
        ({**OWNERS, "xlabel": 3}, "unit, xlabel and ylabel are", "text"),
        ({**OWNERS, "ylabel": "row " * 30}, "too long for their lines", "fewer words"),
        (matrix([[0] * 33]), "33 columns are too many", "at most 32"),
        (matrix([list(range(13))]), "13 different values cannot be told apart", "at most 12"),
        (matrix([[100, *[0] * 20]]), "the label 100 does not fit into its region, 1 of 21 columns", "fewer columns"),
    ],
)
def test_categories_say_what_the_data_lack(data: object, problem: str, next_step: str) -> None:
    check("categories", data, problem, next_step)


def check(kind: str, data: object, problem: str, next_step: str) -> None:
    with pytest.raises(FigureError) as caught:
        draw(kind, data, **WORDS)
    assert problem in caught.value.problem
    assert next_step in caught.value.next_step
    assert str(caught.value) == f"{caught.value.problem}; {caught.value.next_step}"
    assert "\n" not in str(caught.value)


def test_an_unknown_kind_is_answered_with_the_kinds() -> None:
    with pytest.raises(FigureError, match="no figure kind 'tile'; use one of: tiles, categories"):
        draw("tile", TILES, **WORDS)


# A lesson's own drawing.


def test_a_lesson_drawing_takes_the_colours_of_the_site_without_naming_them() -> None:
    svg = draw_with(line_chart, [1, 2, 3], **WORDS)
    assert {"--fig-fg", "--fig-bg", "--fig-muted", "--fig-hatch", "--fig-cat-0", "--fig-cat-11"} == set(
        re.findall(r"var\((--[\w-]+)", svg)
    )
    assert "block rows" in texts(svg)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda data, axes: axes.plot([0, 1], color="red"),
            "the colour #ff0000.*; use black, white, gray, silver or C0",
        ),
        (lambda data, axes: axes.imshow([[0, 1]]), "raster image.*; draw rectangles or use pcolormesh"),
        (lambda data, axes: axes.text(0, 0, "a", size=8), "a text 8 units high is too small.*; draw text at least 10"),
        (lambda data, axes: axes.figure.set_size_inches(9, 4), "a text 10 units high is too small.*340 wide"),
    ],
)
def test_a_lesson_drawing_the_page_cannot_use_is_refused(function: Any, message: str) -> None:
    with pytest.raises(FigureError, match=message):
        draw_with(function, None, **WORDS)


def test_what_a_lesson_drawing_raises_is_left_to_the_caller_and_the_settings_are_as_before() -> None:
    def fail(data: Any, axes: Any) -> None:
        raise KeyError(data)

    with matplotlib.rc_context({"font.size": 7}):
        with pytest.raises(KeyError, match="lost"):
            draw_with(fail, "lost", **WORDS)
        draw("tiles", TILES, **WORDS)
        assert matplotlib.rcParams["font.size"] == 7


def test_matplotlib_is_needed_only_to_draw_and_pyplot_never() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pallas_course.engine import figures;"
        "assert 'matplotlib' not in sys.modules; figures.css();"
        f"figures.draw('tiles', {TILES!r}, name='f', title='t', description='d');"
        "assert 'matplotlib.pyplot' not in sys.modules and 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script, str(Path(figures.__file__).parents[2])], check=True)
