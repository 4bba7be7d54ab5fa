"""What each kind of finding means and what to do about it; and how an error's text is read as one of them."""

import re
from dataclasses import dataclass

from pallas_course.evidence.verdict import Finding


@dataclass(frozen=True)
class Explanation:
    """For the reader of a report: what a finding means, what to do, which lesson and which museum case show it."""

    means: str
    do: str
    lesson: str = ""
    museum: str = ""


L1 = "kernels-01"

EXPLAINED = {
    "import": Explanation("the file could not be imported", "run it alone with Python and mend what it raises"),
    "syntax": Explanation("the file is not Python", "mend the line that is named"),
    "name": Explanation("the file has no such function", "name a function that stands at the file's top level"),
    "exit": Explanation("the code ended its own process", "take sys.exit, os._exit and exit() out of what is imported"),
    "abort": Explanation(
        "the process died: a compiler or a library aborted it",
        "make the kernel smaller until it lives; what was removed last is what the compiler cannot take",
        museum="mask_expanded",
    ),
    "hang": Explanation(
        "it did not end within the limit; a semaphore that is waited for and never signalled does that",
        "give each wait its start and its own semaphore; raise --limit if the kernel is only slow",
        museum="dma_wait_without_signal",
    ),
    "no-kernel": Explanation(
        "no accelerator would run a kernel of this function: none was reached, or it is kept from the compiler",
        "name the function that calls Pallas; look for a branch on the backend, or a mode that is forced inside",
        museum="forced_interpret",
    ),
    "trace": Explanation(
        "the call raised an error, the same on every rung",
        "read the error; it comes before any rung can judge the kernel",
        museum="store_without_cast",
    ),
    "inputs": Explanation("the arguments could not be made", "see that the function given to --inputs returns arrays"),
    "oracle": Explanation("the oracle raised an error", "see that it takes the same arguments, as NumPy arrays"),
    "shape": Explanation("the result has not the oracle's shape or dtype", "compare out_shape with what is wanted"),
    "wrong-values": Explanation(
        "the result differs from the oracle's",
        "look at the first wrong block: which program owns it, and which input blocks its index maps give it",
        L1,
        "swapped_axes_square",
    ),
    "unwritten": Explanation(
        "nobody writes these elements: they hold whatever the memory held",
        "see that the grid covers the array (pl.cdiv), and that the program that should write is reached",
        L1,
        "floor_grid",
    ),
    "uninitialised": Explanation(
        "the result is computed from memory nobody set: a tail past the array's end, an accumulator, a buffer",
        "mask the tail with the operation's identity, and set accumulators in the first program",
        museum="output_not_initialised",
    ),
    "out-of-bounds": Explanation(
        "a block or an element outside its array is named; interpret=True clamps it and reads another",
        "return block numbers, not elements: Pallas multiplies by the block shape; look for swapped axes",
        L1,
        "map_times_block",
    ),
    "revisit": Explanation(
        "an output block is left and visited again; a TPU has written it back by then, so a sum in it is lost",
        "make the axis that is summed the last of the grid",
        museum="reduction_axis_first",
    ),
    "race": Explanation(
        "two accesses to the same memory have no order between them, and one of them writes",
        "wait for the copy before its buffer is used, and give each slot its own semaphore",
        museum="dma_read_before_wait",
    ),
    "order": Explanation(
        "the result depends on the order of an axis that is declared parallel",
        'declare the axis "arbitrary", or give each program its own output',
        museum="sum_on_parallel_axis",
    ),
    "copies": Explanation(
        "the result depends on when a copy runs: one is not waited for, or its buffer is used before it arrives",
        "wait for every copy before its buffer is read or used again",
        museum="dma_read_before_wait",
    ),
    "rungs": Explanation(
        "interpret=True and the simulated TPU give different results",
        "look at the elements named; the simulator keeps a TPU's memory and is the stricter of the two",
        museum="in_place_overwrites_input",
    ),
    "blocks": Explanation(
        "two values of a keyword give different results", "if it is a block shape, look at tails and seams"
    ),
    "memory-space": Explanation(
        "the kernel computes on memory that must be copied first (HBM or ANY)",
        "copy to VMEM with pltpu.sync_copy, or give the operand a block",
        museum="hbm_arithmetic",
    ),
    "lowering": Explanation(
        "the accelerator's lowering refuses the kernel", "read the message; no chip is involved yet"
    ),
    "vmem": Explanation(
        "blocks, their second buffers and scratch need more fast memory than the chip gives a kernel",
        "shrink the blocks; every blocked operand counts twice",
        museum="vmem_overflow",
    ),
    "alignment": Explanation(
        "the compiler cannot prove that an index is a multiple of the tile",
        "index whole tiles, or state it with pl.multiple_of where it is true",
        museum="dynamic_lane_slice",
    ),
    "unsupported-dtype": Explanation(
        "the chip has no such operation for this type",
        "compute in float32 or bfloat16 and cast once",
        museum="float16_dot",
    ),
    "compile": Explanation(
        "the chip's compiler refuses the kernel", "read the message: its code and line come from the compiler"
    ),
    "gradient": Explanation(
        "JAX cannot differentiate the kernel: it knows no backward pass for it",
        "give the function a jax.custom_vjp with a backward pass of its own",
        museum="no_derivative",
    ),
    "slope": Explanation(
        "the gradient differs from finite differences of the function", "compare the backward pass with the mathematics"
    ),
}

