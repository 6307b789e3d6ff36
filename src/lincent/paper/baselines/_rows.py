"""Rows as the solvers of this room want them.

All methods here but the discriminant analysis see X through inner products only, so the weights
they find lie in the span of the rows.  With more columns than rows the problem is therefore solved
in coordinates of that span, m numbers per row instead of n, and the answer is lifted back:

    X' = QR,   X w = R' (Q'w),   w = Q v,   |w| = |v|.

A sparse X is not made dense for it: the coordinates come from X X' = U diag(e) U', and
w = X' U diag(e)^(-1/2) v.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from lincent.problems.arrays import Rows
from lincent.sources.dense import DenseRows
from lincent.sources.rows import SignedRows
from lincent.sources.source import Kind, kind_of
from lincent.sources.sparse import SparseSource

LARGEST = 1e140
"""Products of two numbers up to here can be added up over any number of rows."""


class RowSpace:
    """Coordinates of the rows, at most as many as there are rows."""

    def __init__(self, X: Any) -> None:
        m, n = X.shape
        self._basis: np.ndarray | None = None
        self._rows: Any = None
        self.coordinates: Any = X
        if n <= m:
            return
        if kind_of(X) is Kind.SPARSE:
            values, vectors = np.linalg.eigh(SparseSource(X).outer(np.ones(n)))
            kept = values > m * np.finfo(float).eps * max(values[-1], 0.0)
            roots = np.sqrt(values[kept])
            self.coordinates = vectors[:, kept] * roots
            self._basis, self._rows = vectors[:, kept] / roots, X
        else:
            self._basis, triangle = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
            self.coordinates = np.ascontiguousarray(triangle.T)

    def lift(self, v: np.ndarray) -> np.ndarray:
        """Weights of the columns from weights of the coordinates."""
        if self._basis is None:
            return v
        w = self._basis @ v
        return w if self._rows is None else np.asarray(self._rows.T @ w)


def as_float(X: Any) -> Any:
    """X in float64, no copy where it is already; a sentence where squares overflow or vanish."""
    X = X.astype(np.float64, copy=False)
    values = X.data if kind_of(X) is Kind.SPARSE else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > LARGEST:
        raise ValueError(
            f"X has values up to {largest:.2g}, and sums of products of them overflow: scale X "
            f"(below {LARGEST:g})."
        )
    if 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"X has values up to {largest:.2g} only, and products of them vanish: scale X "
            f"(above {1 / LARGEST:g})."
        )
    return X


def with_ones(X: Any) -> Any:
    """(X, 1): a last column of ones for the intercept."""
    if kind_of(X) is Kind.SPARSE:
        return sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))], format="csr"))
    return np.hstack([X, np.ones((X.shape[0], 1))])


def signed_rows(X: Any, sign: np.ndarray) -> Rows:
    """The operator with rows sign_i x_i."""
    if kind_of(X) is Kind.SPARSE:
        return SignedRows(SparseSource(X), sign, np.zeros(X.shape[1]))
    return DenseRows(X * sign[:, None])
