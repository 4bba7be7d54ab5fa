"""YAML with lines: the front matter and a block's options, checked against a closed list of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import yaml

from pallas_course.engine.errors import LessonError, nearest
from pallas_course.engine.lesson import Location

# A check returns None when the value is right, else what the value must be.
Check = Callable[[Any], str | None]


def text(value: Any) -> str | None:
    if isinstance(value, str) and value.strip():
        return None
    return "a text" + ("" if value is None or isinstance(value, str | list | dict) else " in quotes")


def positive_integer(value: Any) -> str | None:
    right = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return None if right else "a positive whole number"


def texts(value: Any) -> str | None:
    right = isinstance(value, list) and value and all(text(item) is None for item in value)
    return None if right else "a list of texts"


def references(value: Any) -> str | None:
    right = isinstance(value, list) and all(
        isinstance(item, dict)
        and set(item) == {"title", "url"}
        and text(item["title"]) is None
        and isinstance(item["url"], str)
        and item["url"].startswith(("https://", "http://"))
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

    def line(mark: yaml.Mark | None) -> Location:
        return Location(start.path, start.line + (mark.line if mark else 0))

    loader = yaml.SafeLoader(source)
    try:
        node = loader.get_single_node()
        known = {**required, **optional}
        values: dict[str, Any] = {}
        places: dict[str, Location] = {}
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise LessonError(
                line(node.start_mark), f"{where} is not `key: value` lines", "write one `key: value` a line."
            )
        for key_node, value_node in node.value if node is not None else ():
            key, place = str(key_node.value), line(key_node.start_mark)
            if key not in known:
                what = nearest(key, known) + ", or remove the line" if known else "remove the line"
                raise LessonError(place, f"{where} has an unknown key `{key}`", what + ".")
            if key in places:
                raise LessonError(place, f"{where} has `{key}` twice; first at {places[key]}", "remove one of the two.")
            value = loader.construct_object(value_node, deep=True)  # type: ignore[no-untyped-call]
            wrong = known[key](value)
            if wrong:
                raise LessonError(place, f"`{key}` in {where} is not {wrong}: {value!r}", f"write {wrong}.")
            values[key], places[key] = value, place
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise LessonError(
            line(mark), f"{where} is not YAML: {error.problem}", "mend that line; quote a text that holds `: ` or `#`."
        ) from error
    except yaml.YAMLError as error:
        raise LessonError(start, f"{where} is not YAML: {error}", "remove the character it names.") from error
    except ValueError as error:  # a date such as 2026-13-40
        raise LessonError(start, f"{where} holds a value YAML cannot read: {error}", "put it in quotes.") from error
    finally:
        loader.dispose()  # type: ignore[no-untyped-call]
    for key in required:
        if key not in values:
            raise LessonError(at, f"{where} has no `{key}`", f"add `{key}: ...`.")
    return values, places
