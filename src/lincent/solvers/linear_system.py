"""A symmetric positive (semi)definite system: scaled to unit diagonal, factored, refined.

The matrices of interior-point and Newton steps have entries of very different sizes; after scaling
to unit diagonal a ridge of rounding size is enough for Cholesky.  Conjugate gradients on the true
matrix, with the factor as preconditioner, take the effect of the ridge out again: where the matrix
is well conditioned the first answer stands after one check, and each direction that the ridge has
damped costs one more step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Matrix, Vector


@dataclass(frozen=True)
class Tuning:
    """What a factorization trades; measured on 10,000 degenerate programs and the rivals' sets."""

    ridge: float = 1e-12  # of the unit diagonal: above rounding, below what refinement cannot undo
    ridge_growth: float = 1e3  # after a factorization that failed
    largest_ridge: float = 1e-4  # beyond which the factor says nothing of the matrix
    refinements: int = 12  # conjugate gradients at most; collinear columns take one each
    exact: float = 1e-14  # relative residual that needs no refinement
    enough: float = 1e-10  # the same for a step of an interior point, which the next one corrects


TUNING = Tuning()


class FactorizationError(ArithmeticError):
    """No ridge of acceptable size makes the matrix positive definite."""


class PositiveDefinite:
    """Factored once, solved for as many right-hand sides as needed.

    An empty row and column is a variable that nothing depends on: it stays where it is.  With
    ``full`` such a matrix is refused.  ``exact`` is the relative residual that is asked for.
    """

    def __init__(self, matrix: Matrix, *, full: bool = False, exact: float = TUNING.exact) -> None:
        self.matrix, self.exact = matrix, exact
        diagonal = matrix.diagonal()
        if not np.all(np.isfinite(diagonal)) or np.any(diagonal <= 0):
            if full or not np.all(np.isfinite(diagonal)):
                raise FactorizationError("the diagonal is not positive")
            diagonal = np.where(diagonal > 0, diagonal, 1.0)
        self.scale = 1.0 / np.sqrt(diagonal)
        self.factor = self._factor()

    def _factor(self) -> Matrix:
        ridge = TUNING.ridge
        while ridge < TUNING.largest_ridge:
            scaled = self.matrix * self.scale
            scaled *= self.scale[:, None]
            scaled.flat[:: len(self.scale) + 1] = 1.0 + ridge
            # The transposed view is what LAPACK can overwrite: no further copy of a large matrix.
            factor, info = lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
            if info == 0:
                return np.asarray(factor)
            ridge *= TUNING.ridge_growth
        raise FactorizationError("the matrix is not positive semidefinite")

    def solve(self, b: Vector) -> Vector:
        """x with matrix @ x = b; b may have several columns."""
        if b.ndim == 2:
            return np.stack([self.solve(column) for column in b.T], axis=1)
        x = self._once(b)
        r = b - self.matrix @ x
        small, large = r * self.scale, b * self.scale
        if small @ small <= self.exact**2 * (large @ large):
            return x
        return self._refined(x, r, self.exact**2 * abs(float(b @ x)))

    def _refined(self, x: Vector, r: Vector, goal: float) -> Vector:
        p = z = self._once(r)
        error = float(r @ z)
        for _ in range(TUNING.refinements):
            if not error > goal:
                break
            Hp = self.matrix @ p
            curvature = float(p @ Hp)
            if not curvature > 0:
                break
            length = error / curvature
            x += length * p
            r -= length * Hp
            z = self._once(r)
            before, error = error, float(r @ z)
            p = z + (error / before) * p
        return x

    def _once(self, b: Vector) -> Vector:
        x, _ = lapack.dpotrs(self.factor, b * self.scale, lower=1)
        x *= self.scale
        return np.asarray(x)
