"""A factored curvature after some rows came between the margins or left.

With â_i = (a_i, -y_i) (or a_i alone, where t is fixed) the second derivative in (beta, t) is that
at the factor, M, plus one term for each row that has changed sides since:

    M + U' S U,    U the rows â_i,  S = diag(+D_i for rows that came, -D_i for rows that left)

and with Z = M^-1 U' the step from there is (Woodbury)

    x = x0 - Z (S^-1 + U Z)^-1 U x0,      x0 the step by M alone.

A row costs one solve with the factor, once: few rows are far less than a new factor, which costs as
much as a third of n of them, and the matrix that it is made from.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.factor import Factored


class Changed:
    """Steps by a factor and the rows that have changed sides since it was made."""

    def __init__(self, program: RegularizedProgram, base: Factored) -> None:
        n = program.shape[1]
        self.program, self.base = program, base
        self.known = 0
        self._place = np.full(program.shape[0], -1)
        """Where each row is among those that are known."""
        self._rows: Matrix = np.empty((0, n))
        self._turns: Vector = np.empty(0)
        self._solved: Matrix = np.empty((n, 0))
        self._shifts: Vector = np.empty(0)
        self._between: Matrix = np.empty((0, 0))

    def unknown(self, index: Index) -> Index:
        """Those of the rows that would have to be solved for."""
        return index[self._place[index] < 0]

    def step(
        self, index: Index, came: Vector, gradient: Vector, slope: float
    ) -> tuple[Vector, float]:
        """The step where these rows have changed; ``came`` is +1 for those between, else -1."""
        step, shift = self.base.solve(gradient, slope)
        if not index.size:
            return step, shift
        self._learn(self.unknown(index))
        at = self._place[index]
        weight = self.program.costs[index] / self.program.width * came
        small = self._between[np.ix_(at, at)]
        small.flat[:: len(at) + 1] += 1.0 / weight
        share = np.linalg.solve(small, self._rows[at] @ step + self._turns[at] * shift)
        whole = np.zeros(self.known)
        whole[at] = share
        return step - self._solved @ whole, shift - float(self._shifts @ whole)

    def _learn(self, index: Index) -> None:
        """Solve for rows that have not changed before."""
        if not index.size:
            return
        rows = self.program.rows.take(index).dense()
        turns = -self.program.sign[index] if self.base.threshold.active else np.zeros(len(index))
        solved, shifts = self.base.solve_many(rows.T, turns)
        self._place[index] = self.known + np.arange(len(index))
        old, self.known = self.known, self.known + len(index)
        self._rows = np.vstack([self._rows, rows])
        self._turns = np.append(self._turns, turns)
        self._solved = np.hstack([self._solved, solved])
        self._shifts = np.append(self._shifts, shifts)
        between = np.empty((self.known, self.known))
        between[:old, :old] = self._between
        between[:, old:] = self._rows @ solved + np.outer(self._turns, shifts)
        between[old:, :old] = between[:old, old:].T
        self._between = between
