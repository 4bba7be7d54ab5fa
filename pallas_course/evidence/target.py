"""A function of the user's and its arguments, as a worker process holds them."""

import ast
import difflib
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import sys
import sysconfig
import types
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pallas_course.evidence import chips, findings, limits, mode
from pallas_course.evidence.verdict import Code, Finding, Misuse

PYTHON = sysconfig.get_path("stdlib")


class Found(Exception):
    """What is wrong with the user's code itself; ends the case."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def load(spec: dict[str, str]) -> Callable[..., Any]:
    """The function a spec names: {"file" or "module", "function"}. Raises Found when it cannot be had."""
    module = _module(spec)
    function = getattr(module, spec["function"], None)
    if not callable(function):
        listed = ", ".join(_functions(module)) or "none"
        message = f"no function {spec['function']!r}; the file's functions: {listed}"
        raise Found(Finding("name", message, spec.get("file", "")))
    return function  # type: ignore[no-any-return]


def _module(spec: dict[str, str]) -> types.ModuleType:
    file = spec.get("file", "")
    try:
        if not file:
            return importlib.import_module(spec["module"])
        with chips.assumed("v5e"), mode.forced(True):  # a file may call its kernel while it is imported
            return _from_file(Path(file))
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}" if error.filename and error.lineno else file
        raise Found(Finding("syntax", str(error.msg), where)) from error
    except BaseException as error:
        raise Found(blame(error, "import", file)) from error


def _functions(module: types.ModuleType) -> list[str]:
    """What the file itself offers to be called, jitted functions and the like among it."""
    return [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not isinstance(value, type)
        and not name.startswith("_")
        and (getattr(value, "__module__", None) == module.__name__ or isinstance(value, functools.partial))
    ]


def _from_file(path: Path) -> types.ModuleType:
    if not path.is_file():
        raise Found(Finding("name", f"no such file: {path.name}", str(path)))
    if (module := _from_package(path)) is not None:
        return module
    name = path.stem
    if not name.isidentifier() or (name in sys.modules and not _is_from(sys.modules[name], path)):
        name = f"audited_{zlib.crc32(str(path).encode())}"
    if name in sys.modules:
        return sys.modules[name]
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]  # what was defined so far is not the file
        raise
    return module


def _from_package(path: Path) -> types.ModuleType | None:
    """The file as a module of the package it lies in, whose relative imports then work; None where it lies in none."""
    top, parts = path.parent, [path.stem]
    while (top / "__init__.py").is_file() and top.parent != top:
        parts.insert(0, top.name)
        top = top.parent
    if len(parts) == 1 or not all(part.isidentifier() for part in parts):
        return None
    if parts[0] in sys.modules and not _is_from(sys.modules[parts[0]], top / parts[0] / "__init__.py"):
        return None
    if str(top) not in sys.path:
        sys.path.insert(0, str(top))
    module = importlib.import_module(".".join(parts[:-1] if path.name == "__init__.py" else parts))
    return module if _is_from(module, path) else None


def _is_from(module: types.ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path.resolve()


def usable(spec: dict[str, Any]) -> None:
    """See that the functions a case names exist and take what they will be given.

    Raises Misuse when not, and Found when the target's file cannot be loaded. An oracle's file that cannot be is left
    to the rungs.
    """
    for role in ("target", "oracle", "inputs"):
        if not (named := spec.get(role)):
            continue
        try:
            module = _module(named)
        except Found:
            if role == "target":
                raise
            continue
        function, called = getattr(module, named["function"], None), f"{Path(named['file']).name}:{named['function']}"
        if not callable(function) or isinstance(function, type):
            near = sorted(_functions(module), key=lambda name: -_likeness(name, named["function"]))
            do = f"choose from {', '.join(near[:12])}{' and more' if near[12:] else ''}" if near else "define one"
            is_ = "a class" if callable(function) else "no function of the file"
            raise Misuse(f"{called} is {is_}", do)
        if role == "inputs":
            _fits(called, function, (), {}, "let it take no argument, and return them")
        elif not spec.get("inputs"):
            args, keywords = spec.get("args", ()), {**spec.get("kwargs", {}), **spec.get("static", {})}
            if role == "oracle":
                keywords = accepted(function, keywords, spec.get("static", ()))
            do = "give arrays in order with --arg, a keyword that is no array with --static NAME=VALUE"
            if role == "oracle":
                do = "let it take the arrays that the function takes"
            _fits(called, function, args, keywords, do)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _fits(called: str, function: Callable[..., Any], args: Any, keywords: Any, do: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some callables tell nobody what they take
        return
    parameters = signature.parameters
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    try:
        if unknown := [name for name in keywords if name not in parameters and not open_ended]:
            raise TypeError(f"it takes no keyword {unknown[0]!r}")
        signature.bind(*args, **keywords)
    except TypeError as error:
        bare = [parameter.replace(annotation=parameter.empty) for parameter in parameters.values()]
        takes = str(signature.replace(parameters=bare, return_annotation=signature.empty))
        raise Misuse(f"{called}{takes[:300]}: {error}", do) from None


def blame(error: BaseException, otherwise: Code, file: str = "") -> Finding:
    """An exception as a finding, with the last line of the user's own code that led to it."""
    if isinstance(error, Found):
        return error.finding
    # What is raised beside the kernel says nothing of it, whatever its words.
    beside = otherwise in ("inputs", "oracle")
    if isinstance(error, SystemExit):
        return Finding(otherwise if beside else "exit", f"sys.exit({error.code!r})", _place(error, file))
    found = findings.read_error(findings.spoken(error), otherwise)
    code = otherwise if beside or otherwise == "import" else found.code
    return Finding(code, found.message, _place(error, file) or found.where)


