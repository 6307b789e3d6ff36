"""Active-set identification by augmented Lagrangians, of (P) and of its dual.

All functions here are piecewise linear; an augmented Lagrangian replaces each breakpoint by a
quadratic around it (Rockafellar 1976; Li, Sun and Toh 2020 for linear programs).  A semismooth
Newton method with conjugate gradients and an exact line search minimizes it for fixed multipliers,
the multipliers are updated, the curvature of the quadratics grows, and the active set shrinks
towards that of a vertex.  The last digits are slow this way: what it yields is the active set, for
``null_space`` to finish from.  No matrix of size n x n or m x m is formed, except on dense data of
up to 1,000 features.

**Primal** (more samples than features).  Hinges are the rows at cost c_i, the two sides of the box
and the separation at infinite cost.  Given dual weights alpha, zl, zu, t and a curvature rho,

    alpha_i(beta) = clip(alpha_i + rho c_i (s - a_i.beta), 0, c_i)
    zl_j(beta)    = max(zl_j + rho b_j (lo_j - beta_j), 0)        zu likewise
    t(beta)       = max(t + rho e (separation - d.beta), 0)

and beta minimizes a smooth convex function with the gradient

    g - A'alpha(beta) - t(beta) d - zl(beta) + zu(beta) + a small proximal term.

The Newton matrix involves the rows strictly between their bounds alone.

**Dual** (more features than samples).  In x = (alpha, t), with E = [A; d'], h = (s, ..., s,
separation) and r(x) = g - E'x, the dual of (P) is

    minimize    -h.x + sum_j max over lo_j <= b <= hi_j of -r_j b      subject to    0 <= x <= c

(no upper bound on t).  Around a point beta (curvature sigma_j) and slacks p and q (margin exceeded
and violated, curvature tau),

    beta_j(x) = clip(beta_j - sigma_j r_j(x), lo_j, hi_j)
    p_i(x) = max(p_i - tau x_i, 0)          q_i(x) = max(q_i + tau (x_i - c_i), 0)

and the gradient is  E beta(x) - h - p(x) + q(x).  The Newton matrix involves the features strictly
inside the box (the free ones) alone.  Samples that keep the margin with x_i = 0 are left out until
a point violates one, so that each bound holds for the whole program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Mask, Matrix, Rows, Vector
from lincent.problems.centralization import Certificate, Program, better_sides, certify
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.conjugate_gradients import absolute_residual, conjugate_gradients
from lincent.solvers.line_search import bisect_step
from lincent.solvers.lp.sparse.compensated import CompensatedMatrix, compensated
from lincent.solvers.solution import Controls

LINE_SEARCH_WIDTH = 1e-2
"""Width of the final bracket of a line search, relative to the step."""


def _newton(
    model: Any,
    x: Vector,
    image: Vector,
    goal_for: Callable[[float], float],
    max_steps: int,
    controls: Controls,
    taken: int,
) -> tuple[Any, Vector, Vector, int]:
    """Minimize an augmented Lagrangian for fixed multipliers by semismooth Newton steps.

    ``image`` is what the model needs of x, affine in it and known without a product after a step.
    At least one step is made; the steps end where the gradient is below ``goal_for`` its first
    size, or with ``max_iter``, of which ``taken`` have been used.  Returns the model's values at
    the last point, the point, its image and the number of steps.
    """
    goal = 0.0
    for step in range(max_steps + 1):
        values = model.at(x, image)
        size = model.size(values.gradient)
        if step == 0:
            goal = goal_for(size)
        late = controls.out_of_time() or taken + step >= controls.max_iter
        if (step and size <= goal) or late or step == max_steps:
            break
        direction = model.newton(values, step, controls)
        along = model.image_of(direction)
        length = bisect_step(partial(_slope, model, x, image, direction, along), LINE_SEARCH_WIDTH)
        x, image = x + length * direction, image - length * along
    return values, x, image, step


def _slope(
    model: Any, x: Vector, image: Vector, direction: Vector, along: Vector, length: float
) -> float:
    trial = x + length * direction, image - length * along
    return float(model.slope(*trial, direction, along))


# ---------------------------------------------------------------------------------------- primal


@dataclass(frozen=True)
class PrimalTuning:
    """Trade-offs, measured on sparse 50,000 x 5,000 (uniform, text-like), dense 10,000 x 500."""

    first_width: float = 2.0
    """Half the first smoothing width in median residuals: wide is smooth, narrow identifies."""
    growth: float = 2.0
    """Factor on rho per round; 3 and 5 need up to twice the CG steps for the same active set."""
    first_gradient: float = 0.07
    """Largest gradient after the first round, relative to the objective ..."""
    gradient_shrink: float = 0.4
    """... and its factor per round: exact early rounds cost CG steps and identify no more."""
    drop: float = 0.5
    """Each round reduces the gradient at least to this fraction of its first."""
    cg_share: float = 0.3
    cg_late: float = 0.03
    """Residual left by CG: loose for the first four Newton steps of a round, then closer."""
    proximal: float = 1e-7
    """Fraction of the features' curvature that is added: separates dependent features."""
    near: float = 2e-2
    """The certified gap from which on identified rows are worth a factorization; on separable
    classes, whose optimum is at the box, it is not reached, and the next solver is asked."""
    least_fall: float = 0.7
    """Factor by which a gap that is larger falls in a round; where it did not in three rounds in
    turn (heavy tails), the next solver is asked."""
    most_steps: int = 25
    """Newton steps of a round, of which 10 are usual; on separable classes there is no end."""
    rounds: int = 40
    separable: float = 0.01
    """Fraction of samples on the wrong side of the discriminant direction below which the optimum
    is taken to be at the box: the next solver is asked at once."""
    judged_after: int = 3
    hopeless: float = 0.5
    """With a gap above this after so many rounds, or after one of ``most_steps``, the optimum is at
    the box, or X is uninformative (10,000 x 500 of pure noise: 3 s lost before the next solver was
    asked)."""


