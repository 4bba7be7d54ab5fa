"""What each kind of finding means and what to do about it; and how an error's text is read as one of them."""

import re
from dataclasses import dataclass

from pallas_course.evidence.verdict import Code, Finding


@dataclass(frozen=True)
class Explanation:
    """For the reader of a report: what a finding means, what to do, which lesson and which museum cases show it."""

    means: str
    do: str
    museum: tuple[str, ...] = ()
    lesson: str = ""


L1 = "kernels-01"

# The most telling first: of two findings with one cause, the upper one names it.
EXPLAINED: dict[Code, Explanation] = {
    "syntax": Explanation("the file is not Python", "mend the line that is named"),
    "import": Explanation("the file could not be imported", "run it alone with Python and mend what it raises"),
    "name": Explanation("the file has no such function", "name a function that stands at the file's top level"),
    "exit": Explanation("the code ended its own process", "take sys.exit, os._exit and exit() out of what is run"),
    "inputs": Explanation(
        "the arguments could not be made",
        "see that the function given to --inputs runs alone and returns arrays that the target takes",
    ),
    "oracle": Explanation(
        "the oracle itself failed, so values could not be compared",
        "see that it takes the same arguments as the kernel, as NumPy arrays",
    ),
    "result": Explanation(
        "what the function returns is not made of arrays, so there is nothing to check", "return the kernel's results"
    ),
    "abort": Explanation(
        "the process died: a compiler or a library aborted it",
        "take parts of the kernel away until it lives; what was taken last is what the compiler cannot take",
        ("mask_expanded",),
    ),
    "hang": Explanation(
        "it did not end within the limit; waiting for a semaphore that nobody signals does that",
        "give each wait its start and its own semaphore; raise --limit if the kernel is only slow",
        ("dma_wait_without_signal",),
    ),
    "memory": Explanation(
        "it took more memory than an audit gives a process",
        "audit smaller shapes; look for an array that grows with the square of a size",
    ),
    "no-kernel": Explanation(
        "no Pallas kernel was reached, so there was nothing to check",
        "name the function that calls Pallas; look for a branch that keeps the call out",
    ),
    "out-of-bounds": Explanation(
        "an index map names a block outside the array; interpret=True reads or writes another one without a word",
        "return block numbers, not elements: Pallas multiplies by the block shape; look for swapped or shifted axes "
        "and for prefetched numbers out of range",
        ("map_times_block", "swapped_axes", "map_off_by_one", "prefetch_out_of_range"),
        L1,
    ),
    "race": Explanation(
        "two accesses to the same memory have no order between them, and one of them writes",
        "wait for the copy before its buffer is used, and give each slot its own semaphore",
        ("dma_read_before_wait", "dma_slot_in_use"),
    ),
    "unwritten": Explanation(
        "no program writes these elements: they hold whatever the memory held",
        "see that the grid covers the array (pl.cdiv), and that each program writes its whole block",
        ("floor_grid", "never_written"),
        L1,
    ),
    "uninitialised": Explanation(
        "the result is computed from memory nobody set: a tail past the array's end, an accumulator, a buffer",
        "mask the tail with the operation's identity, and set accumulators in the first program",
        ("sum_over_tail", "output_not_initialised", "scratch_not_initialised"),
    ),
    "revisit": Explanation(
        "an output block is left and visited again; a TPU has written it back by then, so a sum in it is lost",
        "make the axis that is summed the last of the grid",
        ("reduction_axis_first", "matmul_k_outermost"),
    ),
    "order": Explanation(
        "the result depends on the order of an axis that is declared parallel",
        'declare the axis "arbitrary", or give each program its own output',
        ("sum_on_parallel_axis", "carry_on_parallel_axis"),
    ),
    "copies": Explanation(
        "the result depends on when a copy runs: one is not waited for, or its buffer is used before it arrives",
        "wait for every copy before its buffer is read or used again",
        ("dma_read_before_wait", "dma_input_never_waited"),
    ),
    "memory-space": Explanation(
        "the kernel computes on memory that must be copied first (HBM or ANY)",
        "copy to VMEM with pltpu.sync_copy, or give the operand a block",
        ("hbm_arithmetic",),
    ),
    "trace": Explanation(
        "the call raised an error, so that the rung could not go on",
        "read the error; it comes from the code itself, or from JAX as it reads the code",
    ),
    "lowering": Explanation(
        "JAX cannot translate the kernel for this accelerator; every chip of its kind is concerned",
        "write what the message names in another way",
    ),
    "vmem": Explanation(
        "blocks, their second buffers and scratch need more fast memory than the chip gives a kernel",
        "shrink the blocks: every blocked operand counts twice; or raise vmem_limit_bytes where the chip has more",
        ("vmem_overflow", "vmem_limit_raised"),
    ),
    "alignment": Explanation(
        "the compiler cannot prove that an index is a multiple of the tile",
        "index whole tiles, or state it with pl.multiple_of where it is true: nobody checks that it is",
        ("dynamic_lane_slice", "multiple_of_untrue"),
    ),
    "x64": Explanation(
        "a TPU's kernels hold no 64-bit numbers; jax_enable_x64 makes Python's 64-bit, in index maps too",
        "leave jax_enable_x64 off, or write jnp.int32(0) in index maps and cast arguments to 32 bits",
    ),
    "unsupported-dtype": Explanation(
        "the chip has no such operation for this type",
        "compute in float32 or bfloat16 and cast once",
        ("float16_dot", "int8_arithmetic", "int8_dot"),
    ),
    "compile": Explanation(
        "the chip's compiler refuses the kernel", "read the message: its code and line come from the compiler"
    ),
    "execute": Explanation(
        "the accelerator failed while it ran the kernel", "read the message; it comes from the chip's own software"
    ),
    "gradient": Explanation(
        "JAX cannot differentiate the kernel: it knows no backward pass for it",
        "give the function a jax.custom_vjp with a backward pass of its own",
        ("no_derivative", "no_derivative_in_grid"),
    ),
    "slope": Explanation(
        "the gradient is not the slope of the function, measured between two points",
        "compare the backward pass with the mathematics, one argument at a time",
    ),
    "shape": Explanation(
        "function and oracle disagree on what comes out: one of the two is wrong",
        "compare out_shape with what the oracle returns; its float64 and int64 are taken for any width",
    ),
    "keyword": Explanation(
        "two values of a keyword give different results; nothing here says which is wanted",
        "if it is a block shape, look at tails and at the seams between blocks; --oracle judges each by itself",
        ("stencil_without_neighbours",),
    ),
    "wrong-values": Explanation(
        "the result differs from the oracle's",
        "look at the first wrong block: which program owns it, and which input blocks its index maps give it",
        ("swapped_axes_square", "row_index_ignored", "bf16_accumulator"),
        L1,
    ),
    "rungs": Explanation(
        "two rungs that compute values give different ones",
        "look at the elements named; a simulated TPU is stricter than interpret=True, and a chip may round otherwise",
    ),
}

