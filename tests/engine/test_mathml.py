"""TeX to MathML: what is written, and what is refused instead of being shown wrong."""

from xml.etree import ElementTree

import pytest
from markdown import Markdown

from pallas_course.engine.mathml import FormulaError, to_mathml


def inline(tex: str) -> ElementTree.Element:
    return ElementTree.fromstring(to_mathml(tex, display=False))


def test_formula_becomes_mathml_without_a_backslash() -> None:
    math = inline(r"G_m = \left\lceil \frac{M}{B_m} \right\rceil")
    assert math.tag == "math"
    assert [node.tag for node in math.iter() if node.tag in ("msub", "mfrac")] == ["msub", "mfrac", "msub"]
    assert [node.text for node in math.iter("mo") if node.get("fence")] == ["⌈", "⌉"]
    assert "\\" not in "".join(math.itertext())


@pytest.mark.parametrize(("display", "word"), [(True, "block"), (False, "inline")])
def test_display_is_what_was_asked_for(display: bool, word: str) -> None:
    assert ElementTree.fromstring(to_mathml("a", display=display)).get("display") == word


@pytest.mark.parametrize(
    "tex",
    [
        "a < b",
        r"\{1, 2\}",
        r"1{,}024 \cdot x'",
        r"\sum_{i=0}^{n-1} x_i",
        r"\text{row } i \bmod 2",
        r"\operatorname{ceil}(x)",
        r"\begin{align*} a &= b \\ c &= d \end{align*}",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
        r"\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}",
        r"\mathbf{x} \in \mathbb{R}^n",
        r"\sqrt[3]{x} + \sqrt{x} + \underbrace{a + b}_{n} + \hat{x} + \bar{y}",
    ],
)
def test_good_formula_is_accepted(tex: str) -> None:
    assert inline(tex).tag == "math"


@pytest.mark.parametrize(
    ("tex", "problem", "next_step"),
    [
        ("", "is empty", "write the formula"),
        (r"\frac{a", "braces do not balance", "close every `{`"),
        ("a}{b", "braces do not balance", "literal brace"),
        (r"\frac{a}", "an argument is missing", "all its arguments"),
        (r"\frac", "no available tokens", "complete the formula"),
        (r"\left( a", "extra left or missing right", "complete the formula"),
        (r"\begin{bmatrix} 1", "missing end", "complete the formula"),
        ("a_b_c", "double subscripts", "complete the formula"),
        (r"\blcok{a}", r"`\blcok` is not known", "a command that latex2mathml knows"),
        (r"\end{align*}", r"`\end` is not known", "a command that latex2mathml knows"),
        (r"\texttt{a\_b}", r"`\_` is not known", "a command that latex2mathml knows"),
        ("a & b", "bare `&`", "align*"),
        (r"\begin{aligned} a &= b \end{aligned}", "bare `&`", "`aligned` is not known"),
        (r"\text{a < b}", "`<` inside \\text", "leave \\text"),
        (r"a \\ b", "breaks no line", "`align*`"),
        (r"\boldsymbol{x}", "style `bold-italic`", "`\\mathbf`"),
        (r"\mathcal{O}(n)", "lacks 𝒪", "FONT_CHARACTERS"),
    ],
)
def test_bad_formula_is_refused_with_what_to_do(tex: str, problem: str, next_step: str) -> None:
    with pytest.raises(FormulaError) as caught:
        to_mathml(tex, display=True)
    assert isinstance(caught.value, ValueError)
    assert caught.value.tex == tex
    assert problem in caught.value.problem
    assert next_step in caught.value.next_step
    first, second = str(caught.value).split("\n")
    assert first.startswith(f"formula `{tex}`: ")
    assert second.startswith("  next: ")


def site_markdown() -> Markdown:
    arithmatex = {"generic": True, "inline_syntax": ["dollar"], "block_syntax": ["dollar"]}
    extensions = ["pymdownx.arithmatex", "pallas_course.engine.mathml"]
    return Markdown(extensions=extensions, extension_configs={"pymdownx.arithmatex": arithmatex})


def test_markdown_gets_inline_and_display_formulas() -> None:
    page = site_markdown().convert("Rows $i < M$.\n\n$$\na < b\n$$\n")
    assert '<span class="math"><math display="inline">' in page
    assert '<div class="math"><math display="block">' in page
    assert page.count("&#x0003C;") == 2
    assert "arithmatex" not in page
    assert "$" not in page


def test_price_and_code_are_no_formulas() -> None:
    page = site_markdown().convert("It costs $5 or \\$6, `$x$`.")
    assert "<math" not in page
    assert "<code>$x$</code>" in page


def test_markdown_stops_at_a_bad_formula() -> None:
    with pytest.raises(FormulaError, match=r"formula `\\frac\{a`"):
        site_markdown().convert("A formula: $\\frac{a$.")
