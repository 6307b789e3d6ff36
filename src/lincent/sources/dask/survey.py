"""The first read of a data set in blocks: checks, labels, weights, and the sums by class.

What must be known before a program can be stated, in one read: the classes, the weight of each,
whether costs differ, and the weighted sums from which the centers follow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.problems.arrays import Matrix, Vector
from lincent.sources.dask.block import apart, open_rows, sliced, tidy
from lincent.sources.dask.run import BlockError
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.landmarks import MappedRows
from lincent.sources.source import Kind, kind_of

CLASSES_AT_ONCE = 8


@dataclass(frozen=True)
class Survey:
    """Labels, weights and sums of one block, or of several."""

    lengths: list[int]
    classes: np.ndarray[Any, Any]
    present: np.ndarray[Any, Any]  # rows, blocks by classes
    first: np.ndarray[Any, Any]  # the number of the first row of each class
    counts: np.ndarray[Any, Any]  # rows of positive weight, blocks by classes
    totals: Matrix  # weight, blocks by classes
    origin: Vector  # what is taken off every row (see passes.dense)
    sums: Matrix  # weighted sums of the rows around it, classes by columns
    least: float  # least and largest positive weight
    most: float

    @classmethod
    def joined(cls, parts: list[Survey]) -> Survey:
        known = [part.classes for part in parts if len(part.classes)]
        classes = np.unique(np.concatenate(known)) if known else parts[0].classes
        lengths = [length for part in parts for length in part.lengths]
        present = np.zeros((len(lengths), len(classes)), dtype=np.int64)
        first = np.full(len(classes), sum(lengths), dtype=np.int64)
        counts = np.zeros_like(present)
        totals = np.zeros((len(lengths), len(classes)))
        origin = max(parts, key=lambda part: sum(part.lengths)).origin
        sums = np.zeros((len(classes), len(origin)))
        begin = passed = 0
        for part in parts:
            place = np.searchsorted(classes, part.classes)
            rows = slice(begin, begin + len(part.lengths))
            present[rows, place] = part.present
            first[place] = np.minimum(first[place], passed + part.first)
            counts[rows, place] = part.counts
            totals[rows, place] = part.totals
            # Two origins differ by about a spread: nothing is lost in going from one to the other.
            sums[place] += part.sums + np.outer(part.totals.sum(axis=0), part.origin - origin)
            begin, passed = rows.stop, passed + sum(part.lengths)
        least, most = min(part.least for part in parts), max(part.most for part in parts)
        return cls(lengths, classes, present, first, counts, totals, origin, sums, least, most)

    def as_one(self) -> Survey:
        """The same, as if of one block."""
        return replace(
            self,
            lengths=[sum(self.lengths)],
            present=self.present.sum(axis=0)[None],
            counts=self.counts.sum(axis=0)[None],
            totals=self.totals.sum(axis=0)[None],
        )


def survey(x: Any, y: Any, weight: Any, *, n: int) -> Survey:
    """Check a block and sum its rows by class."""
    x, y, weight = apart(x, y, weight)
    X = tidy(x, n)
    labels = np.asarray(y)
    if labels.ndim > 1 and labels.shape[1:] != (1,):
        raise BlockError(f"y has shape {labels.shape}; give one label per row.")
    labels = labels.reshape(-1)
    if len(labels) != X.shape[0]:
        raise BlockError(f"X has {X.shape[0]} rows, y has {len(labels)}.")
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is named below
        found: Survey = _survey(X, labels, _weights(weight, X.shape[0]))
    if labels.dtype.kind == "f" and not np.all(np.isfinite(found.classes)):
        raise BlockError("y has missing or infinite labels.")
    if not np.all(np.isfinite(found.sums)):
        if isinstance(X, MappedRows):
            raise BlockError("the kernel has values that are not finite; scale X, or use another.")
        _check_finite(X)
    return found


@sliced(lambda parts: Survey.joined(parts).as_one())
def _survey(X: Any, labels: Any, weights: Any) -> Survey:
    classes, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    k = len(classes)
    sums = np.zeros((k, X.shape[1]))
    origin = _origin(X)
    source = open_rows(X, origin)
    for begin in range(0, k, CLASSES_AT_ONCE):
        some = np.arange(begin, min(begin + CLASSES_AT_ONCE, k))
        sums[some] = source.combine(np.where(codes[:, None] == some, weights[:, None], 0.0)).T
    positive = weights > 0
    used = weights[positive]
    return Survey(
        lengths=[X.shape[0]],
        classes=classes,
        present=np.bincount(codes, minlength=k)[None],
        first=first,
        counts=np.bincount(codes[positive], minlength=k)[None],
        totals=np.bincount(codes, weights=weights, minlength=k).astype(np.float64)[None],
        origin=np.zeros(X.shape[1]) if origin is None else origin,
        sums=sums,
        least=float(used.min(initial=np.inf)),
        most=float(used.max(initial=0.0)),
    )


def _origin(X: Any) -> Vector | None:
    if isinstance(X, MappedRows) or kind_of(X) is Kind.SPARSE:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        return origin_of(X[some_rows(X.shape[0])])


def _weights(weight: Any, m: int) -> Vector:
    if weight is None:
        return np.broadcast_to(1.0, m)
    weights = np.asarray(weight, dtype=np.float64).reshape(-1)
    if len(weights) != m:
        raise BlockError(f"X has {m} rows, sample_weight has {len(weights)}.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise BlockError(
            f"the sample weight of row {bad[0]} of the partition is {weights[bad[0]]}; give finite "
            "weights of at least 0."
        )
    return weights


def _check_finite(X: Any) -> None:
    sparse = kind_of(X) is Kind.SPARSE
    values = sp.coo_array(X) if sparse else X
    bad = np.argwhere(~np.isfinite(values.data if sparse else values))
    if not len(bad):
        return
    if sparse:
        row, column = values.row[bad[0][0]], values.col[bad[0][0]]
    else:
        row, column = bad[0]
    raise BlockError(
        f"X has NaN or an infinite value (row {row} of the partition, column {column}); fill or "
        "drop such rows first."
    )


def length(x: Any, y: Any, weight: Any) -> list[int]:
    """The number of rows of a block."""
    return [x.shape[0]]