# More to the point than the code alone, where the message allows it: codes, pattern, explanation. The first holds.
_CLOSER = (
    (
        ("import",),
        r"attempted relative import",
        Explanation("the file belongs to a package that its folder does not show", "add an __init__.py to its folder"),
    ),
    (
        ("import",),
        r"EOF when reading a line",
        Explanation("the file asks for input while it is imported", 'keep that under if __name__ == "__main__"'),
    ),
    (
        ("out-of-bounds",),
        r"\b(read|write|swap)\b",
        Explanation(
            "a reference is read or written past its end; interpret=True moves the access back inside",
            "keep start and size of the slice within the block",
            ("read_past_end",),
        ),
    ),
    (
        ("no-kernel",),
        r"forces JAX's interpret mode|lacks the call",
        Explanation(
            "an accelerator would be handed no kernel: an interpret mode is forced inside, or the call is left out",
            "take force_tpu_interpret_mode or interpret=True out of the code, and test with it from outside",
            ("forced_interpret",),
        ),
    ),
    (
        ("lowering",),
        r"divisible by \d+ and \d+",
        Explanation(
            "the block's last two sizes are neither whole tiles nor the whole axis; no TPU takes such a block",
            "take multiples of 8 and 128, or the full axis",
            ("illegal_block", "illegal_block_row"),
        ),
    ),
    (
        ("lowering",),
        r"one-dimensional block|rank 1 block",
        Explanation(
            "a one-dimensional block has a rule of its own, which depends on the dtype",
            "take the whole axis, a multiple of 1024, or 128·(32/bits)·2ⁿ",
            ("rank_one_block",),
        ),
    ),
    (
        ("lowering",),
        r"Unimplemented primitive|not implemented",
        Explanation(
            "an operation has no lowering for this accelerator",
            "write it with operations that have one, or do it outside the kernel",
            ("sort_in_kernel", "cumsum_in_kernel"),
        ),
    ),
    (
        ("trace", "lowering"),
        r"int indexing|Advanced indexers",
        Explanation(
            "a TPU kernel takes no array as an index",
            "prefetch the indices as scalars, or multiply by a one-hot matrix",
            ("integer_array_index",),
        ),
    ),
    (
        ("lowering",),
        r"buffering",
        Explanation(
            "a block of pallas_call has one or two buffers",
            "leave it at two; emit_pipeline takes more",
            ("buffered_three",),
        ),
    ),
    (
        ("lowering",),
        r"did not provide a grid",
        Explanation(
            "an index map reads a program id; it gets the grid's indices as arguments",
            "use the map's arguments",
            ("program_id_in_map",),
        ),
    ),
    (
        ("lowering",),
        r"power of 2",
        Explanation(
            "Triton takes blocks whose sizes are powers of two", "round the block up to one, and mask the rest"
        ),
    ),
    (
        ("trace", "lowering"),
        r"checkify|checks are not supported",
        Explanation(
            "a checkify check stands in the kernel; Pallas does not take one",
            "check outside the kernel, or in a test",
            ("checkify_in_kernel",),
        ),
    ),
    (
        ("trace",),
        r"Invalid dtype for `swap`",
        Explanation(
            "the kernel stores a value of one dtype in a reference of another",
            "cast it: out_ref[...] = value.astype(out_ref.dtype)",
            ("store_without_cast",),
        ),
    ),
    (
        ("trace",),
        r"'function' object is not iterable",
        Explanation(
            "a BlockSpec has its index map where its block shape belongs", "pl.BlockSpec(block_shape, index_map)"
        ),
    ),
    (
        ("trace",),
        r"Index map function.* must return|[Bb]lock shape .*must have the same number of dimensions",
        Explanation(
            "block, array and index map have not the same rank",
            "give the block a size, and let the map return an index, for each axis of the array; None squeezes an axis",
        ),
    ),
    (
        ("trace",),
        r"takes \d+ positional arguments? but \d+ (was|were) given",
        Explanation(
            "an index map takes one argument for each grid axis and then the prefetched references; a body takes the "
            "prefetched references, inputs, outputs and scratch",
            "count them in the function that is named",
        ),
    ),
    (
        ("trace",),
        r"captures constants",
        Explanation(
            "the body, or an index map, uses an array from outside; a kernel reaches only what it is handed",
            "pass the array as an input with a BlockSpec of its own",
        ),
    ),
    (
        ("trace",),
        r"TracerBoolConversionError",
        Explanation(
            "Python's if, while, and or not needs a value, and there is none while a kernel is read",
            "pl.when for a block of statements, jnp.where for values, jax.lax.cond or while_loop for control",
        ),
    ),
    (
        ("trace",),
        r"Grid must be a tuple of integers",
        Explanation("a grid size is no integer; / gives a float in Python", "pl.cdiv(size, block)"),
    ),
    (
        ("trace",),
        r"[Bb]lock dimension type: .*Tracer",
        Explanation(
            "a block size is an argument that jit traces, so that it has no value", "name it in jit's static_argnames"
        ),
    ),
    (
        ("trace",),
        r"input_output_aliases contains the mapping",
        Explanation(
            "an input is aliased to an output of another shape or dtype",
            "count inputs from the first argument of the call, prefetched scalars among them",
        ),
    ),
    (
        ("trace", "import"),
        r"removed in JAX|has no attribute|cannot import name",
        Explanation(
            "a name is not in the installed JAX: it moved, or it is gone",
            "look it up in JAX's changelog; the message may name its successor",
            ("name_that_moved",),
        ),
    ),
    (
        ("trace",),
        r"grid must be strictly positive",
        Explanation(
            "the grid has no program, since a size smaller than the block was divided down to zero",
            "pl.cdiv(size, block)",
            ("zero_grid", "zero_grid_call"),
        ),
    ),
    (
        ("vmem",),
        r"Shared memory",
        Explanation("the blocks need more shared memory than the GPU gives a program", "shrink the blocks"),
    ),
)