# More to the point than the code alone, where the message allows it.
_CLOSER = (
    (
        r"divisible by 8 and 128",
        Explanation(
            "the block's last two sizes are neither whole tiles (multiples of 8 and 128) nor the whole axis",
            "take multiples of 8 and 128, or the full axis",
            museum="illegal_block",
        ),
    ),
    (
        r"Unimplemented primitive|not implemented",
        Explanation(
            "an operation has no lowering for this accelerator",
            "write it with operations that have one",
            museum="sort_in_kernel",
        ),
    ),
    (
        r"int indexing",
        Explanation(
            "a TPU kernel takes no array as an index", "prefetch the indices as scalars", museum="integer_array_index"
        ),
    ),
    (r"buffering", Explanation("this operand takes one or two buffers", "leave it at two", museum="buffered_three")),
    (
        r"rank.?1|1D|1-D",
        Explanation(
            "a one-dimensional block has a rule of its own",
            "take the whole axis, or 128·(32/bits)·2ⁿ",
            museum="rank_one_block",
        ),
    ),
    (
        r"did not provide a grid",
        Explanation(
            "an index map reads a program id; it gets the grid's indices as arguments",
            "use the arguments",
            museum="program_id_in_map",
        ),
    ),
)

# Tried in order on an error's text; the first that matches names the finding.
_CODES = (
    ("out-of-bounds", r"Out-of-bounds|out of bounds"),
    ("revisit", r"Revisited block"),
    ("race", r"RACE DETECTED"),
    ("memory-space", r"(sync_copy|async_copy)|(Loads|Stores) are only allowed|memory space .*(any|hbm|ANY|HBM)"),
    ("vmem", r"E1001|Scoped allocation|Ran out of memory in memory space vmem|Shared memory size limit"),
    ("alignment", r"E2003|cannot statically prove"),
    ("gradient", r"Linearization failed|[Rr]everse-mode|differentiat"),
    (
        "unsupported-dtype",
        r"E2001|Please cast your input|Invalid vector type|[Uu]nsupported (element )?type|not supported on this target"
        r"|[Uu]nsupported.*(matmul|dtype|data type)",
    ),
)


def explanation(finding: Finding) -> Explanation:
    """What a finding means and what to do about it."""
    closer = (
        closer for pattern, closer in _CLOSER if finding.code == "lowering" and re.search(pattern, finding.message)
    )
    return next(closer, EXPLAINED.get(finding.code, EXPLAINED["trace"]))


def read_error(text: str, otherwise: str) -> Finding:
    """The finding an error's text stands for: a code, else ``otherwise``, and the line that says what is wrong."""
    code = next((code for code, pattern in _CODES if re.search(pattern, text)), otherwise)
    message = re.sub(r"INTERNAL: Mosaic failed to compile.*?HLO name `[^`]*`: ", "", first_line(text))
    # The compiler's own number and the size it gives, which stand in a long line of names.
    size = re.search(
        r"(Scoped allocation with size \S+ and limit [\d.]+\w|Shared memory size limit exceeded[^\n]*)", text
    )
    if size and size[0] not in message[:300]:
        number = re.search(r"E\d{4}", text)
        message = f"{number[0]}: {size[0]}" if number else size[0]
    return Finding(code, message[:300])


def first_line(text: str) -> str:
    """The line of an error that says what is wrong; in a callback's traceback, its last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Exit|Interrupt): \S", line)]
    callback = any("CpuCallback error" in line for line in lines)
    chosen = raised[-1] if raised and callback else raised[0] if raised else lines[0] if lines else "no message"
    if chosen.endswith(":") and chosen in lines[:-1]:
        chosen += " " + lines[lines.index(chosen) + 1]
    return re.sub(r"\s+", " ", chosen)[:600]