PRIMAL = PrimalTuning()


NOTHING = Certificate(np.empty(0), np.empty(0), 0.0, np.inf, -np.inf)


class CertifiedPoint:
    """A point with the best certificate so far."""

    best: Certificate

    @property
    def gap(self) -> float:
        return self.best.relative_gap

    def certify(self, answer: Certificate) -> None:
        """Take the better sides of this certificate and the best."""
        self.best = answer if self.best is NOTHING else better_sides(self.best, answer)


@dataclass
class PrimalPoint(CertifiedPoint):
    """A point near the optimum and dual weights for every hinge."""

    beta: Vector
    missed: Vector
    """Margin violation s - a_i.beta of every sample."""
    alpha: Vector
    low: Vector
    high: Vector
    t: float
    rho: float
    steps: int = 0
    rounds: int = 0
    between: int = 0
    """Hinges whose dual weight is strictly between its bounds; n of them make a vertex."""
    best: Certificate = field(default=NOTHING, repr=False)

    def distance_from_active(self, costs: Vector) -> Vector:
        """Return how far each row is from its breakpoint, in units of its cost; active ones < 0."""
        share = self.alpha / costs
        u = share + self.rho * self.missed
        beyond = np.maximum(np.maximum(-u, u - 1.0), 0.0)
        return np.asarray(beyond - np.minimum(share, 1.0 - share))


