"""Cut STIX Two Math down to what the site's formulas need.

    npm pack @fontsource/stix-two-math && tar xzf fontsource-stix-two-math-*.tgz
    python -m tools.subset_math_font package/files/stix-two-math-latin-400-normal.woff2

Run from the project's root; needs fontTools and brotli. The glyph list is FONT_CHARACTERS of
pallas_course/engine/mathml.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

from pallas_course.engine.mathml import FONT_CHARACTERS

TARGET = Path("docs/assets/fonts/course-math.woff2")

# A single letter in <mi> is drawn with its mathematical italic: Latin (h has its own place), then Greek.
ITALICS = {*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)}


def main(source: str) -> None:
    options = subset.Options()
    options.flavor = "woff2"
    options.hinting = False  # for the rasterisers of old screens only
    options.name_IDs = [0, 1, 2, 13, 14]  # copyright, family, style, licence and its address
    font = subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes={*map(ord, FONT_CHARACTERS), *ITALICS})
    cutter.subset(font)
    if lost := sorted(set(FONT_CHARACTERS) - {chr(code) for code in font.getBestCmap()}):
        sys.exit(f"{source}: has no {' '.join(lost)}\n  next: take them out of FONT_CHARACTERS")
    subset.save_font(font, str(TARGET), options)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes, {len(font.getGlyphOrder())} glyphs")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.subset_math_font FONT\n  next: the top of the file says where FONT comes from")
    main(sys.argv[1])
