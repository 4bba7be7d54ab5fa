"""The chips a kernel can be compiled for without having one, and what must be installed for it."""

import contextlib
import functools
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pallas_course.kernels import versions

# What libtpu and the CUDA plugin must find before they start, on a machine with neither TPU nor GPU.
ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}


@dataclass(frozen=True)
class Chip:
    """One accelerator: what Pallas is told it is, how libtpu calls a board of it, and its VMEM in MiB."""

    name: str
    platform: str
    kind: str
    cores: int
    topology: str
    scoped_vmem: int
    vmem: int


TPUS = {
    chip.name: chip
    for chip in (
        Chip("v4", "tpu", "TPU v4", 1, "v4:2x2x1", 16, 16),
        Chip("v5e", "tpu", "TPU v5 lite", 1, "v5e:2x2", 16, 128),
        Chip("v5p", "tpu", "TPU v5", 2, "v5p:2x2x1", 16, 64),
        Chip("v6e", "tpu", "TPU v6 lite", 1, "v6e:2x2", 32, 128),
        Chip("v7x", "tpu", "TPU7x", 1, "tpu7x:2x2x1", 32, 64),
    )
}
GPUS = {"h100": Chip("h100", "gpu", "NVIDIA H100 80GB HBM3", 132, "h100", 0, 0)}
CHIPS = TPUS | GPUS

# An H100 as XLA describes it; the plugin compiles for it without seeing one.
H100 = """gpu_device_info { threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
 shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 3352320000000
 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84942979072 shared_memory_per_block_optin: 232448
 cuda_compute_capability { major: 9 feature_extension: ACCELERATED_FEATURES } registers_per_core_limit: 65536
 registers_per_block_limit: 65536 name: "NVIDIA H100 80GB HBM3" driver_version: "13.0.0" runtime_version: "12.8.0"
 compile_time_toolkit_version: "12.8.0" dnn_version: "9.10.0" }
platform_name: "CUDA" dnn_version_info { major: 9 minor: 10 patch: 0 } device_description_str: "NVIDIA H100 80GB HBM3"
"""


def environment() -> dict[str, str]:
    """The environment of a process that runs kernels: this one's, with what an absent accelerator needs."""
    flags = os.environ.get("XLA_FLAGS", "")
    # On processors with AVX512-BF16, jaxlib 0.12.0.1 aborts on some bfloat16 slices.
    isa = "" if "xla_cpu_max_isa" in flags else " --xla_cpu_max_isa=AVX2"
    return {**os.environ, **ENVIRONMENT, "XLA_FLAGS": (flags + isa).strip()}


def missing(chip: str) -> str | None:
    """What keeps this machine from compiling for ``chip`` and how to add it, or None."""
    if chip in TPUS:
        if importlib.util.find_spec("libtpu") is None:
            return "libtpu is not installed; add it with: pip install 'pallas-course[tpu]'"
    elif importlib.util.find_spec("jax_plugins") is None or not _cuda_plugin():
        return "JAX's CUDA plugin is not installed; add it with: pip install 'pallas-course[gpu]'"
    return None


def versions_for_tpu() -> dict[str, str]:
    """The installed versions that a verdict on a TPU depends on."""
    return {name: version for name, version in versions.installed().items() if name != "jax-cuda12-plugin"}


def _cuda_plugin() -> bool:
    import jax_plugins  # type: ignore[import-not-found,unused-ignore]

    return any((os.path.isdir(os.path.join(path, "xla_cuda12"))) for path in jax_plugins.__path__)


@contextlib.contextmanager
def assumed(chip: str) -> Iterator[None]:
    """A context in which Pallas takes ``chip`` for the device, and code that asks for the backend is told its platform.

    The context's own mesh has one automatic axis, so that jit still runs; a shard_map over another mesh is let through.
    """
    import jax

    spec = CHIPS[chip]
    device = jax.sharding.AbstractDevice(device_kind=spec.kind, num_cores=spec.cores, platform=spec.platform)
    mesh = jax.sharding.AbstractMesh((1,), ("chip",), axis_types=(jax.sharding.AxisType.Auto,), abstract_device=device)
    empty = jax.sharding.AbstractMesh((), ())
    current = jax.sharding.get_abstract_mesh
    answers = {
        "kind": lambda: spec.kind,
        "cores": lambda: spec.cores,
        "mesh": lambda: empty if (found := current()) == mesh else found,
    }
    places = versions.device_questions() if spec.platform == "tpu" else {}
    replaced = [(*places[question], answers[question]) for question in places]
    replaced.append((jax, "default_backend", lambda: spec.platform))
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    try:
        for module, name, answer in replaced:
            setattr(module, name, answer)
        with jax.sharding.use_abstract_mesh(mesh):
            yield
    finally:
        for module, name, answer in before:
            setattr(module, name, answer)


@functools.cache
def sharding(chip: str) -> Any:
    """Where arguments of a program compiled for ``chip`` are placed: on the first device of a described board.

    One per process, since placements made twice count as different. Raises what the compiler's plugin raises when it
    cannot start.
    """
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    if chip in TPUS:
        topology = topologies.get_topology_desc(CHIPS[chip].topology, "tpu")
    else:
        import contextlib

        from jax._src import xla_bridge

        # Private: the one way to register a plugin without opening a device. It complains of the driver, and registers.
        with contextlib.suppress(Exception):
            xla_bridge.discover_pjrt_plugins()
        topology = topologies.get_topology_desc("h100", "cuda", target_config=H100, topology="1x1x1")
    return SingleDeviceSharding(topology.devices[0])