def _place(error: BaseException, file: str) -> str:
    ours = str(Path(__file__).parent)
    frames = limits.frames(error)
    own = [frame for frame in frames if frame.filename == file] or [
        frame
        for frame in frames
        if "site-packages" not in frame.filename and not frame.filename.startswith((ours, PYTHON, "<"))
    ]
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


def arguments(case: dict[str, Any], function: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of a case, which ``function`` takes. Arrays are NumPy's.

    Those of --inputs have the dtype that JAX gives them. Raises Found when --inputs fails.
    """
    static = {name: ast.literal_eval(text) for name, text in case.get("static", {}).items()}
    if spec := case.get("inputs"):
        try:
            made = load(spec)()
            args, kwargs = jax.tree.map(_as_jax_has_it, _split(made))
        except BaseException as error:
            raise Found(blame(error, "inputs", spec.get("file", ""))) from error
        called = f"{spec['function']}()"
        if isinstance(made, list):
            what = "returned a list; let it be a tuple of arguments, or a tuple that holds the list"
            raise Found(Finding("inputs", f"{called} {what}", spec["file"]))
        if not any(map(is_array, jax.tree.leaves((args, kwargs)))):
            raise Found(Finding("inputs", f"{called} returned no array, but {type(made).__name__}", spec["file"]))
        try:
            _fits(case["target"]["function"], function, args, kwargs | static, "")
        except Misuse as error:
            shown = f"{called} returned {_counted(args, kwargs)}; {error.wrong}"
            raise Found(Finding("inputs", shown, spec["file"])) from None
    elif contract := case.get("contract"):
        stated = getattr(importlib.import_module(contract["module"]), contract["name"])
        chosen = next(item for item in stated.cases if item.name == contract["case"])
        args, kwargs = chosen.inputs(contract["dtype"]), {}
    else:
        args = tuple(_array(f"argument {place}", item) for place, item in enumerate(case.get("args", ())))
        kwargs = {name: _array(name, item) for name, item in case.get("kwargs", {}).items()}
    return args, {**kwargs, **static}


def _as_jax_has_it(leaf: Any) -> Any:
    return np.asarray(leaf, jax.dtypes.canonicalize_dtype(leaf.dtype)) if is_array(leaf) else leaf


def _counted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    count = f"{len(args)} argument{'' if len(args) == 1 else 's'}"
    return f"{count} and the keywords {', '.join(kwargs)}" if kwargs else count


def _array(place: str, item: dict[str, Any]) -> np.ndarray:
    return values(place, item["dtype"], tuple(item["shape"]))


def _split(made: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(made, dict):
        return (), made
    if isinstance(made, tuple) and not hasattr(made, "_fields"):
        if len(made) == 2 and isinstance(made[0], tuple) and isinstance(made[1], dict):
            return made
        return made, {}
    return (made,), {}


def is_array(value: Any) -> bool:
    """Whether a leaf of the arguments is traced; everything else stays a constant of the program."""
    if not isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return False
    # Keys of random numbers and NumPy's own objects and texts are nothing a kernel is handed from outside.
    return bool(jax.numpy.issubdtype(value.dtype, np.number) or jax.numpy.issubdtype(value.dtype, np.bool_))
