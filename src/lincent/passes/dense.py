"""Rows in memory: a NumPy array of any layout, also read-only and memory-mapped.

Arrays that BLAS can take as they are go to it whole.  Everything else (float32, strided views, rows
with an origin) is read in blocks that are converted one at a time, so X is never copied.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from lincent.passes.held_rows import DenseRows, single_rows
from lincent.passes.protocol import Source
from lincent.passes.rows import cache_blocks, root_mean
from lincent.programs.arrays import Index, Matrix, Rows, Vector, Weigh

BLOCK_BYTES = 2**20
"""A block of this size stays in the processor's cache between conversion and product."""
FEW_COLUMNS = 3
"""Up to so many vectors at a time BLAS is faster on one after the other."""
_own = threading.local()


def _scratch(rows: int, columns: int) -> Matrix:
    """Room for one converted block, kept by the thread: fresh pages cost more than converting."""
    buffer: Vector | None = getattr(_own, "buffer", None)
    if buffer is None or buffer.size < rows * columns:
        buffer = _own.buffer = np.empty(max(rows * columns, BLOCK_BYTES // 8))
    return buffer[: rows * columns].reshape(rows, columns)


class DenseSource(Source):
    """A NumPy array as a source of rows."""

    def __init__(self, X: np.ndarray[Any, Any], origin: Vector | None = None) -> None:
        self.X, self.origin = X, origin
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.dtype = X.dtype
        plain = X.dtype == np.float64 and origin is None
        self._direct = plain and (X.flags.c_contiguous or X.flags.f_contiguous)
        self._swept = plain and X.flags.c_contiguous

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
            for k in range(w.shape[1]):
                out[:, k] += w[part, k] @ block
        return out

    def sweep(
        self, sign: Vector, center: Vector, beta: Vector, weigh: Weigh
    ) -> tuple[Vector, Vector]:
        if not self._swept:
            return super().sweep(sign, center, beta, weigh)
        # Block by block, a row is still in the cache when the second product asks for it.
        projected, total = np.empty(self.shape[0]), np.zeros(len(beta))
        middle = float(center @ beta)
        amount = 0.0
        for part in cache_blocks(*self.shape):
            block, side = self.X[part], sign[part]
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

    def columns(self, index: Index, sign: Vector, center: Vector) -> Rows:
        return self._signed(self.X[:, index], index, sign, center[index])

    def _signed(self, some: Any, columns: Any, sign: Vector, center: Vector) -> Rows:
        rows = np.ascontiguousarray(some, dtype=np.float64)
        if self.origin is not None:
            rows -= self.origin[columns]
        rows -= center
        rows *= sign[:, None]
        return DenseRows(rows)

    def single(self, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
        # Seven digits do not tell apart whether origin and center are taken off one by one.
        middle = center if self.origin is None else center + self.origin
        return single_rows(self.X, index, sign, middle)

    def array(self) -> Matrix:
        whole = np.asarray(self.X, dtype=np.float64)
        return whole if self.origin is None else whole - self.origin

    def column_scale(self, center: Vector) -> Vector:
        total = np.zeros(self.shape[1])
        for part in self._blocks():
            centered = self._block(part) - center
            total += np.einsum("ij,ij->j", centered, centered)
        return root_mean(total, self.shape[0])

    def _unchanging(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
        columns = self.X[:, index]
        return np.asarray(np.all(columns == columns[:1], axis=0))

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK_BYTES // (8 * max(1, self.shape[1])))
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

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
