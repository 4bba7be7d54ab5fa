"""axe-core on every page, and nothing that sticks out of a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site.conftest import Open
from tools.site_server import Served

OPEN_ALL = "document.querySelectorAll('article details').forEach(block => { block.open = true })"


def visit(page: Page, url: str) -> None:
    """Open a page and everything on it, and let it come to rest."""
    page.goto(url)
    page.evaluate(OPEN_ALL)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("system", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(
    open_page: Open, served: Served, pages: list[str], system: str, width: int
) -> None:
    page = open_page(f"{served.url}/index.html", width=width, color_scheme=system, reduced_motion="reduce")
    found: list[str] = []
    for name in pages:
        visit(page, f"{served.url}/{name}")
        for violation in Axe().run(page).response["violations"]:
            found += [f"{name}: {violation['id']}: {node['html'][:200]}" for node in violation["nodes"]]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("system", ["light", "dark"])
def test_axe_finds_nothing_in_the_search_results(open_page: Open, served: Served, system: str) -> None:
    page = open_page(f"{served.url}/evidence.html", color_scheme=system, reduced_motion="reduce")
    page.wait_for_load_state("networkidle")
    page.get_by_role("textbox", name="Search").press_sequentially("kernel")
    page.locator(".md-search-result__item").last.wait_for()
    violations = Axe().run(page).response["violations"]
    assert not violations, violations


def test_nothing_sticks_out_of_a_phone(open_page: Open, served: Served, pages: list[str]) -> None:
    page = open_page(f"{served.url}/index.html", width=360)
    for name in pages:
        visit(page, f"{served.url}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name


@pytest.mark.parametrize("box", [".md-typeset__scrollwrap", "#ask-output code", "div.math >> nth=1"])
def test_what_is_too_wide_scrolls_in_itself_and_takes_the_focus(open_page: Open, served: Served, box: str) -> None:
    page = open_page(f"{served.url}/specimen.html", width=360)
    visit(page, f"{served.url}/specimen.html")
    scroller = page.locator(box)
    assert scroller.evaluate("box => box.scrollWidth > box.clientWidth")
    assert scroller.evaluate("box => box.tabIndex") == 0  # Chromium would also focus it without; Safari would not
