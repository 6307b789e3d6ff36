"""One number per row that depends on the row's values alone.

    key(x) = mix( sum_j [x_j != 0] mix( bits(x_j) xor mix(j + seed) ) )     modulo 2^64

Equal rows have equal keys, wherever they stand and however often; different rows have different
keys but for a chance of 2^-64.  Sorting by key is therefore a random order of the *distinct* rows
that no permutation or repetition of the data can change: drawing the first few is a sample in
which a repeated row and a row of weight two are the same thing.  Zeros add nothing, so a sparse
matrix has the keys of its dense form.


---

Folds dealt by the values of rows: the same wherever the rows are and however they are cut.

The different rows of a class, in the random order of their keys, go to the folds in turn.  So
classes are spread evenly, repetitions of a row stay together, a weight of two is the same as a
repeated row, and no permutation of the data changes a fold.  A rank needs all keys of the class; of
a class with more than ``RANKED`` different rows a row goes to the fold that its own key names,

    key modulo folds,

which deals as evenly as coins fall.  Of such a class only some rows, those with the smallest keys,
are asked when models are compared: with r the ``RANKED``-th smallest key, about ``JUDGED``
different rows have a key below r JUDGED / RANKED.


---

Some different rows of each class, and what all rows say of each column.

Rows are drawn by their keys (``row_hash``), so that the sample is the same wherever the rows are
and however they are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Index
from lincent.sources.source import Kind, kind_of

RowHashes = NDArray[np.uint64]

BLOCK_ROWS = 8192
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(bits: RowHashes) -> RowHashes:
    """The finalizer of splitmix64: every input bit moves every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


def row_hashes(X: Any, seed: int = 0) -> RowHashes:
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


def _sparse_keys(X: Any, columns: RowHashes) -> RowHashes:
    X = sp.csr_array(X)
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    mixed = _mix(values.view(np.uint64) ^ columns[X.indices])
    mixed[values == 0] = 0
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return _mix(total[X.indptr[1:]] - total[X.indptr[:-1]])


def _device_keys(X: Any, columns: RowHashes) -> RowHashes:
    """The same on a device, where whole numbers have a sign: shifts must not carry it along."""
    from lincent.sources.array_namespace import DeviceNamespace
    from lincent.sources.device import parts_of

    device = DeviceNamespace(X)
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
    _, first, group = np.unique(row_hashes(X), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def candidates_by_hash(keys: RowHashes, count: int) -> Index:
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


def smallest_distinct(keys: RowHashes, weight: Any, count: int) -> tuple[Index, Any]:
    """The places of at most ``count`` different rows, those with the smallest keys, in their
    order, and what equal ones weigh together.
    """
    below = candidates_by_hash(keys, count)
    _, first, kind = np.unique(keys[below], return_index=True, return_inverse=True)
    total = np.bincount(kind.reshape(-1), weights=weight[below], minlength=len(first))
    return below[first[:count]], total[:count]


def draw_distinct(X: Any, allowed: NDArray[np.bool_], count: int, seed: int) -> Index:
    """At most ``count`` different rows among those allowed, in an order that only values decide."""
    candidates = np.flatnonzero(allowed)
    keys = row_hashes(X, seed)[candidates]
    _, first = np.unique(keys, return_index=True)
    return np.asarray(candidates[first[:count]])


RANKED = 10_000
JUDGED = 100_000
_EVERY = 2**64 - 1

Numbers = NDArray[np.intp]


def smallest_hashes(keys: RowHashes) -> RowHashes:
    """What dealing has to know of a class: its smallest different keys, in order."""
    return np.unique(keys[candidates_by_hash(keys, RANKED + 1)])[: RANKED + 1]


@dataclass(frozen=True)
class ClassRule:
    """What is to be known of one class: its keys in order, or None where they are too many."""

    keys: RowHashes | None
    below: int
    """Rows with a key up to this are asked when models are compared."""
    first: int = 0
    """The fold of its first row."""

    @classmethod
    def of(cls, smallest: RowHashes) -> ClassRule:
        if len(smallest) <= RANKED:
            return cls(smallest, _EVERY)
        return cls(None, min(_EVERY, int(smallest[RANKED - 1]) * JUDGED // RANKED))

    def folds(self, keys: RowHashes, folds: int) -> Numbers:
        if self.keys is None:
            return (keys % np.uint64(folds)).astype(np.intp)
        return np.asarray((np.searchsorted(self.keys, keys) + self.first) % folds)


@dataclass(frozen=True)
class HashKFold:
    """The rule by which rows of each class find their folds; keys come from ``seed``."""

    seed: int
    folds: int
    rules: list[ClassRule]

    @classmethod
    def of(cls, smallest: Sequence[RowHashes], folds: int, seed: int) -> HashKFold:
        """From ``smallest_keys`` of each class; each goes on where the one before ended."""
        rules, passed = [], 0
        for keys in smallest:
            rules.append(replace(ClassRule.of(keys), first=passed % folds))
            passed += len(keys)
        return cls(seed, folds, rules)

    def check(self) -> None:
        """Every class must be in the training part of every fold."""
        for code, rule in enumerate(self.rules):
            if rule.keys is not None and len(rule.keys) < 2:
                raise ValueError(
                    f"Class number {code} has fewer than 2 different rows, too few for "
                    "cross-validation; give more rows, or use the estimator without CV."
                )

    @property
    def used(self) -> list[int]:
        """The folds that hold rows."""
        most = [RANKED if rule.keys is None else len(rule.keys) for rule in self.rules]
        places = [
            (np.arange(count) + rule.first) % self.folds
            for count, rule in zip(most, self.rules, strict=True)
        ]
        return [int(fold) for fold in np.unique(np.concatenate(places))]

    def numbers(self, keys: RowHashes, codes: NDArray[np.integer]) -> Numbers:
        """The fold of each row, from its key and its class."""
        fold = np.empty(len(codes), dtype=np.intp)
        for code, rule in enumerate(self.rules):
            rows = np.flatnonzero(codes == code)
            fold[rows] = rule.folds(keys[rows], self.folds)
        return fold

    def judged(self, keys: RowHashes, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which rows are asked when models are compared."""
        below = np.array([rule.below for rule in self.rules], dtype=np.uint64)
        asked: NDArray[np.bool_] = keys <= below[codes]
        return asked
