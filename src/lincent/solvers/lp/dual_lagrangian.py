"""Which columns are free and which rows matter: an augmented Lagrangian of the dual.

With more columns than rows most coefficients end at a side of the box and most rows keep the
margin.  The dual of (P) in x = (alpha, t), with E = [A; d'], h = (s, ..., s, separation) and
r(x) = g - E'x, is

    minimize    -h.x + sum_j max over lo_j <= b <= hi_j of -r_j b      subject to    0 <= x <= c

(no upper bound on t).  Everything that bends is replaced by a quadratic around a given point: beta
(columns, stiffness sigma_j), p and q (margin exceeded and missed, stiffness tau),

    beta_j(x) = clip(beta_j - sigma_j r_j(x), lo_j, hi_j)
    p_i(x) = max(p_i - tau x_i, 0)          q_i(x) = max(q_i + tau (x_i - c_i), 0)

and x minimizes a smooth convex function whose gradient is  E beta(x) - h - p(x) + q(x):  a small
gradient is a point of (P) that nearly has the slacks p and q.  The Newton matrix
E_F diag(sigma) E_F' + tau (sides that hold) involves the free columns F alone, so conjugate
gradients multiply with few entries.  Then beta, p and q are brought up to date, the stiffness
grows, and F shrinks towards as many columns as there are rows between their bounds: a vertex.
A stiffness that is held converges as well, and its rounds do not become harder: so it grows only
until the gap is small, and from there while rounds are easy.

Rows that keep the margin with x_i = 0 say nothing: they are left out until a point misses one
(so each bound holds for the whole program).  Nothing of size n x n or m x m is formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Certificate, Index, Vector
from lincent.problems.centralization import Program, better_sides, certify
from lincent.solvers.conjugate_gradients import absolute_residual, conjugate_gradients
from lincent.solvers.solution import Controls
from lincent.sources.sparse import CompensatedMatrix, compensated


@dataclass(frozen=True)
class Tuning:
    """Measured on text-like, binary, counted and hashed 4,000 x 10,000 and 20,000 x 47,000."""

    growth: float = 1.5
    """Factor on the stiffness per round: 2 needs twice the CG steps for the same gap, 1.3 as
    many, in more rounds."""
    hold: float = 6e-2
    easy_steps: int = 8
    """From this gap on it grows only after rounds of few Newton steps: held, 0/1 words of 20,000 x
    47,000 come to 1e-4 in ten seconds; growing on, they do not come below 4e-3."""
    nearly: float = 1e-3
    nearly_spare: float = 0.12
    nearly_most: int = 300
    late_steps: int = 12
    """The same where the gap is as small as this and so few columns are spare, as a share of the
    rows between their bounds and as a number; and after a round of more steps a vertex is tried at
    once."""
    side: float = 2.0
    """tau, in twentieths of the curvature of a row over all columns: less lets x leave its bounds
    (0.1 does not converge), more slows CG."""
    drop: float = 0.3
    """Every round brings the gradient at least to this share of its first ..."""
    gradient_shrink: float = 0.5
    """... and to this share of the last round's goal: 0.65 leaves gaps of 1e-2, 0.3 costs half as
    many steps again."""
    proximal: float = 1e-6
    """Share of a row's curvature that is added: keeps dependent rows apart."""
    cg_share: float = 0.2
    most_cg: int = 150
    newton_steps: int = 40
    line_share: float = 1e-2
    """The line search ends when its bracket is this share of the step."""
    near: float = 2e-2
    """The certified gap from which on few spare columns are worth a factorization."""
    judged_after: int = 3
    most_free: float = 0.85
    """With more than this share of the columns free after so many rounds the optimum is not at the
    box, and the rows are to be named instead."""
    rounds: int = 60
    patience: int = 3
    """Rounds in which the free columns must fall by a twentieth once the gap is ``near_face``:
    where they do not, the optimum is a face.  Twice as many, in which that or the gap must fall."""
    near_face: float = 1e-2
    interior_rows: int = 6000
    wide: int = 20_000
    wide_rows: int = 2500
    """Rows that have mattered up to which an interior point solves them where no vertex was found
    (twenty steps of up to five seconds each); of more rows than that and more columns than ``wide``
    a gap that is reported is as good an answer as a minute of it."""
    alone_face: float = 1e-4
    """``near_face`` where more have: no other solver is asked then."""


TUNING = Tuning()
BISECTIONS = 30


