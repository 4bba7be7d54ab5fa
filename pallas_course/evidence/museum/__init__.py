"""The museum: kernels with one known fault each, and right kernels under ``right/``.

Each file stands alone, as a user might have written it: ``kernel`` takes and returns whole arrays, ``reference`` is
its NumPy oracle, ``make`` returns the arguments where seeded ones will not do, and the literal ``ABOUT`` says:

- title, symptom, cause, mend, source: one line each; source is a public thread, or "planted".
- args: the arguments, as ``dtype[shape]`` in JAX's short names; inputs: "make" where the file has that function.
- verdicts: rung to what an audit says there, as one word, on JAX 0.10 and 0.12; where the two differ,
  {"0.10": word, "0.12": word}. "pass": accepted, and every value right where values exist. "wrong": some value is not.
  "refused": an error, a reported race, or no kernel in what was lowered. "hang": no end within the limit. "abort": the
  process died. "not run": the rung's own tool cannot take such a kernel, right as it may be.
- finding: code of the audit's finding, "" where no rung shows the fault; by series of JAX as above where it differs.
- found_by: the rungs that show it.
- derived, where the fault hides on the given shape: {"args": other arguments, "verdicts": as above}.
- right: True under ``right/``.
"""

import ast
from pathlib import Path
from typing import Any, NamedTuple

RUNGS = ("interpret", "simulate", "lower", "compile:v5e", "compile:v6e")
"""The rungs that a kernel for a TPU has a verdict for; some have "compile:v4", "grad", or those of a GPU too."""


class Case(NamedTuple):
    """One file of the museum; name is "floor_grid" for a fault, "right/axpy_ragged" for a right kernel."""

    name: str
    path: Path
    about: dict[str, Any]


def cases() -> list[Case]:
    """Every case, faults first, by name. Reads the files, imports none; ValueError where one has no ABOUT."""
    here = Path(__file__).parent
    paths = [path for path in sorted(here.glob("*.py")) if path != Path(__file__)] + sorted(here.glob("right/*.py"))
    return [Case(path.relative_to(here).with_suffix("").as_posix(), path, _about(path)) for path in paths]


def word(verdicts: dict[str, Any], rung: str, jax_version: str) -> str | None:
    """The verdict observed on a rung under the release series of jax_version; None where none was observed."""
    seen = verdicts.get(rung)
    if isinstance(seen, dict):
        return seen.get(".".join(jax_version.split(".")[:2]))
    return seen


def _about(path: Path) -> dict[str, Any]:
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "ABOUT":
            about: dict[str, Any] = ast.literal_eval(statement.value)
            return about
    raise ValueError(f"{path}: no ABOUT")
