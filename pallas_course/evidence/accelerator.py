"""Whether this machine has an accelerator that JAX could run on: read from files, before a process is paid to ask."""

import glob
import importlib.util
import os

NODES = {"a TPU": ("/dev/accel*", "/dev/vfio/[0-9]*"), "an NVIDIA GPU": ("/dev/nvidia[0-9]*", "/dev/dxg")}
PLUGINS = {"a TPU": "jax[tpu]", "an NVIDIA GPU": "jax[cuda12]"}


def absent() -> str | None:
    """Why nothing here can run a kernel uninterpreted, or None where a process has to ask JAX."""
    attached = [kind for kind, patterns in NODES.items() if any(map(glob.glob, patterns))]
    if not attached:
        return "this machine has no TPU and no NVIDIA GPU"
    if any(map(_plugin, attached)):
        return None
    return "; ".join(
        f"this machine has {kind}; JAX reaches it with: pip install '{PLUGINS[kind]}'" for kind in attached
    )


def _plugin(kind: str) -> bool:
    if kind == "a TPU":
        return importlib.util.find_spec("libtpu") is not None
    found = importlib.util.find_spec("jax_plugins")
    return found is not None and any(
        glob.glob(os.path.join(path, "xla_cuda*")) for path in found.submodule_search_locations or ()
    )


def environment() -> dict[str, str]:
    """The environment of a process that may see the accelerator: this one's, with no platform chosen."""
    chosen = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS"}
    return {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "2", **chosen}
