"""The kernels of a traced program: their grids, windows, scratch and what they are called in a compiled module."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from pallas_course.kernels import versions


@dataclass(frozen=True)
class Window:
    """One operand as a kernel sees it: an array cut into blocks, and which block each program gets."""

    name: str
    role: str  # "input" or "output"
    shape: tuple[int, ...]
    dtype: str
    block: tuple[int, ...]  # a squeezed dimension counts as 1
    offsets: tuple[bool, ...]  # where the index map gives elements instead of blocks
    memory: str
    buffers: int
    mapping: Any = field(repr=False, compare=False)
    begins: list[Any] = field(default_factory=list, repr=False, compare=False)  # what visits() found, once it has

    @property
    def blocked(self) -> bool:
        """Whether the pipeline copies it block by block; otherwise the kernel gets the array where it lies."""
        return self.memory in ("vmem", "smem")


@dataclass(frozen=True)
class Kernel:
    """One Pallas call in a traced program."""

    name: str
    where: str
    kind: str  # "pallas_call" or "kernel"
    grid: tuple[int, ...] | None  # None: decided at run time
    windows: tuple[Window, ...]
    scratch: tuple[tuple[str, tuple[int, ...], str], ...]  # memory, shape, dtype
    aliases: tuple[tuple[int, int], ...]
    prefetched: int
    semantics: tuple[str, ...]
    copies: bool  # starts copies of its own
    identity: str = field(repr=False)  # equal for calls that a compiler may merge

    @property
    def programs(self) -> int | None:
        """How many times the body runs."""
        return None if self.grid is None else int(np.prod(self.grid, dtype=np.int64))

    @property
    def parallel(self) -> bool:
        """Whether some grid axis is declared to have no order."""
        return "parallel" in self.semantics


def kernels(jaxpr: Any, platform: str) -> list[Kernel]:
    """The Pallas calls of a (closed) jaxpr in order, nested ones too; of branches by platform, the platform's own."""
    return [_kernel(equation) for equation in _calls(getattr(jaxpr, "jaxpr", jaxpr), platform)]


def _calls(jaxpr: Any, platform: str) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("pallas_call", "mpmd_map", "core_map"):
            yield equation
            continue
        for name, value in equation.params.items():
            if name == "branches" and (chosen := equation.params.get("branches_platforms")):
                value = _branches(value, chosen, platform)
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _calls(inner, platform)


def _branches(branches: Any, platforms: Any, platform: str) -> list[Any]:
    named = [branch for branch, names in zip(branches, platforms, strict=True) if names and platform in names]
    return named or [branch for branch, names in zip(branches, platforms, strict=True) if not names]


def _kernel(equation: Any) -> Kernel:
    from jax._src import source_info_util

    params = equation.params
    bodies = params.get("jaxprs") or (params["jaxpr"],)
    where = re.sub(r":(\d+):\d+", r":\1", source_info_util.summarize(equation.source_info).split(" (")[0])
    compiler = params.get("compiler_params")
    semantics = tuple(str(getattr(s, "value", s)).lower() for s in getattr(compiler, "dimension_semantics", None) or ())
    if "grid_mapping" in params:
        mapping = params["grid_mapping"]
        kind, grid, scratch = "pallas_call", _grid(mapping.grid), tuple(_memory(aval) for aval in mapping.scratch_avals)
        windows = tuple(
            _window(block, "input" if place < mapping.num_inputs else "output")
            for place, block in enumerate(mapping.block_mappings)
        )
        prefetched = mapping.num_index_operands
    else:
        mesh = params.get("mesh") or params["meshes"][0]
        kind, grid, scratch, prefetched = "kernel", _grid(tuple(mesh.shape.values())), (), 0
        windows = ()
    aliases = params.get("input_output_aliases") or ()
    name = params.get("name") or getattr(getattr(bodies[0], "debug_info", None), "func_name", None) or "kernel"
    return Kernel(
        name=re.sub(r"[^\w.]", "_", name),
        where=where,
        kind=kind,
        grid=grid,
        windows=windows,
        scratch=scratch,
        aliases=tuple(sorted(dict(aliases).items())),
        prefetched=prefetched,
        semantics=semantics,
        copies=any("dma_start" in str(body) for body in bodies),
        identity=f"{params.get('grid_mapping')}{bodies}{params.get('out_avals')}",
    )


