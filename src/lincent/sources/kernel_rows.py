"""Signed rows as wide as they are many: the kernel matrix of a data set.

The products are those of dense rows.  Only the weighted Gram matrix differs: it is added up in
place, block by block, because a scaled copy of the rows would be another m x m array.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from lincent.problems.arrays import Matrix, Vector
from lincent.sources.dense import DenseRows

BLOCKS = 8
TILE = 64


class SquareRows(DenseRows):
    """Signed rows held as one large array that must not be copied."""

    def gram(self, weight: Vector) -> Matrix:
        m, n = self.shape
        root = np.sqrt(weight)
        step = max(1, -(-m // BLOCKS))
        total = np.zeros((n, n), order="F")
        for start in range(0, m, step):
            rows = slice(start, start + step)
            scaled = self.array[rows] * root[rows, None]
            total = blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, lower=1, overwrite_c=1)
        _mirror(total)
        return np.asarray(total.T)


def _mirror(lower: Matrix) -> None:
    """Copy the lower triangle into the upper one, tile by tile."""
    n = lower.shape[0]
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        corner = lower[start:stop, start:stop]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
        lower[start:stop, stop:] = lower[stop:, start:stop].T
