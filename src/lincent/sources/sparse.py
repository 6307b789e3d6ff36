"""Rows in a SciPy sparse matrix or array, never made dense as one.

Centering would fill the matrix, so the signed rows stay implicit: every product is one with the
sparse X and a rank-one correction (see ``SignedRows``).  An origin (see ``dense``) is subtracted
from columns that have an entry in every row: these stay as full as they are.

``CompensatedMatrix`` is the same as a matrix S - u v' for solvers that need more than products with
vectors: some of its rows or columns, its transpose, and blocks of its Gram matrix.
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


class CompensatedMatrix:
    """S - u v' with S an array or a sparse matrix, its rows compressed."""

    def __init__(self, S: Any, u: Vector, v: Vector) -> None:
        self.S, self.u, self.v = S, u, v
        self.shape: tuple[int, int] = (S.shape[0], S.shape[1])
        self.sparse = not isinstance(S, np.ndarray)

    def dot(self, V: Matrix | Vector) -> Matrix:
        """Return the product with one or several columns."""
        return np.asarray(self.S @ V - np.multiply.outer(self.u, self.v @ V))

    def tdot(self, U: Matrix | Vector) -> Matrix:
        """Return the product of the transpose with one or several columns."""
        return np.asarray(self._transposed @ U - np.multiply.outer(self.v, self.u @ U))

    @cached_property
    def _transposed(self) -> Any:
        """S', which shares the entries."""
        return self.S.T

    def take(self, rows: Index) -> CompensatedMatrix:
        """Return the matrix of some rows."""
        return CompensatedMatrix(self.S[rows], self.u[rows], self.v)

    def columns(self, columns: Index) -> CompensatedMatrix:
        """Return the matrix of some columns."""
        return CompensatedMatrix(self.S[:, columns], self.u, self.v[columns])

    def transpose(self) -> CompensatedMatrix:
        """Return the transpose."""
        S = sp.csr_array(self.S.T) if self.sparse else self.S.T
        return CompensatedMatrix(S, self.v, self.u)

    def append_column(self, column: Vector) -> CompensatedMatrix:
        """Return the matrix with one more column."""
        if self.sparse:
            S = sp.csr_array(sp.hstack([self.S, sp.csr_array(column[:, None])], format="csr"))
        else:
            S = np.column_stack([self.S, column])
        return CompensatedMatrix(S, self.u, np.append(self.v, 0.0))

    def row_squares(self, weight: Vector) -> Vector:
        """Compute sum_j weight_j a_ij^2 of every row."""
        S = self.S
        squared = sp.csr_array((S.data**2, S.indices, S.indptr), S.shape) if self.sparse else S * S
        own = float(self.v**2 @ weight)
        squares = squared @ weight - self.u * (2.0 * (S @ (self.v * weight)) - self.u * own)
        return np.asarray(np.maximum(squares, 0.0))

    def dense(self) -> Matrix:
        """Return the matrix as an array."""
        S = self.S.toarray() if self.sparse else self.S
        return np.asarray(S - np.multiply.outer(self.u, self.v))

    def gram(self, block: int) -> Matrix:
        """Compute the lower half of the Gram matrix, ``block`` columns at a time.

        The sparse product of the whole would take several times the memory of the result.
        """
        n, mixed = self.shape[1], self.S.T @ self.u
        # (S - u v')'(S - u v'): that of S and a change of rank two.
        left = np.stack([self.v, mixed - float(self.u @ self.u) * self.v], axis=1)
        right = np.stack([mixed, self.v])
        out, transposed = np.empty((n, n)), self.transpose().S
        for start in range(0, n, block):
            part, stop = slice(start, start + block), min(start + block, n)
            product = transposed[part] @ self.S[:, :stop]
            out[part, :stop] = product.toarray() if self.sparse else product
            out[part, :stop] -= left[part] @ right[:, :stop]
        return out


def compensated(rows: Rows) -> CompensatedMatrix:
    """Return signed rows as a matrix S - u v'."""
    return CompensatedMatrix(*rows.factors())
