"""Hinges of (P) and of its dual, and working sets of them with a factored normal matrix.

A hinge is a linear form with a breakpoint ``at`` and a dual weight between 0 and ``top``.  Those of
(P) are its rows, the lower and upper sides of the box and the separation, numbered in this order:

    i < m  row a_i at s      m + j  unit_j at lo_j      m + n + j  -unit_j at -hi_j      last  d

Units, and their breakpoints, are as large as entries of the rows: M'M keeps its digits.
``top`` is the cost of a row, else infinite, and the dual asks for  sum_i weight_i hinge_i = g.
A working set M holds the hinges near the vertex; ``solve`` applies inv(M'M), of which one n x n
factor is held.

The dual of (P) has hinges of the same kind, with features in place of rows.  With x = (alpha, t)
restricted to some rows of E = [A; d'] (the others have their alpha at a bound and belong to g), (P)
asks, for beta = lo + v, slacks p (margin exceeded) and q (violated),

    E v - p + q = h - E lo,       v between 0 and hi - lo,       minimize  g.v + c.q

These are dual weights of the hinges  E_j (feature j),  -unit_i  and  unit_i,  which the point -x
meets at -g_j, 0 and -c_i.  So what finishes (P) from identified rows (``null_space``) finishes it
from identified features, with a matrix as large as the working rows.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.centralization import Certificate, Program, certify
from lincent.solvers.cholesky import BlockedCholesky, NotPositiveDefiniteError
from lincent.solvers.lp.duplicate_rows import Groups, groups, summed
from lincent.solvers.lp.sparse.compensated import CompensatedMatrix, compensated

GRAM_COLUMNS = 512
"""Columns of the normal matrix formed at a time: a sparse product larger than that is memory."""


class RowHinges:
    """The hinges of (P); a point is beta.

    ``scale`` is the length of units, ``at`` are the breakpoints, ``top`` the largest dual weights;
    ``lacking`` says whether the last certified point violates something that no hinge represents.
    """

    lacking = False

    def __init__(self, program: Program) -> None:
        m, n = program.shape
        self.m, self.n, self.program = m, n, program
        size = float(np.sqrt(np.mean(program.rows.column_scale() ** 2)))
        self.unit = 2.0 ** np.round(np.log2(max(size, 1.0)))
        self.scale = np.ones(m + 2 * n + 1)
        self.scale[m:-1] = self.unit
        sides = program.lower, -program.upper
        self.at = np.concatenate([np.full(m, program.margin), *sides, [program.separation]])
        self.at *= self.scale
        self.top = np.concatenate([program.costs, np.full(2 * n + 1, np.inf)])

    def rest(self, dual: Vector) -> Vector:
        """Return the residual of the dual's equation."""
        m, n, program, dual = self.m, self.n, self.program, dual * self.scale
        rest = program.linear - program.rows.tdot(dual[:m]) - dual[-1] * program.difference
        return np.asarray(rest - dual[m : m + n] + dual[m + n : -1])

    def columns(self, chosen: Index) -> Matrix:
        """Return rows and sides; the separation is never asked for."""
        m, n = self.m, self.n
        rows, sides = chosen[chosen < m], chosen[chosen >= m] - m
        out = np.zeros((n, len(chosen)), order="F")
        if len(rows):
            out[:, chosen < m] = self.program.rows.take(rows).dense().T
        out[sides % n, np.flatnonzero(chosen >= m)] = np.where(sides < n, self.unit, -self.unit)
        return out

    def working(self, chosen: Index) -> WorkingSet:
        """Return the working set: rows first, then sides, the separation last."""
        rows, sides = chosen[chosen < self.m], chosen[chosen >= self.m][:-1] - self.m
        matrix = compensated(self.program.rows.take(rows))
        units = np.where(sides < self.n, self.unit, -self.unit)
        return WorkingSet(matrix, sides % self.n, units, self.program.difference[None])

    def beyond(self, point: Vector) -> Vector:
        """Return how far the point is beyond each breakpoint; negative where it is violated."""
        program = self.program
        sides = (point - program.lower, program.upper - point)
        apart = float(program.difference @ point) - program.separation
        beyond = np.concatenate([program.rows.dot(point) - program.margin, *sides, [apart]])
        return beyond * self.scale

    def certify(self, point: Vector, dual: Vector) -> Certificate:
        """Return the certificate of the point and the dual weights for the whole program."""
        return certify(self.program, point, dual[: self.m], float(dual[-1]))


