"""The site read by people: with a keyboard, without JavaScript, from a disk, on paper, in the dark."""

import pytest
from playwright.sync_api import Locator, Page, expect

from pallas_course.engine.figures import PALETTES
from tests.site.conftest import Open
from tools.site_server import Served

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


@SCRIPTS
def test_no_page_complains_or_asks_another_host(open_page: Open, address: str, pages: list[str], scripts: bool) -> None:
    # The error page names its files from the root of the host: a disk never shows it.
    names = [name for name in pages if name != "404.html" or address.startswith("http")]
    page = open_page(f"{address}/index.html", java_script_enabled=scripts)
    for name in names:
        page.goto(f"{address}/{name}")
        page.wait_for_load_state("networkidle")


@SCRIPTS
def test_enter_on_a_summary_opens_and_closes_its_block(open_page: Open, address: str, scripts: bool) -> None:
    page = open_page(f"{address}/specimen.html", java_script_enabled=scripts)
    for word in ("reveal", "hint", "answer", "solution"):
        block = page.locator(f"details.{word}").last  # the last hint: the first one stands inside the reveal
        summary = block.locator("> summary")
        expect(block).not_to_have_attribute("open", "")
        summary.focus()
        page.keyboard.press("Enter")
        expect(block).to_have_attribute("open", "")
        page.keyboard.press("Enter")
        expect(block).not_to_have_attribute("open", "")


@SCRIPTS
@pytest.mark.parametrize("anchor", ["a-heading-inside-a-reveal", "ask-output", "nested-code"])
def test_link_to_something_inside_a_block_opens_it(open_page: Open, address: str, anchor: str, scripts: bool) -> None:
    page = open_page(f"{address}/specimen.html#{anchor}", java_script_enabled=scripts)
    expect(page.locator(f"#{anchor}")).to_be_in_viewport()


def test_lesson_is_whole_without_scripts(open_page: Open, address: str) -> None:
    page = open_page(f"{address}/lessons/kernels-01.html", width=390, java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    block = page.locator("details.reveal").first
    block.locator("> summary").click()
    expect(block.locator("> :not(summary)").first).to_be_visible()
    expect(page.locator(".course-figure svg").first).to_be_visible()
    for formula in page.locator("article > .math math").all():
        expect(formula).to_be_visible()
    for dead in (".md-search", "[data-md-component=palette]", ".md-code__nav"):
        expect(page.locator(dead).filter(visible=True)).to_have_count(0)
    page.locator("label.md-header__button[for=__drawer]").click()
    expect(page.get_by_role("link", name="About the evidence").first).to_be_visible()


def test_math_is_set_in_the_course_font_and_its_brackets_grow(open_page: Open, address: str) -> None:
    page = open_page(f"{address}/specimen.html", java_script_enabled=False)
    page.wait_for_load_state("networkidle")
    formula = page.locator("div.math math").first
    assert page.evaluate("[...document.fonts].filter(font => font.status == 'loaded').map(font => font.family)")
    bracket, letter = (formula.locator(which).first.bounding_box() for which in ("mo[fence]", "mi"))
    assert bracket is not None
    assert letter is not None
    assert bracket["height"] > 1.5 * letter["height"]


def test_aligned_formulas_meet_at_their_signs(open_page: Open, address: str) -> None:
    page = open_page(f"{address}/specimen.html")
    edges = page.locator("mtd[columnalign=right]").evaluate_all(
        "cells => cells.map(cell => Math.round(cell.lastElementChild.getBoundingClientRect().right))"
    )
    assert len(edges) == 2
    assert abs(edges[0] - edges[1]) <= 1


def test_search_finds_a_word_inside_a_closed_block(open_page: Open, address: str) -> None:
    page = open_page(f"{address}/index.html")
    page.wait_for_load_state("networkidle")
    page.get_by_role("textbox", name="Search").press_sequentially("innermost")
    page.locator(f'.md-search-result a[href="{address}/specimen.html?h=innermost#a-heading-inside-a-reveal"]').click()
    expect(page.get_by_role("heading", name="A heading inside a reveal")).to_be_in_viewport()


@SCRIPTS
def test_paper_shows_what_closed_blocks_hold(open_page: Open, address: str, scripts: bool) -> None:
    page = open_page(f"{address}/specimen.html", java_script_enabled=scripts)
    texts = ("Program 8 owns it.", "The innermost text.", "The second one.")
    hidden = [page.get_by_text(text, exact=True) for text in texts]
    for text in hidden:
        expect(text).not_to_be_visible()
    page.emulate_media(media="print")
    for text in hidden:
        expect(text).to_be_visible()


def scheme(page: Page) -> str | None:
    return page.locator("body").get_attribute("data-md-color-scheme")


@pytest.mark.parametrize(("system", "name"), [("light", "default"), ("dark", "slate")])
def test_palette_follows_the_system_until_the_reader_chooses(
    open_page: Open, address: str, system: str, name: str
) -> None:
    page = open_page(f"{address}/index.html", color_scheme=system)
    assert scheme(page) == name
    for choice in ("default", "slate"):
        page.locator("[data-md-component=palette] label").filter(visible=True).click()
        assert scheme(page) == choice
    page.locator("[data-md-component=palette] label").filter(visible=True).click()
    assert scheme(page) == name


@pytest.mark.parametrize(("system", "palette"), [("light", "light"), ("dark", "dark")])
def test_figures_take_the_colours_of_the_palette(open_page: Open, served: Served, system: str, palette: str) -> None:
    page = open_page(f"{served.url}/specimen.html", color_scheme=system)
    text = page.locator(".course-figure svg").get_by_text("outside")
    for variable, colour in PALETTES[palette].items():
        value = text.evaluate("(node, name) => getComputedStyle(node).getPropertyValue(name)", variable)
        # What is the same in both palettes may be left to the colour that stands in the SVG.
        assert value == colour or (not value and PALETTES["light"][variable] == PALETTES["dark"][variable])
    channels = ", ".join(str(int(PALETTES[palette]["--fig-fg"][at : at + 2], 16)) for at in (1, 3, 5))
    assert fill(text) == f"rgb({channels})"


def fill(node: Locator) -> str:
    return str(node.evaluate("node => getComputedStyle(node).fill"))


def test_lesson_weighs_at_most_200_kilobytes_on_the_wire(open_page: Open, served: Served, pages: list[str]) -> None:
    for name in pages:
        if name.startswith("lessons/"):
            served.wire.clear()
            page = open_page(f"{served.url}/{name}")
            page.get_by_role("textbox", name="Search").focus()
            page.wait_for_load_state("networkidle")
            assert {"/assets/fonts/course-math.woff2", "/search/search_index.json"} <= set(served.wire)
            assert sum(served.wire.values()) <= 200_000, served.wire
