"""The point of the optimal face that is nearest to a given one, from optimal dual weights.

Optimal dual weights x = (alpha, t) leave to beta all that complements them: with
E = [A; d'], h = (s, ..., s, separation) and the slopes r = g - E'x,

    beta_j = lo_j where r_j > 0,   hi_j where r_j < 0,   between them where r_j = 0 (the columns F)
    E_i beta = h_i where 0 < x_i < c_i,   at least h_i where x_i = 0,   at most where x_i = c_i.

Where features repeat each other in the working rows, as 0/1 words do, F has many more features than
there are equations, and a vertex of the working rows violates others which a point in the middle of
the face keeps.  So project a given point b onto the face.  With a slack
p_i of the inequality i (sign_i = 1 or -1, 0 for equations), proximal to what b has,

    minimize    |beta - b|^2 / 2 + sum_i (p_i - p0_i)^2 / (2 tau)   s.t.   E beta = h + sign p

has as its dual a smooth convex function of y with the gradient  E beta(y) - h - sign p(y),

    beta(y) = clip(b + E_F'y, lo, hi),        p_i(y) = max(p0_i - tau sign_i y_i, 0),

and Newton's method with the matrix  E_C E_C' + tau (slacks that are positive), C the columns off
their bounds, ends at its minimum: the pieces of the gradient are linear (semismooth Newton, as in
Li, Sun and Toh 2020).  Inequalities that no iterate has violated are left out.  Equal features
share a coefficient where they do at b.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Index, Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import BlockedCholesky, NotPositiveDefiniteError
from lincent.solvers.line_search import bisect_step
from lincent.solvers.lp.sparse.compensated import CompensatedMatrix, compensated
from lincent.solvers.lp.sparse.hinges import GRAM_COLUMNS
from lincent.solvers.solution import Controls

ZERO = 1e-9
"""Slopes of this fraction of the largest are zero; dual weights as near to a bound are at it."""


def nearest(
    program: Program, alpha: Vector, t: float, b: Vector, controls: Controls
) -> tuple[Vector, Index] | None:
    """Return the point of the face nearest to b, or the last iterate, and the rows in its way.

    None where the face is a single point.
    """
    face = _Face(program, alpha, t, b)
    if face.single:
        return None
    least, still = np.inf, 0
    for _ in range(40):
        over = face.over()
        loss = face.loss(over)
        least, still = (loss, 0) if loss < 0.9 * least else (least, still + 1)
        # A loss that has not fallen by a tenth in six steps: there is no such face.
        done = loss <= 0.1 * controls.tol * face.unit or still >= 6
        if done or controls.out_of_time() or not face.advance(over):
            break
    return face.point(), face.in_the_way()


class _Face:
    """The face, and the iterate that belongs to y."""

    def __init__(self, program: Program, alpha: Vector, t: float, b: Vector) -> None:
        d, lower, upper = program.difference, program.lower, program.upper
        r = program.linear - program.rows.tdot(alpha) - t * d
        self.flat = np.abs(r) <= ZERO * float(np.abs(r).max())
        self.sides = np.where(self.flat, 0.0, np.where(r > 0.0, lower, upper))
        self.lower, self.upper = lower[self.flat], upper[self.flat]
        self.b = np.clip(b[self.flat], self.lower, self.upper)
        turned = compensated(program.rows).columns(np.flatnonzero(self.flat)).transpose()
        self.E: CompensatedMatrix = turned.append_column(d[self.flat])
        goal = program.margin - program.rows.dot(self.sides)
        self.goal = np.append(goal, program.separation - float(d @ self.sides))
        self.costs = np.append(program.costs, float(program.costs.mean()))
        x, near = np.append(alpha, t), ZERO * self.costs
        high = np.append(alpha >= program.costs - near[:-1], False)
        self.sign = np.where(x <= near, 1.0, np.where(high, -1.0, 0.0))
        self.slack = np.maximum(self.sign * (self.E.tdot(self.b) - self.goal), 0.0)
        self.tau = float(np.median(self.E.transpose().row_squares(np.ones(len(self.b)))))
        self.unit = max(1.0, abs(program.offset + float(program.linear @ b)))
        self.rows = np.empty(0, dtype=np.intp)
        self.y = np.empty(0)
        self._join(np.flatnonzero(self.sign == 0.0))

    @property
    def single(self) -> bool:
        """Whether no more features than equations are left to choose."""
        full = self.E.row_squares(np.ones(len(self.goal))) > 0.0
        return int(np.count_nonzero(full)) <= len(self.rows)

    def in_the_way(self) -> Index:
        """Return the rows whose inequality has moved the point."""
        active = self.rows[(self.sign[self.rows] != 0.0) & (self.y != 0.0)]
        return np.asarray(active[active < len(self.goal) - 1])

    def _join(self, rows: Index) -> None:
        self.rows, self.y = np.append(self.rows, rows), np.append(self.y, np.zeros(len(rows)))
        self.some = self.E.columns(self.rows)
        self.turned = self.some.transpose()

    def _moved(self, y: Vector) -> Vector:
        return np.asarray(self.b + self.some.dot(y))

    def _gradient(self, y: Vector, beta: Vector) -> tuple[Vector, Vector]:
        """Return the gradient, and the slacks of the rows that have joined."""
        sign = self.sign[self.rows]
        p = np.where(sign == 0.0, 0.0, np.maximum(self.slack[self.rows] - self.tau * sign * y, 0.0))
        return self.turned.dot(beta) - self.goal[self.rows] - sign * p, p

    def _beta(self) -> Vector:
        return np.clip(self._moved(self.y), self.lower, self.upper)

    def point(self) -> Vector:
        beta = self.sides.copy()
        beta[self.flat] = self._beta()
        return beta

    def over(self) -> Vector:
        """Return by how much the point exceeds each margin, and the separation."""
        return np.asarray(self.E.tdot(self._beta()) - self.goal)

    def _wrong(self, over: Vector) -> Vector:
        return np.where(self.sign == 0.0, np.abs(over), np.maximum(-self.sign * over, 0.0))

    def loss(self, over: Vector) -> float:
        """Return the violation of complementarity, at the costs of the rows."""
        return float(self.costs @ self._wrong(over))

    def advance(self, over: Vector) -> bool:
        """Take a Newton step with the violated rows; False where it cannot be computed."""
        missed = self._wrong(over)
        missed[self.rows] = 0.0
        if missed.any():
            self._join(np.flatnonzero(missed))
        moved = self._moved(self.y)
        gradient, p = self._gradient(self.y, np.clip(moved, self.lower, self.upper))
        inside = np.flatnonzero((moved >= self.lower) & (moved <= self.upper))
        matrix = self.some.take(inside).gram(GRAM_COLUMNS)
        matrix.flat[:: len(matrix) + 1] += np.where(p > 0.0, self.tau, 0.0)
        # In proportion to the gradient: far from the face the matrix is often singular.
        ridge = max(1e-4 * float(np.abs(gradient).mean()), 1e-10)
        try:
            direction = -BlockedCholesky(matrix, ridge).solve(gradient)
        except NotPositiveDefiniteError:
            return False

        def slope(length: float) -> float:
            y = self.y + length * direction
            beta = np.clip(self._moved(y), self.lower, self.upper)
            return float(self._gradient(y, beta)[0] @ direction)

        self.y = self.y + bisect_step(slope, 1e-2) * direction
        return True
