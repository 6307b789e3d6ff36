"""Signed rows as a matrix S - u v', for more than products with vectors.

With the sparse data in S and the rank-one correction of the centering apart, some of its rows or
columns, its transpose and blocks of its Gram matrix are formed without filling S.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.problems.arrays import Index, Matrix, Rows, Vector


class CompensatedMatrix:
    """S - u v' with S an array or a sparse matrix, its rows compressed."""

    def __init__(self, S: Any, u: Vector, v: Vector) -> None:
        self.S, self.u, self.v = S, u, v
        self.shape: tuple[int, int] = (S.shape[0], S.shape[1])
        self.sparse = not isinstance(S, np.ndarray)

    def dot(self, V: Matrix | Vector) -> Matrix:
        """Return the product with one or several columns."""
        out = np.asarray(self.S @ V)
        out -= np.multiply.outer(self.u, self.v @ V)
        return out

    def tdot(self, U: Matrix | Vector) -> Matrix:
        """Return the product of the transpose with one or several columns."""
        out = np.asarray(self._transposed @ U)
        out -= np.multiply.outer(self.v, self.u @ U)
        return out

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
