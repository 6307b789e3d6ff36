"""Some of the hinges of a program as one matrix, with its normal matrix factored.

The hinges of (P) are its rows, the lower and the upper sides of the box and the gap, numbered in
this order:

    i < m  row a_i at s      m + j  unit_j at lo_j      m + n + j  -unit_j at -hi_j      last  d

Each has a multiplier between 0 and ``top`` (the cost of a row, else infinite), and the dual asks
for  sum_i multiplier_i hinge_i = g.  A working set is M, the hinges near the vertex: some rows and
sides, and the gap.  ``solve`` applies inv(M'M), of which one n x n factor is held.

The dual of (P) has hinges of the same kind (``column_hinges``).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.centralization import Program, certify
from lincent.solvers.cholesky import BlockedCholesky, NotPositiveDefiniteError
from lincent.sources.sparse import CompensatedMatrix, compensated

RIDGES = (1e-13, 1e-11, 1e-9)
"""Relative ridges to try: dependent columns need one, and refinement takes its effect out."""
GRAM_COLUMNS = 512
"""Columns of the normal matrix formed at a time: a sparse product larger than that is memory."""


class Hinges(Protocol):
    """All hinges of a program: where each bends, and the largest multiplier of each."""

    at: Vector
    top: Vector
    lacking: bool = False
    """Whether the point judged last breaks something that no hinge stands for."""

    def rest(self, dual: Vector) -> Vector:
        """What the multipliers miss of the dual's equation, one number per coordinate."""

    def columns(self, chosen: Index) -> Matrix:
        """These hinges as the columns of one array."""

    def working(self, chosen: Index) -> WorkingSet:
        """These hinges with their normal matrix factored."""

    def beyond(self, point: Vector) -> Vector:
        """How far the point is beyond each hinge; negative where it misses it."""

    def judge(self, point: Vector, dual: Vector) -> Certificate:
        """What the point and the multipliers prove about the whole program."""


class RowHinges(Hinges):
    """The hinges of (P); a point is beta."""

    def __init__(self, program: Program) -> None:
        m, n = program.shape
        self.m, self.n, self.program = m, n, program
        self.at = np.concatenate(
            [
                np.full(m, program.margin),
                program.lower,
                -program.upper,
                [program.separation],
            ]
        )
        self.top = np.concatenate([program.costs, np.full(2 * n + 1, np.inf)])

    def rest(self, dual: Vector) -> Vector:
        m, n, program = self.m, self.n, self.program
        rest = program.linear - program.rows.tdot(dual[:m]) - dual[-1] * program.difference
        return np.asarray(rest - dual[m : m + n] + dual[m + n : -1])

    def columns(self, chosen: Index) -> Matrix:
        """Rows and sides; the gap is never asked for."""
        m, n = self.m, self.n
        rows, sides = chosen[chosen < m], chosen[chosen >= m] - m
        out = np.zeros((n, len(chosen)), order="F")
        if len(rows):
            out[:, chosen < m] = self.program.rows.take(rows).dense().T
        out[sides % n, np.flatnonzero(chosen >= m)] = np.where(sides < n, 1.0, -1.0)
        return out

    def working(self, chosen: Index) -> WorkingSet:
        """Rows first, then sides, the gap last."""
        rows, sides = chosen[chosen < self.m], chosen[chosen >= self.m][:-1] - self.m
        matrix = compensated(self.program.rows.take(rows))
        sign = np.where(sides < self.n, 1.0, -1.0)
        return WorkingSet(matrix, sides % self.n, sign, self.program.difference[None])

    def beyond(self, point: Vector) -> Vector:
        program = self.program
        sides = (point - program.lower, program.upper - point)
        apart = float(program.difference @ point) - program.separation
        return np.concatenate([program.rows.dot(point) - program.margin, *sides, [apart]])

    def judge(self, point: Vector, dual: Vector) -> Certificate:
        return certify(self.program, point, dual[: self.m], float(dual[-1]))


class WorkingSet:
    """M = [matrix; sign_k unit_{column_k}; last] and inv(M'M)."""

    def __init__(
        self, matrix: CompensatedMatrix, column: Index, sign: Vector, last: Matrix
    ) -> None:
        self.matrix, self.column, self.sign, self.last = matrix, column, sign, last
        self.rows = matrix.shape[0]
        self.shape = (self.rows + len(column) + len(last), matrix.shape[1])
        for ridge in RIDGES:
            try:
                self.factor = BlockedCholesky(self._normal(), ridge)
                return
            except NotPositiveDefiniteError:
                continue
        raise NotPositiveDefiniteError

    def dot(self, V: Matrix | Vector) -> Matrix:
        """M V for one or several columns."""
        sign = self.sign if V.ndim == 1 else self.sign[:, None]
        return np.concatenate([self.matrix.dot(V), sign * V[self.column], self.last @ V])

    def tdot(self, U: Matrix | Vector) -> Matrix:
        """M' U for one or several columns."""
        sign = self.sign if U.ndim == 1 else self.sign[:, None]
        upto = self.rows + len(self.column)
        out = self.matrix.tdot(U[: self.rows]) + self.last.T @ U[upto:]
        np.add.at(out, self.column, sign * U[self.rows : upto])
        return np.asarray(out)

    def solve(self, b: Matrix | Vector) -> Matrix:
        """inv(M'M) b."""
        return self.factor.solve(b)

    def _normal(self) -> Matrix:
        """M'M (its lower half): one array of its size in all."""
        n = self.shape[1]
        out = self.matrix.gram(GRAM_COLUMNS)
        for start in range(0, n if len(self.last) else 0, GRAM_COLUMNS):
            part, upto = slice(start, start + GRAM_COLUMNS), min(start + GRAM_COLUMNS, n)
            out[part, :upto] += self.last[:, part].T @ self.last[:, :upto]
        np.add.at(out.reshape(-1), self.column * (n + 1), 1.0)
        return out
