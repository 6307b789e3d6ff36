"""A point of the optimal face, from multipliers that are optimal.

Multipliers x = (alpha, t) that are optimal leave to beta all that complements them: with
E = [A; d'], h = (s, ..., s, separation) and the slopes r = g - E'x,

    beta_j = lo_j where r_j > 0,   hi_j where r_j < 0,   between them where r_j = 0 (the columns F)
    E_i beta = h_i where 0 < x_i < c_i,   at least h_i where x_i = 0,   at most where x_i = c_i.

Where columns repeat each other in the rows that matter, as 0/1 words do, F has many more columns
than there are equations, and a vertex found for some rows misses others which a point in the middle
of the face keeps.  So look for the point of the face that is nearest to a given one, b.  With a
slack p_i of the inequality i (sign_i = 1 or -1, 0 for equations), proximal to what b has,

    minimize    |beta - b|^2 / 2 + sum_i (p_i - p0_i)^2 / (2 tau)   s.t.   E beta = h + sign p

has as its dual a smooth convex function of y with the gradient  E beta(y) - h - sign p(y),

    beta(y) = clip(b + E_F'y, lo, hi),        p_i(y) = max(p0_i - tau sign_i y_i, 0),

and Newton's method with the matrix  E_C E_C' + tau (slacks that are positive), C the columns off
their bounds, ends at its minimum: the pieces of the gradient are linear.  Inequalities that no
point on the way has missed are left out.  Equal columns move alike: they share a coefficient where
they do at b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Index, Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import BlockedCholesky, NotPositiveDefiniteError
from lincent.solvers.solution import Controls
from lincent.sources.sparse import CompensatedMatrix, compensated


@dataclass(frozen=True)
class Tuning:
    """Measured on 0/1 and counted words of 4,000 x 10,000 and 20,000 x 47,000."""

    zero: float = 1e-9
    """Slopes of this share of the largest are zero; multipliers as near to a bound are at it."""
    enough: float = 0.1
    """It ends where what is missed costs this share of ``tol``."""
    ridge: float = 1e-10
    damping: float = 1e-4
    """A ridge in proportion to the gradient: far from the face the matrix is often singular."""
    steps: int = 40
    patience: int = 6
    """Steps without a loss that is smaller by a tenth, after which there is no such face."""
    bisections: int = 30
    line_share: float = 1e-2
    """The line search ends when its bracket is this share of the step."""


TUNING = Tuning()
GRAM_COLUMNS = 512


def nearest(
    program: Program, alpha: Vector, t: float, b: Vector, controls: Controls
) -> tuple[Vector, Index] | None:
    """The point nearest to b of the face that the multipliers leave, or the last one looked at.

    Beside it the rows that kept it from going further.  None where the face is a single point.
    """
    face = _Face(program, alpha, t, b)
    if face.single:
        return None
    least, still = np.inf, 0
    for _ in range(TUNING.steps):
        over = face.over()
        loss = face.loss(over)
        least, still = (loss, 0) if loss < 0.9 * least else (least, still + 1)
        done = loss <= TUNING.enough * controls.tol * face.unit or still >= TUNING.patience
        if done or controls.out_of_time() or not face.advance(over):
            break
    return face.point(), face.in_the_way()


class _Face:
    """The face, and the point on the way to it that belongs to y."""

    def __init__(self, program: Program, alpha: Vector, t: float, b: Vector) -> None:
        d, lower, upper = program.difference, program.lower, program.upper
        r = program.linear - program.rows.tdot(alpha) - t * d
        self.flat = np.abs(r) <= TUNING.zero * float(np.abs(r).max())
        self.sides = np.where(self.flat, 0.0, np.where(r > 0.0, lower, upper))
        self.lower, self.upper = lower[self.flat], upper[self.flat]
        self.b = np.clip(b[self.flat], self.lower, self.upper)
        turned = compensated(program.rows).columns(np.flatnonzero(self.flat)).transpose()
        self.E: CompensatedMatrix = turned.append_column(d[self.flat])
        goal = program.margin - program.rows.dot(self.sides)
        self.goal = np.append(goal, program.separation - float(d @ self.sides))
        self.costs = np.append(program.costs, float(program.costs.mean()))
        x, near = np.append(alpha, t), TUNING.zero * self.costs
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
        """Whether no more columns than equations are left to choose."""
        full = self.E.row_squares(np.ones(len(self.goal))) > 0.0
        return int(np.count_nonzero(full)) <= len(self.rows)

    def in_the_way(self) -> Index:
        """The inequalities that have moved the point."""
        found = self.rows[(self.sign[self.rows] != 0.0) & (self.y != 0.0)]
        return np.asarray(found[found < len(self.goal) - 1])

    def _join(self, rows: Index) -> None:
        self.rows, self.y = np.append(self.rows, rows), np.append(self.y, np.zeros(len(rows)))
        self.some = self.E.columns(self.rows)
        self.turned = self.some.transpose()

    def _moved(self, y: Vector) -> Vector:
        return np.asarray(self.b + self.some.dot(y))

    def _gradient(self, y: Vector, beta: Vector) -> tuple[Vector, Vector]:
        """The gradient, and the slacks of the rows that have joined."""
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
        """By how much the point is over each row's margin, and over that of d."""
        return np.asarray(self.E.tdot(self._beta()) - self.goal)

    def _wrong(self, over: Vector) -> Vector:
        return np.where(self.sign == 0.0, np.abs(over), np.maximum(-self.sign * over, 0.0))

    def loss(self, over: Vector) -> float:
        """What the complement of the multipliers is missed by, at the costs of the rows."""
        return float(self.costs @ self._wrong(over))

    def advance(self, over: Vector) -> bool:
        """A Newton step, with the rows that are missed; False where it cannot be computed."""
        missed = self._wrong(over)
        missed[self.rows] = 0.0
        if missed.any():
            self._join(np.flatnonzero(missed))
        moved = self._moved(self.y)
        gradient, p = self._gradient(self.y, np.clip(moved, self.lower, self.upper))
        inside = np.flatnonzero((moved >= self.lower) & (moved <= self.upper))
        matrix = self.some.take(inside).gram(GRAM_COLUMNS)
        matrix.flat[:: len(matrix) + 1] += np.where(p > 0.0, self.tau, 0.0)
        ridge = max(TUNING.damping * float(np.abs(gradient).mean()), TUNING.ridge)
        try:
            direction = -BlockedCholesky(matrix, ridge).solve(gradient)
        except NotPositiveDefiniteError:
            return False
        self.y = self.y + self._length(direction) * direction
        return True

    def _length(self, direction: Vector) -> float:
        """The minimum along the direction, at most the full step: bisection on the slope."""

        def rises(length: float) -> bool:
            y = self.y + length * direction
            beta = np.clip(self._moved(y), self.lower, self.upper)
            return float(self._gradient(y, beta)[0] @ direction) > 0.0

        if not rises(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(TUNING.bisections):
            if high - low <= TUNING.line_share * high:
                break
            middle = (low + high) / 2
            low, high = (low, middle) if rises(middle) else (middle, high)
        return low if low > 0.0 else high / 2
