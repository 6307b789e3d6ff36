"""A large symmetric positive definite system: factored in place, block by block.

One LAPACK call on a matrix of order 20,000 takes a minute that nothing can interrupt.  Here every
call into BLAS works on at most ``TILE`` columns and ``DEPTH`` of the factor so far, well below a
second, and Python sees signals and deadlines between them.  The matrix is scaled to unit diagonal
and carries a relative ridge, so that a semidefinite matrix can be factored as well; what the ridge
does to an answer is taken out by the caller's refinement.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Matrix, Vector

TILE = 512
"""Columns factored at a time: BLAS is at full speed from about 256 on (two cores, 2026-11)."""
DEPTH = 4096
"""Columns of the factor in one product: 20,000 x 512 x 4,096 takes about half a second."""


class NotPositiveError(ArithmeticError):
    """The matrix, ridge included, has a pivot that is not positive."""


class BlockedCholesky:
    """The factor of ``matrix`` + ridge; the matrix (its lower half is read) is used up."""

    def __init__(self, matrix: Matrix, ridge: float) -> None:
        n = len(matrix)
        diagonal = matrix.diagonal().copy()
        # Nothing depends on a variable whose diagonal is empty: it solves to zero.
        diagonal[diagonal <= 0] = 1.0
        self.scale = 1.0 / np.sqrt(diagonal)
        for start in range(0, n, TILE):
            part = slice(start, start + TILE)
            matrix[part] *= self.scale[part, None]
            matrix[part] *= self.scale
        matrix.flat[:: n + 1] = 1.0 + ridge
        # BLAS and LAPACK want columns; the lower half by rows is the upper half by columns.
        self.upper: Matrix = matrix.T
        for start in range(0, n, TILE):
            self._factor_tile(matrix, start, min(start + TILE, n))

    @staticmethod
    def _factor_tile(rows: Matrix, start: int, stop: int) -> None:
        """The columns start:stop of the lower factor, below all columns before them."""
        for left in range(0, start, DEPTH):
            right = min(left + DEPTH, start)
            rows[start:, start:stop] -= rows[start:, left:right] @ rows[start:stop, left:right].T
        corner, failed = lapack.dpotrf(rows[start:stop, start:stop], lower=1)
        if failed:
            raise NotPositiveError
        rows[start:stop, start:stop] = corner
        if stop < len(rows):
            below = blas.dtrsm(1.0, corner, rows[stop:, start:stop].T, lower=1)
            rows[stop:, start:stop] = below.T

    def solve(self, b: Vector | Matrix) -> Matrix:
        """x with (matrix + ridge) x = b; several columns are done a tile at a time."""
        scale = self.scale if b.ndim == 1 else self.scale[:, None]
        x = np.asfortranarray(b * scale)
        if b.ndim == 1:
            return np.asarray(lapack.dpotrs(self.upper, x, lower=0)[0] * scale)
        for start in range(0, x.shape[1], TILE):
            part = slice(start, start + TILE)
            x[:, part] = lapack.dpotrs(self.upper, x[:, part], lower=0)[0]
        x *= scale
        return x