def identify_rows(
    program: Program, controls: Controls, enough: float, tuning: PrimalTuning = PRIMAL
) -> PrimalPoint:
    """Iterate until near the optimum at most ``enough`` hinges are between their bounds.

    With ``enough`` zero the rounds continue while the certified gap improves.
    """
    model = PrimalModel(program, tuning)
    point = model.start()
    if enough > 0 and np.mean(point.missed > program.margin) < tuning.separable:
        point.certify(certify(program, point.beta, point.alpha, point.t))
        return point
    stalled = 0
    for _ in range(tuning.rounds):
        last, before = point.gap, point.steps
        model.minimize(point, controls)
        point.certify(certify(program, point.beta, point.alpha, point.t))
        gap = point.gap
        falls = gap < (0.9 if gap <= tuning.near else tuning.least_fall) * last
        stalled = 0 if falls else stalled + 1
        controls.reached(
            f"identification, round {point.rounds}", point.best.objective, gap,
            f"  {point.between} hinges between their bounds, {point.steps} steps",
        )  # fmt: skip
        done = (point.between <= enough and gap <= tuning.near) or gap <= controls.tol
        hard = point.rounds >= tuning.judged_after or point.steps - before == tuning.most_steps
        done |= enough > 0 and hard and gap > tuning.hopeless
        if done or stalled > 2 or controls.out_of_time() or point.steps >= controls.max_iter:
            break
        point.rho *= tuning.growth
    return point


class _PrimalValues(NamedTuple):
    alpha: Vector
    low: Vector
    high: Vector
    t: float
    gradient: Vector
    inside: NDArray[np.intp]
    """Rows strictly between their bounds."""