@dataclass
class Named:
    """A point near the optimum, multipliers, and which columns and rows are still in doubt."""

    beta: Vector
    beyond: Vector
    """How far each column is pulled beyond the box; negative for free columns, inside it."""
    rows: Index
    """The rows that have mattered; the vectors below have one number for each, and one for d."""
    x: Vector
    over: Vector
    missed: Vector
    stiffness: float
    goal: float = np.inf
    steps: int = 0
    rounds: int = 0
    spare: int = 0
    """Free columns, equal ones counted once, beyond those that make a vertex."""
    best: Certificate | None = None

    @property
    def free(self) -> Index:
        return np.flatnonzero(self.beyond < 0.0)

    @property
    def between(self) -> int:
        """Rows (and the gap) whose multiplier is strictly between its bounds."""
        return int(np.count_nonzero((self.over == 0.0) & (self.missed == 0.0)))

    def places(self, rows: Index) -> Index:
        """Where these rows are among the working rows; new ones join, without multipliers."""
        new = np.setdiff1d(rows, self.rows)
        nothing = np.zeros(len(new))
        self.rows = np.concatenate([self.rows, new])
        for name in ("x", "over", "missed"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old[:-1], nothing, old[-1:]]))
        order = np.argsort(self.rows)
        return order[np.searchsorted(self.rows, rows, sorter=order)]

    def alpha(self, m: int) -> Vector:
        whole = np.zeros(m)
        whole[self.rows] = self.x[:-1]
        return whole


def start(program: Program) -> Named:
    """The corner of the box that is farthest along d, without multipliers."""
    d, n = program.difference, program.shape[1]
    middle, half = (program.lower + program.upper) / 2, (program.upper - program.lower) / 2
    nothing = np.zeros(1)
    return Named(
        beta=middle + half * np.sign(d),
        beyond=np.zeros(n),
        rows=np.empty(0, dtype=np.intp),
        x=nothing,
        over=nothing,
        missed=nothing,
        stiffness=1.0,
    )


def identify(
    program: Program,
    point: Named,
    share: float,
    most: int,
    controls: Controls,
    tuning: Tuning = TUNING,
) -> Named:
    """Rounds until few free columns are spare, or the gap is ``tol``.

    Few is a share of the rows between their bounds, and at most a number.  The rounds end as well
    where they no longer bring down the gap or the free columns.
    """
    smooth = _Smoothed(program, tuning)
    fewest, gaps, still, waiting = np.inf, np.inf, 0, 0
    for _ in range(tuning.rounds):
        before = point.steps
        smooth.minimize(point, controls)
        judged = certify(program, point.beta, point.alpha(program.shape[0]), float(point.x[-1]))
        point.best = judged if point.best is None else better_sides(point.best, judged)
        gap, count = point.best.relative_gap, len(point.free)
        controls.reached(
            f"columns, round {point.rounds}", point.best.objective, gap,
            f"  {count} free, {point.between} of {len(point.rows)} rows between their bounds, "
            f"{point.steps} steps",
        )  # fmt: skip
        most_spare = min(tuning.nearly_spare * point.between, tuning.nearly_most)
        nearly = gap <= tuning.nearly and point.spare <= most_spare
        taken = point.steps - before
        hard = taken > (tuning.late_steps if nearly else tuning.easy_steps)
        few = point.spare <= min(share * point.between, most) and gap <= tuning.near
        few |= nearly and hard
        late = controls.out_of_time() or point.steps >= controls.max_iter
        inside = point.rounds >= tuning.judged_after and count > tuning.most_free * len(point.beta)
        if few or late or inside or gap <= controls.tol:
            break
        fewer, nearer = count < 0.95 * fewest, gap < 0.8 * gaps
        still = 0 if fewer else still + 1
        waiting = 0 if fewer or nearer else waiting + 1
        near = tuning.near_face if others_are_asked(program, point, tuning) else tuning.alone_face
        face = still > tuning.patience and gap <= near
        if face or waiting > 2 * tuning.patience:
            break
        # Against the last progress: many small falls are one as well.
        fewest, gaps = count if fewer else fewest, gap if nearer else gaps
        if gap > tuning.hold or not hard:
            point.stiffness *= tuning.growth
    return point


def others_are_asked(program: Program, point: Named, tuning: Tuning = TUNING) -> bool:
    """Whether an interior point solves the rows that have mattered, should no vertex be found."""
    m, n = program.shape
    huge = n > tuning.wide and m > tuning.interior_rows
    return len(point.rows) <= (tuning.wide_rows if huge else tuning.interior_rows)


class _Rows:
    """E: the working rows and d; or some columns of it."""

    def __init__(self, A: CompensatedMatrix, d: Vector) -> None:
        self.A, self.turned, self.d = A, A.transpose(), d

    def dot(self, b: Vector) -> Vector:
        return np.append(self.A.dot(b), self.d @ b)

    def tdot(self, x: Vector) -> Vector:
        return np.asarray(self.turned.dot(x[:-1]) + x[-1] * self.d)

    def columns(self, index: Index) -> _Rows:
        return _Rows(self.A.columns(index), self.d[index])

    def squares(self, weight: Vector) -> Vector:
        return np.append(self.A.row_squares(weight), self.d**2 @ weight)


