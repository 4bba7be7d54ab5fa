"""What differs between the JAX versions the course runs on (0.10.2 to 0.12), in one place."""

import dataclasses
import importlib.metadata
import warnings
from typing import Any

# JAX itself is imported where it is needed: to check and name the installed versions takes none of its time.

OLDEST, BEFORE = (0, 10, 2), (0, 13)


class UnsupportedVersion(RuntimeError):
    """The installed JAX is one the course was never run on."""


def check(version: str | None = None) -> None:
    """Raise UnsupportedVersion unless ``version`` of JAX, by default the installed one, is one this module knows."""
    version = version or importlib.metadata.version("jax")
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    if not OLDEST <= numbers < BEFORE:
        raise UnsupportedVersion(
            f"JAX {version} is not supported: the course runs on 0.10.2 and later, before 0.13\n"
            "next: pip install 'jax>=0.10.2,<0.13'"
        )


def installed() -> dict[str, str]:
    """The versions a verdict depends on; libtpu and the CUDA plugin only where they are installed."""
    found = {}
    for name in ("jax", "jaxlib", "numpy", "libtpu", "jax-cuda12-plugin"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def call_primitives() -> tuple[Any, ...]:
    """The primitives that carry an ``interpret`` parameter; 0.12 has no core_map of its own any more."""
    from jax._src.pallas import core, mpmd, pallas_call

    # Private: no public name exists, and only here can a call be reached whichever way the user imported it.
    old = [core.core_map_p] if hasattr(core, "core_map_p") else []
    return (pallas_call.pallas_call_p, mpmd.mpmd_map_p, *old)


def races_are_printed() -> dict[str, Any]:
    """The InterpretParams arguments with which a race is reported and the run goes on: all that 0.10.2 can do."""
    from jax.experimental.pallas import tpu as pltpu

    return {"on_race": "warn"} if "on_race" in {f.name for f in dataclasses.fields(pltpu.InterpretParams)} else {}


def tensorcore_mesh(axis: str, cores: int) -> Any:
    """A mesh of ``cores`` TensorCores for ``pl.kernel``; 0.10.2 builds it by a function that 0.12 deprecates."""
    from jax.experimental.pallas import tpu as pltpu

    if hasattr(pltpu, "TensorCoreMesh"):
        return pltpu.TensorCoreMesh(axis_name=axis, num_cores=cores)
    return pltpu.create_tensorcore_mesh(axis, num_cores=cores)


def triton_params() -> Any:
    """Compiler parameters that send a ``pallas_call`` to Triton; without them 0.10.2 lowers through Mosaic GPU."""
    from jax.experimental.pallas import triton

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return triton.CompilerParams()


def lowers_for_gpu(params: Any) -> bool:
    """Whether a ``pallas_call`` with these compiler parameters is meant for a GPU."""
    from jax.experimental.pallas import tpu as pltpu

    return params is not None and not isinstance(params, pltpu.CompilerParams)


def squeezed(dimension: Any) -> bool:
    """Whether a block's dimension is left out of the reference the kernel sees."""
    from jax.experimental import pallas as pl

    return dimension is None or isinstance(dimension, pl.Squeezed)


def device_questions() -> dict[str, tuple[Any, str]]:
    """Where Pallas asks which TPU it is on when no context says so, as under shard_map: modules and names to replace.

    "kind" and "cores" are functions without arguments; "mesh" is how shard_map asks for the mesh around it.
    """
    import sys

    from jax._src import shard_map

    # Private: 0.10.2 keeps it with Pallas, 0.12 beside it.
    name = "jax._src.tpu_info" if "jax._src.tpu_info" in sys.modules else "jax._src.pallas.mosaic.tpu_info"
    module = sys.modules[name]
    return {
        "kind": (module, "get_device_kind"),
        "cores": (module, "get_num_device_cores"),
        "mesh": (shard_map, "get_abstract_mesh"),
    }
