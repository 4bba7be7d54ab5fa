"""A function of the user's and its arguments, as a worker process holds them."""

import ast
import importlib
import importlib.util
import inspect
import sys
import traceback
import types
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pallas_course.evidence import findings
from pallas_course.evidence.verdict import Finding


class Found(Exception):
    """What is wrong with the user's code itself; ends the case."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def load(spec: dict[str, str]) -> Callable[..., Any]:
    """The function a spec names: {"file" or "module", "function"}. Raises Found when it cannot be had."""
    file = spec.get("file", "")
    try:
        module = _from_file(Path(file)) if file else importlib.import_module(spec["module"])
    except SyntaxError as error:
        raise Found(Finding("syntax", str(error.msg), f"{error.filename}:{error.lineno}")) from error
    except BaseException as error:
        raise Found(blame(error, "import", file)) from error
    function = getattr(module, spec["function"], None)
    if not callable(function):
        known = [name for name, value in vars(module).items() if isinstance(value, types.FunctionType)]
        listed = ", ".join(known) or "none"
        raise Found(Finding("name", f"no function {spec['function']!r}; the file's functions: {listed}", file))
    return function  # type: ignore[no-any-return]


def _from_file(path: Path) -> types.ModuleType:
    if not path.is_file():
        raise Found(Finding("name", f"no such file: {path.name}", str(path)))
    name = (
        path.stem
        if path.stem.isidentifier() and path.stem not in sys.modules
        else f"audited_{zlib.crc32(str(path).encode())}"
    )
    if (loaded := sys.modules.get(name)) is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def blame(error: BaseException, otherwise: str, file: str = "") -> Finding:
    """An exception as a finding, with the last line of the user's own code that led to it."""
    if isinstance(error, Found):
        return error.finding
    if isinstance(error, SystemExit):
        return Finding("exit", f"sys.exit({error.code!r})", _place(error, file))
    found = findings.read_error(f"{type(error).__name__}: {error}", otherwise)
    message = found.message if str(error).strip() else f"{type(error).__name__} without a message"
    return Finding(found.code, message, _place(error, file))


def _place(error: BaseException, file: str) -> str:
    ours = str(Path(__file__).parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in frame.filename
        and not frame.filename.startswith((ours, "<"))
        and "importlib" not in frame.filename
    ]
    own = [frame for frame in frames if frame.filename == file] or frames
    return f"{own[-1].filename}:{own[-1].lineno}" if own and own[-1].filename != "" else ""


def accepted(oracle: Callable[..., Any], kwargs: dict[str, Any], static: Any) -> dict[str, Any]:
    """The keywords an oracle is called with: of those that are no arrays, a block shape say, what it has a name for."""
    parameters = inspect.signature(oracle).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return kwargs
    return {name: value for name, value in kwargs.items() if name in parameters or name not in static}


def largest(dtype: Any) -> int:
    """The largest integer of a dtype; 1 for booleans."""
    kind = jax.numpy.dtype(dtype)
    if kind == np.bool_:
        return 1
    limits: Any = jax.numpy.iinfo(kind)  # type: ignore[no-untyped-call,unused-ignore]
    return int(limits.max)


def values(place: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """A seeded array: distinct while the dtype can tell its elements apart, of both signs, in no order, without zero.

    Floats lie between -4 and 4. Signed integers count from one in both directions, unsigned ones up; both wrap where
    the dtype ends. Complex numbers have two different parts; booleans are mixed.
    """
    kind = jax.numpy.dtype(dtype)
    size = int(np.prod(shape))
    order = np.random.default_rng(zlib.crc32(place.encode())).permutation(size)
    if jax.numpy.issubdtype(kind, np.bool_):
        return np.asarray(order % 2 == 0).reshape(shape)
    if jax.numpy.issubdtype(kind, np.unsignedinteger):
        return np.asarray(order % largest(kind) + 1).reshape(shape).astype(kind)
    if jax.numpy.issubdtype(kind, np.integer):
        magnitude = order // 2 % largest(kind) + 1
        return np.asarray(np.where(order % 2, -magnitude, magnitude)).reshape(shape).astype(kind)
    spread = (order + 1 / 3) * (8 / max(size, 1)) - 4
    if jax.numpy.issubdtype(kind, np.complexfloating):
        return np.asarray(spread + 1j * spread[::-1]).reshape(shape).astype(kind)
    return np.asarray(spread).reshape(shape).astype(kind)


def arguments(case: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of a case; arrays are NumPy's. Raises Found when --inputs fails."""
    if spec := case.get("inputs"):
        try:
            made = load(spec)()
        except BaseException as error:
            raise Found(blame(error, "inputs", spec.get("file", ""))) from error
        args, kwargs = _split(made)
    elif contract := case.get("contract"):
        stated = getattr(importlib.import_module(contract["module"]), contract["name"])
        chosen = next(item for item in stated.cases if item.name == contract["case"])
        args, kwargs = chosen.inputs(contract["dtype"]), {}
    else:
        args = tuple(_array(f"argument {place}", item) for place, item in enumerate(case.get("args", ())))
        kwargs = {name: _array(name, item) for name, item in case.get("kwargs", {}).items()}
    static = {name: ast.literal_eval(text) for name, text in case.get("static", {}).items()}
    return args, {**kwargs, **static}


def _array(place: str, item: dict[str, Any]) -> np.ndarray:
    return values(place, item["dtype"], tuple(item["shape"]))


def _split(made: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(made, dict):
        return (), made
    if isinstance(made, tuple):
        if len(made) == 2 and isinstance(made[0], tuple) and isinstance(made[1], dict):
            return made
        return made, {}
    return (made,), {}


def is_array(value: Any) -> bool:
    """Whether a leaf of the arguments is traced; everything else stays a constant of the program."""
    return isinstance(value, (np.ndarray, np.generic, jax.Array))
