"""What JAX's interpreters and this machine's own devices cannot take, told apart from what is wrong with a kernel."""

import contextlib
import logging
import re
import traceback
from collections.abc import Iterator

import jax

from pallas_course.evidence.findings import first_line, spoken
from pallas_course.evidence.mode import Reached

_PALLAS = "jax/_src/pallas/"
_INTERPRETERS = (f"{_PALLAS}hlo_interpreter.py", f"{_PALLAS}mosaic/interpret/")
_SAID = (
    (r"MLIR translation rule for primitive '(\w+)' not found for platform cpu", "{what} has no rule for {0}"),
    (r"[Ee]ffects not supported in ([^:]*)", "{what} does not run a kernel in {0}"),
    (r"incorrect set of output tokens", "{what} does not run a kernel that a branch keeps for one platform"),
    (r"No ir_type_handler for aval type.*AbstractRef", "{what} has no barrier semaphore"),
    (r"verifier errors", "{what} does not take an aliased array that its blocks do not divide"),
)
_WHO = {"interpret": "interpret=True", "simulate": "JAX's simulator"}
_READS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
_OUTSIDE = re.compile(
    r"Out-of-bounds (?:read|write) of .*?: (?:read|writ)ing \[\((.*?)\)\] but buffer has shape (\(.*?\))"
)
TILE = (8, 128)
FOR_GPU = "the kernel is written for a GPU; name one with --chip h100"


@contextlib.contextmanager
def origins() -> Iterator[None]:
    """Give an error out of a simulator's callback its cause: the error that JAX logs, which knows the operation."""
    logged: list[BaseException] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info and record.exc_info[1] is not None:
                logged.append(record.exc_info[1])

    logger, handler = logging.getLogger("jax._src.callback"), Keep()
    logger.addHandler(handler)
    try:
        yield
    except BaseException as error:
        error.__cause__ = error.__cause__ or (logged[0] if logged else None)
        raise
    finally:
        logger.removeHandler(handler)


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an error and, after them, of what caused it."""
    found: list[traceback.FrameSummary] = []
    chain: BaseException | None = error
    while chain is not None:
        found += traceback.extract_tb(chain.__traceback__)
        chain = chain.__cause__
    return found


def reads_a_value(error: BaseException) -> bool:
    """Whether a function needs a traced value between its kernels, so that it runs but is no single program.

    Within a kernel no value is there to be read, however the function is called.
    """
    waits = isinstance(error, AttributeError) and "not available on traced array" in str(error)
    if not waits and not isinstance(error, _READS):
        return False
    return not any(_PALLAS in frame.filename for frame in frames(error))


def of_interpreter(error: BaseException, rung: str, code: str) -> str:
    """Why ``rung`` cannot run a kernel that may well be right, or "" when the error speaks of the kernel.

    Errors that JAX raises while it traces a kernel speak of it, and so do those that have a ``code`` of their own.
    """
    if rung not in _WHO:
        return ""
    what, text = _WHO[rung], spoken(error)
    for pattern, limit in _SAID:
        if said := re.search(pattern, text):
            return limit.format(*said.groups(), what=what)
    if code == "out-of-bounds":
        return f"{what} does not take the last, partial blocks of an emit_pipeline" if _partial(error) else ""
    if code == "trace" and any(part in frame.filename for frame in frames(error) for part in _INTERPRETERS):
        return f"{what} cannot run it: {first_line(text)}"
    return ""


def of_mode(reached: list[Reached]) -> str:
    """Why what ``interpret=True`` gave is not to be judged, or ""."""
    if any(call.primitive == "core_map" for call in reached):
        return "interpret=True of this JAX drops what a core_map writes"  # 0.10.2; in 0.12 no call has that name
    return ""


def of_devices(error: BaseException) -> str:
    """Why a program cannot be compiled for a chip of another machine, or "" when that is not what the error says."""
    if "incompatible devices" in spoken(error):
        return "the function places its work on this machine's own devices, a mesh of jax.devices() perhaps"
    return ""


def _partial(error: BaseException) -> bool:
    """Whether emit_pipeline's own copy, of whole tiles, reaches past an array's end into its last tile and no further.

    A TPU holds whole tiles, and so has that memory; the simulator has not.
    """
    own = any(f"{_PALLAS}mosaic/pipeline.py" in frame.filename for frame in frames(error))
    if not own or not (said := _OUTSIDE.search(spoken(error))):
        return False
    stops = [int(stop) for stop in re.findall(r"slice\(\d+, (\d+), 1\)", said[1])]
    sizes = [int(size) for size in re.findall(r"\d+", said[2])]
    if len(stops) != len(sizes):
        return False
    tiles = (1,) * (len(sizes) - 2) + TILE[-len(sizes) :]
    return all(stop <= -(-size // tile) * tile for stop, size, tile in zip(stops, sizes, tiles, strict=True))
