"""Pairs of numbers."""

from __future__ import annotations

import functools

LIMIT = 10
"""The largest half."""


@functools.cache
def half(number: int) -> int:
    """Half of `number`, rounded down.

    Raises ValueError above twice LIMIT.
    """
    if number > 2 * LIMIT:
        raise ValueError(f"{number} is above {2 * LIMIT}")
    return number // 2


class Pair:
    """A number and its half."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.half = half(number)