# Tried in order on an error's text; the first that matches names the finding.
_CODES: tuple[tuple[Code, str], ...] = (
    ("out-of-bounds", r"Out-of-bounds (block|read|write|swap|masked)"),
    ("revisit", r"Revisited block"),
    ("race", r"RACE DETECTED"),
    ("vmem", r"E1001|Scoped allocation|Ran out of memory in memory space vmem|Shared memory size limit"),
    (
        "memory-space",
        r"async_copy|sync_copy|(Loads|Stores) are only allowed|[Uu]nsupported memory space\W.{0,30}\b(any|hbm)\b",
    ),
    ("x64", r"64-bit types|contain X\{64|legalize .*\b[if]64\b|recursion depth exceeded.*64"),
    ("alignment", r"E2003|cannot statically prove"),
    ("memory", r"^\w*MemoryError|Out of memory allocating"),
    ("gradient", r"Linearization failed|[Rr]everse-mode|differentiat"),
    (
        "unsupported-dtype",
        r"E2001|Please cast your input|Invalid vector type|[Uu]nsupported (element )?type|not supported on this target"
        r"|[Uu]nsupported.*(matmul|dtype|data type)",
    ),
)
# What is wrong stands somewhere in a long text: a pattern, and the words made of its groups.
_TOLD = (
    (
        r"last two dimensions of your block shape are divisible by (\d+) and (\d+).*?Block spec for (\S+) in .*?"
        r"has block shape \((.*?)\), array shape \((.*?)\)",
        "block ({4}) of {3}, an array of ({5}): its last two sizes must be divisible by {1} and {2}, or be the array's",
    ),
    (
        r"rank 1 block shapes.*?multiple of (\d+).*?tiling size \((\d+).*?Block spec for (\S+) in .*?"
        r"has block shape \((.*?),?\), array shape \((.*?),?\), and",
        "block ({4}) of {3}, an array of ({5}): a one-dimensional block must be the whole array, a multiple of {1}, "
        "or a power of 2 from {2} up",
    ),
    (
        r"Out-of-bounds block index (\(.*?\)) for (\w+ \".*?\") in iteration (\(.*?\)).*?: \w+ \[\((.*?)\)\] but",
        "block {1} of {2}, which program {3} is given, lies outside the array: elements [{4}]",
    ),
    (
        r"Out-of-bounds (\w+(?: swap)?) of \(.*?\): \w+ \[\((.*?)\)\] but buffer has shape (\(.*?\))",
        "{1} of elements [{2}] of a reference of shape {3}",
    ),
    (
        r"Revisited block (\(.*?\)) of output (\d+) in iteration (\(.*?\))\. .*? through (\(.*?\))",
        "output {2}: program {3} writes the block at {1} again, last written by program {4}",
    ),
    (r"(Scoped allocation with size \S+ and limit [\d.]+\w)", "E1001: {1}"),
    (r"(Ran out of memory in memory space vmem\. Used \S+ of \S+ vmem)", "{1}"),
    (r"(Shared memory size limit exceeded[^\n]*)", "{1}"),
    (r"(Invalid vector type for load).*?-> (vector<[^>]*>)", "{1}: {2}"),
)
# Parts that say nothing: wrappers of the real message, places on this machine, addresses, requests to report.
_NOISE = (
    (r"^JaxRuntimeError: (?=\w*Error: |E\d{4}: )", ""),
    (r"INTERNAL: Mosaic failed to compile TPU kernel(?: with .*?HLO name `[^`]*`)?: ", ""),
    (r"INTERNAL: (?=E\d{4}: )", ""),
    (r"RESOURCE_EXHAUSTED: (?:XLA:TPU compile permanent error\. )?", ""),
    (r" ?(Please (file|report) an? \w+ at|See details at|See) ?:? https?://\S+", ""),
    (r"/\S*/(?=[\w.-]+\.py\b)", ""),
    (r" at 0x[0-9a-f]+", ""),
    (r"\bF\d{4} [\d:.]+ +\d+ ", ""),
    (r"Blocked\(block_size=(\d+)\)", r"\1"),
    (r"slice\((\d+), (\d+), 1\)", r"\1:\2"),
)


