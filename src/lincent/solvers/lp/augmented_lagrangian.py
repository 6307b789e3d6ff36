"""Which rows sit on the kink: an augmented Lagrangian with Newton-CG steps.

Everything in (P) that bends is a hinge: rows at cost c_i, the two sides of the box and the gap at
infinite cost.  Given multipliers alpha (rows), zl and zu (sides), t (gap) and a stiffness rho, the
hinges are replaced by quadratics around their kinks,

    alpha_i(beta) = clip(alpha_i + rho c_i (s - a_i.beta), 0, c_i)
    zl_j(beta)    = max(zl_j + rho b_j (lo_j - beta_j), 0)        zu likewise
    t(beta)       = max(t + rho e (gap - d.beta), 0)

and beta minimizes a smooth convex function whose gradient is

    g - A'alpha(beta) - t(beta) d - zl(beta) + zu(beta) + a small proximal term,

so a small gradient is a small violation of the dual.  Its Newton matrix is that of the rows J
strictly between their bounds alone, so conjugate gradients multiply with few rows.  Then the
multipliers are brought up to date, rho grows, and J shrinks towards the n rows of a vertex
(Rockafellar 1976; Li, Sun and Toh 2020 for linear programs).

The last digits are slow this way: J is what it is for.  Nothing of size n x n is formed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Certificate, Rows, Vector
from lincent.problems.centralization import Program, better_sides, certify
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.conjugate_gradients import absolute_residual, conjugate_gradients
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class Tuning:
    """Measured on sparse 50,000 x 5,000, uniform and text-like, and dense 10,000 x 500."""

    first_width: float = 2.0
    """Half the first smoothing width in median residuals: wide is smooth, narrow identifies."""
    growth: float = 2.0
    """Factor on rho per round; 3 and 5 need up to twice the CG steps for the same J."""
    first_gradient: float = 0.07
    """Largest gradient after the first round, as a share of the objective ..."""
    gradient_shrink: float = 0.4
    """... and its factor per round: exact early rounds cost CG steps and identify no more."""
    drop: float = 0.5
    """Every round brings the gradient at least to this share of its first."""
    cg_share: float = 0.3
    cg_late: float = 0.03
    """Residual left by CG: loose for the first Newton steps of a round, closer afterwards."""
    early_steps: int = 4
    proximal: float = 1e-7
    """Share of the columns' curvature that is added: keeps dependent columns apart."""
    most_cg: int = 3000
    direct_columns: int = 1000
    """Dense rows of up to this many columns: the Newton matrix is formed and factored, which no
    correlation slows down (10,000 x 500, correlated: 4.2 s by CG)."""
    start_cg: int = 50
    rounds: int = 40
    judged_after: int = 3
    hopeless: float = 0.5
    """With a gap above this after so many rounds the optimum is at the box, or there is nothing to
    learn (10,000 x 500 of pure noise: 3 s lost before the next solver was asked)."""
    newton_steps: int = 60
    line_share: float = 1e-2
    """The line search ends when its bracket is this share of the step."""


TUNING = Tuning()
BISECTIONS = 50


@dataclass
class Identified:
    """A point near the optimum, multipliers for every hinge, and how far each is from its kink."""

    beta: Vector
    missed: Vector
    alpha: Vector
    low: Vector
    high: Vector
    t: float
    rho: float
    steps: int = 0
    rounds: int = 0
    between: int = 0
    """Hinges whose multiplier is strictly between its bounds; n of them make a vertex."""
    best: Certificate | None = field(default=None, repr=False)

    def doubt(self, costs: Vector) -> Vector:
        """How far each row is from a kink, in units of its cost: most surely on it first."""
        share = self.alpha / costs
        u = share + self.rho * self.missed
        beyond = np.maximum(np.maximum(-u, u - 1.0), 0.0)
        return np.asarray(beyond - np.minimum(share, 1.0 - share))


