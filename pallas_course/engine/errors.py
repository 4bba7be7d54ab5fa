"""What can be wrong, and whose fault it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pallas_course.engine.lesson import Location


class LessonError(Exception):
    """The content is wrong: exit code 1. Printed as `path:line: problem`, then `next: what to do`."""

    def __init__(self, at: Location, problem: str, next_step: str) -> None:
        super().__init__(f"{at}: {problem}\n  next: {next_step}")
        self.at = at
        self.problem = problem
        self.next_step = next_step


class UsageError(Exception):
    """The command was called wrongly, or the machine refused: exit code 2."""

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__(f"{problem}\n  next: {next_step}")


def nearest(word: str, valid: Iterable[str]) -> str:
    """'write `x`' for the valid word most like `word`, or the whole list when none is like it."""
    words = sorted(valid)
    like = difflib.get_close_matches(word, words, n=1)
    return f"write `{like[0]}`" if like else f"use one of: {', '.join(words)}"