class _Smoothed:
    """The smoothed dual, and its minimization."""

    def __init__(self, program: Program, tuning: Tuning) -> None:
        self.program, self.tuning = program, tuning
        self.A: CompensatedMatrix = compensated(program.rows)
        scale = program.rows.column_scale()
        half = (program.upper - program.lower) / 2
        # A stiffness of one moves a column of usual slope through half of the box.
        slope = np.abs(program.linear) / scale
        self.sigma = half / scale / max(float(slope[slope > 0].mean()), 1e-300)
        # A column without entries stays where it is.
        self.sigma[self.A.transpose().row_squares(np.ones(program.shape[0])) == 0.0] = 0.0

    def minimize(self, point: Named, controls: Controls) -> None:
        """Newton steps to the minimum for the multipliers of the point, which are then renewed."""
        tuning = self.tuning
        self._join(point)
        held = _Held(self, point)
        x, r = point.x, self.program.linear - held.E.tdot(point.x)
        goal = 0.0
        for step in range(tuning.newton_steps + 1):
            now = held.at(x, r)
            size = float(held.costs @ np.abs(now.gradient))
            if step == 0:
                goal = point.goal = tuning.gradient_shrink * min(point.goal, size)
                goal = min(goal, tuning.drop * size)
            late = controls.out_of_time() or point.steps >= controls.max_iter
            if (step and size <= goal) or late or step == tuning.newton_steps:
                break
            direction = held.newton(now, controls)
            along = held.E.tdot(direction)
            length = held.length(x, r, direction, along)
            x, r = x + length * direction, r - length * along
            point.steps += 1
        point.beta, point.beyond = now.beta, now.beyond
        point.x, point.over, point.missed = x, now.over, now.missed
        point.spare = held.different(point) - point.between
        point.rounds += 1

    def _join(self, point: Named) -> None:
        """Rows that the point misses join the working rows."""
        point.places(np.flatnonzero(self.A.dot(point.beta) <= self.program.margin))


@dataclass(frozen=True)
class _Now:
    """What the smoothed dual says at a point."""

    beta: Vector
    over: Vector
    missed: Vector
    gradient: Vector
    beyond: Vector


class _Held:
    """The smoothed dual with its multipliers held."""

    def __init__(self, smooth: _Smoothed, point: Named) -> None:
        program, tuning = smooth.program, smooth.tuning
        self.program, self.tuning = program, tuning
        self.E = _Rows(smooth.A.take(point.rows), program.difference)
        self.beta, self.over, self.missed = point.beta, point.over, point.missed
        self.sigma = point.stiffness * smooth.sigma
        costs = program.costs[point.rows]
        self.top = np.append(costs, np.inf)
        self.costs = np.append(costs, float(program.costs.mean()))
        self.goal = np.append(np.full(len(costs), program.margin), program.separation)
        self.curve = 0.05 * float(np.median(self.E.squares(self.sigma))) + 1e-300
        self.tau = tuning.side * self.curve

    def different(self, point: Named) -> int:
        """Free columns that differ in the rows between their bounds."""
        drawn = np.random.default_rng(len(point.x)).standard_normal(len(point.x))
        drawn[(point.over > 0.0) | (point.missed > 0.0)] = 0.0
        return len(np.unique(self.E.tdot(drawn)[point.free]))

    def at(self, x: Vector, r: Vector) -> _Now:
        program = self.program
        moved = self.beta - self.sigma * r
        beta = np.clip(moved, program.lower, program.upper)
        over, missed = self._sides(x)
        gradient = self.E.dot(beta) - self.goal - over + missed
        beyond = np.maximum(program.lower - moved, moved - program.upper)
        beyond[self.sigma == 0.0] = np.inf
        return _Now(beta, over, missed, gradient, beyond)

    def _sides(self, x: Vector) -> tuple[Vector, Vector]:
        over = np.maximum(self.over - self.tau * x, 0.0)
        return over, np.maximum(self.missed + self.tau * (x - self.top), 0.0)

    def newton(self, now: _Now, controls: Controls) -> Vector:
        """The Newton direction, as far as a few CG steps lead."""
        free = np.flatnonzero(now.beyond < 0.0)
        E, sigma, tuning = self.E.columns(free), self.sigma[free], self.tuning
        side = np.where((now.over > 0) | (now.missed > 0), self.tau, 0.0)
        diagonal = side + tuning.proximal * self.curve

        def matrix(v: Vector) -> Vector:
            return E.dot(sigma * E.tdot(v)) + diagonal * v

        inverse = 1.0 / (E.squares(sigma) + diagonal + 1e-3 * self.curve)
        right = -now.gradient
        done = absolute_residual(right, tuning.cg_share, controls.out_of_time)
        return conjugate_gradients(matrix, right, inverse.__mul__, done, tuning.most_cg)

    def length(self, x: Vector, r: Vector, direction: Vector, along: Vector) -> float:
        """The minimum along the direction, at most the full step: bisection on the slope."""
        goal = float(self.goal @ direction)
        lower, upper = self.program.lower, self.program.upper

        def rises(length: float) -> bool:
            beta = np.clip(self.beta - self.sigma * (r - length * along), lower, upper)
            over, missed = self._sides(x + length * direction)
            return float(beta @ along) - goal + float((missed - over) @ direction) > 0.0

        if not rises(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            if high - low <= self.tuning.line_share * high:
                break
            middle = (low + high) / 2
            low, high = (low, middle) if rises(middle) else (middle, high)
        return low if low > 0.0 else high / 2