def identify(
    program: Program, controls: Controls, enough: float, tuning: Tuning = TUNING
) -> Identified:
    """Rounds until at most ``enough`` hinges are between their bounds, or the gap is ``tol``.

    With ``enough`` zero the rounds go on while the certified gap improves.
    """
    smooth = _Smoothed(program, tuning)
    point = smooth.start()
    stalled = 0
    for _ in range(tuning.rounds):
        smooth.minimize(point, controls)
        judged = certify(program, point.beta, point.alpha, point.t)
        last = np.inf if point.best is None else point.best.relative_gap
        point.best = judged if point.best is None else better_sides(point.best, judged)
        stalled = 0 if point.best.relative_gap < 0.9 * last else stalled + 1
        gap = point.best.relative_gap
        controls.reached(
            f"identification, round {point.rounds}", point.best.objective, gap,
            f"  {point.between} hinges in doubt, {point.steps} steps",
        )  # fmt: skip
        done = point.between <= enough or gap <= controls.tol
        done |= enough > 0 and point.rounds >= tuning.judged_after and gap > tuning.hopeless
        if done or stalled > 2 or controls.out_of_time() or point.steps >= controls.max_iter:
            break
        point.rho *= tuning.growth
    return point


class _Smoothed:
    """The smoothed function for given multipliers, and its minimization."""

    def __init__(self, program: Program, tuning: Tuning) -> None:
        m, n = program.shape
        self.program, self.tuning = program, tuning
        mean_cost = float(program.costs.mean())
        # The curvature of each column over all rows; n of the m rows will be on the kink.
        self.curve = program.rows.column_scale() ** 2 * (m * mean_cost)
        self.side = self.curve * min(1.0, n / m)
        self.gap_weight = n * mean_cost

    def start(self) -> Identified:
        """The discriminant direction, by a few CG steps, at the length where d.beta = gap."""
        program, d = self.program, self.program.difference
        ridge = 1e-3 * self.curve
        costs, rows = program.costs, program.rows

        def curvature(v: Vector) -> Vector:
            return rows.tdot(costs * rows.dot(v)) + ridge * v

        most = self.tuning.start_cg
        inverse = 1.0 / (self.curve + ridge)
        done = absolute_residual(d, 1e-3)
        x = conjugate_gradients(curvature, d, inverse.__mul__, done, most)
        beta = program.feasible(x * (program.separation / float(d @ x)))
        missed = program.margin - rows.dot(beta)
        rho = 1.0 / (self.tuning.first_width * float(np.median(np.abs(missed))) + 1e-300)
        nothing = np.zeros(len(d))
        self.unit = max(abs(program.primal(beta, program.margin - missed)), 1.0)
        return Identified(beta, missed, costs / 2, nothing, nothing, 0.0, rho)

    def minimize(self, point: Identified, controls: Controls) -> None:
        """Newton steps to the minimum for the multipliers of the point, which are then renewed."""
        tuning = self.tuning
        held = _Held(self, point)
        limit = tuning.first_gradient * self.unit * tuning.gradient_shrink**point.rounds
        goal = np.inf
        for step in range(tuning.newton_steps):
            now = held.at(point.beta, point.missed)
            size = float(np.abs(now.gradient).sum())
            goal = min(tuning.drop * size, limit) if step == 0 else goal
            late = controls.out_of_time() or point.steps >= controls.max_iter
            if size <= goal or late:
                break
            share = tuning.cg_share if step < tuning.early_steps else tuning.cg_late
            direction = held.newton(now, share, controls)
            along = self.program.rows.dot(direction)
            length = held.length(point, direction, along)
            point.beta = point.beta + length * direction
            point.missed = point.missed - length * along
            point.steps += 1
        point.alpha, point.low, point.high, point.t = now.alpha, now.low, now.high, now.t
        sides = int(np.count_nonzero(now.low) + np.count_nonzero(now.high))
        point.between = len(now.inside) + sides + int(now.t > 0)
        point.rounds += 1


