"""The program that runs one lesson's cells, in a process of its own. Started by `execute.py`; imports nothing of ours.

usage: child.py JOB FD. JOB is a JSON file (see `execute.py`); FD takes one JSON object a line:
{"start": id}, {"end": id, "kept": ..., "raised": ..., "problem": ...} for each cell, then {"facts": ...}; and answers
each with one byte. What the cells print goes to file descriptors 1 and 2; the parent reads those before it answers.
"""

from __future__ import annotations

import json
import linecache
import math
import os
import platform
import signal
import sys
import time
import traceback
import types
import warnings
from importlib.machinery import SourceFileLoader
from typing import Any

LARGEST_ARRAY = 10_000  # elements
LARGEST_VALUE = 500_000  # bytes of JSON


def main(job_path: str, fd: int) -> None:
    os.set_inheritable(fd, False)
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    root = job["root"]
    for path, text in job["sources"].items():
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    opened = watch_files(root)
    read_afresh(root)
    hold_family_together()
    own = os.getpid()

    def send(message: dict[str, Any]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        if os.getpid() != own:
            os._exit(0)  # a fork that came out of its cell
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(fd, data) :]
        # Wait, so that nothing of the next cell is printed before the parent has taken what this one printed.
        if not os.read(fd, 1):
            os._exit(1)  # the build is gone

    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    for cell in job["cells"]:
        send({"start": cell["id"]})
        result = run(cell, module.__dict__)
        send({"end": cell["id"], **result})
        if result.get("problem"):
            break
    else:
        send({"facts": facts(), "files": sorted(opened | module_files(root))})
    time.sleep(60)  # the parent ends this process now, and finds by it every process that a cell left running
    os._exit(0)


def run(cell: dict[str, Any], space: dict[str, Any]) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        raised: BaseException | None = None
        try:
            for chunk in cell["chunks"]:
                code = compile("\n" * (chunk["line"] - 1) + chunk["code"], chunk["path"], "exec", dont_inherit=True)
                exec(code, space)
        except BaseException as error:  # noqa: BLE001 - whatever a cell raises is the author's to know
            raised = error
    if raised is not None and type(raised).__name__ != cell["raises"]:
        return {"problem": describe(raised)}
    if raised is None and cell["raises"]:
        return {"problem": {"kind": "not raised", "places": []}}
    unexpected = [item for item in caught if item.category.__name__ != cell["warns"]]
    if unexpected:
        item = unexpected[0]
        return {
            "problem": {
                "kind": "warned",
                "type": item.category.__name__,
                "message": str(item.message),
                "places": [[os.fspath(item.filename), item.lineno, ""]],
            }
        }
    if cell["warns"] and not caught:
        return {"problem": {"kind": "not warned", "places": []}}
    kept = {}
    for name in cell["keep"]:
        if name not in space:
            return {"problem": {"kind": "not kept", "name": name, "places": []}}
        try:
            kept[name] = whole(space[name])
        except ValueError as error:
            return {"problem": {"kind": "not plain", "name": name, "message": str(error), "places": []}}
    return {"kept": kept, "raised": f"{type(raised).__name__}: {raised}" if raised is not None else None}


def describe(error: BaseException) -> dict[str, Any]:
    """The error and the lines it came through, outermost first; a line that cannot be read comes last."""
    frames = traceback.extract_tb(error.__traceback__)
    places: list[list[Any]] = [[frame.filename, frame.lineno or 1, frame.name] for frame in frames]
    message = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        places.append([error.filename, error.lineno or 1, ""])
        message = error.msg
    places = [place for place in places if place[0] != __file__]
    return {"kind": "raised", "type": type(error).__name__, "message": message, "places": places}


def whole(value: Any) -> Any:
    """`plain(value)`, with a limit to its size. Raises ValueError, as `plain` does."""
    try:
        found = plain(value)
    except RecursionError:
        raise ValueError("it is nested too deep; keep a flat value") from None
    size = len(json.dumps(found))
    if size > LARGEST_VALUE:
        raise ValueError(f"it takes {size} bytes, more than {LARGEST_VALUE}; keep a slice or a summary")
    return found


def plain(value: Any) -> Any:
    """`value` as JSON. Raises ValueError, saying what to keep instead, for what JSON or a reviewer cannot take."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > 64:
            raise ValueError("it holds an integer of more than 64 bits; keep a text of it")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"it holds {float(value)}, which is no JSON number; keep a count, a mask or a text of it")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a dict's keys are not all texts; make them texts")
        return {plain(key): plain(item) for key, item in value.items()}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return plain_array(value)
    raise ValueError(f"{type(value).__name__} values are not JSON; keep a number, a text, a list, a dict or an array")


def plain_array(value: Any) -> Any:
    import numpy

    array = numpy.asarray(value)
    if array.size > LARGEST_ARRAY:
        raise ValueError(f"it has {array.size} elements, more than {LARGEST_ARRAY}; keep a slice or a summary")
    if array.dtype.kind == "V" and array.dtype.names is None:  # such as bfloat16
        array = array.astype(numpy.float64)
    if array.dtype.kind not in "biufU":
        raise ValueError(f"an array of {array.dtype} is not JSON; keep numbers or texts")
    return plain(array.tolist())


def facts() -> dict[str, Any]:
    """Versions, and the device of the JAX backend when a cell imported jax."""
    versions = {"python": platform.python_version()}
    for name in ("jax", "jaxlib", "numpy"):
        if name in sys.modules:
            versions[name] = sys.modules[name].__version__
    found = {"versions": versions, "platform": f"{platform.system()} {platform.machine()}"}
    jax = sys.modules.get("jax")
    if jax is None:
        return {**found, "backend": None, "device": "cpu"}
    return {**found, "backend": jax.default_backend(), "device": jax.devices()[0].device_kind}


def hold_family_together() -> None:
    """On Linux: what a cell leaves behind stays a descendant of this process, and this process ends with the build."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal, set_child_subreaper = 1, 36
        prctl = ctypes.CDLL(None).prctl
        prctl(set_child_subreaper, 1, 0, 0, 0)
        prctl(set_parent_death_signal, int(signal.SIGKILL), 0, 0, 0)


def is_ours(path: str, root: str) -> bool:
    """Whether `path` is a project file (installed packages and caches inside the folder are not)."""
    if not path.startswith(root + os.sep):
        return False
    parts = path[len(root) + 1 :].split(os.sep)
    return not any(part.startswith(".") or part in ("__pycache__", "site-packages") for part in parts)


def watch_files(root: str) -> set[str]:
    """A set that gathers the project files opened from now on."""
    opened: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            writes = isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            # A traceback that somebody looks at opens this very file, to show its line.
            if is_ours(path, root) and path != os.path.abspath(__file__) and (os.path.isfile(path) or writes):
                opened.add(path)

    sys.addaudithook(hook)
    return opened


def read_afresh(root: str) -> None:
    """Take no project file's code from Python's cache, which cannot tell two edits within one second apart."""
    path_stats = SourceFileLoader.path_stats

    def stats_of_others(loader: SourceFileLoader, path: str) -> Any:
        if is_ours(path, root):
            raise OSError  # as for a file without a time: its cache is neither read nor written
        return path_stats(loader, path)

    SourceFileLoader.path_stats = stats_of_others  # type: ignore[assignment,method-assign]


def module_files(root: str) -> set[str]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {file for file in files if file and is_ours(file, root) and file != __file__}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
