"""The linear system of an interior-point step, solved on its smaller side.

With the rows E = [A; d'] and their weights D > 0, a diagonal Theta > 0 and right-hand sides h and
b, find x and v with

    v = D (h - E x)            E' v = Theta x - b

n <= m: eliminate v.       (E' D E + Theta) x = E' D h + b
n >  m: eliminate x.       (inv(D) + E inv(Theta) E') v = h - E inv(Theta) b

Either matrix is scaled to unit diagonal, carries a ridge of rounding size, and the answer is
refined against the matrix without the ridge. v is never recovered from x on the row side, nor x
from v on the column side through a difference of large numbers: that is where digits are lost.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from lincent.programs.arrays import (
    Matrix,
    Vector,
)
from lincent.programs.centralization import Program

RIDGE = 1e-12
RIDGE_GROWTH = 1e3
LARGEST_RIDGE = 1e-4
REFINEMENTS = 12
EXACT = 1e-10
BLOCK = 512
FEW_COLUMNS = 64
"""Up to here the column side costs nothing and is the more accurate one, whatever m is."""


class FactorizationError(ArithmeticError):
    """No ridge of acceptable size makes the matrix positive definite."""


def _cholesky(matrix: Matrix) -> tuple[Matrix, Vector]:
    """Factor of the matrix scaled to unit diagonal, and the scale; the ridge grows as needed."""
    diagonal = matrix.diagonal()
    if not np.all(np.isfinite(diagonal)) or np.any(diagonal <= 0):
        raise FactorizationError
    scale = 1.0 / np.sqrt(diagonal)
    ridge = RIDGE
    while ridge < LARGEST_RIDGE:
        scaled = matrix * scale
        scaled *= scale[:, None]
        scaled.flat[:: len(scale) + 1] = 1.0 + ridge
        # The transposed view is what LAPACK can overwrite: no further copy of a large matrix.
        factor, info = lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            return factor, scale
        ridge *= RIDGE_GROWTH
    raise FactorizationError


class Factor:
    """A symmetric positive definite matrix, ready to solve with."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.factor, self.scale = _cholesky(matrix)

    def solve(self, b: Vector) -> Vector:
        """Conjugate gradients on the true matrix, with the factor as preconditioner.

        Where the matrix is well conditioned the first answer stands after one check; each
        direction that the ridge has damped costs one more step.
        """
        x = self._once(b)
        r = b - self.matrix @ x
        small, large = r * self.scale, b * self.scale
        if small @ small <= EXACT**2 * (large @ large):
            return x
        goal = EXACT**2 * abs(float(b @ x))
        p = z = self._once(r)
        error = float(r @ z)
        for _ in range(REFINEMENTS):
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


class ColumnSide:
    """n <= m."""

    def __init__(self, program: Program, D: Vector, D_apart: float, theta: Vector) -> None:
        self.rows, self.d = program.rows, program.difference
        self.D, self.D_apart = D, D_apart
        H = self.rows.gram(D)
        for start in range(0, len(self.d), BLOCK):
            part = slice(start, start + BLOCK)
            H[part] += (D_apart * self.d[part, None]) * self.d
        H.flat[:: H.shape[0] + 1] += theta
        self.factor = Factor(H)

    def step(self, h: Vector, h_apart: float, b: Vector) -> tuple[Vector, Vector, float]:
        """x, and v split into the rows' part and the one of d."""
        x = self.factor.solve(self.rows.tdot(self.D * h) + self.D_apart * h_apart * self.d + b)
        return x, self.D * (h - self.rows.dot(x)), self.D_apart * (h_apart - float(self.d @ x))


class RowSide:
    """n > m."""

    def __init__(self, program: Program, D: Vector, D_apart: float, theta: Vector) -> None:
        m = program.shape[0]
        self.rows, self.d = program.rows, program.difference
        self.inverse = 1.0 / theta
        K = np.empty((m + 1, m + 1))
        K[:m, :m] = self.rows.outer(self.inverse)
        K[:m, m] = K[m, :m] = self.rows.dot(self.inverse * self.d)
        K[m, m] = float(self.d @ (self.inverse * self.d))
        K.flat[:: m + 2] += np.append(1.0 / D, 1.0 / D_apart)
        self.factor = Factor(K)

    def step(self, h: Vector, h_apart: float, b: Vector) -> tuple[Vector, Vector, float]:
        """x, and v split into the rows' part and the one of d."""
        x = self.inverse * b
        v = self.factor.solve(np.append(h - self.rows.dot(x), h_apart - float(self.d @ x)))
        x += self.inverse * (self.rows.tdot(v[:-1]) + v[-1] * self.d)
        return x, v[:-1], float(v[-1])


def normal_equations(
    program: Program, D: Vector, D_apart: float, theta: Vector
) -> ColumnSide | RowSide:
    """The system factored once, on the side that suits the shape."""
    m, n = program.shape
    side = ColumnSide if n <= max(m, FEW_COLUMNS) else RowSide
    return side(program, D, D_apart, theta)
