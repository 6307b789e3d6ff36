"""A primal-dual interior point for the centralization program.

With slacks xi_i (margin missed) and p_i (margin exceeded) the optimality conditions of (P) are

    A beta + xi - p = s           A' alpha + t d + zl - zu = g          d.beta - q = gap
    p alpha = 0,  xi (c - alpha) = 0,  (beta - lo) zl = 0,  (hi - beta) zu = 0,  q t = 0

and everything that is multiplied is nonnegative.  Replacing the zeros on the right of the second
line by mu > 0 and driving mu to zero is Mehrotra's predictor-corrector.  Each Newton step reduces
to one n x n system

    (A' D A + Theta + (t/q) d d') step = rhs,       D = 1 / (p/alpha + xi/(c - alpha)),
                                                    Theta = zl/(beta - lo) + zu/(hi - beta)

or, with more columns than rows, to an m x m one for alpha (see ``normal``).

What makes it robust on real tables (collinear columns, separable classes, coordinates at the box):
the normal matrix is scaled to unit diagonal, carries a ridge of rounding size and is refined against
itself without the ridge; the slacks start at the size of the data; a corrector that would allow
only a tiny step is replaced by plain centering; the best primal and the best dual point are kept
separately, since either may come first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.programs.centralization import Certificate, Program, Vector, certify
from lincent.solvers.normal import FactorizationError, normal_equations
from lincent.solvers.vertex import to_vertex
from lincent.solvers.solution import Controls, Solution, Status

STEP_BACK = 0.995
SMALL_STEP = 0.1
PATIENCE = 15
VERTEX_BELOW = 1e-2
WIDTH = 3.0
CORRECTORS = 2
LONG_STEP = 0.9
REACH = 0.3
SPREAD = 10.0
WORTH = 0.05
LENGTHS = tuple(10.0 ** -(k / 2) for k in range(0, 13))
ONLY_POINT = 1e-12
NAME = "interior-point"


@dataclass
class _Layout:
    """Where each block sits in the stacked vectors of slacks P and multipliers Z."""

    m: int
    n: int

    def __post_init__(self) -> None:
        m, n = self.m, self.n
        self.size = 2 * m + 2 * n + 1
        self.over = slice(0, m)  # p    | alpha
        self.miss = slice(m, 2 * m)  # xi   | c - alpha
        self.low = slice(2 * m, 2 * m + n)  # beta - lo | zl
        self.high = slice(2 * m + n, 2 * m + 2 * n)  # hi - beta | zu
        self.gap = 2 * m + 2 * n  # q    | t


class _Best:
    """The best feasible point and the best dual bound seen so far."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.primal = np.inf
        self.dual = -np.inf
        self.beta = program.feasible(np.zeros(program.shape[1]))
        self.alpha = np.zeros(program.shape[0])
        self.t = 0.0

    def offer_primal(self, beta: Vector, projected: Vector) -> None:
        feasible = self.program.feasible(beta)
        if feasible is not beta and not np.array_equal(feasible, beta):
            projected = self.program.rows.dot(feasible)
        value = self.program.primal(feasible, projected)
        if value < self.primal:
            self.primal, self.beta = value, feasible.copy()

    def offer_dual(self, alpha: Vector, t: float, combined: Vector) -> None:
        value = self.program.dual(alpha, t, combined)
        if value > self.dual:
            self.dual, self.alpha, self.t = value, alpha.copy(), t

    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)

    def relative_gap(self) -> float:
        if not np.isfinite(self.primal):
            return np.inf
        return self.gap() / max(1.0, abs(self.primal))

    def certificate(self) -> Certificate:
        return Certificate(self.beta, self.alpha, self.t, self.primal, self.dual)