@dataclass(frozen=True)
class _Now:
    """What the smoothed function says at a point."""

    alpha: Vector
    low: Vector
    high: Vector
    t: float
    gradient: Vector
    inside: NDArray[np.intp]


class _Held:
    """The smoothed function with its multipliers held."""

    def __init__(self, smooth: _Smoothed, point: Identified) -> None:
        self.program, self.curve = smooth.program, smooth.curve
        self.most_cg, self.line_share = smooth.tuning.most_cg, smooth.tuning.line_share
        self.direct = smooth.tuning.direct_columns
        self.origin, self.rho = point.beta, point.rho
        self.share = point.alpha / self.program.costs
        self.low, self.high, self.t = point.low, point.high, point.t
        self.side, self.gap = point.rho * smooth.side, point.rho * smooth.gap_weight
        self.proximal = smooth.tuning.proximal * point.rho * smooth.curve

    def at(self, beta: Vector, missed: Vector) -> _Now:
        program = self.program
        u = self.share + self.rho * missed
        alpha = program.costs * np.clip(u, 0.0, 1.0)
        low, high, t = self._constraints(beta)
        gradient = program.linear - program.rows.tdot(alpha) - t * program.difference
        gradient += high - low + self.proximal * (beta - self.origin)
        return _Now(alpha, low, high, t, gradient, np.flatnonzero((u > 0.0) & (u < 1.0)))

    def _constraints(self, beta: Vector) -> tuple[Vector, Vector, float]:
        """The multipliers of the sides and of the gap."""
        program = self.program
        low = np.maximum(self.low + self.side * (program.lower - beta), 0.0)
        high = np.maximum(self.high + self.side * (beta - program.upper), 0.0)
        missing = program.separation - float(program.difference @ beta)
        return low, high, max(self.t + self.gap * missing, 0.0)

    def newton(self, now: _Now, share: float, controls: Controls) -> Vector:
        """The Newton direction, to a residual of ``share``."""
        rows: Rows = self.program.rows.take(now.inside)
        weight = self.rho * self.program.costs[now.inside]
        d, gap = self.program.difference, self.gap if now.t > 0 else 0.0
        diagonal = self.proximal + np.where((now.low > 0) | (now.high > 0), self.side, 0.0)
        if not rows.sparse and len(d) <= self.direct:
            H = rows.gram(weight)
            H.flat[:: len(d) + 1] += diagonal
            if gap:
                H += np.multiply.outer(gap * d, d)
            return PositiveDefinite(H).solve(-now.gradient)
        curve = float(weight.sum()) * rows.column_scale() ** 2
        least = 1e-3 / len(self.program.costs) * self.rho * self.curve
        inverse = 1.0 / (curve + diagonal + gap * d * d + least)

        def matrix(v: Vector) -> Vector:
            product = rows.tdot(weight * rows.dot(v)) + diagonal * v
            return product + (gap * float(d @ v)) * d if gap else product

        right = -now.gradient
        done = absolute_residual(right, share, controls.out_of_time)
        return conjugate_gradients(matrix, right, inverse.__mul__, done, self.most_cg)

    def length(self, point: Identified, direction: Vector, along: Vector) -> float:
        """The minimum along the direction, at most the full step: bisection on the slope."""
        if self._slope(point, direction, along, 1.0) <= 0.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            if high - low <= self.line_share * high:
                break
            middle = (low + high) / 2
            if self._slope(point, direction, along, middle) > 0.0:
                high = middle
            else:
                low = middle
        return low if low > 0.0 else high / 2

    def _slope(self, point: Identified, direction: Vector, along: Vector, length: float) -> float:
        program = self.program
        u = np.clip(self.share + self.rho * (point.missed - length * along), 0.0, 1.0)
        beta = point.beta + length * direction
        low, high, t = self._constraints(beta)
        slope = float(program.linear @ direction) - float((program.costs * u) @ along)
        slope -= t * float(program.difference @ direction)
        return slope + float((high - low + self.proximal * (beta - self.origin)) @ direction)
