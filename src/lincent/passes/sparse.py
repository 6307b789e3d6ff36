"""Rows in a SciPy sparse matrix or array, never made dense as a whole.

Centering would fill the matrix, so the signed rows stay implicit: every product is one with the
sparse X and a rank-one correction (see ``SignedRows``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.passes.source import (
    Index,
    SignedRows,
)
from lincent.programs.arrays import (
    Matrix,
    Rows,
    Vector,
)


class SparsePass:
    """A sparse matrix (rows compressed) as a source of rows."""

    sparse = True

    def __init__(self, X: Any) -> None:
        self.X = sp.csr_array(X)
        self.shape: tuple[int, int] = (self.X.shape[0], self.X.shape[1])

    def project(self, v: Vector) -> Vector:
        return np.asarray(self.X @ v, dtype=np.float64)

    def combine(self, w: Vector) -> Vector:
        return np.asarray(self.X.T @ w, dtype=np.float64)

    def gram(self, w: Vector) -> Matrix:
        weighted = self._scaled(np.sqrt(w))
        product = weighted.T @ weighted
        return np.asarray(product.toarray(), dtype=np.float64)

    def outer(self, w: Vector) -> Matrix:
        """X diag(w) X', for problems with more columns than rows."""
        columns = sp.csr_array(
            (self.X.data * np.sqrt(w)[self.X.indices], self.X.indices, self.X.indptr),
            shape=self.shape,
        )
        return np.asarray((columns @ columns.T).toarray(), dtype=np.float64)

    def take(self, index: Index, sign: Vector, center: Vector) -> Rows:
        return SignedRows(SparsePass(self.X[index]), sign, center)

    def array(self) -> Matrix:
        return np.asarray(self.X.toarray(), dtype=np.float64)

    def signed(self, sign: Vector) -> Any:
        return self._scaled(sign)

    def column_scale(self, center: Vector) -> Vector:
        m = max(1, self.shape[0])
        second = np.zeros(self.shape[1])
        np.add.at(second, self.X.indices, np.asarray(self.X.data, dtype=np.float64) ** 2)
        mean = self.combine(np.full(self.shape[0], 1.0 / m))
        scale = np.sqrt(np.maximum(second / m - 2 * mean * center + center**2, 0.0))
        scale[scale == 0] = 1.0
        return scale

    def _scaled(self, weight: Vector) -> Any:
        data = self.X.data * np.repeat(weight, np.diff(self.X.indptr))
        return sp.csr_array((data, self.X.indices, self.X.indptr), shape=self.shape)
