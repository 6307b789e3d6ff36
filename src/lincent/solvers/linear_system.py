"""A symmetric positive (semi)definite system, scaled to unit diagonal and refined.

The matrices of interior-point and Newton steps have entries of very different sizes; after scaling
to unit diagonal a ridge of rounding size is enough for Cholesky, and refinement against the
original matrix takes its effect out again.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from lincent.programs.arrays import (
    Matrix,
    Vector,
)

RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6)
REFINEMENTS = 2


class PositiveDefinite:
    """Factored once, solved for as many right-hand sides as needed."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        diagonal = matrix.diagonal().copy()
        # An empty row and column means a variable that nothing depends on: it stays where it is.
        diagonal[diagonal <= 0] = 1.0
        self.scale = 1.0 / np.sqrt(diagonal)
        self.factor = self._factor(matrix * self.scale * self.scale[:, None])

    @staticmethod
    def _factor(scaled: Matrix) -> Matrix:
        step = scaled.shape[0] + 1
        scaled.flat[::step] = np.maximum(scaled.diagonal(), 1.0)
        for ridge in RIDGES:
            scaled.flat[::step] += ridge
            factor, info = lapack.dpotrf(scaled, lower=1, clean=0)
            if info == 0:
                return np.asarray(factor)
        raise ArithmeticError("the matrix is not positive semidefinite")

    def _once(self, b: Vector) -> Vector:
        scale = self.scale if b.ndim == 1 else self.scale[:, None]
        x, _ = lapack.dpotrs(self.factor, b * scale, lower=1)
        return np.asarray(x * scale)

    def solve(self, b: Vector) -> Vector:
        """x with matrix @ x = b; b may have several columns."""
        x = self._once(b)
        for _ in range(REFINEMENTS):
            x = x + self._once(b - self.matrix @ x)
        return x
