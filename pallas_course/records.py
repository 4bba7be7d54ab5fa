"""Records: JSON files of entries, each of one thing, from one source, made with one set of versions.

An entry holds "of", "source", "versions", "date", and what was found, in fields of the record's own. Needs Python
alone, so that what writes an entry and what shows it choose alike.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FORMAT = 2

Entry = dict[str, Any]


def read(path: Path) -> list[Entry]:
    """The entries of a record; none where there is none, or one of an older format, which holds nothing to keep.

    Raises ValueError for a newer format, and what json and a lookup raise for a file that is no record.
    """
    if not path.is_file():
        return []
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["format"] > FORMAT:
        raise ValueError(f"format {data['format']} is newer than this program, which reads {FORMAT}")
    entries: list[Entry] = data["entries"] if data["format"] == FORMAT else []
    return entries


def choose(entries: Iterable[Entry], of: str, source: str) -> list[Entry]:
    """The entries of a thing as it is now, oldest JAX first: an entry of another source says nothing about it."""
    return sorted((e for e in entries if (e["of"], e["source"]) == (of, source)), key=_age)


def covering(entries: Iterable[Entry], here: dict[str, str]) -> Entry | None:
    """The entry made with all of ``here``, a machine's versions; it may have had a compiler more. NumPy only checks."""
    return next((entry for entry in entries if _within(here, entry["versions"])), None)


def updated(old: Iterable[Entry], new: list[Entry], sources: dict[str, str]) -> list[Entry]:
    """The entries with new ones among them, in the order of ``sources``: the things there are, with their sources now.

    A new entry replaces those of its thing that were made with nothing but its own versions.
    """
    kept = [
        entry
        for entry in old
        if not any(entry["of"] == other["of"] and _within(entry["versions"], other["versions"]) for other in new)
    ]
    return [entry for of, source in sources.items() for entry in choose([*kept, *new], of, source)]


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a record, whole or not at all; an entry takes a line, and so does each item of a list in it."""
    texts = [", ".join(f"{json.dumps(name)}: {_lines(value)}" for name, value in entry.items()) for entry in entries]
    replace(path, f'{{"format": {FORMAT}, "entries": [\n' + ",\n".join(f"{{{text}}}" for text in texts) + "\n]}\n")


def replace(path: Path, text: str) -> bool:
    """Write ``text`` to ``path`` unless it is there already; whole or not at all. True when the file changed."""
    data = text.encode("utf-8")
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True


def _within(some: dict[str, str], others: dict[str, str]) -> bool:
    return all(others.get(name) == version for name, version in some.items() if name != "numpy")


def _age(entry: Entry) -> tuple[list[int], str]:
    numbers = [int(part) for part in re.findall(r"\d+", entry["versions"]["jax"])]
    return numbers, json.dumps(entry["versions"], sort_keys=True)


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"  {json.dumps(item, ensure_ascii=False)}" for item in value) + "\n ]"
