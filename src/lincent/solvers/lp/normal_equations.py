"""The linear system of an interior-point step, solved on its smaller side.

With the rows E = [A; d'] and their weights D > 0, a diagonal Theta > 0 and right-hand sides h and
b, find x and v with

    v = D (h - E x)            E' v = Theta x - b

n <= m: eliminate v.       (E' D E + Theta) x = E' D h + b
n >  m: eliminate x.       (inv(D) + E inv(Theta) E') v = h - E inv(Theta) b

Either matrix is factored and refined by ``solvers.cholesky``.  v is never recovered from x on
the row side, nor x from v on the column side through a difference of large numbers: that is where
digits are lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import PositiveDefinite


@dataclass(frozen=True)
class Tuning:
    """What the form of the system trades; measured on the wide kinds of ``workloads.py``."""

    block: int = 512  # rows to which d d' is added at a time: no copy of a large matrix
    few_columns: int = 64  # up to here the column side costs nothing, and has more digits


TUNING = Tuning()


class ColumnSide:
    """n <= m."""

    def __init__(self, program: Program, D: Vector, D_apart: float, theta: Vector) -> None:
        self.rows, self.d = program.rows, program.difference
        self.D, self.D_apart = D, D_apart
        H = self.rows.gram(D)
        for start in range(0, len(self.d), TUNING.block):
            part = slice(start, start + TUNING.block)
            H[part] += (D_apart * self.d[part, None]) * self.d
        H.flat[:: H.shape[0] + 1] += theta
        self.factor = PositiveDefinite(H, full=True, exact=1e-10)

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
        self.factor = PositiveDefinite(K, full=True, exact=1e-10)

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
    side = ColumnSide if n <= max(m, TUNING.few_columns) else RowSide
    return side(program, D, D_apart, theta)
