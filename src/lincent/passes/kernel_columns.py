"""The signed rows of a kernel matrix that is never formed: columns are computed when asked for.

A method that needs few columns at a time (those of a sparse solution, and a block of others to see
whether one of them should join) needs memory for these alone.  The rows are y_i k(x_i, .), not
centered: a free threshold takes the place of the center.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lincent.passes.dense import DenseRows
from lincent.passes.rows import RowsBase
from lincent.programs.arrays import Index, Matrix, Rows, Vector, root_mean

BLOCK_BYTES = 2**25
"""A block of columns of this size is computed and multiplied at a time."""

Between = Callable[[Index, Index], Matrix]
"""The kernel between some rows and some columns, each named by its place."""


class KernelColumns(RowsBase):
    """Signed rows of the kernel between all rows and all columns."""

    def __init__(self, between: Between, sign: Vector, columns: int) -> None:
        self.between, self.sign = between, sign
        self.shape = (len(sign), columns)
        self._all = np.arange(len(sign))
        self._last: tuple[Index, Matrix] = np.empty(0, dtype=np.intp), np.empty((len(sign), 0))

    def columns(self, index: Index) -> DenseRows:
        """Those that were asked for last are not computed again; ``index`` is in order."""
        before, have = self._last
        known = np.isin(index, before, assume_unique=True)
        array = np.empty((self.shape[0], len(index)))
        array[:, known] = have.compress(np.isin(before, index, assume_unique=True), axis=1)
        if not np.all(known):
            array[:, ~known] = self.between(self._all, index[~known]) * self.sign[:, None]
        self._last = index, array
        return DenseRows(array)

    def blocks(self, first: int = 0) -> Iterator[Index]:
        """The columns in blocks, beginning with the block of this number."""
        step = max(1, BLOCK_BYTES // (8 * max(1, self.shape[0])))
        count = -(-self.shape[1] // step)
        for number in range(count):
            start = (first + number) % count * step
            yield np.arange(start, min(start + step, self.shape[1]))

    def tdot_of(self, alpha: Vector, index: Index) -> Vector:
        """``tdot`` for these columns alone; rows without a multiplier are not computed."""
        used = np.flatnonzero(alpha)
        if not len(used):
            return np.zeros(len(index))
        return np.asarray((alpha * self.sign)[used] @ self.between(used, index))

    def dot(self, beta: Vector) -> Vector:
        used = np.flatnonzero(beta)
        return np.asarray(self.sign * (self.between(self._all, used) @ beta[used]))

    def tdot(self, alpha: Vector) -> Vector:
        return np.concatenate([self.tdot_of(alpha, part) for part in self.blocks()])

    def take(self, index: Index) -> Rows:
        return KernelColumns(
            lambda rows, columns: self.between(index[rows], columns),
            self.sign[index],
            self.shape[1],
        )

    def gram(self, weight: Vector) -> Matrix:
        return DenseRows(self.dense()).gram(weight)

    def outer(self, weight: Vector) -> Matrix:
        return DenseRows(self.dense()).outer(weight)

    def dense(self) -> Matrix:
        return self.columns(np.arange(self.shape[1])).array

    def column_scale(self) -> Vector:
        squares = [np.square(self.columns(part).array).sum(axis=0) for part in self.blocks()]
        return root_mean(np.concatenate(squares), self.shape[0])
