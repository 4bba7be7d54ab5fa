"""The program that runs one lesson's cells, in a process of its own. Started by `execute.py`; imports nothing of ours.

usage: child.py JOB FD. JOB is a JSON file (see `execute.py`); FD takes one JSON object a line:
{"start": id}, {"end": id, "kept": ..., "raised": ..., "problem": ...} for each cell, then {"facts": ...}; and answers
each with one byte. What the cells print goes to file descriptors 1 and 2; the parent reads those before it answers.
"""

import json
import linecache
import math
import os
import platform
import sys
import time
import traceback
import types
import warnings

LARGEST_ARRAY = 10_000


def main(job_path, fd):
    os.set_inheritable(fd, False)
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    root = job["root"]
    for path, text in job["sources"].items():
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    opened = _watch_files(root)
    become_reaper()

    def send(message):
        sys.stdout.flush()
        sys.stderr.flush()
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(fd, data) :]
        os.read(fd, 1)  # so that nothing of the next cell is printed before the parent has taken what this one printed

    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    for cell in job["cells"]:
        send({"start": cell["id"]})
        result = run(cell, module.__dict__)
        send({"end": cell["id"], **result})
        if result.get("problem"):
            break
    else:
        send({"facts": facts(), "files": sorted(opened | _module_files(root))})
    time.sleep(60)  # the parent ends this process now, and finds by it every process that a cell left running
    os._exit(0)


def run(cell, space):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        raised = None
        try:
            for chunk in cell["chunks"]:
                code = compile("\n" * (chunk["line"] - 1) + chunk["code"], chunk["path"], "exec", dont_inherit=True)
                exec(code, space)
        except BaseException as error:
            raised = error
    if raised is not None and type(raised).__name__ != cell["raises"]:
        return {"problem": describe(raised, cell)}
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
            kept[name] = plain(space[name])
        except ValueError as error:
            return {"problem": {"kind": "not plain", "name": name, "message": str(error), "places": []}}
    return {"kept": kept, "raised": f"{type(raised).__name__}: {raised}" if raised is not None else None}


def describe(error, cell):
    if isinstance(error, SyntaxError) and error.filename in {chunk["path"] for chunk in cell["chunks"]}:
        places = [[error.filename, error.lineno or 1, ""]]
        message = error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        places = [[frame.filename, frame.lineno or 1, frame.name] for frame in frames if frame.filename != __file__]
        message = str(error)
    return {"kind": "raised", "type": type(error).__name__, "message": message, "places": places}


def plain(value):
    """`value` as JSON. Raises ValueError, saying what to keep instead, for what JSON or a reviewer cannot take."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"it holds {value}, which JSON has no number for; keep a count, a mask or a text of it")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a dict's keys are not all texts; make them texts")
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        import numpy

        array = numpy.asarray(value)
        if array.size > LARGEST_ARRAY:
            raise ValueError(f"it has {array.size} elements, more than {LARGEST_ARRAY}; keep a slice or a summary")
        if array.dtype.kind not in "biufU":
            try:
                array = array.astype(numpy.float64)
            except (TypeError, ValueError):
                raise ValueError(f"an array of {array.dtype} is not JSON; keep numbers or texts") from None
        return plain(array.tolist())
    raise ValueError(f"a {type(value).__name__} is not JSON; keep a number, a text, a list, a dict or an array")


def facts():
    """Versions, and the device of the JAX backend when a cell imported jax."""
    versions = {"python": platform.python_version()}
    for name in ("jax", "jaxlib", "numpy"):
        if name in sys.modules:
            versions[name] = sys.modules[name].__version__
    found = {"versions": versions, "platform": f"{platform.system()} {platform.machine()}", "backend": None}
    found["device"] = "cpu"
    if "jax" in sys.modules:
        jax = sys.modules["jax"]
        found["backend"] = jax.default_backend()
        found["device"] = jax.devices()[0].device_kind
    return found


def become_reaper():
    """Where Linux allows it, make every process a cell leaves behind stay a descendant, so that it can be found."""
    if sys.platform == "linux":
        import ctypes

        pr_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def _ours(path, root):
    """Whether `path` is a project file (installed packages and caches inside the folder are not)."""
    if not path.startswith(root + os.sep):
        return False
    parts = path[len(root) + 1 :].split(os.sep)
    return not any(part.startswith(".") or part in ("__pycache__", "site-packages") for part in parts)


def _watch_files(root):
    opened = set()

    def hook(event, arguments):
        if event == "open" and isinstance(arguments[0], str):
            path = os.path.abspath(arguments[0])
            if _ours(path, root) and os.path.isfile(path):
                opened.add(path)

    sys.addaudithook(hook)
    return opened


def _module_files(root):
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {file for file in files if file and _ours(file, root) and file != __file__}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
