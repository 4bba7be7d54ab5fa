"""Arguments as they are written on a command line, ``f32[257,513]``, and the shapes tried besides the given ones."""

import math
import re
from typing import Any

_SHORT = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128",
    "bool": "bool", "pred": "bool", "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2",
    **{f"{short}{bits}": f"{long}{bits}"
       for short, long in (("i", "int"), ("s", "int"), ("u", "uint")) for bits in (4, 8, 16, 32, 64)},
}  # fmt: skip


MOST_ELEMENTS = 1 << 27
"""Of all arguments together: what is interpreted takes several times their memory."""


def parse(text: str) -> tuple[str | None, dict[str, Any]]:
    """``f32[257,513]`` or ``name=f32[257,513]``: the keyword, if any, and {"dtype", "shape"}.

    Raises ValueError with two arguments: what is wrong, and what to write.
    """
    match = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?([A-Za-z]\w*)\s*\[(.*)\]", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not dtype[shape]", "f32[257,513], or name=f32[257,513] for a keyword")
    name, short, sizes = match.groups()
    dtype = _SHORT.get(short, short)
    if dtype not in _SHORT.values():
        raise ValueError(f"{text!r}: no dtype {short!r}", f"choose from {', '.join(sorted(_SHORT))}")
    parts = [part.strip() for part in sizes.removesuffix(",").split(",")] if sizes.strip() else []
    if not all(re.fullmatch(r"[0-9]{1,15}", part) for part in parts):
        raise ValueError(
            f"{text[:80]!r}: a shape is whole numbers with commas between, not {sizes[:60]!r}",
            f"{short}[257,513], or {short}[]",
        )
    return name, {"dtype": dtype, "shape": [int(part) for part in parts]}


def elements(items: list[dict[str, Any]]) -> int:
    """How many numbers these arguments hold together."""
    return sum(math.prod(item["shape"]) for item in items)


def write(item: dict[str, Any]) -> str:
    """The short form that ``parse`` reads."""
    short = next((key for key, value in _SHORT.items() if value == item["dtype"]), item["dtype"])
    return f"{short}[{','.join(map(str, item['shape']))}]"


def derived(
    args: list[dict[str, Any]], kwargs: dict[str, dict[str, Any]]
) -> dict[str, tuple[list[Any], dict[str, Any]]]:
    """Other shapes for the same arguments, by name; sizes that were equal stay equal, and none grows past about 400.

    singleton: every size is one. aligned: whole tiles, sizes 128 and up as multiples of 128, smaller ones of 8.
    ragged: off every tile. A name is left out where its shapes are the given ones, or another name's.
    """
    every = [size for item in [*args, *kwargs.values()] for size in item["shape"]]
    sizes = sorted(set(every) - {0, 1})
    if not sizes:
        return {}
    rules = {
        "singleton": dict.fromkeys(sizes, 1),
        "aligned": {size: _aligned(size, place) for place, size in enumerate(sizes)},
        "ragged": {size: _ragged(size, place) for place, size in enumerate(sizes)},
    }
    found: dict[str, tuple[list[Any], dict[str, Any]]] = {}
    seen = [(args, kwargs)]
    for name, rule in rules.items():
        changed = (
            [_resized(item, rule) for item in args],
            {key: _resized(item, rule) for key, item in kwargs.items()},
        )
        if changed not in seen:
            seen.append(changed)
            found[name] = changed
    return found


def _aligned(size: int, place: int) -> int:
    return min(-(-size // 128), 2 + place % 2) * 128 if size >= 64 else max(8, -(-size // 8) * 8)


def _ragged(size: int, place: int) -> int:
    return min(size // 128, 2) * 128 + 37 + 8 * place if size >= 64 else max(3, size // 8 * 8 + 3 + 2 * place)


def _resized(item: dict[str, Any], rule: dict[int, int]) -> dict[str, Any]:
    return {**item, "shape": [rule.get(size, size) for size in item["shape"]]}
