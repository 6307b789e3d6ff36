"""Signed rows as wide as they are many: the kernel matrix of a data set.

The products are those of dense rows.  Only the weighted Gram matrix differs: it goes block by
block, because a scaled copy of the rows would be another m x m array.
"""

from __future__ import annotations

import numpy as np

from lincent.passes.base import Index
from lincent.passes.dense import DenseRows
from lincent.programs.centralization import Matrix, Rows, Vector

BLOCKS = 8


class SquareRows(DenseRows):
    """Signed rows held as one large array that must not be copied."""

    def gram(self, weight: Vector) -> Matrix:
        m, n = self.shape
        total: Matrix | None = None
        root = np.sqrt(weight)
        step = max(1, -(-m // BLOCKS))
        part = np.empty((n, n))
        for start in range(0, m, step):
            rows = slice(start, start + step)
            scaled = self.array[rows] * root[rows, None]
            if total is None:
                total = scaled.T @ scaled
            else:
                total += np.matmul(scaled.T, scaled, out=part)
        return np.zeros((n, n)) if total is None else total

    def take(self, index: Index) -> Rows:
        return DenseRows(self.array[index])
