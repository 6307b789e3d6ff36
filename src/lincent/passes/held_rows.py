"""Signed rows held as one array, in double or in single precision.

Single precision is half the bytes, twice the speed and seven digits: enough to come near a solution
and to know the curvature there; what is certified is computed from the rows themselves.  Rows are
centered before they are rounded, so a large offset in the data costs no digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.passes.rows import RowsBase, cache_blocks, root_mean
from lincent.programs.arrays import Index, Matrix, Rows, Vector, Weigh

Single = NDArray[np.float32]
BLOCK_BYTES = 2**20
"""A scaled block of this size stays in the processor's cache until it is multiplied."""
LOOK_ROWS = 64
NEAR_ZERO = 4.0
"""Spreads that a center may be from zero for rounding first to cost no digits."""
LARGEST = 1e30
"""A sum of squares above this comes too near the range of single precision."""


class DenseRows(RowsBase):
    """Signed rows held as a C-ordered float64 array."""

    def __init__(self, rows: Matrix) -> None:
        self.array = rows
        self.shape: tuple[int, int] = (rows.shape[0], rows.shape[1])
        self._scratch: Matrix | None = None

    def dot(self, beta: Vector) -> Vector:
        return self.array @ beta

    def tdot(self, alpha: Vector) -> Vector:
        return alpha @ self.array

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        # Block by block, a row is still in the cache when the second product asks for it.
        projected, total = np.empty(self.shape[0]), np.zeros(len(beta))
        for part in cache_blocks(*self.shape):
            block = self.array[part]
            there = np.dot(block, beta, out=projected[part])
            total += weigh(part, there) @ block
        return projected, total

    def gram(self, weight: Vector) -> Matrix:
        scaled = np.multiply(self.array, np.sqrt(weight)[:, None], out=self._room())
        return scaled.T @ scaled

    def outer(self, weight: Vector) -> Matrix:
        scaled = np.multiply(self.array, np.sqrt(weight), out=self._room())
        return scaled @ scaled.T

    def _room(self) -> Matrix:
        """Room for a scaled copy, kept: fresh pages cost more than the product."""
        if self._scratch is None:
            self._scratch = np.empty_like(self.array)
        return self._scratch

    def take(self, index: Index) -> Rows:
        return DenseRows(self.array[index])

    def columns(self, index: Index) -> Rows:
        return DenseRows(np.ascontiguousarray(self.array[:, index]))

    def single(self, index: Index | None) -> Rows | None:
        m, n = self.shape
        return single_rows(self.array, index, np.ones(m), np.zeros(n))

    def dense(self) -> Matrix:
        return self.array

    def column_scale(self) -> Vector:
        return root_mean(np.einsum("ij,ij->j", self.array, self.array), self.shape[0])


class SingleRows(RowsBase):
    """The signed rows y_i (x_i - l), the differences held as a float32 array."""

    def __init__(self, array: Single, sign: Vector) -> None:
        self.array, self.sign = array, sign
        self.shape: tuple[int, int] = (array.shape[0], array.shape[1])

    def dot(self, beta: Vector) -> Vector:
        return (self.array @ beta.astype(np.float32)) * self.sign

    def tdot(self, alpha: Vector) -> Vector:
        signed = (alpha * self.sign).astype(np.float32)
        return np.asarray(signed @ self.array, dtype=np.float64)

    def gram(self, weight: Vector) -> Matrix:
        m, n = self.shape
        if m and weight.min() == weight.max():
            gram: Matrix = np.multiply(self.array.T @ self.array, weight[0], dtype=np.float64)
            return gram
        root = np.sqrt(weight).astype(np.float32)[:, None]
        step = min(m, max(1, BLOCK_BYTES // (4 * max(1, n))))
        total, scratch = np.zeros((n, n)), np.empty((step, n), dtype=np.float32)
        for start in range(0, m, step):
            block = self.array[start : start + step]
            scaled = np.multiply(block, root[start : start + step], out=scratch[: len(block)])
            total += scaled.T @ scaled
        return total

    def outer(self, weight: Vector) -> Matrix:
        signed = self.dense()
        return np.asarray((signed * weight) @ signed.T)

    def take(self, index: Index) -> Rows:
        return SingleRows(self.array[index], self.sign[index])

    def columns(self, index: Index) -> Rows:
        return SingleRows(np.ascontiguousarray(self.array[:, index]), self.sign)

    def dense(self) -> Matrix:
        return np.asarray(self.array * self.sign[:, None], dtype=np.float64)

    def column_scale(self) -> Vector:
        squares: Vector = np.einsum("ij,ij->j", self.array, self.array, dtype=np.float64)
        return root_mean(squares, self.shape[0])


def single_rows(X: Any, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
    """These rows of an array (None: all), or None where their range is too large."""
    if index is not None:
        X, sign = X[index], sign[index]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        array = _centered(X, center)
        flat = array.reshape(-1)
        if not float(flat @ flat) < LARGEST:
            return None
    return SingleRows(array, sign)


def _centered(X: Any, center: Vector) -> Single:
    """X - center in single precision."""
    some = X[:: max(1, X.shape[0] // LOOK_ROWS)]
    if np.all(np.abs(center) <= NEAR_ZERO * some.std(axis=0)):
        # Rounding first is faster, and costs no digits where the center is not far from zero.
        array = np.array(X, dtype=np.float32, order="C")
        array -= center.astype(np.float32)
        return array
    array = np.empty(X.shape, dtype=np.float32)
    np.subtract(X, center, out=array, casting="same_kind")
    return array