class InteriorPoint:
    """One solve: the iterate, and the steps that move it."""

    def __init__(self, program: Program, start: Vector | None = None, *, absorb: bool = False) -> None:
        m, n = program.shape
        self.program = program
        self.absorb = absorb
        self.column_scale = program.rows.column_scale()
        self.at = _Layout(m, n)
        self.P = np.empty(self.at.size)
        self.Z = np.empty(self.at.size)
        self._start(start)

    def _start(self, start: Vector | None) -> None:
        """A centered point: every row alone has p alpha = xi (c - alpha).

        beta starts along the discriminant direction inv(A'CA) d (or where the caller says), at the
        length with the smallest objective; the slacks start at the size of the residuals there.
        The multipliers of the box start small, and stationarity is reached on the way; or, with
        ``absorb``, they start as large as stationarity asks, which is slower but suits problems
        whose optimum sits at the box.
        """
        program, at = self.program, self.at
        P, Z, c = self.P, self.Z, program.costs
        if start is None:
            start, missed = self._discriminant()
        else:
            middle = (program.lower + program.upper) / 2
            start = middle + 0.99 * (start - middle)
            missed = program.margin - program.rows.dot(start)
        self.beta = start
        size = WIDTH * float(np.mean(np.abs(missed))) + 1e-300
        root = np.sqrt(missed**2 + size**2)
        P[at.over] = np.maximum(root - missed, 1e-3 * size) / 2
        P[at.miss] = P[at.over] + missed
        Z[at.over] = c * P[at.miss] / (P[at.over] + P[at.miss])
        Z[at.miss] = c - Z[at.over]
        mu = float(np.mean(P[at.over] * Z[at.over]))
        P[at.low] = self.beta - program.lower
        P[at.high] = program.upper - self.beta
        P[at.gap] = max(float(program.difference @ self.beta) - program.gap, size)
        Z[at.gap] = mu / P[at.gap]
        Z[at.low] = mu / P[at.low]
        Z[at.high] = mu / P[at.high]
        if self.absorb:
            rest = program.linear - program.rows.tdot(Z[at.over]) - Z[at.gap] * program.difference
            spread = np.maximum(Z[at.low], Z[at.high])
            Z[at.low] = (rest + np.sqrt(rest**2 + 4 * spread**2)) / 2
            Z[at.high] = np.maximum(Z[at.low] - rest, 1e-3 * spread)
            Z[at.low] = Z[at.high] + rest

    def _discriminant(self) -> tuple[Vector, Vector]:
        program = self.program
        total = float(program.costs.sum())
        ridge = 1e-2 * total * self.column_scale**2
        nothing = np.zeros(program.shape[0])
        normal = normal_equations(program, program.costs, 1e-300, ridge)
        direction = normal.step(nothing, 0.0, program.difference)[0]
        middle = (program.lower + program.upper) / 2
        half = (program.upper - program.lower) / 2
        direction *= 0.9 / float(np.max(np.abs(direction) / half))
        along = program.rows.dot(direction)
        base = program.margin - program.rows.dot(middle) if middle.any() else program.margin
        best, best_value = 1.0, np.inf
        for scale in LENGTHS:
            missed = base - scale * along
            value = scale * float(program.linear @ direction)
            value += float(program.costs @ np.maximum(missed, 0.0))
            if value < best_value:
                best, best_value = scale, value
        return middle + best * direction, base - best * along

    def residuals(self) -> None:
        """Exact residuals of the three linear conditions, and the products a certificate needs."""
        program, at = self.program, self.at
        P, Z = self.P, self.Z
        self.projected = program.rows.dot(self.beta)
        self.combined = program.rows.tdot(Z[at.over])
        self.r_rows = program.margin - self.projected - P[at.miss] + P[at.over]
        self.r_cols = (
            program.linear - self.combined - Z[at.gap] * program.difference - Z[at.low] + Z[at.high]
        )
        self.r_gap = float(program.difference @ self.beta) - program.gap - P[at.gap]

    def factor(self) -> None:
        at, P, Z = self.at, self.P, self.Z
        stiff = P / Z
        D = 1.0 / (stiff[at.over] + stiff[at.miss])
        theta = 1.0 / stiff[at.low] + 1.0 / stiff[at.high]
        self.normal = normal_equations(self.program, D, 1.0 / float(stiff[at.gap]), theta)
        self.stiff = stiff

    def direction(self, R: Vector) -> tuple[Vector, Vector, Vector]:
        """The Newton step for Z dP + P dZ = R, keeping the linear conditions."""
        at, P, Z = self.at, self.P, self.Z
        RZ = R / Z
        RP = R / P
        dbeta, dalpha, dt = self.normal.step(
            self.r_rows - RZ[at.miss] + RZ[at.over],
            float(RZ[at.gap]) - self.r_gap,
            RP[at.low] - RP[at.high] - self.r_cols,
        )
        dP = np.empty_like(P)
        dZ = np.empty_like(Z)
        dZ[at.over] = dalpha
        dZ[at.miss] = -dalpha
        dP[at.over] = RZ[at.over] - self.stiff[at.over] * dalpha
        dP[at.miss] = RZ[at.miss] + self.stiff[at.miss] * dalpha
        dP[at.low] = dbeta
        dP[at.high] = -dbeta
        dP[at.gap] = float(self.program.difference @ dbeta) + self.r_gap
        box = slice(at.low.start, at.high.stop)
        dZ[box] = RP[box] - dP[box] / self.stiff[box]
        dZ[at.gap] = dt
        return dbeta, dP, dZ

    def vertex(self, *, exact_count: bool) -> Certificate | None:
        """The vertex that this point seems to approach.

        With ``exact_count`` only a guess with as many equations as unknowns is tried.
        """
        program, at, P, Z = self.program, self.at, self.P, self.Z
        size = float(np.mean(np.abs(self.projected - program.margin)))
        inside = P[at.over] * program.costs > Z[at.over] * size
        outside = P[at.miss] * program.costs > Z[at.miss] * size
        # A multiplier of the box is measured against the largest it could need to be.
        width = program.upper - program.lower
        pull = np.abs(program.linear) + float(program.costs.sum()) * self.column_scale
        at_low = Z[at.low] * width > P[at.low] * pull
        at_high = Z[at.high] * width > P[at.high] * pull
        gap_active = bool(Z[at.gap] * size > P[at.gap])
        kink, free = ~(inside | outside), ~(at_low | at_high)
        if exact_count and np.count_nonzero(kink) + gap_active != np.count_nonzero(free):
            return None
        beta = np.where(at_low, program.lower, np.where(at_high, program.upper, self.beta))
        alpha = np.where(inside, 0.0, np.where(outside, program.costs, Z[at.over]))
        t = float(Z[at.gap]) if gap_active else 0.0
        return to_vertex(program, beta, alpha, t, kink, free, gap_active)

    def move(self, dbeta: Vector, dP: Vector, dZ: Vector, primal: float, dual: float) -> None:
        self.beta = self.beta + primal * dbeta
        self.P += primal * dP
        self.Z += dual * dZ

    def step(self) -> float:
        """One predictor-corrector step; returns the shorter of the two step lengths."""
        P, Z = self.P, self.Z
        product = P * Z
        mu = float(product.mean())
        self.factor()
        _, dP, dZ = self.direction(-product)
        primal, dual = _longest(P, dP), _longest(Z, dZ)
        ahead = float((P + primal * dP) @ (Z + dual * dZ)) / P.size
        center = min((ahead / mu) ** 3, 1.0) * mu
        R = center - product - dP * dZ
        direction = self.direction(R)
        primal, dual = _longest(P, direction[1]), _longest(Z, direction[2])
        if min(primal, dual) < SMALL_STEP:
            center = max(center, SMALL_STEP * mu)
            R = center - product
            direction = self.direction(R)
            primal, dual = _longest(P, direction[1]), _longest(Z, direction[2])
        for _ in range(CORRECTORS):
            if min(primal, dual) > LONG_STEP:
                break
            trial = self._centered(R, direction, primal, dual, center)
            better = self.direction(trial)
            longer = _longest(P, better[1]), _longest(Z, better[2])
            if longer[0] + longer[1] < primal + dual + WORTH:
                break
            R, direction, (primal, dual) = trial, better, longer
        if not np.isfinite(primal + dual):
            raise FactorizationError
        self.move(*direction, STEP_BACK * primal, STEP_BACK * dual)
        return min(primal, dual)

    def _centered(
        self, R: Vector, direction: tuple[Vector, Vector, Vector], primal: float, dual: float, mu: float
    ) -> Vector:
        """Gondzio's correction: aim further, and pull outlying products back towards mu."""
        _, dP, dZ = direction
        primal, dual = min(1.0, primal + REACH), min(1.0, dual + REACH)
        product = (self.P + primal * dP) * (self.Z + dual * dZ)
        change = np.clip(product, mu / SPREAD, mu * SPREAD) - product
        return R + np.maximum(change, -SPREAD * mu)


