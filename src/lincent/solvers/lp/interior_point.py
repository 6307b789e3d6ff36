"""A primal-dual interior-point method for the centralization program.

With slacks xi_i (margin violated) and p_i (margin exceeded) the optimality conditions of (P) are

    A beta + xi - p = s           A' alpha + t d + zl - zu = g          d.beta - q = separation
    p alpha = 0,  xi (c - alpha) = 0,  (beta - lo) zl = 0,  (hi - beta) zu = 0,  q t = 0

and everything that is multiplied is nonnegative.  Stacked into slacks P and their duals Z,

    P = [p, xi, beta - lo, hi - beta, q]          Z = [alpha, c - alpha, zl, zu, t]

they are solved by Mehrotra's predictor-corrector (Mehrotra 1992) with Gondzio's centrality
correctors (``solvers.predictor_corrector``).  With E = [A; d'], weights D > 0 and a diagonal
Theta > 0, each step solves

    v = D (h - E x),           E' v = Theta x - b,

on its smaller side:

    n <= m: eliminate v.       (E' D E + Theta) x = E' D h + b
    n >  m: eliminate x.       (inv(D) + E inv(Theta) E') v = h - E inv(Theta) b

v is never recovered from x on the row side, nor x from v on the column side, through a difference
of large numbers: that is where digits are lost.

Robustness on real tables (collinear features, separable classes, coordinates at the box) comes from
scaled and refined factorizations; slacks that start at the size of the data; separate keeping of
the best primal and the best dual point; and the vertex that the iterates approach, which ends most
solves early and with every digit right.  On small problems it is reached by pivots from the first
useful iterate (crossover, see ``simplex``), on larger ones it is tried as soon as it shows
(``vertex``).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from lincent import _threads
from lincent.problems.arrays import Rows, Vector
from lincent.problems.centralization import ONLY_POINT, Certificate, Program, certify
from lincent.solvers.bounds import Bounds
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.lp.duplicate_rows import solve_distinct
from lincent.solvers.lp.simplex import crossover
from lincent.solvers.lp.sparse import null_space
from lincent.solvers.lp.sparse.hinges import RowHinges
from lincent.solvers.lp.vertex import to_vertex
from lincent.solvers.predictor_corrector import predictor_corrector
from lincent.solvers.solution import Controls, Solution, Status

NAME = "interior-point"
LENGTHS = 10.0 ** -np.arange(0.0, 6.5, 0.5)
"""Lengths along the discriminant direction among which the start is chosen."""
FEW_COLUMNS = 64
"""Up to here the column side costs nothing, and has more digits."""

# Trade-offs, measured on the small, mid and wide shapes of ``benchmarks/workloads.py`` and on
# 10,000 degenerate programs (``tests/solvers/lp/test_interior_point.py``).
WIDTH = 3.0
"""Size of the first slacks in mean residuals: less is nearer, more is safer."""
SMALL = 30_000
"""Entries up to which a factorization costs no more than a solve."""
LARGE = 100_000
"""Entries from which on a matrix in single precision, and pivots in a null space, save time."""
LONG_STEP = 0.9
"""Steps this long need no further corrector."""
LONG_ENOUGH = 0.5
"""The same on small problems, where a corrector must save more."""
PATIENCE = 15
"""Steps in which the gap must halve."""
STALLED_GAP = 0.1
VERTEX_BELOW = 1e-2
"""Relative gap from which on the vertex is guessed, or reached by pivots in a null space: they take
as long as one step or two."""
ROUGH = 1e-4
"""Relative residual of steps by a matrix in single precision, far from the optimum;"""
FEW_PRODUCTS = 6
"""conjugate gradients that take so many products in a step, and one more for every 64 columns, cost
as much as a matrix in double precision."""
PIVOTS = 5
"""Pivots per column that a crossover may take."""
WORTH_CROSSING = 1e-6
"""The largest tol for which a vertex is worth its pivots."""
TABLEAU_ENTRIES = 60_000
"""Entries of a tableau whose pivots are cheaper than steps."""
RESCUE_ENTRIES = 2_000_000
"""Entries of a tableau that is tried where the steps have stalled."""
NEAR = 650.0
"""A crossover starts at a mu of (NEAR / entries)^1.5, at most a tenth of the first."""

_Step = tuple[Vector, Vector, Vector]


class ColumnSide:
    """The linear system for n <= m; its matrix from ``rough`` rows, in single precision, if any."""

    def __init__(
        self, program: Program, D: Vector, D_apart: float, theta: Vector, rough: Rows | None = None
    ) -> None:
        self.rows, self.d = rows, d = program.rows, program.difference
        self.D, self.D_apart = D, D_apart

        def multiply(x: Vector) -> Vector:
            return rows.tdot(D * rows.dot(x)) + D_apart * float(d @ x) * d + theta * x

        H = (rough or rows).gram(D)
        for start in range(0, len(d), 512):  # no copy of a large matrix
            part = slice(start, start + 512)
            H[part] += (D_apart * d[part, None]) * d
        H.flat[:: H.shape[0] + 1] += theta
        exact, product = (1e-10, None) if rough is None else (ROUGH, multiply)
        self.factor = PositiveDefinite(H, full=True, exact=exact, multiply=product)

    def step(self, h: Vector, h_apart: float, b: Vector) -> tuple[Vector, Vector, float]:
        """Return x, and v split into the part of the rows and the one of d."""
        x = self.factor.solve(self.rows.tdot(self.D * h) + self.D_apart * h_apart * self.d + b)
        return x, self.D * (h - self.rows.dot(x)), self.D_apart * (h_apart - float(self.d @ x))


class RowSide:
    """The linear system for n > m."""

    def __init__(self, program: Program, D: Vector, D_apart: float, theta: Vector) -> None:
        m = program.shape[0]
        self.rows, self.d = program.rows, program.difference
        self.inverse = 1.0 / theta
        K = np.empty((m + 1, m + 1))
        K[:m, :m] = self.rows.outer(self.inverse)
        K[:m, m] = K[m, :m] = self.rows.dot(self.inverse * self.d)
        K[m, m] = float(self.d @ (self.inverse * self.d))
        K.flat[:: m + 2] += np.append(1.0 / D, 1.0 / D_apart)
        self.factor = PositiveDefinite(K, full=True, exact=1e-10)

    def step(self, h: Vector, h_apart: float, b: Vector) -> tuple[Vector, Vector, float]:
        """Return x, and v split into the part of the rows and the one of d."""
        x = self.inverse * b
        v = self.factor.solve(np.append(h - self.rows.dot(x), h_apart - float(self.d @ x)))
        x += self.inverse * (self.rows.tdot(v[:-1]) + v[-1] * self.d)
        return x, v[:-1], float(v[-1])


def normal_equations(
    program: Program, D: Vector, D_apart: float, theta: Vector, rough: Rows | None = None
) -> ColumnSide | RowSide:
    """Return the factored system, on the side that suits the shape."""
    m, n = program.shape
    if n <= max(m, FEW_COLUMNS):
        return ColumnSide(program, D, D_apart, theta, rough)
    return RowSide(program, D, D_apart, theta)


def solve(
    program: Program, controls: Controls, start: Vector | None = None, *, enough: float = 0.0
) -> Solution:
    """Solve the program to ``controls.tol``, or as near as it gets.

    A gap of ``enough`` is worth no long wait.
    """
    if program.one_point:
        return _only_point(program, controls)
    # As a subproblem of a large problem this is a small one.
    with _threads.limits_for_size(*program.shape):
        return solve_distinct(program, lambda some: _solve(some, controls, start, enough))


def exact(program: Program, controls: Controls, start: Vector | None = None) -> Solution:
    """Solve a program to half of ``tol``, as the certificate adds a bound on rounding errors.

    Mostly the step that reaches ``tol`` goes so far; where none does, ``tol`` is enough.
    """
    within = replace(controls, tol=controls.tol / 2)
    solution = solve(program, within, start, enough=controls.tol)
    reached = solution.relative_gap <= controls.tol
    return replace(solution, status=Status.OPTIMAL) if reached else solution


def _solve(program: Program, controls: Controls, start: Vector | None, enough: float) -> Solution:
    m, n = program.shape
    # With few samples per feature the classes are separable and the optimum is at the box.
    boxed = start is None and m < 3 * n
    point = InteriorPoint(program, start, absorb=boxed)
    first = _drive(program, controls, point, enough, hurry=not boxed)
    steps = first.iterations
    if first.status is Status.STALLED and first.relative_gap > STALLED_GAP and not boxed:
        # Steps that stall so far out are held up by the box, whose duals began small.
        first = _drive(program, controls, InteriorPoint(program, point.beta, absorb=True), enough)
        steps += first.iterations
    return replace(first, iterations=steps)


def _only_point(program: Program, controls: Controls) -> Solution:
    """Solve at the largest feasible separation, where the box has one feasible vertex left.

    A feature with equal centers stays free there.  Pivots that start with the sides of the others
    find its coefficient.
    """
    m, n = program.shape
    answer = only_point(program)
    if answer.relative_gap > controls.tol and (m + 2 * n) * n <= RESCUE_ENTRIES:
        push = program.difference / (ONLY_POINT * np.abs(program.difference).max())
        sides = np.maximum(np.concatenate([-push, push]), 0.0)
        weight = np.concatenate([np.ones(m), 1.0 + sides, np.ones(1)])
        vertex = crossover(program, answer.beta, weight, PIVOTS * n + 20)
        if vertex is not None and vertex.relative_gap < answer.relative_gap:
            answer = vertex
    status = Status.OPTIMAL if answer.relative_gap <= controls.tol else Status.STALLED
    return Solution(status, answer, 1, NAME)


def only_point(program: Program) -> Certificate:
    """Certify the one vertex of the box that the margin leaves, by the rows that violate it."""
    beta = program.farthest_point
    alpha = np.where(program.rows.dot(beta) < program.margin, program.costs, 0.0)
    return certify(program, beta, alpha, program.corner_t(program.rows.tdot(alpha)))


@np.errstate(all="ignore")  # a step that is not finite ends the drive as stalled
def _drive(
    program: Program,
    controls: Controls,
    point: InteriorPoint,
    enough: float = 0.0,
    *,
    hurry: bool = False,
) -> Solution:
    """Step until ``tol`` or a stall; in a ``hurry`` a stall far from the optimum ends at once."""
    bounds = Bounds()
    status = Status.ITERATION_LIMIT
    waiting, record = 0, np.inf
    iteration, took, far = 0, point.started_in, False
    pivots_below = VERTEX_BELOW if point.large and controls.tol <= WORTH_CROSSING else 0.0
    for iteration in range(controls.max_iter + 1):
        point.residuals()
        point.offer(bounds)
        gap = bounds.relative_gap
        controls.reached(f"step {iteration}", bounds.objective, gap)
        waiting, record = (0, gap) if gap < 0.5 * record else (waiting + 1, record)
        if waiting > 1:
            point.rough = None
        if gap >= pivots_below:
            vertex = point.finish(gap, controls.tol, slow=waiting > 1)
        else:
            pivots_below, point.rough = 0.1 * gap, None
            point.__dict__.pop("normal", None)  # its matrices go before others come
            start = point.face_start(_best(program, bounds))
            vertex = null_space.finish(RowHinges(program), start, controls).certificate
        if vertex is not None and vertex.relative_gap <= min(controls.tol, gap):
            return Solution(
                Status.OPTIMAL, vertex, max(iteration, 1), NAME, scale=point.column_scale
            )
        if gap <= controls.tol:
            status = Status.OPTIMAL
            break
        far = hurry and gap > STALLED_GAP
        # Fewer where another start may do better, or where the gap is small enough for the caller.
        if waiting > (2 if gap <= enough else 6 if far else PATIENCE):
            status = Status.STALLED
            break
        # With thousands of features a step takes seconds and cannot be interrupted: it may end half
        # a second late.
        if controls.out_of_time(max(took - 0.5, 0.0)):
            status = Status.TIME_LIMIT
            break
        began = time.monotonic()
        try:
            point.step()
        except ArithmeticError:
            if point.rough is None:
                status = Status.STALLED
                break
            point.rough = None  # more digits may do
        took = time.monotonic() - began
    answer = _best(program, bounds)
    if status is not Status.OPTIMAL and not (far and status is Status.STALLED):
        answer = point.rescue(answer, controls.tol, stalled=status is Status.STALLED)
        status = Status.OPTIMAL if answer.relative_gap <= controls.tol else status
    return Solution(status, answer, max(iteration, 1), NAME, scale=point.column_scale)


def _best(program: Program, bounds: Bounds) -> Certificate:
    """Return the best point and the best dual weights so far; zeros where there are none."""
    alpha, t = bounds.dual or (np.zeros(program.shape[0]), 0.0)
    beta = np.zeros(program.shape[1]) if bounds.primal is None else bounds.primal
    return Certificate(beta, alpha, t, bounds.objective, bounds.bound)


def discriminant_start(program: Program, scale: Vector) -> tuple[Vector, Vector]:
    """Return the best point along inv(A'CA) d, and s - A beta there."""
    rows = program.rows
    ridge = 1e-2 * float(program.costs.sum()) * scale**2
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
    step = max(1, SMALL // len(along))
    for start in range(0, len(LENGTHS), step):
        part = slice(start, start + step)
        missed = np.maximum(base - LENGTHS[part, None] * along, 0.0)
        values[part] += missed @ program.costs
    length = LENGTHS[int(np.argmin(values))]
    return middle + length * direction, base - length * along


class InteriorPoint:
    """The iterate of one solve, and the steps that move it."""

    def __init__(
        self, program: Program, start: Vector | None = None, *, absorb: bool = False
    ) -> None:
        m, n = program.shape
        self.program = program
        self.column_scale = program.rows.column_scale()
        self.large = m * n >= LARGE and FEW_COLUMNS < n <= m
        self.rough = program.rows.float32(None) if self.large else None
        # A corrector costs a solve and saves part of a factorization.
        self.long_step = LONG_STEP if m * n > SMALL else LONG_ENOUGH
        # Where each block sits in the stacked vectors.
        self.over, self.miss = slice(0, m), slice(m, 2 * m)
        self.low, self.high = slice(2 * m, 2 * m + n), slice(2 * m + n, 2 * m + 2 * n)
        self.box, self.apart = slice(2 * m, 2 * m + 2 * n), 2 * m + 2 * n
        self.P = np.empty(2 * m + 2 * n + 1)
        self.Z = np.empty(2 * m + 2 * n + 1)
        began = time.monotonic()
        self._start(start, absorb)
        # The start factors a matrix, as a step does.
        self.started_in = time.monotonic() - began
        size = (m + 2 * n) * n
        share = min(0.1, (NEAR / (m * n)) ** 1.5) if size <= TABLEAU_ENTRIES else 0.0
        self.cross_below = share * self.mu()

    def mu(self) -> float:
        """Return the mean of the products that end at zero."""
        return float(self.P @ self.Z) / len(self.P)

    @property
    def alpha(self) -> Vector:
        return self.Z[self.over]

    @property
    def t(self) -> float:
        return float(self.Z[self.apart])

    def _start(self, start: Vector | None, absorb: bool) -> None:
        """Set a centered point: every row alone has p alpha = xi (c - alpha).

        beta starts along the discriminant direction inv(A'CA) d (or where the caller says), at the
        length with the smallest objective; the slacks start at the size of the residuals there.
        The duals of the box start small, and stationarity is reached on the way; or, with
        ``absorb``, they start as large as stationarity asks, which is slower but suits problems
        whose optimum is at the box.
        """
        program = self.program
        if start is None:
            self.beta, missed = discriminant_start(program, self.column_scale)
        else:
            middle = (program.lower + program.upper) / 2
            self.beta = middle + 0.99 * (start - middle)
            missed = program.margin - program.rows.dot(self.beta)
        size = WIDTH * float(np.abs(missed).mean()) + 1e-300
        mu = self._center(missed, size)
        self.Z[self.box] = mu / self.P[self.box]
        self.Z[self.apart] = mu / self.P[self.apart]
        if start is not None:
            # Near the optimum the dual of the separation is known, and may be large.
            t = program.best_t(program.rows.tdot(self.alpha), 0.0)
            if t > self.Z[self.apart]:
                self.Z[self.apart], self.P[self.apart] = t, mu / t
        if absorb:
            self._absorb()

    def _center(self, missed: Vector, size: float) -> float:
        """Set slacks of this size with the duals that center each row; return the mean product."""
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
        """Set the duals of the box that make the start stationary.

        z_low - z_high = rest and z_low z_high = scale^2, without a difference of large numbers:
        the larger of the two first.
        """
        program, Z, low, high = self.program, self.Z, self.low, self.high
        rest = program.linear - program.rows.tdot(self.alpha) - self.t * program.difference
        scale = np.maximum(Z[low], Z[high])
        larger = (np.abs(rest) + np.sqrt(rest**2 + 4 * scale**2)) / 2
        smaller = np.maximum(scale**2 / larger, 1e-3 * scale)
        Z[low] = np.where(rest > 0, smaller + rest, smaller)
        Z[high] = np.where(rest > 0, smaller, smaller - rest)

    def residuals(self) -> None:
        """Set the residuals of the three linear conditions, and the products for a certificate."""
        program, P, Z = self.program, self.P, self.Z
        self.projected = program.rows.dot(self.beta)
        self.combined = program.rows.tdot(self.alpha)
        self.r_rows = program.margin - self.projected - P[self.miss] + P[self.over]
        self.r_cols = program.linear - self.combined - Z[self.apart] * program.difference
        self.r_cols += Z[self.high] - Z[self.low]
        self.r_apart = (
            float(program.difference @ self.beta) - program.separation - float(P[self.apart])
        )

    def offer(self, bounds: Bounds) -> None:
        """Offer the point and its dual bound."""
        program, beta, projected = self.program, self.beta, self.projected
        if self.r_apart + float(self.P[self.apart]) < 0:  # d.beta < separation
            beta = program.feasible(beta)
            projected = program.rows.dot(beta)
        # ``program.primal`` without its checks: the point is feasible, and no row is hard.
        loss = float(program.costs @ np.maximum(program.margin - projected, 0.0))
        bounds.offer_primal(program.offset + float(program.linear @ beta) + loss, beta)
        bound = program.dual(self.alpha, self.t, self.combined)
        if bound > bounds.bound:
            bounds.offer_dual(bound, (self.alpha.copy(), self.t))

    def step(self) -> None:
        """Take one predictor-corrector step, with up to two further centrality correctors."""
        self._factor()
        move, primal, dual = predictor_corrector(
            self.P, self.Z, self._direction, correctors=2, long_step=self.long_step
        )
        if self.normal.factor.products > FEW_PRODUCTS + len(self.beta) // 64:
            self.rough = None
        self.beta = self.beta + primal * move[0]
        self.P += primal * move[1]
        self.Z += dual * move[2]

    def _factor(self) -> None:
        self.inverse_P, self.inverse_Z = 1.0 / self.P, 1.0 / self.Z
        self.ratio = ratio = self.P * self.inverse_Z
        D = 1.0 / (ratio[self.over] + ratio[self.miss])
        n, theta = self.program.shape[1], self.Z[self.box] * self.inverse_P[self.box]
        self.theta = theta
        self.__dict__.pop("normal", None)  # the last matrices go before the next ones come
        apart = 1.0 / float(ratio[self.apart])
        self.normal = normal_equations(self.program, D, apart, theta[:n] + theta[n:], self.rough)

    def _direction(self, R: Vector) -> _Step:
        """Return the Newton step for Z dP + P dZ = R, keeping the linear conditions."""
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
        dP[rows] -= self.ratio[rows] * dZ[rows]
        dP[low] = dbeta
        np.negative(dbeta, out=dP[high])
        dP[self.apart] = float(self.program.difference @ dbeta) + self.r_apart
        dZ[box] = push - dP[box] * self.theta
        dZ[self.apart] = dt
        return dbeta, dP, dZ

    def finish(self, gap: float, tol: float, *, slow: bool) -> Certificate | None:
        """Return the optimal vertex, where this point is near enough to look for it.

        Where steps are ``slow``, dependent features may be why: then least squares are tried.
        """
        if tol <= WORTH_CROSSING and self.mu() < self.cross_below:
            self.cross_below *= 1e-2  # mu must fall so far before another crossover
            return self._cross()
        if gap < VERTEX_BELOW and (tol > WORTH_CROSSING or not self.cross_below):
            # Least squares to a vertex take as long as several steps: not for a rough answer.
            return self.vertex(exact_count=(gap > tol and not slow) or tol > WORTH_CROSSING)
        return None

    def rescue(self, answer: Certificate, tol: float, *, stalled: bool) -> Certificate:
        """Return the best of the answer and the vertices near a point where the steps end."""
        m, n = self.program.shape
        vertices = [self.vertex(exact_count=False)]
        if stalled and tol <= WORTH_CROSSING and (m + 2 * n) * n <= RESCUE_ENTRIES:
            vertices.append(self._cross())
        for vertex in vertices:
            if vertex is not None and vertex.relative_gap < answer.relative_gap:
                answer = vertex
        return answer

    def _cross(self) -> Certificate | None:
        """Return the vertex reached by pivots from here."""
        m, n = self.program.shape
        ratio = self.P / self.Z
        rows = ratio[self.over] + ratio[self.miss]
        weight = 1.0 / np.concatenate([rows, ratio[2 * m :]])
        return crossover(self.program, self.beta, weight, PIVOTS * n + 20)

    def vertex(self, *, exact_count: bool) -> Certificate | None:
        """Return the vertex that this point seems to approach.

        With ``exact_count`` only a guess with as many equations as unknowns is tried.
        """
        program, n = self.program, self.program.shape[1]
        over, miss, sides = self._distances()
        at_low, at_high = sides[:n] < 1.0, sides[n:] < 1.0
        size = float(np.abs(self.projected - program.margin).mean())
        touches = bool(self.Z[self.apart] * size > self.P[self.apart])
        active, free = (over <= 1.0) & (miss <= 1.0), ~(at_low | at_high)
        if exact_count and np.count_nonzero(active) + touches != np.count_nonzero(free):
            return None
        beta = np.where(at_low, program.lower, np.where(at_high, program.upper, self.beta))
        alpha = np.where(over > 1.0, 0.0, np.where(miss > 1.0, program.costs, self.alpha))
        t = self.t if touches else 0.0
        return to_vertex(program, beta, alpha, t, active, free, touches)

    def _distances(self) -> tuple[Vector, Vector, Vector]:
        """Return slacks over dual weights; a row or a side of the box counts as active up to one.

        Each row has one from its lower and one from its upper breakpoint.
        """
        program, ratio = self.program, self.P / self.Z
        per_size = program.costs / float(np.abs(self.projected - program.margin).mean())
        # A dual of the box is compared with the gradient that rows of random signs leave.
        signs = np.sqrt(program.costs @ program.costs) * self.column_scale
        box = np.tile((np.abs(program.linear) + signs) / (program.upper - program.lower), 2)
        return ratio[self.over] * per_size, ratio[self.miss] * per_size, ratio[self.box] * box

    def face_start(self, best: Certificate) -> null_space.FaceStart:
        """Return the hinges nearest to active, and a dual weight for every hinge."""
        n = self.program.shape[1]
        over, miss, sides = self._distances()
        distance = np.concatenate([np.maximum(over, miss), sides])
        # With more hinges fewer are missing; pivots cost the square of their number.
        count = n + min(3 * n // 10, max(80, n // 10))
        dual = np.concatenate([self.alpha, self.Z[self.box], [self.t]])
        return null_space.nearest_hinges(distance, count, dual, self.program.costs, best, 0)