class ColumnHinges:
    """Hinges of the n different features, then one -unit and one unit for each row and for d.

    A point is -x.  ``alpha`` has the dual weights of all rows, those outside ``rows`` at a bound.

    Features that are equal in the working rows are one hinge, whose range is the sum of theirs:
    with 0/1 words, which are many features for few rows, the optimum is a face before they are
    merged and near a vertex after.  Each has its part in proportion to its range.
    """

    scale = 1.0

    def __init__(self, program: Program, rows: Index, alpha: Vector) -> None:
        self.program, self.rows, self.k = program, rows, len(rows) + 1
        self.fixed = alpha.copy()
        self.fixed[rows] = 0.0
        self.missed: Index = np.empty(0, dtype=np.intp)  # rows fixed at the wrong bound
        self.lacking = False
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
        """Return the sums of a vector over equal features."""
        return summed(v, self.group)

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
        """Return the working set: features first, then sides."""
        columns, sides = chosen[chosen < self.n], chosen[chosen >= self.n] - self.n
        sign = np.where(sides < self.k, -1.0, 1.0)
        nothing = np.empty((0, self.k))
        return WorkingSet(self.E.take(columns), sides % self.k, sign, nothing)

    def beyond(self, point: Vector) -> Vector:
        costs = np.append(self.program.costs[self.rows], np.inf)
        return np.concatenate([self.E.dot(point) + self.g, -point, point + costs])

    def certify(self, point: Vector, dual: Vector) -> Certificate:
        self.certified = (point, dual)
        alpha = self.fixed.copy()
        alpha[self.rows] = -point[:-1]
        beta = self.beta
        over = self.program.rows.dot(beta) - self.program.margin
        wrong = np.where(self.fixed > 0.0, over, -over)
        wrong[self.rows] = 0.0
        self.missed = np.flatnonzero(wrong > 0.0)
        self.lacking = len(self.missed) > 0
        return certify(self.program, beta, alpha, -float(point[-1]))

    @property
    def x(self) -> Vector:
        """Dual weights of the rows and of d, as certified last."""
        return -self.certified[0]

    @property
    def optimal(self) -> bool:
        """Whether the vertex certified last is optimal for these rows, up to 1e-7 of a slope."""
        v, top = self.certified[1][: self.n], self.top[: self.n]
        slopes = self.E.dot(self.certified[0]) + self.g  # r = g - E'x of every feature hinge
        wrong = np.where(v == 0.0, -slopes, np.where(v == top, slopes, np.abs(slopes)))
        return float(wrong.max()) <= 1e-7 * float(np.abs(slopes).max())

    @property
    def beta(self) -> Vector:
        """The point of (P) certified last."""
        v = self.certified[1][: self.n]
        # Each of equal features has its part in their sum.
        return np.asarray(self.program.lower + self.share * v[self.group])


class WorkingSet:
    """M = [matrix; sign_k unit_{column_k}; last] and inv(M'M)."""

    def __init__(
        self, matrix: CompensatedMatrix, column: Index, sign: Vector, last: Matrix
    ) -> None:
        self.matrix, self.column, self.sign, self.last = matrix, column, sign, last
        self.rows = matrix.shape[0]
        self.shape = (self.rows + len(column) + len(last), matrix.shape[1])
        # Dependent columns need a ridge, and refinement removes its effect.
        for ridge in (1e-13, 1e-11, 1e-9):
            try:
                self.factor = BlockedCholesky(self._normal(), ridge)
                return
            except NotPositiveDefiniteError:
                continue
        raise NotPositiveDefiniteError

    def dot(self, V: Matrix | Vector) -> Matrix:
        """Return M V for one or several columns."""
        sign = self.sign if V.ndim == 1 else self.sign[:, None]
        return np.concatenate([self.matrix.dot(V), sign * V[self.column], self.last @ V])

    def tdot(self, U: Matrix | Vector) -> Matrix:
        """Return M'U for one or several columns."""
        sign = self.sign if U.ndim == 1 else self.sign[:, None]
        upto = self.rows + len(self.column)
        out = self.matrix.tdot(U[: self.rows]) + self.last.T @ U[upto:]
        np.add.at(out, self.column, sign * U[self.rows : upto])
        return np.asarray(out)

    def solve(self, b: Matrix | Vector) -> Matrix:
        """Return inv(M'M) b."""
        return self.factor.solve(b)

    def _normal(self) -> Matrix:
        """Return M'M (its lower half), with one array of its size in all."""
        n = self.shape[1]
        out = self.matrix.gram(GRAM_COLUMNS)
        for start in range(0, n if len(self.last) else 0, GRAM_COLUMNS):
            part, upto = slice(start, start + GRAM_COLUMNS), min(start + GRAM_COLUMNS, n)
            out[part, :upto] += self.last[:, part].T @ self.last[:, :upto]
        np.add.at(out.reshape(-1), self.column * (n + 1), self.sign**2)
        return out


Hinges = RowHinges | ColumnHinges
