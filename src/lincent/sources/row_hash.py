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

from lincent.problems.arrays import Index
from lincent.sources.source import Kind, kind_of

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
    if kind_of(X) is Kind.DEVICE:
        return _device_keys(X, columns)
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


def _device_keys(X: Any, columns: Keys) -> Keys:
    """The same on a device, where whole numbers have a sign: shifts must not carry it along."""
    from lincent.sources.device import Device, parts_of

    device = Device(X)
    xp = device.xp

    def mix(bits: Any) -> Any:
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            bits = (bits ^ ((bits >> shift) & (2 ** (64 - shift) - 1))) * int(factor.view(np.int64))
        return bits ^ ((bits >> 31) & (2**33 - 1))

    seeds, keys = device.send(columns.view(np.int64)), np.empty(X.shape[0], dtype=np.uint64)
    for part in parts_of(X.shape):
        rows = device.doubles(X[part])
        mixed = xp.where(rows == 0, 0, mix(_contiguous(rows).view(xp.int64) ^ seeds))
        keys[part] = device.fetch(mix(xp.sum(mixed, axis=1))).view(np.uint64)
    return keys


def _contiguous(rows: Any) -> Any:
    """Rows whose bytes can be seen as other numbers."""
    return rows.contiguous() if hasattr(rows, "contiguous") else rows.copy(order="C")


def distinct_rows(X: Any) -> tuple[Index, Index]:
    """(first, group): the first row of each kind in order of appearance, and each row's kind."""
    _, first, group = np.unique(row_keys(X), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def near_the_least(keys: Keys, count: int) -> Index:
    """The places of all rows whose keys are small, at least ``count`` different ones or all.

    Keys are random, so about four times as many as needed are below a share of their range: far
    fewer than all are looked at.
    """
    share = 4 * count / max(1, len(keys))
    while share < 1:
        below = np.flatnonzero(keys < np.uint64(int(share * 2**64)))
        if len(np.unique(keys[below])) >= count:
            return below
        share *= 4
    return np.arange(len(keys))


def smallest_kinds(keys: Keys, weight: Any, count: int) -> tuple[Index, Any]:
    """The places of at most ``count`` different rows, those with the smallest keys, in their
    order, and what equal ones weigh together.
    """
    below = near_the_least(keys, count)
    _, first, kind = np.unique(keys[below], return_index=True, return_inverse=True)
    total = np.bincount(kind.reshape(-1), weights=weight[below], minlength=len(first))
    return below[first[:count]], total[:count]


def draw_distinct(X: Any, allowed: NDArray[np.bool_], count: int, seed: int) -> Index:
    """At most ``count`` different rows among those allowed, in an order that only values decide."""
    candidates = np.flatnonzero(allowed)
    keys = row_keys(X, seed)[candidates]
    _, first = np.unique(keys, return_index=True)
    return np.asarray(candidates[first[:count]])
