"""A primal-dual interior point for the centralization program.

With slacks xi_i (margin missed) and p_i (margin exceeded) the optimality conditions of (P) are

    A beta + xi - p = s           A' alpha + t d + zl - zu = g          d.beta - q = separation
    p alpha = 0,  xi (c - alpha) = 0,  (beta - lo) zl = 0,  (hi - beta) zu = 0,  q t = 0

and everything that is multiplied is nonnegative.  Replacing the zeros on the right of the second
line by mu > 0 and driving mu to zero is Mehrotra's predictor-corrector, here with Gondzio's
centrality correctors.  The slacks are stacked into one vector P, their multipliers into Z:

    P = [p, xi, beta - lo, hi - beta, q]          Z = [alpha, c - alpha, zl, zu, t]

Each Newton step reduces to one n x n system

    (A' D A + Theta + (t/q) d d') step = rhs,       D = 1 / (p/alpha + xi/(c - alpha)),
                                                    Theta = zl/(beta - lo) + zu/(hi - beta)

or, with more columns than rows, to an m x m one for alpha (see ``normal``).

What makes it robust on real tables (collinear columns, separable classes, coordinates at the
box): the care taken in ``normal``; slacks that start at the size of the data; a corrector that
would allow only a tiny step is replaced by plain centering; the best primal and the best dual
point are kept separately, since either may come first; and the vertex that the iterates approach
ends most solves early and with every digit right.  On little data it is reached by exchanges from
the first useful guess (see ``crossover``), on more data it is tried as soon as it shows (see
``vertex``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from lincent import _threads
from lincent.problems.arrays import Certificate, Vector
from lincent.problems.centralization import ONLY_POINT, Program, certify
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.normal_equations import normal_equations
from lincent.solvers.lp.tableau import crossover
from lincent.solvers.lp.vertex import fitting, to_vertex
from lincent.solvers.solution import Controls, Solution, Status

NAME = "interior-point"
LENGTHS = 10.0 ** -np.arange(0.0, 6.5, 0.5)
"""How far along the discriminant direction the start is looked for."""


@dataclass(frozen=True)
class Tuning:
    """What the steps trade.

    Measured on the small, mid and wide shapes of ``benchmarks/workloads.py`` and on 10,000
    degenerate programs (``tests/solvers/lp/test_interior_point.py``).
    """

    width: float = 3.0  # mean residuals that slacks start at: less is nearer, more is safer
    step_back: float = 0.995  # of the way to the boundary: Mehrotra's number
    small_step: float = 0.1  # a corrector that allows less is replaced by centering
    correctors: int = 2  # at most, beside Mehrotra's; a third seldom pays for its solve
    little_data: int = 30_000  # entries up to which a factorization costs no more than a solve
    long_step: float = 0.9  # steps this long need no further corrector
    long_enough: float = 0.5  # the same on little data, where a corrector must save more
    reach: float = 0.3  # how much further a centrality corrector aims (Gondzio)
    spread: float = 10.0  # products further than this from their mean are pulled back
    worth: float = 0.05  # a corrector must lengthen the steps by this much to stay
    patience: int = 15  # steps in which the gap must halve
    patience_below: int = 2  # the same where it is small enough for the caller
    patience_far: int = 6  # the same at a gap above ``far``, where another start may do better
    far: float = 0.1
    raised: float = 0.01  # of what the box must absorb: the products of a second, safer start
    late: float = 0.5  # seconds by which a step may end after the time limit
    vertex_below: float = 1e-2  # relative gap from which on the vertex is guessed
    exchanges: int = 5  # per column that a crossover may take
    cross_again: float = 1e-2  # by which mu must fall before another crossover
    worth_crossing: float = 1e-6  # the largest tol for which a vertex is worth its exchanges
    little_enough: int = 60_000  # entries of a tableau whose exchanges are cheaper than steps
    rescue_entries: int = 2_000_000  # entries of a tableau where the steps have stalled
    near: float = 650.0  # a crossover starts at a mu of (near / entries)^1.5, at most a tenth
    tied: float = (
        1e-7  # of the mean distance: rows nearer to the kink, where steps stall, are on it
    )
    rows_that_fill: int = 3  # per column: with fewer the classes are separable, beta at the box


TUNING = Tuning()

_Step = tuple[Vector, Vector, Vector]


def solve(
    program: Program,
    controls: Controls,
    start: Vector | None = None,
    *,
    boxed: bool = False,
    enough: float = 0.0,
) -> Solution:
    """Bring the program to ``controls.tol``, or as near as it gets.

    ``boxed`` says that the optimum is known to sit at the box; a gap of ``enough`` is worth no
    long wait and no second start.
    """
    if program.one_point:
        return _only_point(program, controls)
    # As a part of a large problem this is a small one.
    with _threads.for_size(*program.shape):
        merged = merge(program)
        if merged is not None:
            return merged.expand(_solve(merged.program, controls, start, boxed, enough))
        return _solve(program, controls, start, boxed, enough)


def exact(program: Program, controls: Controls, start: Vector | None = None) -> Solution:
    """The whole of a program, to half of ``tol``: the proof adds what rounding may have done.

    Mostly the step that reaches ``tol`` goes so far; where none does, ``tol`` is enough.
    """
    within = replace(controls, tol=controls.tol / 2)
    found = solve(program, within, start, enough=controls.tol)
    reached = found.relative_gap <= controls.tol
    return replace(found, status=Status.OPTIMAL) if reached else found


def _solve(
    program: Program, controls: Controls, start: Vector | None, boxed: bool, enough: float
) -> Solution:
    m, n = program.shape
    # With few rows for the columns the classes are separable and the optimum sits at the box.
    boxed = boxed or (start is None and m < TUNING.rows_that_fill * n)
    point = InteriorPoint(program, start, absorb=boxed)
    first = _drive(program, controls, point, enough, hurry=not boxed)
    steps = first.iterations
    if first.status is Status.STALLED and first.relative_gap > TUNING.far and not boxed:
        # Steps that go nowhere so far out are held up by the box, whose multipliers began small.
        first = _drive(program, controls, InteriorPoint(program, point.beta, absorb=True), enough)
        steps += first.iterations
    if first.status is Status.STALLED and first.relative_gap > enough:
        again = InteriorPoint(program, absorb=True, raised=True)
        second = _drive(program, controls, again, enough)
        steps += second.iterations
        first = min(first, second, key=lambda solution: solution.relative_gap)
    return replace(first, iterations=steps)


def _only_point(program: Program, controls: Controls) -> Solution:
    """At the largest feasible separation the box has one feasible corner left.

    A column with equal centers stays free there.  Exchanges that start with the sides of the others
    find its coefficient.
    """
    m, n = program.shape
    beta = program.farthest_point
    alpha = np.where(program.rows.dot(beta) < program.margin, program.costs, 0.0)
    answer = certify(program, beta, alpha, 0.0)
    if answer.relative_gap > controls.tol and (m + 2 * n) * n <= TUNING.rescue_entries:
        pull = program.difference / (ONLY_POINT * np.abs(program.difference).max())
        sides = np.maximum(np.concatenate([-pull, pull]), 0.0)
        stiffness = np.concatenate([np.ones(m), 1.0 + sides, np.ones(1)])
        vertex = crossover(program, beta, stiffness, TUNING.exchanges * n + 20)
        if vertex is not None and vertex.relative_gap < answer.relative_gap:
            answer = vertex
    status = Status.OPTIMAL if answer.relative_gap <= controls.tol else Status.STALLED
    return Solution(status, answer, 1, NAME)


@np.errstate(all="ignore")  # a step that is not finite ends the drive as stalled
def _drive(
    program: Program,
    controls: Controls,
    point: InteriorPoint,
    enough: float = 0.0,
    *,
    hurry: bool = False,
) -> Solution:
    """Steps until ``tol``, or a stall; in a ``hurry`` one that shows far out is not waited for."""
    best = _Best(program)
    status = Status.ITERATION_LIMIT
    waiting, record = 0, np.inf
    iteration, took, far = 0, point.started_in, False
    for iteration in range(controls.max_iter + 1):
        point.residuals()
        best.offer(point)
        gap = best.relative_gap()
        controls.reached(f"step {iteration}", best.primal, gap)
        vertex = point.finish(gap, controls.tol)
        if vertex is not None and vertex.relative_gap <= min(controls.tol, gap):
            return Solution(
                Status.OPTIMAL, vertex, max(iteration, 1), NAME, scale=point.column_scale
            )
        if gap <= controls.tol:
            status = Status.OPTIMAL
            break
        waiting, record = (0, gap) if gap < 0.5 * record else (waiting + 1, record)
        far = hurry and gap > TUNING.far
        if waiting > _patience(gap, enough, far=far):
            status = Status.STALLED
            break
        # With thousands of columns a step takes seconds and cannot be stopped: it is not begun.
        if controls.out_of_time(max(took - TUNING.late, 0.0)):
            status = Status.TIME_LIMIT
            break
        began = time.monotonic()
        try:
            point.step()
        except ArithmeticError:
            status = Status.STALLED
            break
        took = time.monotonic() - began
    answer = best.certificate()
    if status is not Status.OPTIMAL and not (far and status is Status.STALLED):
        answer = point.rescue(answer, controls.tol, stalled=status is Status.STALLED)
        status = Status.OPTIMAL if answer.relative_gap <= controls.tol else status
    return Solution(status, answer, max(iteration, 1), NAME, scale=point.column_scale)


def _patience(gap: float, enough: float, *, far: bool) -> int:
    """Steps in which the gap must halve."""
    if gap <= enough:
        return TUNING.patience_below
    return TUNING.patience_far if far else TUNING.patience


class InteriorPoint:
    """One solve: the iterate, and the steps that move it."""

    def __init__(
        self,
        program: Program,
        start: Vector | None = None,
        *,
        absorb: bool = False,
        raised: bool = False,
    ) -> None:
        m, n = program.shape
        self.program = program
        self.column_scale = program.rows.column_scale()
        # A corrector costs a solve and saves part of a factorization: on little data it must save
        # more.
        self.long_step = TUNING.long_step if m * n > TUNING.little_data else TUNING.long_enough
        # Where each block sits in the stacked vectors.
        self.over, self.miss = slice(0, m), slice(m, 2 * m)
        self.low, self.high = slice(2 * m, 2 * m + n), slice(2 * m + n, 2 * m + 2 * n)
        self.box, self.apart = slice(2 * m, 2 * m + 2 * n), 2 * m + 2 * n
        self.P = np.empty(2 * m + 2 * n + 1)
        self.Z = np.empty(2 * m + 2 * n + 1)
        began = time.monotonic()
        self._start(start, absorb, raised)
        # The start factors a matrix, as a step does.
        self.started_in = time.monotonic() - began
        size = (m + 2 * n) * n
        share = min(0.1, (TUNING.near / (m * n)) ** 1.5) if size <= TUNING.little_enough else 0.0
        self.cross_below = share * self.mu()

    def mu(self) -> float:
        """The mean of the products that end at zero."""
        return float(self.P @ self.Z) / len(self.P)

    @property
    def alpha(self) -> Vector:
        return self.Z[self.over]

    @property
    def t(self) -> float:
        return float(self.Z[self.apart])

    def _start(self, start: Vector | None, absorb: bool, raised: bool) -> None:
        """A centered point: every row alone has p alpha = xi (c - alpha).

        beta starts along the discriminant direction inv(A'CA) d (or where the caller says), at the
        length with the smallest objective; the slacks start at the size of the residuals there.
        The multipliers of the box start small, and stationarity is reached on the way; or, with
        ``absorb``, they start as large as stationarity asks, which is slower but suits problems
        whose optimum sits at the box.  ``raised`` starts with all products larger, where the box
        has much to absorb: slower again, and it has not failed yet.
        """
        program = self.program
        if start is None:
            self.beta, missed = self._discriminant()
        else:
            middle = (program.lower + program.upper) / 2
            self.beta = middle + 0.99 * (start - middle)
            missed = program.margin - program.rows.dot(self.beta)
        size = TUNING.width * float(np.abs(missed).mean()) + 1e-300
        mu = self._center(missed, size)
        if raised:
            rest = program.linear - program.rows.tdot(self.alpha)
            pull = float(np.abs(rest * (program.upper - program.lower)).mean()) / 2
            mu = self._center(missed, size * max(TUNING.raised * pull / mu, 1.0))
        self.Z[self.box] = mu / self.P[self.box]
        self.Z[self.apart] = mu / self.P[self.apart]
        if start is not None:
            # Near the optimum the multiplier of the separation is known, and may be large.
            t = program.best_t(program.rows.tdot(self.alpha), 0.0)
            if t > self.Z[self.apart]:
                self.Z[self.apart], self.P[self.apart] = t, mu / t
        if absorb:
            self._absorb()

    def _center(self, missed: Vector, size: float) -> float:
        """Slacks of this size with the multipliers that center each row; the mean product."""
        program, P, Z = self.program, self.P, self.Z
        root = np.sqrt(missed**2 + size**2)
        P[self.over] = np.maximum(root - missed, 1e-3 * size) / 2
        P[self.miss] = P[self.over] + missed
        Z[self.over] = program.costs * P[self.miss] / (P[self.over] + P[self.miss])
        Z[self.miss] = program.costs - Z[self.over]
        P[self.low] = self.beta - program.lower
        P[self.high] = program.upper - self.beta
        P[self.apart] = max(float(program.difference @ self.beta) - program.separation, size)
        return float(P[self.over] @ Z[self.over]) / len(missed)

    def _absorb(self) -> None:
        """Multipliers of the box that make the start stationary.

        z_low - z_high = rest and z_low z_high = spread^2, without a difference of large numbers:
        the larger of the two first.
        """
        program, Z, low, high = self.program, self.Z, self.low, self.high
        rest = program.linear - program.rows.tdot(self.alpha) - self.t * program.difference
        spread = np.maximum(Z[low], Z[high])
        larger = (np.abs(rest) + np.sqrt(rest**2 + 4 * spread**2)) / 2
        smaller = np.maximum(spread**2 / larger, 1e-3 * spread)
        Z[low] = np.where(rest > 0, smaller + rest, smaller)
        Z[high] = np.where(rest > 0, smaller, smaller - rest)

    def _discriminant(self) -> tuple[Vector, Vector]:
        """The best point along inv(A'CA) d, and s - A beta there."""
        program, rows = self.program, self.program.rows
        ridge = 1e-2 * float(program.costs.sum()) * self.column_scale**2
        normal = normal_equations(program, program.costs, 1e-300, ridge)
        nothing = np.zeros(program.shape[0])
        direction = normal.step(nothing, 0.0, program.difference)[0]
        middle = (program.lower + program.upper) / 2
        half = (program.upper - program.lower) / 2
        direction *= 0.9 / float(np.max(np.abs(direction) / half))
        along = rows.dot(direction)
        base = program.margin - rows.dot(middle) if middle.any() else program.margin
        slope = float(program.linear @ direction)
        values = LENGTHS * slope
        step = max(1, TUNING.little_data // len(along))
        for start in range(0, len(LENGTHS), step):
            part = slice(start, start + step)
            missed = np.maximum(base - LENGTHS[part, None] * along, 0.0)
            values[part] += missed @ program.costs
        length = LENGTHS[int(np.argmin(values))]
        return middle + length * direction, base - length * along

    def residuals(self) -> None:
        """Exact residuals of the three linear conditions, and the products a certificate needs."""
        program, P, Z = self.program, self.P, self.Z
        self.projected = program.rows.dot(self.beta)
        self.combined = program.rows.tdot(self.alpha)
        self.r_rows = program.margin - self.projected - P[self.miss] + P[self.over]
        self.r_cols = program.linear - self.combined - Z[self.apart] * program.difference
        self.r_cols += Z[self.high] - Z[self.low]
        self.r_apart = (
            float(program.difference @ self.beta) - program.separation - float(P[self.apart])
        )

    def step(self) -> None:
        """One predictor-corrector step, with further centrality correctors while they pay."""
        P, Z = self.P, self.Z
        product = P * Z
        mu = float(product.mean())
        self._factor()
        _, dP, dZ = self._direction(-product)
        second_order = dP * dZ
        primal, dual = self._lengths(dP, dZ)
        ahead = product.sum() + primal * (dP @ Z) + dual * (P @ dZ)
        ahead = (ahead + primal * dual * second_order.sum()) / P.size
        center = min((ahead / mu) ** 3, 1.0) * mu
        R = center - product - second_order
        move = self._direction(R)
        primal, dual = self._lengths(*move[1:])
        if min(primal, dual) < TUNING.small_step:
            center = max(center, TUNING.small_step * mu)
            R = center - product
            move = self._direction(R)
            primal, dual = self._lengths(*move[1:])
        for _ in range(TUNING.correctors):
            if min(primal, dual) > self.long_step:
                break
            trial = self._centered(R, move, primal, dual, center)
            better = self._direction(trial)
            longer = self._lengths(*better[1:])
            if longer[0] + longer[1] < primal + dual + TUNING.worth:
                break
            R, move, (primal, dual) = trial, better, longer
        if not np.isfinite(primal + dual):
            raise NotPositiveDefiniteError
        self.beta = self.beta + TUNING.step_back * primal * move[0]
        P += (TUNING.step_back * primal) * move[1]
        Z += (TUNING.step_back * dual) * move[2]

    def _factor(self) -> None:
        self.inverse_P, self.inverse_Z = 1.0 / self.P, 1.0 / self.Z
        self.stiff = stiff = self.P * self.inverse_Z
        D = 1.0 / (stiff[self.over] + stiff[self.miss])
        soft = self.Z[self.box] * self.inverse_P[self.box]
        n = self.program.shape[1]
        self.soft, theta = soft, soft[:n] + soft[n:]
        self.__dict__.pop("normal", None)  # the last matrices go before the next ones come
        self.normal = normal_equations(self.program, D, 1.0 / float(stiff[self.apart]), theta)

    def _direction(self, R: Vector) -> _Step:
        """The Newton step for Z dP + P dZ = R, keeping the linear conditions."""
        over, miss, low, high, box = self.over, self.miss, self.low, self.high, self.box
        dP = R * self.inverse_Z
        dZ = np.empty_like(R)
        push = R[box] * self.inverse_P[box]
        n = self.program.shape[1]
        dbeta, dalpha, dt = self.normal.step(
            self.r_rows + dP[over] - dP[miss],
            float(dP[self.apart]) - self.r_apart,
            push[:n] - push[n:] - self.r_cols,
        )
        dZ[over] = dalpha
        np.negative(dalpha, out=dZ[miss])
        # Still R / Z in the rows' part: the rest of Z dP + P dZ = R, solved for dP.
        rows = slice(0, miss.stop)
        dP[rows] -= self.stiff[rows] * dZ[rows]
        dP[low] = dbeta
        np.negative(dbeta, out=dP[high])
        dP[self.apart] = float(self.program.difference @ dbeta) + self.r_apart
        dZ[box] = push - dP[box] * self.soft
        dZ[self.apart] = dt
        return dbeta, dP, dZ

    def _lengths(self, dP: Vector, dZ: Vector) -> tuple[float, float]:
        """The longest steps in (0, 1] that keep P and Z nonnegative."""
        primal = -float((dP * self.inverse_P).min())
        dual = -float((dZ * self.inverse_Z).min())
        return 1.0 / max(primal, 1.0), 1.0 / max(dual, 1.0)

    def _centered(self, R: Vector, move: _Step, primal: float, dual: float, mu: float) -> Vector:
        """Gondzio's correction: aim further, and pull outlying products back towards mu."""
        primal, dual = min(1.0, primal + TUNING.reach), min(1.0, dual + TUNING.reach)
        product = (self.P + primal * move[1]) * (self.Z + dual * move[2])
        change = np.minimum(np.maximum(product, mu / TUNING.spread), mu * TUNING.spread) - product
        return R + np.maximum(change, -TUNING.spread * mu)

    def finish(self, gap: float, tol: float) -> Certificate | None:
        """The optimal vertex, where this point is near enough to look for it."""
        if tol <= TUNING.worth_crossing and self.mu() < self.cross_below:
            self.cross_below *= TUNING.cross_again
            return self._cross()
        if gap < TUNING.vertex_below and (tol > TUNING.worth_crossing or not self.cross_below):
            # Least squares to a vertex take as long as several steps: not for a rough answer.
            return self.vertex(exact_count=gap > tol or tol > TUNING.worth_crossing)
        return None

    def rescue(self, answer: Certificate, tol: float, *, stalled: bool) -> Certificate:
        """The best of the answer and the vertices near a point where the steps end."""
        m, n = self.program.shape
        vertices = [self.vertex(exact_count=False), self.tied(answer) if stalled else None]
        for vertex in vertices:
            if vertex is not None and vertex.relative_gap < answer.relative_gap:
                answer = vertex
        exact = tol <= TUNING.worth_crossing
        little = (m + 2 * n) * n <= TUNING.rescue_entries
        if stalled and exact and little and answer.relative_gap > tol:
            vertex = self._cross()
            if vertex is not None and vertex.relative_gap < answer.relative_gap:
                answer = vertex
        return answer

    def tied(self, answer: Certificate) -> Certificate | None:
        """The answer with other multipliers, of all rows that meet there.

        Thousands of tied rows (one-hot columns) have no vertex that the iterates approach: the
        point is soon right, and products of the tied rows stay where they are.
        """
        program, n = self.program, self.program.shape[1]
        distance = program.rows.dot(answer.beta) - program.margin
        size = float(np.abs(distance).mean())
        on = np.flatnonzero(np.abs(distance) <= TUNING.tied * size)
        if len(on) <= n or len(on) * n > TUNING.rescue_entries:
            return None
        alpha = np.where(distance < 0, program.costs, 0.0)
        alpha[on] = 0.0
        room = np.minimum(answer.beta - program.lower, program.upper - answer.beta)
        free = room > TUNING.tied * (program.upper - program.lower)
        rows, costs = program.rows.take(on).dense(), program.costs[on]
        if self.t * size > self.P[self.apart]:  # the separation is met: as a row around its t
            rows, costs = np.vstack([rows, program.difference]), np.append(costs, 2.0 * self.t)
        rest = (program.linear - program.rows.tdot(alpha)) / self.column_scale
        found = fitting((rows / self.column_scale)[:, free], rest[free], costs)
        if found is None:
            return None
        alpha[on] = found[: len(on)]
        return certify(program, answer.beta, alpha, float(found[len(on) :].sum()))

    def _cross(self) -> Certificate | None:
        """The vertex reached by exchanges from here."""
        m, n = self.program.shape
        stiffness = np.empty(m + 2 * n + 1)
        soft = self.P / self.Z
        stiffness[:m] = 1.0 / (soft[self.over] + soft[self.miss])
        stiffness[m:] = 1.0 / soft[2 * m :]
        return crossover(self.program, self.beta, stiffness, TUNING.exchanges * n + 20)

    def vertex(self, *, exact_count: bool) -> Certificate | None:
        """The vertex that this point seems to approach.

        With ``exact_count`` only a guess with as many equations as unknowns is tried.
        """
        program, P, Z = self.program, self.P, self.Z
        low, high = self.low, self.high
        size = float(np.abs(self.projected - program.margin).mean())
        inside = P[self.over] * program.costs > Z[self.over] * size
        outside = P[self.miss] * program.costs > Z[self.miss] * size
        # A multiplier of the box is measured against the largest it could need to be.
        width = program.upper - program.lower
        pull = np.abs(program.linear) + float(program.costs.sum()) * self.column_scale
        at_low = Z[low] * width > P[low] * pull
        at_high = Z[high] * width > P[high] * pull
        touches = bool(Z[self.apart] * size > P[self.apart])
        kink, free = ~(inside | outside), ~(at_low | at_high)
        if exact_count and np.count_nonzero(kink) + touches != np.count_nonzero(free):
            return None
        beta = np.where(at_low, program.lower, np.where(at_high, program.upper, self.beta))
        alpha = np.where(inside, 0.0, np.where(outside, program.costs, self.alpha))
        t = self.t if touches else 0.0
        return to_vertex(program, beta, alpha, t, kink, free, touches)


class _Best:
    """The best feasible point and the best dual bound seen so far."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.primal, self.dual = np.inf, -np.inf
        self.beta = np.zeros(program.shape[1])
        self.alpha = np.zeros(program.shape[0])
        self.t = 0.0

    def offer(self, point: InteriorPoint) -> None:
        program = self.program
        beta, projected = point.beta, point.projected
        if point.r_apart + float(point.P[point.apart]) < 0:  # d.beta < separation
            beta = program.feasible(beta)
            projected = program.rows.dot(beta)
        # ``program.primal`` without its checks: the point is feasible, and no row is hard.
        loss = float(program.costs @ np.maximum(program.margin - projected, 0.0))
        value = program.offset + float(program.linear @ beta) + loss
        if value < self.primal:
            self.primal, self.beta = value, beta
        bound = program.dual(point.alpha, point.t, point.combined)
        if bound > self.dual:
            self.dual, self.alpha, self.t = bound, point.alpha.copy(), point.t

    def relative_gap(self) -> float:
        if not np.isfinite(self.primal):
            return np.inf
        return max(self.primal - self.dual, 0.0) / max(1.0, abs(self.primal))

    def certificate(self) -> Certificate:
        return Certificate(self.beta, self.alpha, self.t, self.primal, self.dual)
