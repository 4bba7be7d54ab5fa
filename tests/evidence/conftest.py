"""What the evidence tests need before JAX starts, and the line of the summary that says which compilers were there."""

import importlib.util
import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from pallas_course.evidence import chips
from tests.evidence import environments
from tests.evidence.environments import environment as environment

os.environ.update(chips.environment())


@pytest.fixture
def kernel_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a file as a user would have it: the usual imports and the given text."""

    def write(text: str, name: str = "user_kernel.py") -> Path:
        path = tmp_path / name
        path.write_text(PRELUDE + textwrap.dedent(text))
        return path

    return write


PRELUDE = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
"""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how the compile rung was tested, and which Pythons were used."""
    for chip in ("v5e", "h100"):
        reason = chips.missing(chip)
        how = "by its own compiler" if reason is None else f"with a stub, since {reason.split(';')[0]}"
        terminalreporter.write_line(f"evidence: the compile rung was tested for {chip} {how}")
    for line in environments.summary():
        terminalreporter.write_line(line)


def libtpu() -> bool:
    """Whether the TPU compiler is installed."""
    return importlib.util.find_spec("libtpu") is not None
