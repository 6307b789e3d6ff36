"""Row hashes: one number per row that depends on the row's values alone, and splits made of them.

    hash(x) = mix( sum_j [x_j != 0] mix( bits(x_j) xor mix(j + seed) ) )     modulo 2^64

Equal rows have equal hashes, whatever their position and number; different rows have different
hashes but for a probability of 2^-64.  Sorting by hash is therefore a random order of the
*distinct* rows that no permutation or repetition of the data can change: the first few are a sample
in which a repeated row and a row with a sample weight of two are equivalent.  Zeros add nothing, so
a sparse matrix has the hashes of its dense form.

``HashKFold`` assigns rows to folds by their hashes.  The distinct rows of a class, in the random
order of their hashes, go to the folds in turn.  So folds are stratified, repetitions of a row stay
together, and the order and the chunks of the data do not matter.  A rank needs all hashes of the
class; of a class with more than ``RANKED`` distinct rows a row goes to the fold

    hash modulo folds,

which are balanced as coins fall.  Of such a class only the rows with the smallest hashes are scored
when models are compared: with r the ``RANKED``-th smallest hash, about ``SCORED`` distinct rows
have a hash below r SCORED / RANKED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Mask, Vector
from lincent.sources.source import Kind, kind_of

RowHashes = NDArray[np.uint64]

BLOCK_ROWS = 8192
RANKED, SCORED = 10_000, 100_000
_LARGEST = 2**64 - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(bits: RowHashes) -> RowHashes:
    """Apply the finalizer of splitmix64: every input bit moves every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


def row_hashes(X: Any, seed: int = 0) -> RowHashes:
    """Return a hash for each row of X: dense, sparse or on a device."""
    columns = _mix((np.arange(X.shape[1], dtype=np.uint64) + np.uint64(seed)) * _GOLDEN)
    if kind_of(X) is Kind.SPARSE:
        return _sparse_hashes(X, columns)
    if kind_of(X) is Kind.DEVICE:
        return _device_hashes(X, columns)
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        block = np.ascontiguousarray(X[part], dtype=np.float64)
        mixed = _mix(block.view(np.uint64) ^ columns)
        mixed[block == 0] = 0
        hashes[part] = _mix(mixed.sum(axis=1, dtype=np.uint64))
    return hashes


def _sparse_hashes(X: Any, columns: RowHashes) -> RowHashes:
    X = sp.csr_array(X)
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    mixed = _mix(values.view(np.uint64) ^ columns[X.indices])
    mixed[values == 0] = 0
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return _mix(total[X.indptr[1:]] - total[X.indptr[:-1]])


def _device_hashes(X: Any, columns: RowHashes) -> RowHashes:
    """Hash on a device, where integers have a sign: shifts must not carry it along."""
    from lincent.sources.array_namespace import DeviceNamespace
    from lincent.sources.device import parts_of

    device = DeviceNamespace(X)
    xp = device.xp

    def mix(bits: Any) -> Any:
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            bits = (bits ^ ((bits >> shift) & (2 ** (64 - shift) - 1))) * int(factor.view(np.int64))
        return bits ^ ((bits >> 31) & (2**33 - 1))

    seeds, hashes = device.send(columns.view(np.int64)), np.empty(X.shape[0], dtype=np.uint64)
    for part in parts_of(X.shape):
        rows = device.doubles(X[part])
        # Contiguous memory, whose bytes can be read as integers.
        rows = rows.contiguous() if hasattr(rows, "contiguous") else rows.copy(order="C")
        mixed = xp.where(rows == 0, 0, mix(rows.view(xp.int64) ^ seeds))
        hashes[part] = device.fetch(mix(xp.sum(mixed, axis=1))).view(np.uint64)
    return hashes


