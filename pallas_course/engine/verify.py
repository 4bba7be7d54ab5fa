"""The page as the site's own Markdown shows it, compared with the cells that ran.

`parse.py` and the site read Markdown with different parsers. Where they disagree, code could be shown that never ran,
or run and never shown: each difference is an error at the lesson's line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import yaml
from markdown import Markdown

from pallas_course.engine.errors import LessonError, UsageError, nearest
from pallas_course.engine.lesson import Lesson, Location, Project
from pallas_course.engine.mathml import FormulaError
from pallas_course.engine.render import Page


def site_markdown(project: Project) -> Markdown:
    """The Markdown converter that mkdocs.yml configures; `toc`, `tables` and `fenced_code` are MkDocs' own defaults."""
    path = project.root / "mkdocs.yml"
    try:
        entries = yaml.safe_load(path.read_text("utf-8"))["markdown_extensions"]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise UsageError(f"mkdocs.yml: cannot read its markdown_extensions: {error}", "restore the file.") from error
    names: list[str] = ["toc", "tables", "fenced_code"]
    configs: dict[str, Any] = {}
    for entry in entries:
        name, config = next(iter(entry.items())) if isinstance(entry, dict) else (entry, None)
        names = [*(known for known in names if known != name), name]
        configs[name] = config or {}
    return Markdown(extensions=names, extension_configs=configs)


def verify(markdown: Markdown, lesson: Lesson, page: Page) -> None:
    """Raise LessonError for the first code block that the page shows otherwise than it was run, or an id used twice."""
    source = page.text.split("---\n", 2)[2]
    try:
        html = markdown.reset().convert(source)
    except FormulaError as error:
        line = _line_with(lesson, error.tex.split("\n")[0])
        raise LessonError(Location(lesson.path, line), error.problem, f"{error.next_step}.") from error
    found = _Found()
    found.feed(html)
    found.close()
    _same_ids(lesson, page, found.ids)
    _same_blocks(lesson, page, found.blocks)
    _self_contained(lesson, found)
    if found.markers:
        raise LessonError(
            Location(lesson.path, _line_with(lesson, found.markers[0])),
            f"the page shows the block line `{found.markers[0]}` as text",
            "put an empty line before it, and take it out of raw HTML.",
        )


@dataclass
class _Block:
    id: str
    text: str = ""


@dataclass
class _Found(HTMLParser):
    """Collects code blocks, ids, and block lines that were left as text."""

    blocks: list[_Block] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)  # of links into the page itself
    foreign: list[tuple[str, str]] = field(default_factory=list)  # what would run or load: text, kind
    titles: list[str] = field(default_factory=list)  # texts of headings of the first level
    _name: str = ""  # the id of a `highlight` element, for the block that follows in it
    _in: list[str] = field(default_factory=list)  # open `pre` and `code`

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and values.get("href", "").startswith("#"):
            self.anchors.append(values["href"][1:])
        self.foreign += [(f"<{tag}", "a script or a frame")] if tag in ("script", "iframe", "object", "embed") else []
        self.foreign += [(key, "a script") for key in values if key.startswith("on")]
        self.foreign += [
            (values[key], "a file of another host")
            for key in ("src", "srcset", "poster", "data")
            if values.get(key, "").startswith(("http:", "https:", "//"))
        ]
        if tag == "h1":
            self.titles.append("")
            self._in.append(tag)
        if "highlight" in values.get("class", "").split():
            self._name = values.get("id", "")
        if tag == "pre":
            self.blocks.append(_Block(self._name))
            self._name = ""
        if tag in ("pre", "code"):
            self._in.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._in:
            self._in.remove(tag)

    def handle_data(self, data: str) -> None:
        if "h1" in self._in:
            self.titles[-1] += data
        elif "pre" in self._in:
            self.blocks[-1].text += data
        elif not self._in:
            self.markers += [line for line in data.split("\n") if line.startswith("///")]


def _self_contained(lesson: Lesson, found: _Found) -> None:
    """The page has one title, its links into itself lead somewhere, and it runs and loads nothing of others."""
    if found.foreign:
        text, what = found.foreign[0]
        raise LessonError(
            Location(lesson.path, _line_with(lesson, text)),
            f"the page would use {what}: `{text}`",
            "remove it: a page works offline and asks no other host.",
        )
    if len(found.titles) > 1:
        title = found.titles[1].rstrip("¶")
        raise LessonError(
            Location(lesson.path, _line_with(lesson, title)),
            f"`{title}` is a second title of the page",
            "begin the heading with `## `: the title comes from the front matter.",
        )
    for anchor in found.anchors:
        if unquote(anchor) not in found.ids:
            raise LessonError(
                Location(lesson.path, _line_with(lesson, f"#{anchor})")),
                f"the link `#{anchor}` leads nowhere on the page",
                f"{nearest(unquote(anchor), found.ids)}.",
            )


def _same_blocks(lesson: Lesson, page: Page, blocks: list[_Block]) -> None:
    """The page's code blocks must be those of the lesson, in order. The first that is not is an error."""
    shown = [(block.id, block.text.rstrip("\n")) for block in blocks]
    for wanted in page.shown:
        pair = (wanted.id, wanted.text.rstrip("\n"))
        if shown[:1] == [pair]:
            shown.pop(0)
        elif pair in shown:
            break
        else:
            what = "is shown otherwise than it was run" if wanted.id in dict(shown) else "is not shown as a code block"
            raise LessonError(
                wanted.at,
                f"{f'`{wanted.id}`' if wanted.id else 'the fence'} {what} on the page",
                "put an empty line before and after it, and take it out of raw HTML.",
            )
    if shown:
        raise LessonError(
            Location(lesson.path, _line_with(lesson, shown[0][1].strip("\n").split("\n")[0])),
            "the page shows a code block that is no fence of the lesson",
            "remove its indentation or its raw HTML; put code into a cell.",
        )


def _same_ids(lesson: Lesson, page: Page, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name.lower() in seen:
            at = next((wanted.at for wanted in page.shown if wanted.id.lower() == name.lower()), None)
            raise LessonError(
                at or Location(lesson.path, _line_with(lesson, name)),
                f"the page has the id `{name}` twice; a heading's anchor may be the other one",
                "rename the cell or the heading.",
            )
        seen.add(name.lower())


def _line_with(lesson: Lesson, text: str) -> int:
    wanted = text.strip()
    return next((number for number, line in enumerate(lesson.lines, 1) if wanted and wanted in line), 1)
