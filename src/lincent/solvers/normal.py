"""The linear system of an interior-point step, solved on its smaller side.

    H x = b,     H = A' D A + Theta + w d d',     D, Theta > 0 diagonal, w > 0

n <= m: H itself, scaled to unit diagonal, with a ridge of rounding size, by Cholesky.
n >  m: Woodbury.  With E = [A; d'] and K = diag(1/D, 1/w) + E inv(Theta) E',

    inv(H) = inv(Theta) - inv(Theta) E' inv(K) E inv(Theta).

Both sides refine their answer against the unregularized H.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from lincent.programs.centralization import Matrix, Program, Vector

RIDGE = 1e-12
RIDGE_GROWTH = 1e3
REFINEMENTS = 2


class FactorizationError(ArithmeticError):
    """No ridge of acceptable size makes the matrix positive definite."""


def _cholesky(matrix: Matrix) -> tuple[Matrix, Vector]:
    """Factor of the matrix scaled to unit diagonal, and the scale; the ridge grows until it holds."""
    diagonal = matrix.diagonal()
    if not np.all(np.isfinite(diagonal)) or np.any(diagonal <= 0):
        raise FactorizationError
    scale = 1.0 / np.sqrt(diagonal)
    scaled = matrix * scale
    scaled *= scale[:, None]
    ridge = RIDGE
    step = scaled.shape[0] + 1
    while ridge < 1e-4:
        scaled.flat[::step] = 1.0 + ridge
        factor, info = lapack.dpotrf(scaled, lower=1, clean=0)
        if info == 0:
            return factor, scale
        ridge *= RIDGE_GROWTH
    raise FactorizationError


class _Factor:
    """A symmetric positive definite matrix, ready to solve with."""

    def __init__(self, matrix: Matrix) -> None:
        self.factor, self.scale = _cholesky(matrix)

    def solve(self, b: Vector) -> Vector:
        x, _ = lapack.dpotrs(self.factor, b * self.scale, lower=1)
        x *= self.scale
        return x


class _ColumnSide:
    """n <= m."""

    def __init__(self, program: Program, D: Vector, theta: Vector, w: float) -> None:
        H = program.rows.gram(D)
        d = program.difference
        H += np.outer(w * d, d)
        H.flat[:: H.shape[0] + 1] += theta
        self.H = H
        self.factor = _Factor(H)

    def multiply(self, x: Vector) -> Vector:
        return self.H @ x

    def solve(self, b: Vector) -> Vector:
        return self.factor.solve(b)


class _RowSide:
    """n > m."""

    def __init__(self, program: Program, D: Vector, theta: Vector, w: float) -> None:
        m = program.shape[0]
        self.rows, self.d = program.rows, program.difference
        self.D, self.theta, self.w = D, theta, w
        inverse = 1.0 / theta
        K = np.empty((m + 1, m + 1))
        K[:m, :m] = self.rows.outer(inverse)
        K[:m, m] = K[m, :m] = self.rows.dot(inverse * self.d)
        K[m, m] = float(self.d @ (inverse * self.d))
        K.flat[:: m + 2] += np.append(1.0 / D, 1.0 / w)
        self.factor = _Factor(K)

    def _extended(self, x: Vector) -> Vector:
        return np.append(self.rows.dot(x), self.d @ x)

    def _transposed(self, v: Vector) -> Vector:
        return self.rows.tdot(v[:-1]) + v[-1] * self.d

    def multiply(self, x: Vector) -> Vector:
        return self._transposed(self._extended(x) * np.append(self.D, self.w)) + self.theta * x

    def solve(self, b: Vector) -> Vector:
        x = b / self.theta
        return x - self._transposed(self.factor.solve(self._extended(x))) / self.theta


class NormalEquations:
    """H factored once, solved for as many right-hand sides as needed."""

    def __init__(self, program: Program, D: Vector, theta: Vector, w: float) -> None:
        m, n = program.shape
        side = _ColumnSide if n <= m else _RowSide
        self.side = side(program, D, theta, w)

    def solve(self, b: Vector) -> Vector:
        x = self.side.solve(b)
        for _ in range(REFINEMENTS):
            x = x + self.side.solve(b - self.side.multiply(x))
        return x