class PrimalModel:
    """The augmented Lagrangian of (P), as a function of beta; its image is s - A beta."""

    def __init__(self, program: Program, tuning: PrimalTuning) -> None:
        m, n = program.shape
        self.program, self.tuning = program, tuning
        mean_cost = float(program.costs.mean())
        # The curvature of each feature over all rows; n of the m rows will be active.
        self.curvature = program.rows.column_scale() ** 2 * (m * mean_cost)
        self.side_weight = self.curvature * min(1.0, n / m)
        self.separation_weight = n * mean_cost
        self.active: Mask = np.zeros(m, dtype=bool)
        """Rows of the last Newton matrix."""

    def start(self) -> PrimalPoint:
        """Return the discriminant direction, by 50 CG steps, at the length with d.beta = sep."""
        program, d = self.program, self.program.difference
        ridge = 1e-3 * self.curvature
        costs, rows = program.costs, program.rows

        def multiply(v: Vector) -> Vector:
            return rows.tdot(costs * rows.dot(v)) + ridge * v

        inverse = 1.0 / (self.curvature + ridge)
        x = conjugate_gradients(multiply, d, inverse.__mul__, absolute_residual(d, 1e-3), 50)
        beta = program.feasible(x * (program.separation / float(d @ x)))
        missed = program.margin - rows.dot(beta)
        rho = 1.0 / (self.tuning.first_width * float(np.median(np.abs(missed))) + 1e-300)
        zero = np.zeros(len(d))
        self.unit = max(abs(program.primal(beta, program.margin - missed)), 1.0)
        return PrimalPoint(beta, missed, costs / 2, zero, zero, 0.0, rho)

    def minimize(self, point: PrimalPoint, controls: Controls) -> None:
        """Minimize for the dual weights of the point, which are then updated."""
        tuning = self.tuning
        self.hold(point)
        limit = tuning.first_gradient * self.unit * tuning.gradient_shrink**point.rounds
        values, point.beta, point.missed, steps = _newton(
            self, point.beta, point.missed, lambda size: min(tuning.drop * size, limit),
            tuning.most_steps, controls, point.steps,
        )  # fmt: skip
        point.alpha, point.low, point.high, point.t = values[:4]
        sides = int(np.count_nonzero(values.low) + np.count_nonzero(values.high))
        point.between = len(values.inside) + sides + int(values.t > 0)
        point.steps, point.rounds = point.steps + steps, point.rounds + 1

    def hold(self, point: PrimalPoint) -> None:
        """Fix the dual weights and the curvature of a point."""
        self.origin, self.rho = point.beta, point.rho
        self.share = point.alpha / self.program.costs
        self.low, self.high, self.t = point.low, point.high, point.t
        self.side = point.rho * self.side_weight
        self.separation = point.rho * self.separation_weight
        self.proximal = self.tuning.proximal * point.rho * self.curvature

    def at(self, beta: Vector, missed: Vector) -> _PrimalValues:
        """Return the dual weights and the gradient at a point."""
        program = self.program
        u = self.share + self.rho * missed
        alpha = program.costs * np.clip(u, 0.0, 1.0)
        low, high, t = self._constraints(beta)
        gradient = program.linear - program.rows.tdot(alpha) - t * program.difference
        gradient += high - low + self.proximal * (beta - self.origin)
        return _PrimalValues(alpha, low, high, t, gradient, np.flatnonzero((u > 0.0) & (u < 1.0)))

    def _constraints(self, beta: Vector) -> tuple[Vector, Vector, float]:
        program = self.program
        low = np.maximum(self.low + self.side * (program.lower - beta), 0.0)
        high = np.maximum(self.high + self.side * (beta - program.upper), 0.0)
        short = program.separation - float(program.difference @ beta)
        return low, high, max(self.t + self.separation * short, 0.0)

    @staticmethod
    def size(gradient: Vector) -> float:
        """Return the norm in which a gradient is small."""
        return float(np.abs(gradient).sum())

    def image_of(self, direction: Vector) -> Vector:
        """Return A direction."""
        return self.program.rows.dot(direction)

    def newton(self, values: _PrimalValues, step: int, controls: Controls) -> Vector:
        """Return the Newton direction: exact on dense data, else by CG to a relative residual."""
        d, separation = self.program.difference, self.separation if values.t > 0 else 0.0
        diagonal = self.proximal + np.where((values.low > 0) | (values.high > 0), self.side, 0.0)
        if not self.program.rows.sparse and len(d) <= 1000:
            # No correlation slows a factorization down (10,000 x 500, correlated: 4.2 s by CG).
            H = self.rho * self._gram(values.inside, fresh=step == 0)
            H.flat[:: len(d) + 1] += diagonal
            if separation:
                H += np.multiply.outer(separation * d, d)
            return PositiveDefinite(H).solve(-values.gradient)
        rows: Rows = self.program.rows.take(values.inside)
        weight = self.rho * self.program.costs[values.inside]
        curvature = float(weight.sum()) * rows.column_scale() ** 2
        least = 1e-3 / len(self.program.costs) * self.rho * self.curvature
        inverse = 1.0 / (curvature + diagonal + separation * d * d + least)

        def multiply(v: Vector) -> Vector:
            product = rows.tdot(weight * rows.dot(v)) + diagonal * v
            return product + (separation * float(d @ v)) * d if separation else product

        share = self.tuning.cg_share if step < 4 else self.tuning.cg_late
        done = absolute_residual(values.gradient, share, controls.out_of_time)
        return conjugate_gradients(multiply, -values.gradient, inverse.__mul__, done, 3000)

    def _gram(self, inside: Index, *, fresh: bool) -> Matrix:
        """Return sum_i c_i a_i a_i' over these rows.

        Within a round few rows become active or inactive from step to step: by those the last
        matrix is updated.
        """
        program, active = self.program, np.zeros(self.program.shape[0], dtype=bool)
        active[inside] = True

        def gram(index: Index) -> Matrix:
            return program.rows.take(index).gram(program.costs[index])

        changed = inside if fresh else np.flatnonzero(active != self.active)
        if fresh or len(changed) >= len(inside):
            self.gram = gram(inside)
        else:
            entered = active[changed]
            self.gram += gram(changed[entered])
            self.gram -= gram(changed[~entered])
        self.active = active
        return self.gram

    def slope(self, beta: Vector, missed: Vector, direction: Vector, along: Vector) -> float:
        """Return the slope along a direction, whose image is known."""
        program = self.program
        u = np.clip(self.share + self.rho * missed, 0.0, 1.0)
        low, high, t = self._constraints(beta)
        slope = float(program.linear @ direction) - float((program.costs * u) @ along)
        slope -= t * float(program.difference @ direction)
        return slope + float((high - low + self.proximal * (beta - self.origin)) @ direction)


