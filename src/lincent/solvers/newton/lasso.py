"""Newton's method for the regularized problem with an L1 penalty: few features, certified.

    minimize over beta, t    |beta|_1 + sum_i c_i phi(a_i.beta - y_i t)

The loss is replaced by its quadratic model at the current point, the absolute values stay as they
are, and the minimum of the model, or the best point on the way to it, is the next point (proximal
Newton, Lee, Sun and Saunders 2014).  The model is exact once the right samples are active, so the
end comes after finitely many steps, with exact zeros in beta.  The minimum of the model,

    minimize over x    x'Gx / 2 + b.x + |x|_1,        G positive definite,

comes from a search for its signs s (feature-sign search, Lee, Battle, Raina and Ng 2007): where
zeros and signs are known, the others solve G x = -(b + s).

**Column generation.**  With many features most stay zero.  So the problem is solved on a choice of
columns, and the others are priced (Gilmore and Gomory 1961): with its dual weights alpha, column j
can lower the objective only if

    |sum_i alpha_i a_ij| > 1.

The prices of all columns give the bound: alpha over the largest meets every constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.centralization import Certificate
from lincent.problems.regularized import RegularizedProgram, certify_l1
from lincent.solvers.bounds import Bounds
from lincent.solvers.line_search import bisect_step
from lincent.solvers.newton import ridge
from lincent.solvers.newton.curvature import Exact, SelectedColumns
from lincent.solvers.newton.descent import (
    STILL,
    Walk,
    best_threshold,
    certificate,
    newton_loop,
    run,
)
from lincent.solvers.newton.evaluation import Evaluation, Evaluator
from lincent.solvers.newton.ridge import scaled, without_zero_costs
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton-l1"

# Trade-offs; steps counted on 40 samples of 260 features.
ALL_FEATURES = 200
"""Up to this many features all are taken at once."""
JOINING = 150
"""Columns that join in a round: more make its steps dearer, fewer the rounds more (matrices of
RBF kernels of 1,000 to 4,000 samples: 50 doubling to 200 takes 1.2 to 1.6 times as long)."""
RIDGE = 1e-10
"""On the diagonal, of what all samples together put there: without it features that depend on
each other take 200 steps, with 1e-12 thirty-two, with 1e-6 thirty-five."""
IDLE = 0.9
"""Chosen columns that are zero leave when their price falls below this."""


class SparseEvaluator(Evaluator):
    """Evaluations with the L1 penalty; ``gradient`` is that of the loss alone."""

    def _penalty(self, beta: Vector) -> float:
        return float(np.abs(beta).sum())

    def _gradient(self, beta: Vector, combined: Vector) -> Vector:
        return -combined

    def _bound(self, total: float, squares: float, combined: Vector) -> float:
        share = self._feasible(combined)
        return share * (self.program.high * total - share * self.program.width / 2 * squares)

    @staticmethod
    def _feasible(combined: Vector) -> float:
        return 1.0 / max(1.0, float(np.abs(combined).max(initial=0.0)))

    def dual_weights(self, point: Evaluation) -> Vector:
        alpha = super().dual_weights(point)
        combined = -point.gradient
        if point.slope != 0.0:
            side, share = self._mixture(point.slope)
            mean = self._mean(side)
            combined = (1.0 - share) * combined + (share * self.class_costs[side]) * mean
        return alpha * self._feasible(combined)


def solve_path(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """Return the optima for the costs times each scale, each started from the one before."""
    if np.any(program.costs == 0):
        return without_zero_costs(program, scales, controls, rng, solve_path)
    if program.shape[0] * program.shape[1] <= ridge.WHOLE_ENTRIES:
        program = replace(program, rows=program.rows.materialize())
    solutions: list[Solution] = []
    for scale in scales:
        solutions.append(_solve(scaled(program, scale), controls))
        last = solutions[-1].certificate
        controls = replace(controls, start=(last.beta, last.t))
    return solutions


def _solve(program: RegularizedProgram, controls: Controls) -> Solution:
    evaluator, start = SparseEvaluator(program), controls.start
    if program.shape[1] <= ALL_FEATURES:
        point = evaluator.at_zero() if start is None else evaluator.at(*start)
        walk = descend(evaluator, point, controls)
        return Solution(walk.status, certificate(evaluator, walk.bounds), walk.steps, NAME)
    if start is not None and np.any(start[0]):
        used = np.flatnonzero(start[0])
        first = used, start[0][used], start[1]
    else:
        point = evaluator.at_zero()
        steep = spread_choice(np.abs(point.gradient), JOINING)
        first = steep, np.zeros(len(steep)), point.t
    return _generate(program, *first, controls)


# Column generation


def _generate(
    program: RegularizedProgram, first: Index, beta: Vector, t: float, controls: Controls
) -> Solution:
    """Return the certified optimum over all columns, from a first choice of them."""
    (m, n), bounds, chosen = program.shape, Bounds(program.unit), _ChosenColumns(program)
    bounds.offer_dual(0.0, np.zeros(m))  # zero bounds the objective from below
    chosen.join(first, np.empty(0, dtype=np.intp), np.empty(0))
    open_gap, steps, status = 1.0, 0, Status.STALLED

    def best() -> Certificate:
        (columns, part, threshold), whole = bounds.primal, np.zeros(n)
        whole[columns] = part
        return bounds.certificate(whole, bounds.dual, threshold)

    for number in range(200):
        evaluator = SparseEvaluator(chosen.program)
        # A tenth of the tolerance or, while columns join, of the gap that their prices leave open.
        tol = 0.1 * max(controls.tol, open_gap)
        last = open_gap <= controls.tol
        point = evaluator.at(beta, t)
        limits = replace(controls, tol=tol, max_iter=controls.max_iter - steps, watch=None)
        walk = descend(evaluator, point, limits, chosen.model)
        status, low = walk.status, walk.bounds.primal
        steps += walk.steps
        beta, t = low.beta, low.t
        bounds.offer_primal(low.objective, (chosen.index.copy(), beta, t))
        alpha = program.balanced(program.costs * walk.bounds.dual.u)
        # With these the constraints hold in the columns of the choice.
        own = np.abs(chosen.program.rows.tdot(alpha))
        alpha /= max(1.0, float(own.max(initial=0.0)))
        prices = np.abs(program.rows.tdot(alpha))
        prices[chosen.index] = 0.0
        largest = max(1.0, float(prices.max(initial=0.0)))
        feasible = alpha / largest
        bounds.offer_dual(program.dual_l1(feasible), feasible)
        above = spread_choice(prices, JOINING) if largest > 1.0 else first[:0]
        controls.reached(
            f"columns, round {number + 1}", bounds.objective, bounds.relative_gap,
            f"  {len(beta)} columns, {len(above)} more above 1",
        )  # fmt: skip
        if bounds.relative_gap <= controls.tol:
            # Columns come and go here, and bounds are of many rounds: certify once more.
            answer = best()
            answer = certify_l1(program, answer.beta, answer.t, answer.alpha)
            status = Status.OPTIMAL if answer.relative_gap <= controls.tol else Status.STALLED
            return Solution(status, answer, max(steps, 1), NAME)
        limited = status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT)
        if limited or controls.out_of_time() or (last and not len(above)):
            break
        open_gap = 1.0 - 1.0 / largest
        idle = np.flatnonzero((beta == 0.0) & (own < IDLE))
        beta = chosen.join(above, idle, beta)
    if controls.out_of_time():
        status = Status.TIME_LIMIT
    elif status is Status.OPTIMAL:
        status = Status.STALLED
    return Solution(status, best(), max(steps, 1), NAME)


class _ChosenColumns:
    """The columns in the problem at present, with the curvature that is known of them."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.whole = program
        self.index = np.empty(0, dtype=np.intp)
        self.memory: Matrix = np.empty((0, program.shape[0]))
        self.program = program
        self.model: QuadraticModel | None = None

    def join(self, joining: Index, idle: Index, beta: Vector) -> Vector:
        """Put these columns in the places of idle ones and behind; return beta with them."""
        if not len(joining):
            return beta
        before, more = len(self.index), max(0, len(joining) - len(idle))
        places = np.append(idle[: len(joining)], np.arange(before, before + more))
        self.index = np.append(self.index, np.zeros(more, dtype=np.intp))
        self.index[places] = joining
        count = len(self.index)
        if count > len(self.memory):
            larger = np.empty((count + count // 2, self.memory.shape[1]))
            larger[:before] = self.memory[:before]
            self.memory = larger
        self.memory[places] = self.whole.rows.columns(joining).dense().T
        columns = SelectedColumns(self.memory[:count])
        self.program = replace(self.whole, rows=columns, means=None)
        model = QuadraticModel(self.program)
        if self.model is not None:
            model.exact.replace_columns(self.model.exact, columns, places)
        self.model = model
        return np.append(beta, np.zeros(more))


def spread_choice(slopes: Vector, most: int) -> Index:
    """Choose up to ``most`` features, half of them the steepest, half spread over slopes above 1.

    Where features resemble their neighbors, as those of a spectrum do, the steepest are much alike.
    """
    above = np.flatnonzero(slopes > 1.0)
    if len(above) <= most:
        # None above 1, but the gap is open: rounding, and the steepest are as good as any.
        size = min(most, len(slopes))
        return above if len(above) else np.argpartition(-slopes, size - 1)[:size]
    above = above[np.argsort(-slopes[above])]
    half = most // 2
    rest = np.linspace(half, len(above) - 1, most - half).astype(np.intp)
    return np.asarray(above[np.concatenate([np.arange(half), rest])])


# Newton steps


def descend(
    evaluator: Evaluator, point: Evaluation, controls: Controls, model: QuadraticModel | None = None
) -> Walk:
    """Take Newton steps on all features of the evaluator's problem."""
    used = model or QuadraticModel(evaluator.program)

    def advance(point: Evaluation, bounds: Bounds) -> Evaluation:
        return _advance(evaluator, used, point)

    return run(newton_loop(point, advance, controls, evaluator.unit))


class QuadraticModel:
    """The quadratic model of the loss, with a small term that keeps it definite."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        self.exact = Exact(program)
        scale = program.rows.column_scale() ** 2
        self.size = float(program.costs.sum()) / program.width * scale
        self.ridge = RIDGE

    def minimum(self, point: Evaluation) -> tuple[Vector, float]:
        """Return where the model, the absolute values included, is lowest."""
        gram, v, total = self.exact.at(point.active)
        G: Matrix = gram.copy()
        gradient = point.gradient
        centered = self.program.free and total > 0.0
        if centered:
            G -= np.outer(v / total, v)
            gradient = gradient + v * (point.slope / total)
        G.flat[:: len(G) + 1] += self.ridge * self.size
        beta = minimize(G, gradient - G @ point.beta, point.beta)
        shift = (float(v @ (beta - point.beta)) - point.slope) / total if centered else 0.0
        return beta, shift


def _advance(evaluator: Evaluator, model: QuadraticModel, point: Evaluation) -> Evaluation:
    beta, shift = model.minimum(point)
    end = evaluator.at(beta, point.t + shift)
    penalty = float(np.abs(beta).sum() - np.abs(point.beta).sum())
    promised = point.descent(beta - point.beta, shift) + penalty
    enough = point.objective + 0.1 * min(promised, 0.0)  # with 0.01 or 0.5 a sixth more steps
    if end.objective <= enough + STILL * abs(point.objective):
        model.ridge = max(RIDGE, model.ridge / 10)
        return end
    model.ridge *= 10
    program, step = evaluator.program, beta - point.beta
    z = program.positions(point.projected, point.t)
    moved = program.positions(end.projected, end.t) - z

    def slope(length: float) -> float:
        alpha = program.costs * program.dual_weights(z + length * moved)
        return float(np.sign(point.beta + length * step) @ step) - float(alpha @ moved)

    length = bisect_step(slope, width=0.1)
    projected = point.projected + length * (end.projected - point.projected)
    t = best_threshold(program, projected, point.t + length * shift)
    between = evaluator.at(point.beta + length * step, t, projected)
    return min(between, point, end, key=lambda one: one.objective)


# The subproblem


def minimize(G: Matrix, b: Vector, x: Vector) -> Vector:
    """Return the minimum of x'Gx / 2 + b.x + |x|_1, begun at x.

    Guess the signs, solve, and go toward that point as far as the objective falls; a coordinate
    that reaches zero on the way stays there.  When no sign is wrong any more, zeros with a slope
    above 1 are let go, several at once.  Every round lowers the objective, so no guess comes twice.
    """
    x, slope = x.copy(), G @ x + b
    settled = alone = False
    for _ in range(100 + 20 * len(x)):
        signs = np.sign(x)
        if settled or not np.any(signs):
            enter = _entering(slope, x, b, alone)
            if not enter.size:
                return x
            signs[enter] = -np.sign(slope[enter])
        free = np.flatnonzero(signs)
        part, right = G[np.ix_(free, free)], -(b[free] + signs[free])
        _, target, failed = lapack.dposv(part, right, lower=1)
        if failed:
            target = np.linalg.lstsq(part, right, rcond=None)[0]
        settled = np.array_equal(np.sign(target), signs[free])
        if not settled:
            nearer = _toward(part, b[free], signs[free], x[free], target)
            if nearer is None:
                if alone:
                    return x  # nothing falls any more: rounding
                # Several at once were too many; one at a time the objective is sure to fall.
                settled = alone = True
                continue
            target = nearer
        alone = False
        x = np.zeros_like(x)
        x[free] = target
        slope = G @ x + b
    return x


def _entering(slope: Vector, x: Vector, b: Vector, alone: bool) -> Index:
    """Return the zeros with a slope above 1 by at least half as much as the steepest."""
    beyond = np.where(x == 0.0, np.abs(slope) - 1.0, 0.0)
    most = float(beyond.max(initial=0.0))
    if most <= 1e-12 * (1.0 + float(np.abs(b).max(initial=0.0))):
        return np.empty(0, dtype=np.intp)
    return np.array([beyond.argmax()]) if alone else np.flatnonzero(beyond >= 0.5 * most)


def _toward(G: Matrix, b: Vector, signs: Vector, x: Vector, target: Vector) -> Vector | None:
    """Return the lowest of some points on the way to the target, or None if none is lower.

    Coordinates stay at zero once they have reached it; the points are the first, the second, the
    fourth ... of these places, and the end.
    """
    crossing = np.flatnonzero(x * target < 0.0)
    zero_at = np.full(len(x), np.inf)
    zero_at[crossing] = x[crossing] / (x[crossing] - target[crossing])
    places = np.sort(zero_at[crossing])
    powers = 2 ** np.arange(20) - 1
    lengths = np.append(places[powers[: np.searchsorted(powers, len(places))]], 1.0)[:, None]
    # Equal features reach zero together up to rounding: what is left of one would block the way.
    points = np.where(zero_at <= lengths * (1.0 + 1e-12), 0.0, x + lengths * (target - x))
    # Coordinates that were let go and want to go the other way stay, or do so.
    points = np.concatenate([np.where(points * signs < 0.0, 0.0, points), points])
    values = np.einsum("ij,ij->i", points @ G / 2 + b, points) + np.abs(points).sum(axis=1)
    k = int(values.argmin())
    before = float(x @ (G @ x / 2 + b)) + float(np.abs(x).sum())
    if values[k] < before - 1e-15 * abs(before):
        return np.asarray(points[k])
    residue = zero_at <= 1e-12  # coordinates that are zero up to rounding
    return np.where(residue, 0.0, x) if residue.any() else None
