"""Rows in memory: a NumPy array of any layout, also read-only and memory-mapped.

Arrays that BLAS can take as they are go to it whole.  Everything else (float32, strided views)
is read in blocks that are converted one at a time, so X is never copied.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from lincent.passes.source import Index
from lincent.programs.arrays import (
    Matrix,
    Rows,
    Vector,
)

BLOCK_BYTES = 2**20
"""A block of this size stays in the processor's cache between conversion and product."""
FEW_COLUMNS = 3
_own = threading.local()


def _scratch(rows: int, columns: int) -> Matrix:
    """Room for one converted block, kept by the thread: fresh pages cost more than converting."""
    buffer: Vector | None = getattr(_own, "buffer", None)
    if buffer is None or buffer.size < rows * columns:
        buffer = _own.buffer = np.empty(max(rows * columns, BLOCK_BYTES // 8))
    return buffer[: rows * columns].reshape(rows, columns)


class DenseRows:
    """Signed rows held as a C-ordered float64 array."""

    sparse = False

    def __init__(self, rows: Matrix) -> None:
        self.array = rows
        self.shape: tuple[int, int] = (rows.shape[0], rows.shape[1])
        self._scratch: Matrix | None = None

    def dot(self, beta: Vector) -> Vector:
        return self.array @ beta

    def tdot(self, alpha: Vector) -> Vector:
        return alpha @ self.array

    def gram(self, weight: Vector) -> Matrix:
        if self._scratch is None:
            self._scratch = np.empty_like(self.array)
        scaled = np.multiply(self.array, np.sqrt(weight)[:, None], out=self._scratch)
        return scaled.T @ scaled

    def outer(self, weight: Vector) -> Matrix:
        if self._scratch is None:
            self._scratch = np.empty_like(self.array)
        scaled = np.multiply(self.array, np.sqrt(weight), out=self._scratch)
        return scaled @ scaled.T

    def take(self, index: Index) -> Rows:
        return DenseRows(self.array[index])

    def materialize(self) -> Rows:
        return self

    def dense(self) -> Matrix:
        return self.array

    def factors(self) -> tuple[Any, Vector, Vector]:
        return self.array, np.zeros(self.shape[0]), np.zeros(self.shape[1])

    def column_scale(self) -> Vector:
        total: Vector = np.einsum("ij,ij->j", self.array, self.array)
        scale = np.sqrt(total / max(1, self.shape[0]))
        scale[scale == 0] = 1.0
        return scale


class DensePass:
    """A NumPy array as a source of rows."""

    sparse = False

    def __init__(self, X: np.ndarray[Any, Any]) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self._direct = X.dtype == np.float64 and (X.flags.c_contiguous or X.flags.f_contiguous)

    def project(self, v: Vector) -> Vector:
        if self._direct:
            return np.asarray(self.X @ v)
        out = np.empty(self.shape[0])
        for part in self._blocks():
            out[part] = self._block(part) @ v
        return out

    def combine(self, w: Vector) -> Vector:
        if self._direct and (w.ndim == 1 or w.shape[1] > FEW_COLUMNS):
            return np.asarray(self.X.T @ w)
        out = np.zeros((self.shape[1], *w.shape[1:]))
        for part in self._blocks():
            block = self._block(part)
            if w.ndim == 1 or w.shape[1] > FEW_COLUMNS:
                out += block.T @ w[part]
                continue
            # BLAS is faster on a vector at a time while the block is in the cache.
            for k in range(w.shape[1]):
                out[:, k] += w[part, k] @ block
        return out

    def gram(self, w: Vector) -> Matrix:
        out = np.zeros((self.shape[1], self.shape[1]))
        for part in self._blocks():
            scaled = self._block(part) * np.sqrt(w[part])[:, None]
            out += scaled.T @ scaled
        return out

    def outer(self, w: Vector) -> Matrix:
        scaled = self.array() * np.sqrt(w)
        return scaled @ scaled.T

    def take(self, index: Index, sign: Vector, center: Vector) -> Rows:
        # Indexing with an array copies these rows, so they may be changed in place.
        rows = np.ascontiguousarray(self.X[index], dtype=np.float64)
        rows -= center
        rows *= sign[:, None]
        return DenseRows(rows)

    def array(self) -> Matrix:
        return np.asarray(self.X, dtype=np.float64)

    def signed(self, sign: Vector) -> Matrix:
        return self.array() * sign[:, None]

    def column_scale(self, center: Vector) -> Vector:
        total = np.zeros(self.shape[1])
        for part in self._blocks():
            centered = self._block(part) - center
            total += np.einsum("ij,ij->j", centered, centered)
        scale = np.sqrt(total / max(1, self.shape[0]))
        scale[scale == 0] = 1.0
        return scale

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK_BYTES // (8 * max(1, self.shape[1])))
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def _block(self, part: slice) -> Matrix:
        """Some rows as float64, to be used before the next block is asked for."""
        rows = self.X[part]
        if rows.dtype == np.float64:
            return np.asarray(rows)
        block = _scratch(*rows.shape)
        np.copyto(block, rows)
        return block
