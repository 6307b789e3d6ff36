"""Rows in memory: a NumPy array of any layout, also read-only and memory-mapped.

Arrays that BLAS can take without a copy go to it as one.  Everything else (float32, strided views,
rows with an origin) is read in blocks that are converted one at a time, so X is never copied.

The origin is a row of the data that takes a large offset out of all rows.  With values around o and
a range of s, a product with X has an error of about eps o, where s is what counts: it loses
log10(o / s) of its sixteen digits, and so do class centers, which are such products.  But x - o is
exact for doubles that are this close.  A constant column becomes zero exactly.

Signed rows in single precision (``Float32Rows``) take half the bytes and half the time, with seven
digits: enough to approach a solution and to know the curvature there; certificates are computed
from the rows themselves.  Rows are centered before they are rounded, so a large offset in the data
costs no digits.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from scipy.linalg import blas

from lincent.problems.arrays import Index, Matrix, Rows, Vector, Weigh, root_mean
from lincent.sources.rows import BLOCK_BYTES, RowsBase, Source, cache_blocks

_own = threading.local()


def _scratch(rows: int, columns: int) -> Matrix:
    """Return memory for one converted block, kept by the thread: new pages cost more."""
    buffer: Vector | None = getattr(_own, "buffer", None)
    if buffer is None or buffer.size < rows * columns:
        buffer = _own.buffer = np.empty(max(rows * columns, BLOCK_BYTES // 8))
    return buffer[: rows * columns].reshape(rows, columns)


def some_rows(m: int) -> slice:
    """Return the rows, evenly along m, from which offsets and ranges are estimated."""
    return slice(0, None, max(1, m // 64))


def origin_of(some: np.ndarray[Any, Any]) -> Vector | None:
    """Return the offsets to subtract from the columns, or None where all are harmless."""
    return None if len(some) < 2 else origin_and_range(some)[0]  # a single row has no range


@np.errstate(invalid="ignore", over="ignore")  # values that are not finite show in the sums
def origin_and_range(some: np.ndarray[Any, Any]) -> tuple[Vector | None, Vector]:
    """Return the offsets of two rows or more, and the range of each column."""
    some = np.asarray(some, dtype=np.float64)
    first, extent = some[0], np.asarray(some.max(axis=0) - some.min(axis=0))
    moving, usual = extent > 0, extent
    if not moving.all():
        # A column that seems constant is compared with the median range of the others.
        usual = np.where(moving, extent, np.median(extent[moving]) if moving.any() else 0.0)
    # Such an offset costs three digits of sixteen, and tol needs nine.
    large = np.abs(first) > 1000.0 * usual
    return (np.where(large, first, 0.0) if large.any() else None), extent


class DenseRows(RowsBase):
    """Signed rows held as a C-ordered float64 array."""

    swept = True

    def __init__(self, rows: Matrix) -> None:
        self.array = rows
        self.shape: tuple[int, int] = (rows.shape[0], rows.shape[1])
        self._scratch: Matrix | None = None

    def dot(self, beta: Vector) -> Vector:
        return self.array @ beta

    def tdot(self, alpha: Vector) -> Vector:
        return alpha @ self.array

    def local_sizes(self, ruler: Matrix) -> Any:
        return _sizes(self.shape, self.array.__getitem__, ruler, 0.0)

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        # Block by block, a row is still in the cache at the second product.
        projected, total = np.empty(self.shape[0]), np.zeros(len(beta))
        for part in cache_blocks(*self.shape):
            block = self.array[part]
            total += weigh(part, np.dot(block, beta, out=projected[part])) @ block
        return projected, total

    def gram(self, weight: Vector) -> Matrix:
        scaled = np.multiply(self.array, np.sqrt(weight)[:, None], out=self._buffer())
        return scaled.T @ scaled

    def outer(self, weight: Vector) -> Matrix:
        scaled = np.multiply(self.array, np.sqrt(weight), out=self._buffer())
        return scaled @ scaled.T

    def _buffer(self) -> Matrix:
        """Return memory for a scaled copy, kept: new pages cost more than the product."""
        if self._scratch is None:
            self._scratch = np.empty_like(self.array)
        return self._scratch

    def take(self, index: Index) -> Rows:
        return DenseRows(self.array[index])

    def columns(self, index: Index) -> Rows:
        # In the order of rows at once: an index would collect by columns first.
        return DenseRows(self.array.take(index, axis=1))

    def float32(self, index: Index | None) -> Rows | None:
        m, n = self.shape
        return float32_rows(self.array, index, np.ones(m), np.zeros(n))

    def dense(self) -> Matrix:
        return self.array

    def column_scale(self) -> Vector:
        squares: Vector = np.einsum("ij,ij->j", self.array, self.array, dtype=np.float64)
        return root_mean(squares, self.shape[0])


def _sizes(shape: tuple[int, int], block: Any, ruler: Matrix, shift: Any) -> Vector:
    """Return |x_i ruler - shift| of every row, a block of rows at a time."""
    out = np.empty(shape[0])
    for part in cache_blocks(*shape):
        measured = block(part) @ ruler
        measured -= shift
        np.einsum("ij,ij->i", measured, measured, out=out[part])
    return np.sqrt(out, out=out)


class KernelMatrixRows(DenseRows):
    """Signed rows held as one large square array that must not be copied."""

    def gram(self, weight: Vector) -> Matrix:
        # Added up in place, block by block: a scaled copy of the rows would be another m x m array.
        m, n = self.shape
        root = np.sqrt(weight)
        step = max(1, -(-m // 8))
        total = np.zeros((n, n), order="F")
        for start in range(0, m, step):
            rows = slice(start, start + step)
            scaled = self.array[rows] * root[rows, None]
            total = blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, lower=1, overwrite_c=1)
        for start in range(0, n, 64):  # mirror the lower triangle, by tiles
            part = slice(start, start + 64)
            total[part, start:] += np.tril(total[start:, part], -1).T
        return np.asarray(total.T)


class Float32Rows(DenseRows):
    """Signed rows held as a float32 array.

    BLAS may set the "invalid" flag in products of finite float32 arrays; that is no error.
    """

    swept = False
    sweep = RowsBase.sweep

    @np.errstate(invalid="ignore")
    def dot(self, beta: Vector) -> Vector:
        return np.asarray(self.array @ beta.astype(np.float32), dtype=np.float64)

    @np.errstate(invalid="ignore")
    def tdot(self, alpha: Vector) -> Vector:
        return np.asarray(alpha.astype(np.float32) @ self.array, dtype=np.float64)

    @np.errstate(invalid="ignore")
    def gram(self, weight: Vector) -> Matrix:
        m, n = self.shape
        if m and weight.min() == weight.max():
            gram: Matrix = np.multiply(self.array.T @ self.array, weight[0], dtype=np.float64)
            return gram
        root = np.sqrt(weight).astype(np.float32)[:, None]
        step = max(1, min(m, max(n, BLOCK_BYTES // (4 * max(1, n)))))
        total, scratch = np.zeros((n, n)), np.empty((step, n), dtype=np.float32)
        for start in range(0, m, step):
            block = self.array[start : start + step]
            scaled = np.multiply(block, root[start : start + step], out=scratch[: len(block)])
            total += scaled.T @ scaled
        return total

    def take(self, index: Index) -> Rows:
        return Float32Rows(self.array[index])

    def columns(self, index: Index) -> Rows:
        return Float32Rows(self.array.take(index, axis=1))

    def dense(self) -> Matrix:
        return self.array.astype(np.float64)


def float32_rows(X: Any, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
    """Return these rows of an array (None: all), or None where their range is too large."""
    if index is not None:
        X, sign = X[index], sign[index]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # Rounding first is faster, and costs no digits where the center is close to zero.
        near = np.all(np.abs(center) <= 4.0 * X[some_rows(X.shape[0])].std(axis=0))
        middle, side = center.astype(np.float32) if near else center, sign.astype(np.float32)
        array: Any = np.empty(X.shape, dtype=np.float32)
        for part in cache_blocks(*X.shape):
            rows, block = X[part], array[part]
            if near:
                np.copyto(block, rows, casting="same_kind")
                rows = block
            np.subtract(rows, middle, out=block, casting="same_kind")
            block *= side[part, None]
        flat = array.reshape(-1)
        # A larger sum of squares comes too near the range of single precision.
        return Float32Rows(array) if float(flat @ flat) < 1e30 else None


class DenseSource(Source):
    """A NumPy array as a source of rows."""

    swept = True

    def __init__(
        self,
        X: np.ndarray[Any, Any],
        origin: Vector | None = None,
        *,
        centered: bool = False,
        weight: Vector | None = None,
    ) -> None:
        if centered:
            sampled: Any = some_rows(X.shape[0])
            if weight is not None and not np.all(weight[sampled] > 0):
                counted = np.flatnonzero(weight > 0)  # samples of weight zero have no say
                sampled = counted[some_rows(len(counted))] if len(counted) else sampled
            origin, self.sampled_range = origin_and_range(X[sampled])
        self.X, self.origin = X, origin
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.dtype = X.dtype
        plain = X.dtype == np.float64 and origin is None
        self._direct = plain and (X.flags.c_contiguous or X.flags.f_contiguous)
        self._by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
        self.formed = self.shape[0] * self.shape[1] <= 2**16  # half a megabyte

    def local_project(self, v: Vector) -> Vector:
        return np.asarray(self.X @ v) if self._direct else super().local_project(v)

    def local_sizes(self, ruler: Matrix, center: Vector) -> Vector:
        return _sizes(self.shape, self.block, ruler, center @ ruler)

    def local_combine(self, w: Vector) -> Vector:
        few = w.ndim == 2 and w.shape[1] <= 3  # BLAS is faster on one after the other
        if self._direct and (self.formed or not few):
            return np.asarray(self.X.T @ w)
        if not few:
            return super().local_combine(w)
        out = np.zeros((self.shape[1], w.shape[1]))
        for part in self.blocks():
            block = self.block(part)
            for k in range(w.shape[1]):
                out[:, k] += w[part, k] @ block
        return out

    def sweep(
        self, sign: Vector, center: Vector, beta: Vector, weigh: Weigh
    ) -> tuple[Vector, Vector]:
        # Block by block, a row is still in the cache at the second product.
        projected, total = np.empty(self.shape[0]), np.zeros(len(beta))
        middle = float(center @ beta)
        amount = 0.0
        for part in cache_blocks(*self.shape):
            block, side = self._contiguous_block(part), sign[part]
            signed = np.dot(block, beta, out=projected[part])
            signed -= middle
            signed *= side
            alpha = weigh(part, signed)
            alpha *= side
            amount += float(alpha.sum())
            total += alpha @ block
        total -= amount * center
        return projected, total

    def take(self, index: Index, sign: Vector, center: Vector) -> Rows:
        # Indexing with an array copies these rows, so they may be changed in place.
        return self._signed(self.X[index], slice(None), sign[index], center)

    def take_all(self, sign: Vector, center: Vector) -> Rows:
        # The first subtraction is the copy.
        first = center if self.origin is None else self.origin
        rows = np.subtract(self.X, first, dtype=np.float64, order="C")
        if self.origin is not None:
            rows -= center
        rows *= sign[:, None]
        return DenseRows(rows)

    def columns(self, index: Index, sign: Vector, center: Vector) -> Rows:
        return self._signed(self.X[:, index], index, sign, center[index])

    def _signed(self, some: Any, columns: Any, sign: Vector, center: Vector) -> Rows:
        rows = np.ascontiguousarray(some, dtype=np.float64)
        if self.origin is not None:
            rows -= self.origin[columns]
        rows -= center
        rows *= sign[:, None]
        return DenseRows(rows)

    def float32(self, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
        # Seven digits are the same whether origin and center are subtracted one by one.
        middle = center if self.origin is None else center + self.origin
        return float32_rows(self.X, index, sign, middle)

    def array(self) -> Matrix:
        X = np.asarray(self.X, dtype=np.float64)
        return X if self.origin is None else X - self.origin

    def _contiguous_block(self, part: slice) -> Matrix:
        """Return some rows in a form that BLAS takes without a copy, for more than one product.

        Some rows of a column-major array are pieces far apart: they are copied once, in the same
        order.
        """
        if not (self._direct and self._by_columns):
            return self.block(part)
        rows = self.X[part]
        block = _scratch(rows.shape[1], rows.shape[0]).T
        np.copyto(block, rows)
        return block

    def block(self, part: Any) -> Matrix:
        rows = self.X[part]
        if rows.dtype == np.float64 and self.origin is None:
            return np.asarray(rows)
        block = _scratch(*rows.shape)
        if self.origin is None:
            np.copyto(block, rows)
        else:
            np.subtract(rows, self.origin, out=block)
        return block
