"""Signed rows of a kernel matrix: formed, or with columns that are computed when needed.

``KernelMatrixRows`` hold the matrix.  ``KernelColumns`` never form it: a method that needs few
columns at a time (those of a sparse solution, and sums over the others to decide whether one of
them should join) needs memory for these alone.  The rows are y_i k(x_i, .), not centered: a free
threshold takes the place of the center.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import blas

from lincent.problems.arrays import Index, Matrix, Rows, Vector, root_mean
from lincent.sources.dense import DenseRows
from lincent.sources.rows import RowsBase

BLOCK_ENTRIES = 2**21
"""So many entries of the kernel are computed at once: some hundredths of a second."""
BLOCK_ROWS = 2048
"""Rows of a block from which a Gram matrix is added up: no second array of all rows."""
BLOCKS, TILE = 8, 64
"""Blocks of rows for the Gram matrix of a kernel matrix, and tiles in which it is mirrored."""
GATHERED = 0.5
"""With a smaller fraction of rows in use, these are copied for a product."""

Between = Callable[[Index, Index], Matrix]
"""The kernel between some rows and some columns, each by its index."""
Sums = Callable[[Index, Index, Vector], Vector]
"""A combination of some rows of the kernel, in some columns."""


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


class KernelColumns(RowsBase):
    """Signed rows of the kernel between all rows and all columns, computed when needed."""

    def __init__(
        self, between: Between, sign: Vector, columns: int, sums: Sums | None = None
    ) -> None:
        self.between, self.sign = between, sign
        self.sums: Sums = sums or (lambda rows, index, w: w @ between(rows, index))
        self.shape = (len(sign), columns)
        self._all = np.arange(len(sign))

    def columns(self, index: Index) -> DenseRows:
        array = self.between(self._all, index)
        array *= self.sign[:, None]
        return DenseRows(array)

    def blocks(self, columns: Index, rows: int) -> Iterator[Index]:
        """Yield these columns in blocks, for work on so many rows."""
        step = max(1, BLOCK_ENTRIES // max(1, rows))
        for start in range(0, len(columns), step):
            yield columns[start : start + step]

    def write(self, index: Index, out: Matrix, places: Index) -> None:
        """Write these columns to these rows of ``out``."""
        m = len(self._all)
        for part, place in zip(self.blocks(index, m), self.blocks(places, m), strict=True):
            out[place] = self.between(self._all, part).T * self.sign

    def tdot_of(self, alpha: Vector, index: Index) -> Vector:
        """Return ``tdot`` for these columns; rows without a multiplier are not computed."""
        used = np.flatnonzero(alpha)
        if not len(used):
            return np.zeros(len(index))
        return np.asarray(self.sums(used, index, (alpha * self.sign)[used]))

    def dot(self, beta: Vector) -> Vector:
        used = np.flatnonzero(beta)
        return np.asarray(self.sign * (self.between(self._all, used) @ beta[used]))

    def tdot(self, alpha: Vector) -> Vector:
        parts = self.blocks(np.arange(self.shape[1]), int(np.count_nonzero(alpha)))
        return np.concatenate([self.tdot_of(alpha, part) for part in parts])

    def take(self, index: Index) -> KernelColumns:
        return self.part(index, np.arange(self.shape[1]))

    def part(self, rows: Index, columns: Index) -> KernelColumns:
        """Return some rows, in some columns."""
        return KernelColumns(
            lambda i, j: self.between(rows[i], columns[j]),
            self.sign[rows],
            len(columns),
            lambda i, j, w: self.sums(rows[i], columns[j], w),
        )

    def gram(self, weight: Vector) -> Matrix:
        return DenseRows(self.dense()).gram(weight)

    def outer(self, weight: Vector) -> Matrix:
        return DenseRows(self.dense()).outer(weight)

    def dense(self) -> Matrix:
        return self.columns(np.arange(self.shape[1])).array

    def column_scale(self) -> Vector:
        parts = self.blocks(np.arange(self.shape[1]), self.shape[0])
        squares = [np.square(self.between(self._all, part)).sum(axis=0) for part in parts]
        return root_mean(np.concatenate(squares), self.shape[0])


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