def distinct_rows(X: Any) -> tuple[Index, Index]:
    """Return the first of equal rows in order of appearance, and each row's index among them."""
    _, first, group = np.unique(row_hashes(X), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def candidates_by_hash(hashes: RowHashes, count: int) -> Index:
    """Return all rows with small hashes, at least ``count`` distinct ones or all.

    Hashes are random, so a fraction of their range has about four times as many rows as needed: far
    fewer than all are sorted.
    """
    fraction = 4 * count / max(1, len(hashes))
    while fraction < 1:
        below = np.flatnonzero(hashes < np.uint64(int(fraction * 2**64)))
        if len(np.unique(hashes[below])) >= count:
            return below
        fraction *= 4
    return np.arange(len(hashes))


def smallest_distinct(hashes: RowHashes, weight: Any, count: int) -> tuple[Index, Any]:
    """Return at most ``count`` distinct rows by increasing hash, and the weights of equal ones.

    Rows of weight zero are left out.
    """
    used = np.flatnonzero(weight)
    rows = used[candidates_by_hash(hashes[used], count)]
    _, first, group = np.unique(hashes[rows], return_index=True, return_inverse=True)
    total = np.bincount(group.reshape(-1), weights=weight[rows], minlength=len(first))
    return rows[first[:count]], total[:count]


def smallest_hashes(hashes: RowHashes) -> RowHashes:
    """Return the smallest distinct hashes of a class, in order: enough to assign its folds."""
    return np.unique(hashes[candidates_by_hash(hashes, RANKED + 1)])[: RANKED + 1]


@dataclass(frozen=True)
class HeldOutScores:
    """Held-out samples: positions, class codes, weights, decision values (one column a model)."""

    rows: NDArray[np.intp]
    codes: NDArray[np.intp]
    weight: Vector
    scores: Any


@dataclass(frozen=True)
class HashKFold:
    """Stratified folds by row hashes, which are made with ``seed``."""

    seed: int
    folds: int
    hashes: list[RowHashes | None]
    """Those of each class in order, or None where they are too many."""
    below: RowHashes
    """Rows of each class with a hash up to this are scored when models are compared."""
    first: NDArray[np.intp]
    """The fold of the first row of each class."""

    @classmethod
    def of(
        cls, smallest: Sequence[RowHashes], folds: int, seed: int, *, every_class: bool = False
    ) -> HashKFold:
        """Make the folds from ``smallest_hashes`` of each class.

        Classes follow each other by their smallest hash, so that names of classes do not count.
        ``every_class``: at most as many folds as the smallest class has distinct rows, so that each
        fold has a row of each class.
        """
        if every_class:
            folds = max(2, min(folds, *map(len, smallest)))
        order = sorted(range(len(smallest)), key=lambda k: smallest[k][:1].tolist())
        first = np.zeros(len(smallest), dtype=np.intp)
        first[order[1:]] = np.cumsum([len(smallest[k]) for k in order[:-1]]) % folds
        hashes = [known if len(known) <= RANKED else None for known in smallest]
        below = [
            min(_LARGEST, int(known[RANKED - 1]) * SCORED // RANKED)
            if len(known) > RANKED
            else _LARGEST
            for known in smallest
        ]
        return cls(seed, folds, hashes, np.array(below, dtype=np.uint64), first)

    def check(self) -> None:
        """Raise an error where a class cannot be in the training part of every fold."""
        for code, known in enumerate(self.hashes):
            if known is not None and len(known) < 2:
                raise ValueError(
                    f"Class number {code} has fewer than 2 different rows (classes are "
                    "numbered from 0 in sorted order), too few for cross-validation; give more "
                    "rows of it, or leave the class out."
                )

    @property
    def used(self) -> list[int]:
        """The folds that have rows."""
        counts = (RANKED if known is None else len(known) for known in self.hashes)
        folds = [first + np.arange(count) for first, count in zip(self.first, counts, strict=True)]
        return [int(fold) for fold in np.unique(np.concatenate(folds) % self.folds)]

    def numbers(self, hashes: RowHashes, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return the fold of each row, from its hash and its class."""
        fold = (hashes % np.uint64(self.folds)).astype(np.intp)
        for code, known in enumerate(self.hashes):
            if known is not None:
                rows = np.flatnonzero(codes == code)
                fold[rows] = (np.searchsorted(known, hashes[rows]) + self.first[code]) % self.folds
        return fold

    def scored(self, hashes: RowHashes, codes: NDArray[np.integer]) -> Mask:
        """Return which rows are scored when models are compared."""
        return np.asarray(hashes <= self.below[codes])
