"""A matrix with a correction of rank one, S - u v': signed rows whose S stays as sparse as X.

What solvers ask of it beyond products with vectors: some of its rows or columns, itself turned
over, and blocks of its Gram matrix.  Each of these keeps the form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.problems.arrays import Index, Matrix, Vector


class Corrected:
    """S - u v' with S an array."""

    def __init__(self, S: Any, u: Vector, v: Vector) -> None:
        self.S, self.u, self.v = S, u, v
        self.shape: tuple[int, int] = (S.shape[0], S.shape[1])

    def dot(self, V: Matrix | Vector) -> Matrix:
        """The matrix times one or several columns."""
        return np.asarray(self.S @ V - np.multiply.outer(self.u, self.v @ V))

    def tdot(self, U: Matrix | Vector) -> Matrix:
        """The matrix turned over times one or several columns."""
        return np.asarray(self.S.T @ U - np.multiply.outer(self.v, self.u @ U))

    def take(self, rows: Index) -> Corrected:
        return type(self)(self.S[rows], self.u[rows], self.v)

    def columns(self, columns: Index) -> Corrected:
        return type(self)(self.S[:, columns], self.u, self.v[columns])

    def turned(self) -> Corrected:
        """Rows for columns."""
        return type(self)(self.S.T, self.v, self.u)

    def beside(self, column: Vector) -> Corrected:
        """The matrix with one more column."""
        return type(self)(np.column_stack([self.S, column]), self.u, np.append(self.v, 0.0))

    def row_squares(self, weight: Vector) -> Vector:
        """sum_j weight_j a_ij^2 of every row."""
        mixed = self.S @ (self.v * weight)
        own = float(self.v**2 @ weight)
        squares = self._squared() @ weight - self.u * (2.0 * mixed - self.u * own)
        return np.asarray(np.maximum(squares, 0.0))

    def dense(self) -> Matrix:
        return np.asarray(self.S - np.multiply.outer(self.u, self.v))

    def gram(self, block: int) -> Matrix:
        """The lower half of the Gram matrix of the columns, formed a few columns at a time.

        Blocks, because the sparse product of the whole would take several times its memory.
        """
        n, mixed = self.shape[1], self.S.T @ self.u
        # (S - u v')'(S - u v'): that of S and a change of rank two.
        left = np.stack([self.v, mixed - float(self.u @ self.u) * self.v], axis=1)
        right = np.stack([mixed, self.v])
        out, turned = np.empty((n, n)), self.turned().S
        for start in range(0, n, block):
            part, upto = slice(start, start + block), min(start + block, n)
            out[part, :upto] = self._filled(turned[part] @ self.S[:, :upto])
            out[part, :upto] -= left[part] @ right[:, :upto]
        return out

    def _squared(self) -> Any:
        return self.S * self.S

    @staticmethod
    def _filled(product: Any) -> Matrix:
        return np.asarray(product)


class SparseCorrected(Corrected):
    """S - u v' with S sparse, its rows compressed."""

    def turned(self) -> Corrected:
        return SparseCorrected(sp.csr_array(self.S.T), self.v, self.u)

    def beside(self, column: Vector) -> Corrected:
        last = sp.csr_array(column[:, None])
        wider = sp.csr_array(sp.hstack([self.S, last], format="csr"))
        return SparseCorrected(wider, self.u, np.append(self.v, 0.0))

    def dense(self) -> Matrix:
        return np.asarray(self.S.toarray() - np.multiply.outer(self.u, self.v))

    def _squared(self) -> Any:
        S = self.S
        return sp.csr_array((S.data**2, S.indices, S.indptr), shape=S.shape)

    @staticmethod
    def _filled(product: Any) -> Matrix:
        return np.asarray(product.toarray())
