"""JAX's own attention of rows of queries, each of its own length, to keys and values that lie in pages."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.tpu.ragged_paged_attention.kernel import ragged_paged_attention


def kernel(
    q: jax.Array, pages: jax.Array, lengths: jax.Array, indices: jax.Array, starts: jax.Array, rows: jax.Array
) -> jax.Array:
    out: jax.Array = ragged_paged_attention(
        q, pages, lengths, indices, starts, rows, num_kv_pages_per_block=2, num_queries_per_block=16
    )
    return out[:48]


def reference(
    q: np.ndarray, pages: np.ndarray, lengths: np.ndarray, indices: np.ndarray, starts: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """A query sees its own place in its row and those before; keys and values take turns among the pages' heads."""
    out = np.empty((48, *q.shape[1:]))
    for row in range(rows[0]):
        first, past = starts[row : row + 2]
        kept = pages[indices[row]].reshape(-1, *pages.shape[2:])[: lengths[row]].astype(np.float64)
        sees = np.arange(lengths[row]) <= np.arange(lengths[row] - past + first, lengths[row])[:, None]
        for head in range(q.shape[1]):
            group = head // (2 * q.shape[1] // pages.shape[2])
            scores = np.where(sees, q[first:past, head] @ kept[:, 2 * group].T, -np.inf)
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[first:past, head] = weights / weights.sum(axis=1, keepdims=True) @ kept[:, 2 * group + 1]
    return out


def make() -> tuple[np.ndarray | jax.Array, ...]:
    rng = np.random.default_rng(0)
    q = (rng.normal(size=(64, 8, 128)) / 8).astype(np.float32)
    pages = jnp.asarray(rng.normal(size=(16, 16, 4, 128)), jnp.float32)
    lengths, starts = (np.array(counts, np.int32) for counts in ([40, 20, 33, 0], [0, 10, 30, 48, 48]))
    return q, pages, lengths, rng.permutation(16).reshape(4, 4).astype(np.int32), starts, np.array([3], np.int32)


ABOUT = {
    "title": "JAX's own ragged paged attention",
    "symptom": "",
    "cause": "",
    "mend": "",
    "source": "jax.experimental.pallas.ops.tpu.ragged_paged_attention",
    "args": ["f32[64,8,128]", "f32[16,16,4,128]", "i32[4]", "i32[4,4]", "i32[5]", "i32[1]"],
    "inputs": "make",
    "verdicts": {
        "interpret": "not run",
        "simulate": "not run",
        "lower": "pass",
        "compile:v5e": "pass",
        "compile:v6e": "pass",
    },
    "finding": "",
    "found_by": [],
    "right": True,
}