def explanation(finding: Finding) -> Explanation:
    """What a finding means and what to do about it."""
    closer = (told for codes, pattern, told in _CLOSER if finding.code in codes and re.search(pattern, finding.message))
    return next(closer, EXPLAINED[finding.code])


def spoken(error: BaseException) -> str:
    """``ValueError: what is wrong``; the type alone where it has no words, or fails over them."""
    try:
        said = str(error).strip()
    except Exception:  # noqa: BLE001
        said = ""
    return f"{type(error).__name__}: {said}" if said else f"{type(error).__name__} without a message"


def read_error(text: str, otherwise: Code) -> Finding:
    """The finding an error's text stands for: its code, else ``otherwise``; what it says is wrong; a line, if named."""
    code = next((code for code, pattern in _CODES if re.search(pattern, text)), otherwise)
    told = ((re.search(pattern, text, re.DOTALL), words) for pattern, words in _TOLD)
    message = next((words.format(found[0], *found.groups()) for found, words in told if found), first_line(text))
    message = tidied(message)
    place = re.search(r'loc\("[^"]*"\(.*?"([^"]+\.py)":(\d+):', text)
    return Finding(code, message[:300] or "no message", f"{place[1]}:{place[2]}" if place else "")


def tidied(message: str) -> str:
    """A message without what says nothing: wrappers, this machine's places, addresses and times, calls for reports."""
    for pattern, instead in _NOISE:
        message = re.sub(pattern, instead, message)
    return message.strip()


def first_line(text: str) -> str:
    """The line of an error that says what is wrong; in a callback's traceback, its last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Exit|Interrupt): \S", line)]
    callback = any("CpuCallback error" in line for line in lines)
    chosen = raised[-1] if raised and callback else raised[0] if raised else lines[0] if lines else ""
    if chosen.endswith(":") and chosen in lines[:-1]:
        chosen += " " + lines[lines.index(chosen) + 1]
    return re.sub(r"\s+", " ", chosen)[:600]
