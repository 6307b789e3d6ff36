"""Rows in memory: a NumPy array of any layout, also read-only and memory-mapped.

Arrays that BLAS can take as they are go to it whole.  Everything else (float32, strided views, rows
with an origin) is read in blocks that are converted one at a time, so X is never copied.

The origin is a row of the data that takes a large offset out of all rows.  With values around o and
a spread of s, a product with X has an error of about eps o, where s is what counts: it loses
log10(o / s) of its sixteen digits, and so do class centers, which are such products.  But x - o is
exact for doubles that are this close.  A constant column becomes zero exactly.


---

Signed rows in single precision: half the bytes, twice the speed, seven digits.

Enough to come near a solution and to know the curvature there; what is certified is computed from
the rows themselves.  Rows are centered before they are rounded, so a large offset in the data costs
no digits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Matrix, Rows, Vector, Weigh, root_mean
from lincent.sources.rows import RowsBase, Source, cache_blocks

BLOCK_BYTES = 2**20
"""A block of this size stays in the processor's cache between conversion and product."""
FORMED_ENTRIES = 2**16
"""Up to so many entries (half a megabyte) signed rows are formed at once, as a solve will."""
FEW_COLUMNS = 3
"""Up to so many vectors at a time BLAS is faster on one after the other."""
LOOK_ROWS = 64
"""Rows, evenly along the data, that tell its offsets and spreads."""
HARMLESS = 1000.0
"""An offset of up to so many spreads costs three digits of sixteen, and tol needs nine."""
_own = threading.local()