# ------------------------------------------------------------------------------------------ dual


@dataclass(frozen=True)
class DualTuning:
    """Trade-offs, measured on texts (tf-idf, 0/1, counts, hashed) of up to 20,000 x 47,000."""

    growth: float = 1.5
    """Factor on the curvature per round: 2 needs twice the CG steps for the same gap, 1.3 as
    many, in more rounds."""
    hold: float = 6e-2
    easy_steps: int = 8
    """From this gap on it grows only after rounds of few Newton steps: constant, 0/1 words of
    20,000 x 47,000 reach 1e-4 in ten seconds; growing on, they do not get below 4e-3."""
    nearly: float = 1e-3
    nearly_spare: float = 0.12
    nearly_most: int = 300
    late_steps: int = 12
    """The same where the gap is as small as this and so few features are spare, as a fraction of
    the rows between their bounds and as a number; after a round of more steps a vertex is tried."""
    side: float = 2.0
    """tau, in twentieths of the curvature of a row over all features: less lets x leave its bounds
    (0.1 does not converge), more slows CG."""
    drop: float = 0.3
    """Each round reduces the gradient at least to this fraction of its first ..."""
    gradient_shrink: float = 0.5
    """... and of the last round's goal: 0.65 leaves gaps of 1e-2, 0.3 costs half as many steps
    again."""
    proximal: float = 1e-6
    """Fraction of a row's curvature that is added: separates dependent rows."""
    cg_share: float = 0.2
    most_cg: int = 150
    near: float = 2e-2
    """The certified gap from which on few spare features are worth a factorization."""
    judged_after: int = 3
    most_free: float = 0.85
    """With more than this fraction of the features free after so many rounds the optimum is not at
    the box, and the active rows are to be identified instead."""
    rounds: int = 60
    patience: int = 3
    """Rounds in which the free features must fall by a twentieth once the gap is ``near_face``:
    where they do not, the optimum is a face.  Twice as many, in which that or the gap must fall."""
    near_face: float = 1e-2
    interior_rows: int = 6000
    wide: int = 20_000
    wide_rows: int = 2500
    """Working rows up to which an interior point solves them where no vertex was found (twenty
    steps of up to five seconds each); with more rows than that and more features than ``wide`` a
    reported gap is as good an answer as a minute of it."""
    alone_face: float = 1e-4
    """``near_face`` where there are more: no other solver is asked then."""


DUAL = DualTuning()


@dataclass
class DualPoint(CertifiedPoint):
    """A point near the optimum, dual weights, and which features and rows are undecided."""

    beta: Vector
    beyond: Vector
    """How far each feature would leave the box; negative for free features, inside it."""
    rows: Index
    """The working rows; the vectors below have one number for each, and one for d."""
    x: Vector
    over: Vector
    missed: Vector
    curvature: float
    goal: float = np.inf
    steps: int = 0
    rounds: int = 0
    spare: int = 0
    """Free features, equal ones counted once, beyond those that make a vertex."""
    best: Certificate = NOTHING

    @property
    def free(self) -> Index:
        return np.flatnonzero(self.beyond < 0.0)

    @property
    def between(self) -> int:
        """Rows (and the separation) whose dual weight is strictly between its bounds."""
        return int(np.count_nonzero((self.over == 0.0) & (self.missed == 0.0)))

    def places(self, rows: Index) -> Index:
        """Return where rows are among the working rows; new ones join, with zero weights."""
        new = np.setdiff1d(rows, self.rows)
        zero = np.zeros(len(new))
        self.rows = np.concatenate([self.rows, new])
        for name in ("x", "over", "missed"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old[:-1], zero, old[-1:]]))
        order = np.argsort(self.rows)
        return order[np.searchsorted(self.rows, rows, sorter=order)]

    def alpha(self, m: int) -> Vector:
        """Return the dual weights of all m rows."""
        alpha = np.zeros(m)
        alpha[self.rows] = self.x[:-1]
        return alpha