def _longest(x: Vector, dx: Vector) -> float:
    """The longest step in (0, 1] that keeps x + step * dx nonnegative."""
    steepest = float(np.max(-dx / x))
    return 1.0 if steepest <= 1.0 else 1.0 / steepest


def solve(program: Program, controls: Controls, start: Vector | None = None) -> Solution:
    """Bring the program to ``controls.tol``, or as near as it gets."""
    if program.gap >= program.largest_gap * (1 - ONLY_POINT):
        return _only_point(program, controls)
    first = _drive(program, controls, InteriorPoint(program, start))
    if first.status is not Status.STALLED:
        return first
    second = _drive(program, controls, InteriorPoint(program, absorb=True))
    best = min(first, second, key=lambda solution: solution.relative_gap)
    return replace(best, iterations=first.iterations + second.iterations)


def _only_point(program: Program, controls: Controls) -> Solution:
    """At the largest feasible gap the box has one feasible corner left."""
    beta = program.farthest_point
    alpha = np.where(program.rows.dot(beta) < program.margin, program.costs, 0.0)
    answer = certify(program, beta, alpha, 0.0)
    # A column with equal centers stays free there; such a case is left to the next solver.
    status = Status.OPTIMAL if answer.relative_gap <= controls.tol else Status.STALLED
    return Solution(status, answer, 1, NAME)


