"""Signed rows of a kernel matrix, and a choice of the columns of signed rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from lincent.problems.arrays import Index, Matrix, Rows, Vector, root_mean
from lincent.sources.dense import DenseRows
from lincent.sources.rows import RowsBase

BLOCK_ROWS = 2048
"""Rows of a block from which a Gram matrix is added up: no second array of all rows."""
BLOCKS, TILE = 8, 64
"""Blocks of rows for the Gram matrix of a kernel matrix, and tiles in which it is mirrored."""
GATHERED = 0.5
"""With a smaller fraction of rows in use, these are copied for a product."""


class KernelMatrixRows(DenseRows):
    """Signed rows held as one large square array that must not be copied."""

    def gram(self, weight: Vector) -> Matrix:
        # Added up in place, block by block: a scaled copy of the rows would be another m x m array.
        m, n = self.shape
        root = np.sqrt(weight)
        step = max(1, -(-m // BLOCKS))
        total = np.zeros((n, n), order="F")
        for start in range(0, m, step):
            rows = slice(start, start + step)
            scaled = self.array[rows] * root[rows, None]
            total = blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, lower=1, overwrite_c=1)
        for start in range(0, n, TILE):  # mirror the lower triangle
            stop = min(start + TILE, n)
            corner = total[start:stop, start:stop]
            corner[...] = np.tril(corner) + np.tril(corner, -1).T
            total[start:stop, stop:] = total[stop:, start:stop].T
        return np.asarray(total.T)


class SelectedColumns(RowsBase):
    """Some columns of signed rows, contiguous in memory, so that others can replace them."""

    def __init__(self, array: Matrix) -> None:
        """``array`` has the columns as its rows."""
        self.array = array
        self.shape = (array.shape[1], array.shape[0])

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(beta @ self.array)

    def tdot(self, alpha: Vector) -> Vector:
        return np.asarray(self.array @ alpha)

    def gram(self, weight: Vector) -> Matrix:
        root, total = np.sqrt(weight), np.zeros((self.shape[1], self.shape[1]))
        for start in range(0, self.shape[0], BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            scaled = self.array[:, part] * root[part]
            total += scaled @ scaled.T
        return total

    def cross(self, weight: Vector, index: Index) -> Matrix:
        """Return ``gram``, of these columns with all."""
        used, array = np.flatnonzero(weight), self.array
        if len(used) < GATHERED * len(weight):
            array, weight = array.take(used, axis=1), weight[used]
        return np.asarray(array @ (array[index] * weight).T)

    def outer(self, weight: Vector) -> Matrix:
        return np.asarray((self.array.T * weight) @ self.array)

    def take(self, index: Index) -> Rows:
        return SelectedColumns(self.array.take(index, axis=1))

    def columns(self, index: Index) -> Rows:
        return SelectedColumns(self.array[index])

    def dense(self) -> Matrix:
        return np.ascontiguousarray(self.array.T)

    def column_scale(self) -> Vector:
        return root_mean(np.einsum("ij,ij->i", self.array, self.array), self.shape[0])