def start_columns(program: Program) -> DualPoint:
    """Return the vertex of the box that is farthest along d, with zero dual weights."""
    d, n = program.difference, program.shape[1]
    middle, half = (program.lower + program.upper) / 2, (program.upper - program.lower) / 2
    corner, zero = middle + half * np.sign(d), np.zeros(1)
    return DualPoint(corner, np.zeros(n), np.empty(0, dtype=np.intp), zero, zero, zero, 1.0)


def identify_columns(
    program: Program,
    point: DualPoint,
    share: float,
    most: int,
    controls: Controls,
    tuning: DualTuning = DUAL,
) -> DualPoint:
    """Iterate until few free features are spare, or the gap is ``tol``.

    Few is a fraction of the rows between their bounds, and at most a number.  The rounds end as
    well where they reduce neither the gap nor the free features.
    """
    model = DualModel(program, tuning)
    fewest, lowest_gap, still, waiting = np.inf, np.inf, 0, 0
    for _ in range(tuning.rounds):
        before = point.steps
        model.minimize(point, controls)
        alpha, t = point.alpha(program.shape[0]), float(point.x[-1])
        point.certify(certify(program, point.beta, alpha, t))
        gap, count = point.gap, len(point.free)
        controls.reached(
            f"columns, round {point.rounds}", point.best.objective, gap,
            f"  {count} free, {point.between} of {len(point.rows)} rows between their bounds, "
            f"{point.steps} steps",
        )  # fmt: skip
        most_spare = min(tuning.nearly_spare * point.between, tuning.nearly_most)
        nearly = gap <= tuning.nearly and point.spare <= most_spare
        hard = point.steps - before > (tuning.late_steps if nearly else tuning.easy_steps)
        few = point.spare <= min(share * point.between, most) and gap <= tuning.near
        few |= nearly and hard
        late = controls.out_of_time() or point.steps >= controls.max_iter
        inside = point.rounds >= tuning.judged_after and count > tuning.most_free * len(point.beta)
        if few or late or inside or gap <= controls.tol:
            break
        fewer, nearer = count < 0.95 * fewest, gap < 0.8 * lowest_gap
        still = 0 if fewer else still + 1
        waiting = 0 if fewer or nearer else waiting + 1
        near = tuning.alone_face
        if interior_point_affordable(program, point, tuning):
            near = tuning.near_face
        face = still > tuning.patience and gap <= near
        if face or waiting > 2 * tuning.patience:
            break
        # Compared with the last progress: many small reductions are one as well.
        fewest, lowest_gap = count if fewer else fewest, gap if nearer else lowest_gap
        if gap > tuning.hold or not hard:
            point.curvature *= tuning.growth
    return point


def interior_point_affordable(
    program: Program, point: DualPoint, tuning: DualTuning = DUAL
) -> bool:
    """Return whether an interior point solves the working rows, should no vertex be found."""
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


class _DualValues(NamedTuple):
    beta: Vector
    over: Vector
    missed: Vector
    gradient: Vector
    beyond: Vector


