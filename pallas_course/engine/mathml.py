"""TeX to MathML, as a Python-Markdown extension that runs behind `pymdownx.arithmatex` (generic).

latex2mathml accepts malformed TeX in silence and browsers draw less than it writes, so what comes out is checked, and
a formula that would be shown wrong is refused.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as etree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

# ASCII, Greek capitals, small Greek, bold Latin, bold digits
_RANGES = ((0x20, 0x7E), (0x391, 0x3A1), (0x3A3, 0x3C9), (0x1D400, 0x1D433), (0x1D7CE, 0x1D7D7))
# What docs/assets/fonts/course-math.woff2 holds; tools/subset_math_font.py cuts the font to this and adds the size
# variants and the italics that browsers substitute for single letters.
FONT_CHARACTERS = frozenset(
    [chr(code) for first, last in _RANGES for code in range(first, last + 1)]
    + list("\u00a0¬¯°±·×÷ϑϕϵ‖•…′″ℎℏℓℕℝℤ←→↔↦⇒⇔⟨⟩⟶⟹⟺∀∂∃∅∇∈∉∏∑−∓∖∗∘√∝∞∣∥∧∨∩∪∼≈≔≜≠≡≤≥≪≫⊂⊆⊕⊗⊙⊤⊥⋅⋆⋮⋯⋱⌈⌉⌊⌋⏞⏟")
)

_ARGUMENTS = dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2) | {"msubsup": 3, "munderover": 3}
_VARIANTS = {"normal", "italic", "monospace"}  # MathML Core draws no other mathvariant; the site's CSS adds monospace


class FormulaError(ValueError):
    """A formula that would be shown wrong: `tex`, the `problem` with it, and what to write (`next_step`)."""

    def __init__(self, tex: str, problem: str, next_step: str) -> None:
        self.tex = tex
        self.problem = f"formula `{tex}`: {problem}"
        self.next_step = next_step
        super().__init__(f"{self.problem}\n  next: {next_step}")


def to_mathml(tex: str, *, display: bool) -> str:
    """The `<math>` element of one formula, without its dollar signs.

    Raises FormulaError where the formula is malformed, or holds something that a browser would drop or draw wrong.
    """
    tex = tex.strip()
    if not tex:
        raise FormulaError(tex, "it is empty", "write the formula, or a dollar sign as `\\$`")
    braces = re.sub(r"\\.", "", tex)
    if _unbalanced(braces):
        raise FormulaError(tex, "its braces do not balance", "close every `{`; write a literal brace as `\\{`")
    try:
        mathml = convert(tex, display="block" if display else "inline")
    except Exception as error:  # noqa: BLE001 (latex2mathml's errors share no base class, and others come through)
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__.removesuffix("Error")).lower()
        raise FormulaError(tex, f"it cannot be read ({words})", "complete the formula") from None
    mathml = mathml.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    try:
        root = etree.fromstring(mathml)
    except etree.ParseError:
        raise FormulaError(
            tex,
            "it has a bare `&` or a `<` inside \\text",
            "use `&` only between the columns of an environment such as `align*` (`aligned` is not known), "
            "`\\&` for the sign, and leave \\text before a `<`",
        ) from None
    for element in root.iter():
        _check(tex, element)
    return mathml


def _unbalanced(braces: str) -> bool:
    depth = 0
    for character in braces:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return True
    return depth != 0


def _check(tex: str, element: etree.Element) -> None:
    text = element.text or ""
    if command := re.search(r"\\(?:[A-Za-z]+|.)?", text):
        raise FormulaError(tex, f"`{command[0]}` is not known here", "use a command that latex2mathml knows")
    if len(element) != _ARGUMENTS.get(element.tag, len(element)):
        raise FormulaError(tex, "an argument is missing", "give every fraction, root and script all its arguments")
    if element.get("linebreak") == "newline":
        raise FormulaError(tex, "`\\\\` breaks no line outside an environment", "put the lines into `align*`")
    if (variant := element.get("mathvariant", "normal")) not in _VARIANTS:
        raise FormulaError(tex, f"browsers do not draw the style `{variant}`", "use `\\mathbf`, `\\mathrm` or `\\text`")
    if element.tag != "mtext" and (missing := sorted(set(text) - FONT_CHARACTERS)):
        raise FormulaError(
            tex,
            f"the math font lacks {' '.join(missing)}",
            "write it otherwise, or add the character to FONT_CHARACTERS and run tools/subset_math_font.py",
        )


class _MathML(Treeprocessor):
    def __init__(self, md: Markdown) -> None:
        super().__init__(md)
        self.stash = md.htmlStash

    def run(self, root: etree.Element) -> None:
        for element in root.iter():
            if element.get("class") != "arithmatex":
                continue
            display = element.tag == "div"
            tex = (element.text or "")[2:-2]  # without arithmatex's own \( \) or \[ \]
            # arithmatex escapes HTML in display formulas and not in inline ones
            element.text = self.stash.store(to_mathml(html.unescape(tex) if display else tex, display=display))
            element.set("class", "math")


class MathMLExtension(Extension):
    """Turns what arithmatex found into MathML. Markdown conversion raises FormulaError on a formula it refuses."""

    def extendMarkdown(self, md: Markdown) -> None:
        # after the inline patterns (20), before the table of contents (5)
        md.treeprocessors.register(_MathML(md), "course-mathml", 15)


def makeExtension(**settings: object) -> MathMLExtension:
    return MathMLExtension(**settings)
