"""One number per row that depends on the row's values alone.

    key(x) = mix( sum_j [x_j != 0] mix( bits(x_j) xor mix(j + seed) ) )     modulo 2^64

Equal rows have equal keys, wherever they stand and however often; different rows have different
keys but for a chance of 2^-64.  Sorting by key is therefore a random order of the *distinct* rows
that no permutation or repetition of the data can change: drawing the first few is a sample in
which a repeated row and a row of weight two are the same thing.  Zeros add nothing, so a sparse
matrix has the keys of its dense form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.passes.source import Kind, kind_of
from lincent.programs.arrays import Index

Keys = NDArray[np.uint64]

BLOCK_ROWS = 8192
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(bits: Keys) -> Keys:
    """The finalizer of splitmix64: every input bit moves every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


def row_keys(X: Any, seed: int = 0) -> Keys:
    """A key for each row of a dense or sparse X."""
    columns = _mix((np.arange(X.shape[1], dtype=np.uint64) + np.uint64(seed)) * _GOLDEN)
    if kind_of(X) is Kind.SPARSE:
        return _sparse_keys(X, columns)
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        block = np.ascontiguousarray(X[part], dtype=np.float64)
        mixed = _mix(block.view(np.uint64) ^ columns)
        mixed[block == 0] = 0
        keys[part] = _mix(mixed.sum(axis=1, dtype=np.uint64))
    return keys


def _sparse_keys(X: Any, columns: Keys) -> Keys:
    X = sp.csr_array(X)
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    mixed = _mix(values.view(np.uint64) ^ columns[X.indices])
    mixed[values == 0] = 0
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return _mix(total[X.indptr[1:]] - total[X.indptr[:-1]])


def distinct_rows(X: Any) -> tuple[Index, Index]:
    """(first, group): the first row of each kind in order of appearance, and each row's kind."""
    _, first, group = np.unique(row_keys(X), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def draw_distinct(X: Any, allowed: NDArray[np.bool_], count: int, seed: int) -> Index:
    """At most ``count`` different rows among those allowed, in an order that only values decide."""
    candidates = np.flatnonzero(allowed)
    keys = row_keys(X, seed)[candidates]
    _, first = np.unique(keys, return_index=True)
    return np.asarray(candidates[first[:count]])
