"""Files and functions as people have them: none needs anything of ours, and none may set the audit's own ways."""

import pytest

from pallas_course.evidence.pool import Done, Task, run

KERNEL = """
import functools
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def body(x_ref, out_ref):
    out_ref[...] = x_ref[...] + 1


def add(x, block=(8, 128)):
    spec = pl.BlockSpec(block, lambda i, j: (i, j))
    grid = tuple(pl.cdiv(n, b) for n, b in zip(x.shape, block))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(body, out_shape=shape, grid=grid, in_specs=[spec], out_specs=spec)(x)
"""
# What follows the kernel in a file, and the function that is audited: "f" unless said.
FUNCTIONS = {
    "partial object": "f = functools.partial(add, block=(16, 128))",
    "jitted": "f = jax.jit(add, static_argnames='block')",
    "jitted by a decorator": "@functools.partial(jax.jit, static_argnames=('block',))\n"
    "def f(x, *, block=(16, 128)):\n    return add(x, block)",
    "object that is called": "class Layer:\n    def __call__(self, x):\n        return add(x)\nf = Layer()",
    "method": "class Layer:\n    def go(self, x):\n        return add(x)\nf = Layer().go",
    "lambda": "f = lambda x: add(x)",
    "with a backward pass": "f = jax.custom_vjp(lambda x: add(x))\n"
    "f.defvjp(lambda x: (add(x), None), lambda _, g: (g,))",
    "cached": "@functools.lru_cache\ndef made(block):\n    return jax.jit(lambda x: add(x, block))\n"
    "def f(x):\n    return made((8, 128))(x)",
    "reads a number": "def f(x):\n    return add(x) * (2 if float(x.sum()) else 3)",
    "reads an index": "def f(x):\n    return add(x)[: [4, 8][jnp.int32(x.sum() > 0)]]",
    "prints and closes": "print('x' * 100_000)\nsys.stdout.close()\nf = add",
    "run alone does more": "f = add\nif __name__ == '__main__':\n    sys.exit(1)",
    "changes the folder": "os.chdir('/')\nf = add",
    "calls its kernel while imported": "TABLE = add(jnp.ones((8, 128)))\nprint(TABLE)\n"
    "def f(x):\n    return add(x) + TABLE[0, 0]",
    "wants a TPU": "os.environ['JAX_PLATFORMS'] = 'tpu'\njax.config.update('jax_platforms', 'tpu,cpu')\nf = add",
    "wants a GPU": "jax.config.update('jax_platform_name', 'gpu')\nf = add",
    "wants no NaN": "jax.config.update('jax_debug_nans', True)\ndef f(x):\n    return add(x[:5])",
    "wants no transfers": "jax.config.update('jax_transfer_guard', 'disallow')\nf = add",
    "wants no jit": "jax.config.update('jax_disable_jit', True)\nf = add",
    "wants 64 bits": "jax.config.update('jax_enable_x64', True)\nf = add",
    "makes warnings errors": "import warnings\nwarnings.simplefilter('error')\nf = add",
    "leaves threads": "import threading, time\nthreading.Thread(target=lambda: time.sleep(1000)).start()\nf = add",
    "sees a module of its own": "import beside\nf = lambda x: beside.twice(add(x))",
    "hides a module of Python's": "f = add",
}
NAMES = {"sees a module of its own": "with spaces/my-kernel 2.py", "hides a module of Python's": "hidden/queue.py"}
IN_PACKAGE = "from ..core import add\nf = add\n"
LOOSE = "from .core import add\nf = add\n"
FAILS_TO_LOWER = {"reads a number", "reads an index"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Done]]:
    folder = tmp_path_factory.mktemp("kinds")
    files = {name: (NAMES.get(name, f"file_{i}.py"), KERNEL + text) for i, (name, text) in enumerate(FUNCTIONS.items())}
    files |= {"in a package": ("package/inner/mine.py", IN_PACKAGE), "in half a package": ("loose/mine.py", LOOSE)}
    beside = {
        "with spaces/beside.py": "def twice(x):\n    return x + x\n",
        "hidden/random.py": "raise ImportError('not the one that was meant')",
        "package/__init__.py": "",
        "package/inner/__init__.py": "",
        "package/core.py": KERNEL,
        "loose/core.py": KERNEL,
    }
    for name, text in [*files.values(), *beside.items()]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "link.py").symlink_to(folder / "with spaces" / "my-kernel 2.py")
    files["linked"] = ("link.py", "")
    cases = {
        name: {
            "name": name,
            "target": {"file": str((folder / file).resolve()), "function": "f"},
            "args": [{"dtype": "float32", "shape": [16, 128]}],
        }
        for name, (file, _) in files.items()
    }
    jobs = [[Task(name, rung) for rung in ("interpret", "simulate", "lower")] for name in cases]
    results: dict[str, list[Done]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        run(cases, jobs, 30.0, lambda done: results.setdefault(done.task.case, []).append(done))
    assert not list(folder.rglob("__pycache__")), "something was left beside the audited files"
    return results


@pytest.mark.parametrize("name", [*FUNCTIONS, "in a package", "linked"])
def test_each_kind_of_function_and_file_is_judged(found: dict[str, list[Done]], name: str) -> None:
    told = {done.task.rung: (done.verdict.status, done.verdict.reason) for done in found[name]}
    if name in FAILS_TO_LOWER:
        status, reason = told.pop("lower")
        assert status == "not run"
        assert "reads a traced value" in reason
    assert told == dict.fromkeys(told, ("pass", ""))
    assert {"interpret", "simulate"} <= told.keys()


def test_a_relative_import_outside_a_package_says_what_is_missing(found: dict[str, list[Done]]) -> None:
    from pallas_course.evidence.findings import explanation

    (finding,) = found["in half a package"][0].verdict.findings
    assert finding.code == "import"
    assert "__init__.py" in explanation(finding).do
