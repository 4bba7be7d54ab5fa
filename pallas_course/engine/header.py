"""YAML with lines: the front matter and a block's options, checked against a closed list of keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.reader import ReaderError

from pallas_course.engine.errors import LessonError, nearest
from pallas_course.engine.lesson import Location

# A check returns None when the value is right, else what the value must be.
Check = Callable[[Any], str | None]


def text(value: Any) -> str | None:
    if isinstance(value, str) and value.strip():
        return None
    return "a text" + ("" if value is None or isinstance(value, str | list | dict) else " in quotes")


def line(value: Any) -> str | None:
    return text(value) or (None if "\n" not in value else "a text on one line")


def phase(value: Any) -> str | None:
    wrong = line(value)
    return wrong or (None if re.fullmatch(r"\S+ · \S.*", value) else 'a number and a name, as in "13 · Pallas kernels"')


def positive_integer(value: Any) -> str | None:
    right = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return None if right else "a positive whole number"


def lines(value: Any) -> str | None:
    right = isinstance(value, list) and value and all(line(item) is None for item in value)
    return None if right else "a list of texts on one line each"


def references(value: Any) -> str | None:
    right = isinstance(value, list) and all(
        isinstance(item, dict)
        and set(item) == {"title", "url"}
        and line(item["title"]) is None
        and isinstance(item["url"], str)
        and re.fullmatch(r"https?://\S+", item["url"])
        for item in value
    )
    return None if right else "a list of {title: ..., url: https://...}"


def read(
    source: str, start: Location, where: str, required: Mapping[str, Check], optional: Mapping[str, Check], at: Location
) -> tuple[dict[str, Any], dict[str, Location]]:
    """Values and their lines from the YAML mapping `source`, whose first line is `start`.

    where: what the mapping is called in messages. at: named when a required key is missing.
    Raises LessonError for anything that is not a mapping of known keys, each once and of its type.
    """

    def at_mark(mark: yaml.Mark | None) -> Location:
        return Location(start.path, start.line + (mark.line if mark else 0))

    try:
        node = yaml.compose(source, yaml.SafeLoader)
        known = {**required, **optional}
        values: dict[str, Any] = {}
        places: dict[str, Location] = {}
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise LessonError(
                at_mark(node.start_mark), f"{where} is not `key: value` lines", "write one `key: value` a line."
            )
        for key_node, value_node in node.value if node is not None else ():
            key, place = str(key_node.value), at_mark(key_node.start_mark)
            if key not in known:
                what = nearest(key, known) + ", or remove the line" if known else "remove the line"
                raise LessonError(place, f"{where} has an unknown key `{key}`", what + ".")
            if key in places:
                raise LessonError(place, f"{where} has `{key}` twice; first at {places[key]}", "remove one of the two.")
            try:
                value = SafeConstructor().construct_object(value_node, deep=True)
            except (ValueError, LookupError, AttributeError) as error:  # such as a month 13
                raise LessonError(
                    place, f"YAML cannot read the value of `{key}`: {error}", "put it in quotes."
                ) from error
            wrong = known[key](value)
            if wrong:
                written = value_node.value if isinstance(value_node, yaml.ScalarNode) else value
                raise LessonError(place, f"`{key}` in {where} is not {wrong}: {written!r}", f"write {wrong}.")
            values[key], places[key] = value, place
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise LessonError(
            at_mark(mark),
            f"{where} is not YAML: {error.problem}",
            "mend that line; quote a text that holds `: ` or `#`.",
        ) from error
    except ReaderError as error:
        place = Location(start.path, start.line + source.count("\n", 0, error.position))
        problem = f"{where} holds U+{error.character:04X}, which YAML cannot read"
        raise LessonError(place, problem, "remove the character.") from error
    except RecursionError as error:
        raise LessonError(start, f"{where} is nested too deep", "write plain values.") from error
    for key in required:
        if key not in values:
            raise LessonError(at, f"{where} has no `{key}`", f"add `{key}: ...`.")
    return values, places