@np.errstate(all="ignore")  # a step that is not finite ends the drive as stalled
def _drive(program: Program, controls: Controls, point: InteriorPoint) -> Solution:
    best = _Best(program)
    at = point.at
    status = Status.ITERATION_LIMIT
    waiting, record = 0, np.inf
    iteration = 0
    for iteration in range(controls.max_iter + 1):
        point.residuals()
        best.offer_primal(point.beta, point.projected)
        best.offer_dual(point.Z[at.over], float(point.Z[at.gap]), point.combined)
        gap = best.relative_gap()
        controls.tell(f"{iteration:4d}  objective {best.primal:.10e}  gap {gap:.1e}")
        if gap < VERTEX_BELOW:
            vertex = point.vertex(exact_count=gap > controls.tol)
            if vertex is not None and vertex.relative_gap <= min(controls.tol, gap):
                return Solution(Status.OPTIMAL, vertex, iteration, NAME)
        if gap <= controls.tol:
            status = Status.OPTIMAL
            break
        waiting = 0 if gap < 0.5 * record else waiting + 1
        record = min(record, gap)
        if waiting > PATIENCE:
            status = Status.STALLED
            break
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        try:
            point.step()
        except ArithmeticError:
            status = Status.STALLED
            break
    answer = best.certificate()
    if status is not Status.OPTIMAL:
        vertex = point.vertex(exact_count=False)
        if vertex is not None and vertex.relative_gap < answer.relative_gap:
            answer = vertex
            status = Status.OPTIMAL if vertex.relative_gap <= controls.tol else status
    return Solution(status, answer, iteration, NAME)
