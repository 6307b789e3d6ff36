"""The dual of (P) as a program with hinges: columns take the place of rows.

With x = (alpha, t) restricted to some rows of E = [A; d'] (the others have their alpha at a bound
and belong to g), (P) asks, for beta = lo + v, slacks p (margin exceeded) and q (missed),

    E v - p + q = h - E lo,       v between 0 and hi - lo,       minimize  g.v + c.q

These are multipliers of the hinges  E_j (column j),  -unit_i  and  unit_i,  which the point -x
meets at -g_j, 0 and -c_i.  So what finishes (P) from named rows (``null_space``) finishes it from
named columns, with a matrix as large as the rows that matter.

Columns that are equal in those rows are one hinge, whose box is the sum of theirs: of 0/1 words,
which are many columns for few rows, the optimum is a face before they are taken together, and near
a vertex after.  Each has its share of what they have together, in proportion to its box.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.centralization import Program, certify
from lincent.solvers.lp.duplicate_rows import Groups, groups, summed
from lincent.solvers.lp.working_set import Hinges, WorkingSet
from lincent.sources.sparse import CompensatedMatrix, compensated

OPTIMAL = 1e-7
"""A vertex of the working rows is optimal for them up to this share of the largest slope."""


class ColumnHinges(Hinges):
    """Hinges n of different columns, then one -unit and one unit for each row and for d.

    A point is -x.  ``alpha`` has the multipliers of all rows, those outside ``rows`` at a bound.
    """

    def __init__(self, program: Program, rows: Index, alpha: Vector) -> None:
        self.program, self.rows, self.k = program, rows, len(rows) + 1
        self.fixed = alpha.copy()
        self.fixed[rows] = 0.0
        self.missed: Index = np.empty(0, dtype=np.intp)
        E: CompensatedMatrix = (
            compensated(program.rows.take(rows)).transpose().append_column(program.difference)
        )
        g = program.linear - program.rows.tdot(self.fixed)
        goal = np.append(np.full(len(rows), program.margin), program.separation)
        self.goal = goal - E.tdot(program.lower)
        every = np.arange(program.shape[1])
        first, group = groups(E.append_column(g)) or (every, every)
        self.group: Groups = group
        self.n, self.E, self.g = len(first), E.take(first), g[first]
        width = program.upper - program.lower
        together = self.together(width)
        self.share = width / together[self.group]
        costs = program.costs[rows]
        # There is no upper bound on t: its last hinge is never asked for.
        self.at = np.concatenate([-self.g, np.zeros(self.k), -costs, [0.0]])
        self.top = np.concatenate([together, np.full(2 * self.k, np.inf)])

    def together(self, v: Vector) -> Vector:
        """From a number for each column their sums over equal ones."""
        return summed(v, self.group)

    def apart(self, v: Vector) -> Vector:
        """The share of each column in what equal ones have together."""
        return np.asarray(self.share * v[self.group])

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
        beta = self.beta
        self.missed = self._missed(beta)
        self.lacking = len(self.missed) > 0
        return certify(self.program, beta, alpha, -float(point[-1]))

    @property
    def x(self) -> Vector:
        """The multipliers of the rows and of d, as judged last."""
        return -self.judged[0]

    def parts(self) -> tuple[Vector, Vector, Vector]:
        """v, p and q, as judged last."""
        v, p, q = np.split(self.judged[1], [self.n, self.n + self.k])
        return v, p, q

    def slopes(self) -> Vector:
        """r = g - E'x of every hinge of columns, as judged last."""
        return np.asarray(self.E.dot(self.judged[0]) + self.g)

    @property
    def optimal(self) -> bool:
        """Whether the vertex judged last is optimal for these rows: no slope leads from a side."""
        v, slopes, top = self.parts()[0], self.slopes(), self.top[: self.n]
        wrong = np.where(v == 0.0, -slopes, np.where(v == top, slopes, np.abs(slopes)))
        return float(wrong.max()) <= OPTIMAL * float(np.abs(slopes).max())

    @property
    def beta(self) -> Vector:
        """The point of (P) judged last."""
        return np.asarray(self.program.lower + self.apart(self.parts()[0]))

    def _missed(self, beta: Vector) -> Index:
        """Rows whose multiplier is fixed at the wrong bound."""
        over = self.program.rows.dot(beta) - self.program.margin
        wrong = np.where(self.fixed > 0.0, over, -over)
        wrong[self.rows] = 0.0
        return np.flatnonzero(wrong > 0.0)
