"""Rows in a SciPy sparse matrix or array, never made dense as one.

Centering would fill the matrix, so the signed rows stay implicit: every product is one with the
sparse X and a rank-one correction (see ``SignedRows``).  An origin (see ``dense``) is subtracted
from columns that have an entry in every row: these stay as full as they are.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.problems.arrays import Index, Mask, Matrix, Rows, Vector, root_mean
from lincent.sources.dense import DenseRows, origin_of, some_rows
from lincent.sources.rows import SignedRows, Source


class SparseSource(Source):
    """A sparse matrix (rows compressed) as a source of rows."""

    sparse = True

    def __init__(self, X: Any, *, centered: bool = False) -> None:
        self.X = sp.csr_array(X)
        self.dtype = self.X.dtype
        self.shape: tuple[int, int] = (self.X.shape[0], self.X.shape[1])
        self.origin = _origin(self.X) if centered else None
        if self.origin is not None:
            self.X = self._stored(self.X.data - self.origin[self.X.indices])

    @property
    def entries(self) -> int:
        return int(self.X.nnz)

    def local_project(self, v: Vector) -> Vector:
        return np.asarray(self.X @ v, dtype=np.float64)

    def local_combine(self, w: Vector) -> Vector:
        return np.asarray(self._transposed @ w, dtype=np.float64)

    @cached_property
    def _transposed(self) -> Any:
        """X', which shares the entries: SciPy's checks cost more than a short product."""
        return self.X.T

    def gram(self, w: Vector) -> Matrix:
        weighted = self.signed(np.sqrt(w))
        product = weighted.T @ weighted
        return np.asarray(product.toarray(), dtype=np.float64)

    def outer(self, w: Vector) -> Matrix:
        columns = self._stored(self.X.data * np.sqrt(w)[self.X.indices])
        return np.asarray((columns @ columns.T).toarray(), dtype=np.float64)

    def take(self, index: Index, sign: Vector, center: Vector) -> Rows:
        return SignedRows(SparseSource(self.X[index]), sign[index], center)

    def columns(self, index: Index, sign: Vector, center: Vector) -> Rows:
        rows = np.array(self.X[:, index].toarray(), dtype=np.float64, order="C")
        rows -= center[index]
        rows *= sign[:, None]
        return DenseRows(rows)

    def block(self, part: Any) -> Matrix:
        return np.asarray(self.X[part].toarray(), dtype=np.float64)

    def array(self) -> Matrix:
        return self.block(slice(None))

    def signed(self, sign: Vector) -> Any:
        return self._stored(self.X.data * np.repeat(sign, np.diff(self.X.indptr)))

    def _stored(self, data: Any) -> Any:
        """Return X with other values at its entries."""
        return sp.csr_array((data, self.X.indices, self.X.indptr), shape=self.shape)

    def column_scale(self, center: Vector) -> Vector:
        m = max(1, self.shape[0])
        second = np.zeros(self.shape[1])
        np.add.at(second, self.X.indices, np.asarray(self.X.data, dtype=np.float64) ** 2)
        mean = self.combine(np.full(self.shape[0], 1.0 / m))
        return root_mean(np.maximum(second - m * (2 * mean * center - center**2), 0.0), m)

    def constant_columns(self, index: Index) -> Mask:
        columns = self.X[:, index]
        low, high = (np.asarray(v.toarray()).reshape(-1) for v in (columns.min(0), columns.max(0)))
        return np.asarray(low == high)


def _origin(X: Any) -> Vector | None:
    """Return the offsets of columns without missing entries, where they are large."""
    m, n = X.shape
    some = X[some_rows(m)]
    full = np.bincount(some.indices, minlength=n) == some.shape[0]
    if m and full.any():  # seldom, so that this is seldom a pass
        full = np.bincount(X.indices, minlength=n) == m
    columns = np.flatnonzero(full)
    offsets = origin_of(some[:, columns].toarray()) if len(columns) else None
    if offsets is None:
        return None
    origin = np.zeros(n)
    origin[columns] = offsets
    return origin