def _grid(grid: tuple[Any, ...]) -> tuple[int, ...] | None:
    return tuple(grid) if all(isinstance(size, int) for size in grid) else None


def _memory(aval: Any) -> tuple[str, tuple[int, ...], str]:
    space = str(getattr(aval, "memory_space", None) or "vmem").split(".")[-1].lower()
    inner = getattr(aval, "inner_aval", aval)
    return space, tuple(inner.shape), str(inner.dtype)


def _window(block: Any, role: str) -> Window:
    shape = tuple(getattr(block.array_aval, "shape", ()))
    sizes = tuple(1 if versions.squeezed(d) else d if isinstance(d, int) else d.block_size for d in block.block_shape)
    memory = str(block.transformed_block_aval.memory_space or "vmem").split(".")[-1].lower()
    mode = block.pipeline_mode
    return Window(
        name=str(block.origin),
        role=role,
        shape=shape,
        dtype=str(block.array_aval.dtype),
        block=sizes,
        offsets=tuple(type(dimension).__name__ in ("Element", "BoundedSlice") for dimension in block.block_shape),
        memory="vmem" if memory in ("default", "none") else memory,
        buffers=getattr(mode, "buffer_count", None) or 2,
        mapping=block,
    )


def visits(kernel: Kernel, window: Window) -> np.ndarray | None:
    """Where each program's block of ``window`` begins, in elements: int array [programs, rank], programs in grid order.

    None where that is decided at run time: by prefetched scalars, a dynamic grid, or a map that reads a program id.
    """
    if not window.begins:
        window.begins.append(_visits(kernel, window))
    begins: np.ndarray | None = window.begins[0]
    return begins


def _visits(kernel: Kernel, window: Window) -> np.ndarray | None:
    closed = window.mapping.index_map_jaxpr
    if kernel.grid is None or kernel.prefetched or not window.blocked or "program_id" in str(closed):
        return None
    every = list(itertools.product(*map(range, kernel.grid)))
    points = np.array(every, np.int32).reshape(len(every), len(kernel.grid))
    inner, consts = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
    if inner.eqns:
        indices = jax.jit(jax.vmap(lambda point: jax.core.eval_jaxpr(inner, consts, *point)))(points)
    else:  # most maps only reorder what they get, and need no compiler
        given = {variable: points[:, place] for place, variable in enumerate(inner.invars)}
        given |= dict(zip(inner.constvars, consts, strict=True))
        indices = [atom.val if hasattr(atom, "val") else given[atom] for atom in inner.outvars]
    begins = np.zeros((len(points), len(window.block)), np.int64)
    for axis, (index, offset) in enumerate(zip(indices, window.offsets, strict=True)):
        begins[:, axis] = np.asarray(index, np.int64) * (1 if offset else window.block[axis])
    return begins


def custom_calls(lowered: Any) -> dict[str, int]:
    """How many accelerator calls a lowered program holds, by kernel name ("" where the backend keeps none)."""
    found: dict[str, int] = {}

    def visit(operation: Any) -> Any:
        inner = operation.operation
        if inner.name == "stablehlo.custom_call":
            target = inner.attributes["call_target_name"].value
            if target == "tpu_custom_call":
                kernel = inner.attributes["kernel_name"].value if "kernel_name" in inner.attributes else ""
                found[kernel] = found.get(kernel, 0) + 1
            elif "triton" in target or "mosaic_gpu" in target:
                found[""] = found.get("", 0) + 1
        from jaxlib.mlir.ir import WalkResult

        return WalkResult.ADVANCE

    lowered.compiler_ir("stablehlo").operation.walk(visit)
    return found


def absent(wanted: list[Kernel], found: dict[str, int]) -> list[str]:
    """The traced kernels, by name, for which a module holds too few accelerator calls."""
    distinct: dict[str, set[str]] = {}
    for kernel in wanted:
        distinct.setdefault("" if "" in found else kernel.name, set()).add(kernel.identity)
    return sorted(
        name or wanted[0].name for name, identities in distinct.items() if found.get(name, 0) < len(identities)
    )
