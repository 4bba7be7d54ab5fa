"""The kernels of a traced program: their grids, windows, scratch and what they are called in a compiled module."""

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from pallas_course.evidence import scalars
from pallas_course.evidence.scalars import Scope
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
    sized: bool  # whether the index map gives the sizes of blocks, too
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
    operands: Callable[[], scalars.Values] = field(repr=False, compare=False)  # what is prefetched; None: not known
    semantics: tuple[str, ...]
    copies: bool  # starts copies of its own
    gpu: bool  # written for a GPU: its compiler parameters or its mesh say so
    vmem_limit: int | None  # bytes it may use, where it says so
    unread: tuple[int, ...]  # outputs that nobody reads; some take one for scratch
    identity: str = field(repr=False)  # equal for calls that a compiler may merge

    @property
    def programs(self) -> int | None:
        """How many times the body runs."""
        return None if self.grid is None else int(np.prod(self.grid, dtype=np.int64))

    @property
    def parallel(self) -> bool:
        """Whether some grid axis is declared to have no order."""
        return "parallel" in self.semantics


def kernels(jaxpr: Any, platform: str, arrays: list[np.ndarray] | None = None) -> list[Kernel]:
    """The Pallas calls of a (closed) jaxpr in order, nested ones too; of branches by platform, the platform's own.

    ``arrays`` are its arguments: grids and index maps that depend on values are known from them.
    """
    scope = scalars.whole(jaxpr, arrays)
    return [_kernel(equation, around) for equation, around in _calls(scope, platform)]


def _calls(scope: Scope, platform: str) -> Iterator[tuple[Any, Scope]]:
    for equation in scope.jaxpr.eqns:
        if equation.primitive.name in scalars.KERNELS:
            yield equation, scope
            continue
        chosen = equation.params.get("branches_platforms")
        left_out = [] if chosen is None else _others(equation.params["branches"], chosen, platform)
        for _, jaxpr in scalars.inner(equation):
            if not any(jaxpr is other for other in left_out):
                yield from _calls(scope.inside(equation, jaxpr), platform)


def _others(branches: Any, platforms: Any, platform: str) -> list[Any]:
    """The branches that a platform leaves out: all but its own, or all but the one that is no platform's."""
    pairs = list(zip(branches, platforms, strict=True))
    named = any(names and platform in names for _, names in pairs)
    return [branch for branch, names in pairs if (platform not in (names or ()) if named else names)]


def _kernel(equation: Any, scope: Scope) -> Kernel:
    from jax._src import source_info_util

    params = equation.params
    bodies = params.get("jaxprs") or (params["jaxpr"],)
    where = re.sub(r":(\d+):\d+", r":\1", source_info_util.summarize(equation.source_info).split(" (")[0])
    compiler = params.get("compiler_params")
    gpu = versions.lowers_for_gpu(compiler)
    semantics = tuple(str(getattr(s, "value", s)).lower() for s in getattr(compiler, "dimension_semantics", None) or ())
    if "grid_mapping" in params:
        mapping = params["grid_mapping"]
        kind, scratch = "pallas_call", tuple(_memory(aval) for aval in mapping.scratch_avals)
        dynamic, prefetched = mapping.num_dynamic_grid_bounds, mapping.num_index_operands
        grid = _grid(mapping.grid, scope.values(equation.invars[:dynamic]))
        operands = equation.invars[dynamic : dynamic + prefetched]
        windows = tuple(
            _window(block, "input" if place < mapping.num_inputs else "output")
            for place, block in enumerate(mapping.block_mappings)
        )
    else:
        mesh = params.get("mesh") or params["meshes"][0]
        kind, grid, scratch, prefetched = "kernel", tuple(mesh.shape.values()), (), 0
        operands, windows = [], ()
        gpu = gpu or "mosaic_gpu" in type(mesh).__module__
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
        operands=functools.cache(lambda: scope.values(operands)),
        semantics=semantics,
        copies=any("dma_start" in str(body) for body in bodies),
        gpu=gpu,
        vmem_limit=getattr(compiler, "vmem_limit_bytes", None),
        unread=_unread(equation, scope.jaxpr),
        identity=f"{params.get('grid_mapping')}{bodies}{params.get('out_avals')}",
    )


def _unread(equation: Any, around: Any) -> tuple[int, ...]:
    read = {id(variable) for other in around.eqns for variable in other.invars} | set(map(id, around.outvars))
    return tuple(place for place, out in enumerate(equation.outvars) if id(out) not in read)


def _grid(grid: tuple[Any, ...], dynamic: scalars.Values) -> tuple[int, ...] | None:
    """The grid with its dynamic sizes, which are an array each, in place; None where they are not known."""
    sizes = iter(() if dynamic is None else dynamic)
    found = [size if isinstance(size, int) else next(sizes, None) for size in grid]
    return None if any(size is None for size in found) else tuple(int(size) for size in found if size is not None)


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
        offsets=tuple(type(dimension).__name__ == "Element" for dimension in block.block_shape),
        sized=any(type(dimension).__name__ == "BoundedSlice" for dimension in block.block_shape),
        memory="vmem" if memory in ("default", "none") else memory,
        buffers=getattr(mode, "buffer_count", None) or 2,
        mapping=block,
    )


def unknown(kernel: Kernel, window: Window) -> str:
    """Why nobody knows before a run which block each program gets; "" where it is known."""
    if not window.blocked:
        return "the kernel copies by itself"
    if kernel.grid is None:
        return "its grid depends on another kernel, or on a loop around it"
    if window.sized:
        return "its map gives sizes of blocks, too"
    if "program_id" in str(window.mapping.index_map_jaxpr):
        return "its map reads a program id"
    if kernel.operands() is None:
        return "its map depends on another kernel, or on a loop around it"
    return ""


def visits(kernel: Kernel, window: Window) -> np.ndarray | None:
    """Where each program's block of ``window`` begins, in elements: int array [programs, rank], programs in grid order.

    None where that is ``unknown``.
    """
    if not window.begins:
        window.begins.append(None if unknown(kernel, window) else _visits(kernel, window))
    begins: np.ndarray | None = window.begins[0]
    return begins


def _visits(kernel: Kernel, window: Window) -> np.ndarray:
    assert kernel.grid is not None
    every = list(itertools.product(*map(range, kernel.grid)))
    points = np.array(every, np.int32).reshape(len(every), len(kernel.grid))
    closed = window.mapping.index_map_jaxpr
    inner, consts = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
    begins = np.zeros((len(points), len(window.block)), np.int64)
    if inner.eqns:
        start = window.mapping.compute_start_indices_interpret  # private: what JAX's own interpreter asks
        operands = kernel.operands() or []
        found = jax.jit(jax.vmap(lambda point: start(tuple(point), *operands)))(points)
        for axis, first in enumerate(found):
            begins[:, axis] = first
        return begins
    # Most maps only reorder what they get, and need no compiler.
    given = {variable: points[:, place] for place, variable in enumerate(inner.invars[: len(kernel.grid)])}
    given |= dict(zip(inner.constvars, consts, strict=True))
    for axis, (atom, offset) in enumerate(zip(inner.outvars, window.offsets, strict=True)):
        index = atom.val if hasattr(atom, "val") else given[atom]
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