class DualModel:
    """The augmented Lagrangian of the dual, as a function of x; its image is r = g - E'x."""

    def __init__(self, program: Program, tuning: DualTuning) -> None:
        self.program, self.tuning = program, tuning
        self.A: CompensatedMatrix = compensated(program.rows)
        scale = program.rows.column_scale()
        half = (program.upper - program.lower) / 2
        # A curvature of one moves a feature of usual slope through half of the box.
        slope = np.abs(program.linear) / scale
        self.unit_sigma = half / scale / max(float(slope[slope > 0].mean()), 1e-300)
        # A feature without entries stays where it is.
        empty = self.A.transpose().row_squares(np.ones(program.shape[0])) == 0.0
        self.unit_sigma[empty] = 0.0

    def minimize(self, point: DualPoint, controls: Controls) -> None:
        """Minimize for the slacks of the point, which are then updated.

        Rows that the point violates join the working rows first.
        """
        tuning = self.tuning
        point.places(np.flatnonzero(self.A.dot(point.beta) <= self.program.margin))
        self.hold(point)

        def goal_for(size: float) -> float:
            point.goal = tuning.gradient_shrink * min(point.goal, size)
            return min(point.goal, tuning.drop * size)

        r = self.program.linear - self.E.tdot(point.x)
        values, point.x, _, steps = _newton(self, point.x, r, goal_for, 40, controls, point.steps)
        point.beta, point.over, point.missed, _, point.beyond = values
        # Free features that differ in the rows between their bounds.
        drawn = np.random.default_rng(len(point.x)).standard_normal(len(point.x))
        drawn[(point.over > 0.0) | (point.missed > 0.0)] = 0.0
        point.spare = len(np.unique(self.E.tdot(drawn)[point.free])) - point.between
        point.steps, point.rounds = point.steps + steps, point.rounds + 1

    def hold(self, point: DualPoint) -> None:
        """Fix the slacks and the curvature of a point."""
        program = self.program
        self.E = _Rows(self.A.take(point.rows), program.difference)
        self.beta, self.over, self.missed = point.beta, point.over, point.missed
        self.sigma = point.curvature * self.unit_sigma
        costs = program.costs[point.rows]
        self.top = np.append(costs, np.inf)
        self.costs = np.append(costs, float(program.costs.mean()))
        self.goal = np.append(np.full(len(costs), program.margin), program.separation)
        self.row_curvature = 0.05 * float(np.median(self.E.squares(self.sigma))) + 1e-300
        self.tau = self.tuning.side * self.row_curvature

    def at(self, x: Vector, r: Vector) -> _DualValues:
        """Return beta, the slacks and the gradient at a point."""
        program = self.program
        moved = self.beta - self.sigma * r
        beta = np.clip(moved, program.lower, program.upper)
        over, missed = self._slacks(x)
        gradient = self.E.dot(beta) - self.goal - over + missed
        beyond = np.maximum(program.lower - moved, moved - program.upper)
        beyond[self.sigma == 0.0] = np.inf
        return _DualValues(beta, over, missed, gradient, beyond)

    def _slacks(self, x: Vector) -> tuple[Vector, Vector]:
        over = np.maximum(self.over - self.tau * x, 0.0)
        return over, np.maximum(self.missed + self.tau * (x - self.top), 0.0)

    def size(self, gradient: Vector) -> float:
        """Return the norm in which a gradient is small: by the costs of the rows."""
        return float(self.costs @ np.abs(gradient))

    def image_of(self, direction: Vector) -> Vector:
        """Return E'direction."""
        return self.E.tdot(direction)

    def newton(self, values: _DualValues, step: int, controls: Controls) -> Vector:
        """Return the Newton direction, as far as a few CG steps lead."""
        free = np.flatnonzero(values.beyond < 0.0)
        E, sigma, tuning = self.E.columns(free), self.sigma[free], self.tuning
        held = (values.over > 0) | (values.missed > 0)
        diagonal = np.where(held, self.tau, 0.0) + tuning.proximal * self.row_curvature

        def multiply(v: Vector) -> Vector:
            return E.dot(sigma * E.tdot(v)) + diagonal * v

        inverse = 1.0 / (E.squares(sigma) + diagonal + 1e-3 * self.row_curvature)
        done = absolute_residual(values.gradient, tuning.cg_share, controls.out_of_time)
        return conjugate_gradients(
            multiply, -values.gradient, inverse.__mul__, done, tuning.most_cg
        )

    def slope(self, x: Vector, r: Vector, direction: Vector, along: Vector) -> float:
        """Return the slope along a direction, whose image is known."""
        beta = np.clip(self.beta - self.sigma * r, self.program.lower, self.program.upper)
        over, missed = self._slacks(x)
        slope = float(beta @ along) - float(self.goal @ direction)
        return slope + float((missed - over) @ direction)
