"""The audit's report in a browser: readable in both palettes and on a phone, and every figure within its frame."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tinyhtml5.parser import HTMLParser

from pallas_course.evidence import audit, page
from pallas_course.evidence.svg import owner_map, visit_order, wrong_region
from pallas_course.evidence.verdict import NOT_RUN, Finding, Verdict, failed
from tests.evidence.windows import EVERY

# For each figure: how high its letters are, words that leave it, and words that lie on others.
MEASURED = """() => [...document.querySelectorAll('svg')].map(svg => {
  const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map(text => text.getBoundingClientRect());
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
  return {
    letters: 11 * frame.width / svg.viewBox.baseVal.width,
    outside: texts.filter((text, i) => boxes[i].left < frame.left - 1 || boxes[i].right > frame.right + 1
      || boxes[i].top < frame.top - 1 || boxes[i].bottom > frame.bottom + 1).map(text => text.textContent),
    overlap: texts.filter((text, i) => boxes.some((box, j) => j < i && over(box, boxes[i]))).map(t => t.textContent),
  };
})"""


def whole() -> str:
    """A report with everything a report can hold: findings of every kind, figures of every shape."""
    verdicts = []
    for place, (shown, grid, order, region) in enumerate(EVERY.values()):
        shape = tuple(shown["shape"])
        finding = Finding("unwritten", "is not written in 8 of 16 elements", f"output {place}", region, place, shape)
        kernel = {"name": "body", "where": "kernel.py:3", "grid": grid, "windows": [shown], "vmem_bytes": 4096}
        facts = {
            "kernels": [kernel | {"bytes_moved": 2, "least_bytes": 1, "array_bytes": 1}],
            "order": order,
            "own_mode": True,
        }
        verdicts.append(failed("simulate", [finding] if region is not None else [], case="given", facts=facts))
    first = verdicts.pop(0)
    astray = Finding("vmem", "E1001: " + "a_long_name_without_a_space_" * 12, "kernel.py:12")
    others = [
        failed("lower", [], case="given", chip="tpu"),
        failed("compile", [astray], case="derived ragged", chip="v5e"),
        Verdict("time", NOT_RUN, case="given", reason="needs an accelerator, and this machine has none"),
    ]
    asked = audit.Request(target={"file": "kernel.py", "function": "kernel"})
    cases = {"given": ", ".join(["f32[20,300]"] * 6), "derived ragged": ", ".join(["f32[11,165]"] * 6)}
    text = page.page(audit.Report(asked, cases, (first, *others), {"jax": "0.12"}, "2026-01-01"))
    drawings = []
    for shown, grid, order, region in EVERY.values():
        leading = tuple(low for low, _ in (region or ())[:-2])
        drawings += [owner_map(shown, grid, leading), visit_order(shown, grid, order, leading)]
        drawings.append(wrong_region(shown, grid, region) if region is not None else "")
    figures = "".join(f"<figure><figcaption>Drawn</figcaption>{svg}</figure>" for svg in drawings if svg)
    return text.replace("</main>", f'<h2>Every shape</h2><div class="figures">{figures}</div></main>')


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(whole(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(params=[("light", 1280), ("dark", 1280), ("light", 360), ("dark", 390)], ids=str)
def opened(request: pytest.FixtureRequest, browser: Browser, report: str) -> Iterator[Page]:
    scheme, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    context.on("request", lambda request_: asked.append(request_.url))
    opened = context.new_page()
    opened.goto(report)
    yield opened
    context.close()
    assert asked == [report]


def test_the_page_is_valid_html_that_asks_for_nothing() -> None:
    parser = HTMLParser()
    tree = parser.parse(whole())
    assert not parser.errors
    tags = {element.tag.rpartition("}")[2] for element in tree.iter() if isinstance(element.tag, str)}
    assert {"svg", "table", "dl"} < tags
    assert not {"script", "link", "img", "iframe", "a"} & tags
    assert not re.search(r"(?:src|href|url)\s*[=(]", whole())


def test_axe_finds_nothing_in_a_report(opened: Page) -> None:
    violations = Axe().run(opened).response["violations"]
    assert not [f"{found['id']}: {node['html'][:200]}" for found in violations for node in found["nodes"]]


def test_a_report_does_not_stick_out_of_its_window(opened: Page) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_word_of_a_figure_can_be_read(opened: Page) -> None:
    measured = opened.evaluate(MEASURED)
    assert len(measured) > 40
    for figure in measured:
        assert figure["letters"] >= 10, figure
        assert (figure["outside"], figure["overlap"]) == ([], []), figure


def test_the_chosen_scheme_colours_the_page(opened: Page) -> None:
    dark = opened.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 24, 28)" if dark else "rgb(255, 255, 255)"
    )
