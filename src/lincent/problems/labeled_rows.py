"""The rows from which a program was made, with labels and weights, as a proof reads them.

Sums over them are pairs of doubles.  Dense rows come in parts that stay in the cache; sparse ones
in parts whose entries are summed along rows or columns, so that a proof costs what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.exact_sums import Pair, product_sums, sums, sums_of_runs

BLOCK_ENTRIES = 1 << 15
"""Entries evaluated at a time: the dozen arrays of this size stay in the cache."""

ReadRows = Callable[[slice | Index], Any]


@dataclass(frozen=True)
class LabeledRows:
    """The rows x_i of a program in memory, with the weights and labels its centers are made of.

    What ``read`` gives is handed back to the methods below, which know its form.
    """

    read: ReadRows
    sign: Vector
    weight: Vector
    shape: tuple[int, int]

    def parts(self) -> Iterator[slice]:
        """All rows, some at a time."""
        m, step = self.shape[0], max(1, self._rows_at_a_time())
        for start in range(0, m, step):
            yield slice(start, min(start + step, m))

    def _rows_at_a_time(self) -> int:
        return BLOCK_ENTRIES // max(1, self.shape[1])

    def largest(self, X: Any) -> float:
        """The largest size of an entry."""
        return float(np.abs(X).max(initial=0.0))

    def combined(self, X: Any, weight: Vector) -> Pair:
        """sum_i weight_i x_i."""
        if np.all(weight == 1.0):
            return sums(X, axis=0)
        return product_sums(X, weight[:, None], axis=0)

    def projected(self, X: Any, v: Vector) -> Pair:
        """x_i.v of each row."""
        return product_sums(X, v, axis=1)

    def columns(self, X: Any, index: Index) -> Matrix:
        """Some columns, as an array."""
        return np.asarray(X[:, index])


@dataclass(frozen=True)
class SparseLabeledRows(LabeledRows):
    """The same in a sparse matrix, its rows compressed."""

    entries: int

    def _rows_at_a_time(self) -> int:
        # Each part adds to all columns: it has about as many entries, at least.
        m, n = self.shape
        return max(BLOCK_ENTRIES, n) * m // max(1, self.entries)

    def largest(self, X: Any) -> float:
        return float(np.abs(X.data).max(initial=0.0))

    def combined(self, X: Any, weight: Vector) -> Pair:
        X = X.tocsc()
        return sums_of_runs(X.data, weight[X.indices], X.indptr)

    def projected(self, X: Any, v: Vector) -> Pair:
        return sums_of_runs(X.data, v[X.indices], X.indptr)

    def columns(self, X: Any, index: Index) -> Matrix:
        return np.asarray(X[:, index].toarray())
