"""A primal-dual interior point for the centralization program.

With slacks xi_i (margin missed) and p_i (margin exceeded) the optimality conditions of (P) are

    A beta + xi - p = s           A' alpha + t d + zl - zu = g          d.beta - q = gap
    p alpha = 0,  xi (c - alpha) = 0,  (beta - lo) zl = 0,  (hi - beta) zu = 0,  q t = 0

and everything that is multiplied is nonnegative.  Replacing the zeros on the right of the second
line by mu > 0 and driving mu to zero is Mehrotra's predictor-corrector.  Each Newton step reduces
to one n x n system

    (A' D A + Theta + (t/q) d d') step = rhs,       D = 1 / (p/alpha + xi/(c - alpha)),
                                                    Theta = zl/(beta - lo) + zu/(hi - beta)

or, with more columns than rows, to an m x m one through Woodbury's identity (see ``normal``).

What makes it robust on real tables (collinear columns, separable classes, coordinates at the box):
the normal matrix is scaled to unit diagonal, carries a ridge of rounding size and is refined against
itself without the ridge; the slacks start at the size of the data; a corrector that would allow
only a tiny step is replaced by plain centering; the best primal and the best dual point are kept
separately, since either may come first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.programs.centralization import Certificate, Program, Vector
from lincent.solvers.normal import NormalEquations
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

    def __init__(self, program: Program, start: Vector | None = None) -> None:
        m, n = program.shape
        self.program = program
        self.at = _Layout(m, n)
        self.P = np.empty(self.at.size)
        self.Z = np.empty(self.at.size)
        self._start(start)

    def _start(self, start: Vector | None) -> None:
        """A centered point: every row alone has p alpha = xi (c - alpha).

        beta starts along the discriminant direction inv(A'CA) d (or where the caller says), at the
        length with the smallest objective; the slacks start at the size of the residuals there.
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

    def _discriminant(self) -> tuple[Vector, Vector]:
        program = self.program
        total = float(program.costs.sum())
        ridge = 1e-2 * total * program.rows.column_scale() ** 2
        normal = NormalEquations(program, program.costs, ridge, 1e-300)
        direction = normal.solve(program.difference)
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
        self.D = 1.0 / (stiff[at.over] + stiff[at.miss])
        theta = 1.0 / stiff[at.low] + 1.0 / stiff[at.high]
        self.normal = NormalEquations(self.program, self.D, theta, 1.0 / stiff[at.gap])
        self.stiff = stiff

    def direction(self, R: Vector) -> tuple[Vector, Vector, Vector]:
        """The Newton step for Z dP + P dZ = R, keeping the linear conditions."""
        at, P, Z, d = self.at, self.P, self.Z, self.program.difference
        RZ = R / Z
        RP = R / P
        h = self.r_rows - RZ[at.miss] + RZ[at.over]
        push = RP[at.gap] - self.r_gap / self.stiff[at.gap]
        rhs = self.program.rows.tdot(self.D * h) + push * d + RP[at.low] - RP[at.high] - self.r_cols
        dbeta = self.normal.solve(rhs)
        dalpha = self.D * (h - self.program.rows.dot(dbeta))
        dP = np.empty_like(P)
        dZ = np.empty_like(Z)
        dZ[at.over] = dalpha
        dZ[at.miss] = -dalpha
        dP[at.over] = RZ[at.over] - self.stiff[at.over] * dalpha
        dP[at.miss] = RZ[at.miss] + self.stiff[at.miss] * dalpha
        dP[at.low] = dbeta
        dP[at.high] = -dbeta
        dP[at.gap] = float(d @ dbeta) + self.r_gap
        tail = slice(at.low.start, None)
        dZ[tail] = RP[tail] - dP[tail] / self.stiff[tail]
        return dbeta, dP, dZ

    def vertex(self, *, exact_count: bool) -> Certificate | None:
        """The vertex that this point seems to approach.

        With ``exact_count`` only a guess with as many equations as unknowns is tried.
        """
        program, at, P, Z = self.program, self.at, self.P, self.Z
        size = float(np.mean(np.abs(self.projected))) + program.margin
        unit = max(1.0, abs(program.primal(self.beta, self.projected)))
        inside = P[at.over] * program.costs > Z[at.over] * size
        outside = P[at.miss] * program.costs > Z[at.miss] * size
        width = program.upper - program.lower
        at_low = Z[at.low] * width**2 > P[at.low] * unit
        at_high = Z[at.high] * width**2 > P[at.high] * unit
        gap_active = bool(Z[at.gap] * program.gap * size > P[at.gap] * unit)
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
    best = _Best(program)
    point = InteriorPoint(program, start)
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