def _scratch(rows: int, columns: int) -> Matrix:
    """Room for one converted block, kept by the thread: fresh pages cost more than converting."""
    buffer: Vector | None = getattr(_own, "buffer", None)
    if buffer is None or buffer.size < rows * columns:
        buffer = _own.buffer = np.empty(max(rows * columns, BLOCK_BYTES // 8))
    return buffer[: rows * columns].reshape(rows, columns)


def class_means(source: Source, sign: Vector, weight: Vector) -> Matrix:
    """``Source.class_means`` for vectors in memory: one product."""
    split = np.empty((2, len(sign)))
    np.multiply(weight, sign > 0, out=split[1])
    np.subtract(weight, split[1], out=split[0])
    totals = split.sum(axis=1)
    return np.ascontiguousarray((source.combine(split.T) / totals).T)


def constant_columns(columns: Matrix) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of these columns are one number."""
    return np.asarray(np.all(columns == columns[:1], axis=0))


class DenseRows(RowsBase):
    """Signed rows held as a C-ordered float64 array."""

    swept = True

    def __init__(self, rows: Matrix) -> None:
        self.array = rows
        self.shape: tuple[int, int] = (rows.shape[0], rows.shape[1])
        self._scratch: Matrix | None = None

    def dot(self, beta: Vector) -> Vector:
        return self.array @ beta

    def sizes_there(self, ruler: Matrix) -> Any:
        out = np.empty(self.shape[0])
        for part in cache_blocks(*self.shape):
            measured = self.array[part] @ ruler
            np.einsum("ij,ij->i", measured, measured, out=out[part])
        return np.sqrt(out, out=out)

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
        # In the order of rows at once: an index would gather by columns first.
        return DenseRows(self.array.take(index, axis=1))

    def float32(self, index: Index | None) -> Rows | None:
        m, n = self.shape
        return float32_rows(self.array, index, np.ones(m), np.zeros(n))

    def materialize(self) -> Rows:
        return self

    def dense(self) -> Matrix:
        return self.array

    def column_scale(self) -> Vector:
        scale = np.sqrt(np.einsum("ij,ij->j", self.array, self.array) / max(1, self.shape[0]))
        scale[scale == 0] = 1.0
        return np.asarray(scale)


def some_rows(m: int) -> slice:
    """The rows to look at among m."""
    return slice(0, None, max(1, m // LOOK_ROWS))


def origin_of(some: np.ndarray[Any, Any]) -> Vector | None:
    """The offsets to take out of the columns, or None where all are harmless."""
    return None if len(some) < 2 else looked_at(some)[0]  # a single row tells no spread


@np.errstate(invalid="ignore", over="ignore")  # what is not finite is found by its sums
def looked_at(some: np.ndarray[Any, Any]) -> tuple[Vector | None, Vector]:
    """The same of two rows or more, and the spread of each column."""
    some = np.asarray(some, dtype=np.float64)
    first, spread = some[0], np.asarray(some.max(axis=0) - some.min(axis=0))
    moving, usual = spread > 0, spread
    if not moving.all():
        # A column that seems constant is compared with what the others amount to.
        usual = np.where(moving, spread, np.median(spread[moving]) if moving.any() else 0.0)
    far = np.abs(first) > HARMLESS * usual
    return (np.where(far, first, 0.0) if far.any() else None), spread


class DenseSource(Source):
    """A NumPy array as a source of rows."""

    swept = True

    def __init__(
        self, X: np.ndarray[Any, Any], origin: Vector | None = None, *, centered: bool = False
    ) -> None:
        if centered:
            origin, self.sampled_range = looked_at(X[some_rows(X.shape[0])])
        self.X, self.origin = X, origin
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.dtype = X.dtype
        plain = X.dtype == np.float64 and origin is None
        self._direct = plain and (X.flags.c_contiguous or X.flags.f_contiguous)
        self._by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
        self.formed = self.shape[0] * self.shape[1] <= FORMED_ENTRIES

    def project(self, v: Vector) -> Vector:
        if self._direct:
            return np.asarray(self.X @ v)
        out = np.empty(self.shape[0])
        for part in self._blocks():
            out[part] = self._block(part) @ v
        return out

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        return class_means(self, sign, weight)

    def sizes(self, ruler: Matrix, center: Vector) -> Vector:
        out, shift = np.empty(self.shape[0]), center @ ruler
        for part in self._blocks():
            measured = self._block(part) @ ruler
            measured -= shift
            np.einsum("ij,ij->i", measured, measured, out=out[part])
        return np.sqrt(out, out=out)

    def combine(self, w: Vector) -> Vector:
        if self._direct and (self.formed or w.ndim == 1 or w.shape[1] > FEW_COLUMNS):
            return np.asarray(self.X.T @ w)
        out = np.zeros((self.shape[1], *w.shape[1:]))
        for part in self._blocks():
            block = self._block(part)
            if w.ndim == 1 or w.shape[1] > FEW_COLUMNS:
                out += block.T @ w[part]
                continue
            for k in range(w.shape[1]):
                out[:, k] += w[part, k] @ block
        return out

    def sweep(
        self, sign: Vector, center: Vector, beta: Vector, weigh: Weigh
    ) -> tuple[Vector, Vector]:
        # Block by block, a row is still in the cache when the second product asks for it.
        projected, total = np.empty(self.shape[0]), np.zeros(len(beta))
        middle = float(center @ beta)
        amount = 0.0
        for part in cache_blocks(*self.shape):
            block, side = self._near(part), sign[part]
            there = np.dot(block, beta, out=projected[part])
            there -= middle
            there *= side
            alpha = weigh(part, there)
            alpha *= side
            amount += float(alpha.sum())
            total += alpha @ block
        total -= amount * center
        return projected, total

    def gram(self, w: Vector) -> Matrix:
        out = np.zeros((self.shape[1], self.shape[1]))
        for part in self._blocks():
            scaled = self._block(part) * np.sqrt(w[part])[:, None]
            out += scaled.T @ scaled
        return out

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
        # Seven digits do not tell apart whether origin and center are taken off one by one.
        middle = center if self.origin is None else center + self.origin
        return float32_rows(self.X, index, sign, middle)

    def array(self) -> Matrix:
        whole = np.asarray(self.X, dtype=np.float64)
        return whole if self.origin is None else whole - self.origin

    def column_scale(self, center: Vector) -> Vector:
        total = np.zeros(self.shape[1])
        for part in self._blocks():
            centered = self._block(part) - center
            total += np.einsum("ij,ij->j", centered, centered)
        return root_mean(total, self.shape[0])

    def constant_columns(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return constant_columns(self.X[:, index])

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK_BYTES // (8 * max(1, self.shape[1])))
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def _near(self, part: slice) -> Matrix:
        """Some rows in a form that BLAS takes as it is, for more than one product.

        Of columns stored one after the other a few rows are pieces far apart: they are brought
        together once, in the same order.
        """
        if not (self._direct and self._by_columns):
            return self._block(part)
        rows = self.X[part]
        block = _scratch(rows.shape[1], rows.shape[0]).T
        np.copyto(block, rows)
        return block

    def _block(self, part: slice) -> Matrix:
        """Some rows as float64, to be used before the next block is asked for."""
        rows = self.X[part]
        if rows.dtype == np.float64 and self.origin is None:
            return np.asarray(rows)
        block = _scratch(*rows.shape)
        if self.origin is None:
            np.copyto(block, rows)
        else:
            np.subtract(rows, self.origin, out=block)
        return block


Single = NDArray[np.float32]
BLOCK_BYTES = 2**20
"""A scaled block of this size stays in the processor's cache until it is multiplied."""
LOOK_ROWS = 64
NEAR_ZERO = 4.0
"""Spreads that a center may be from zero for rounding first to cost no digits."""
LARGEST = 1e30
"""A sum of squares above this comes too near the range of single precision."""


class Float32Rows(RowsBase):
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
        return Float32Rows(self.array[index], self.sign[index])

    def columns(self, index: Index) -> Rows:
        return Float32Rows(np.ascontiguousarray(self.array[:, index]), self.sign)

    def dense(self) -> Matrix:
        return np.asarray(self.array * self.sign[:, None], dtype=np.float64)

    def column_scale(self) -> Vector:
        squares: Vector = np.einsum("ij,ij->j", self.array, self.array, dtype=np.float64)
        return root_mean(squares, self.shape[0])


def float32_rows(X: Any, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
    """These rows of an array (None: all), or None where their range is too large."""
    if index is not None:
        X, sign = X[index], sign[index]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        array = _centered(X, center)
        flat = array.reshape(-1)
        if not float(flat @ flat) < LARGEST:
            return None
    return Float32Rows(array, sign)


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
