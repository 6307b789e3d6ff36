"""The curvature of the regularized program, factored: exact steps at once.

The second derivative and its elimination of t are those of ``hessian``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.regularized import RegularizedProgram


@dataclass(frozen=True)
class Tuning:
    """When single precision is enough."""

    single_order: int = 300
    """From this order on a level is factored in single precision: 0.4 of the time at 2,000."""
    single_pivot: float = 0.01
    """The least pivot (of a unit diagonal) that single precision can be trusted with."""
    coarse_ridge: float = 1e-6
    """What makes a matrix of single precision definite whose small eigenvalues are rounding."""


TUNING = Tuning()


class Threshold:
    """The part of the second derivative that comes from the free threshold: v and s."""

    def __init__(self, v: Vector, total: float) -> None:
        self.v, self.total = v, total
        self.active = total > 0.0

    @classmethod
    def of(cls, program: RegularizedProgram, D: Vector) -> Threshold:
        total = float(D.sum()) if program.free else 0.0
        return cls(program.rows.tdot(D * program.sign) if total > 0.0 else np.empty(0), total)

    def subtract(self, H: Matrix) -> None:
        """H (by rows) less v v' / s in its upper half, which is all that is read of it."""
        if self.active and len(H):
            blas.dsyr(-1.0 / self.total, self.v, a=H.T, lower=1, overwrite_a=1)

    def multiply(self, x: Vector) -> Vector | float:
        return self.v * (float(self.v @ x) / self.total) if self.active else 0.0

    def gradient(self, gradient: Vector, slope: float) -> Vector:
        return gradient + self.v * (slope / self.total) if self.active else gradient

    def shift(self, step: Vector, slope: float) -> float:
        return (float(self.v @ step) - slope) / self.total if self.active else 0.0


class Factored:
    """H factored.  The matrix ``gram`` = A'DA is used up.

    ``rough`` says that ``gram`` is of single precision, which will do for the factor as well where
    pivots allow it; ``coarse`` that it does not even tell whether H is definite.
    """

    def __init__(self, threshold: Threshold, gram: Matrix, *, rough: bool = False) -> None:
        H = np.ascontiguousarray(gram)  # BLAS changes it in place
        self.threshold = threshold
        threshold.subtract(H)
        H.flat[:: H.shape[0] + 1] += 1.0
        # Columns of very different size would spoil the factor: scale to unit diagonal.
        self.scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1.0))
        H *= self.scale
        H *= self.scale[:, None]
        self.coarse = False
        rough = rough and len(H) >= TUNING.single_order
        if rough and self._factored_in_single(H):
            return
        ridge = 0.0
        while True:
            # H is symmetric: its transpose is in the order that LAPACK wants, without a copy.
            self.factor, failed = lapack.dpotrf(H.T, lower=1, clean=0)
            if not failed:
                return
            # Rounding can leave H slightly indefinite: in the centering, or in a rough Gram matrix.
            self.coarse = rough
            more = max(10 * ridge, TUNING.coarse_ridge if rough else 1e-14)
            H.flat[:: H.shape[0] + 1] += more - ridge
            ridge = more

    def _factored_in_single(self, H: Matrix) -> bool:
        single = H.T.astype(np.float32, order="F")
        self.factor, failed = lapack.spotrf(single, lower=1, clean=0, overwrite_a=1)
        return not failed and float(self.factor.diagonal().min()) > TUNING.single_pivot

    def solve(self, gradient: Vector, slope: float) -> tuple[Vector, float]:
        """The step for this curvature, exact up to the precision of the factor."""
        if not gradient.size:  # rows without extent have no columns left
            return gradient, self.threshold.shift(gradient, slope)
        b = self.threshold.gradient(gradient, slope)
        solve = lapack.spotrs if self.factor.dtype == np.float32 else lapack.dpotrs
        x, _ = solve(self.factor, b * self.scale, lower=1)
        step = -(x * self.scale)
        return step, self.threshold.shift(step, slope)

    def solve_many(self, right: Matrix, last: Vector) -> tuple[Matrix, Vector]:
        """The solutions for several right sides: a column of ``right`` for beta, ``last`` for t."""
        t = self.threshold
        b = right + np.outer(t.v, last / t.total) if t.active else right
        solve = lapack.spotrs if self.factor.dtype == np.float32 else lapack.dpotrs
        x, _ = solve(self.factor, b * self.scale[:, None], lower=1)
        found = np.asarray(x * self.scale[:, None], dtype=np.float64)
        shifts = (t.v @ found + last) / t.total if t.active else np.zeros(len(last))
        return found, shifts
