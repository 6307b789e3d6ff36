"""The dual of (P) as a program with hinges: columns take the place of rows.

With x = (alpha, t) restricted to some rows of E = [A; d'] (the others have their alpha at a bound
and belong to g), (P) asks, for beta = lo + v, slacks p (margin exceeded) and q (missed),

    E v - p + q = h - E lo,       v between 0 and hi - lo,       minimize  g.v + c.q

These are multipliers of the hinges  E_j (column j),  -unit_i  and  unit_i,  which the point -x
meets at -g_j, 0 and -c_i.  So what finishes (P) from named rows (``null_space``) finishes it from
named columns, with a matrix as large as the rows that matter.
"""

from __future__ import annotations

import numpy as np

from lincent.passes.corrected import Corrected
from lincent.programs.arrays import Certificate, Index, Matrix, Vector
from lincent.programs.centralization import Program, certify
from lincent.solvers.lp.working_set import Hinges, WorkingSet


class ColumnHinges(Hinges):
    """Hinges n of columns, then one -unit and one unit for each row and for d; a point is -x.

    ``alpha`` has the multipliers of all rows, those outside ``rows`` at a bound.
    """

    def __init__(self, program: Program, rows: Index, alpha: Vector) -> None:
        self.program, self.rows = program, rows
        self.n, self.k = program.shape[1], len(rows) + 1
        self.fixed = alpha.copy()
        self.fixed[rows] = 0.0
        self.missed: Index = np.empty(0, dtype=np.intp)
        self.E: Corrected = program.rows.take(rows).corrected().turned()
        self.E = self.E.beside(program.difference)
        self.g = program.linear - program.rows.tdot(self.fixed)
        costs = program.costs[rows]
        # There is no upper bound on t: its last hinge is never asked for.
        self.at = np.concatenate([-self.g, np.zeros(self.k), -costs, [0.0]])
        sides = np.full(2 * self.k, np.inf)
        self.top = np.concatenate([program.upper - program.lower, sides])
        goal = np.append(np.full(len(rows), program.margin), program.separation)
        self.goal = goal - self.E.tdot(program.lower)

    def rest(self, dual: Vector) -> Vector:
        v, p, q = np.split(dual, [self.n, self.n + self.k])
        return np.asarray(self.goal - self.E.tdot(v) + p - q)

    def columns(self, chosen: Index) -> Matrix:
        n, k = self.n, self.k
        columns, sides = chosen[chosen < n], chosen[chosen >= n] - n
        out = np.zeros((k, len(chosen)), order="F")
        if len(columns):
            out[:, chosen < n] = self.E.take(columns).dense().T
        out[sides % k, np.flatnonzero(chosen >= n)] = np.where(sides < k, -1.0, 1.0)
        return out

    def working(self, chosen: Index) -> WorkingSet:
        """Columns first, then sides."""
        columns, sides = chosen[chosen < self.n], chosen[chosen >= self.n] - self.n
        sign = np.where(sides < self.k, -1.0, 1.0)
        nothing = np.empty((0, self.k))
        return WorkingSet(self.E.take(columns), sides % self.k, sign, nothing)

    def beyond(self, point: Vector) -> Vector:
        costs = np.append(self.program.costs[self.rows], np.inf)
        return np.concatenate([self.E.dot(point) + self.g, -point, point + costs])

    def judge(self, point: Vector, dual: Vector) -> Certificate:
        self.judged = (point, dual)
        alpha = self.fixed.copy()
        alpha[self.rows] = -point[:-1]
        self.missed = self._missed(self.program.lower + dual[: self.n])
        self.lacking = len(self.missed) > 0
        return certify(self.program, self.program.lower + dual[: self.n], alpha, -float(point[-1]))

    @property
    def x(self) -> Vector:
        """The multipliers of the rows and of d, as judged last."""
        return -self.judged[0]

    def parts(self) -> tuple[Vector, Vector, Vector]:
        """v, p and q, as judged last."""
        v, p, q = np.split(self.judged[1], [self.n, self.n + self.k])
        return v, p, q

    def slopes(self) -> Vector:
        """r = g - E'x of every column, as judged last.

        The vertex is optimal for these rows where none leads away from the side of its column.
        """
        return np.asarray(self.E.dot(self.judged[0]) + self.g)

    def _missed(self, beta: Vector) -> Index:
        """Rows whose multiplier is fixed at the wrong bound."""
        over = self.program.rows.dot(beta) - self.program.margin
        wrong = np.where(self.fixed > 0.0, over, -over)
        wrong[self.rows] = 0.0
        return np.flatnonzero(wrong > 0.0)
