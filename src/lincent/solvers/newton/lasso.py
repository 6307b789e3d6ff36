"""Newton's method for the regularized program with an L1 term: few columns, certified.

    minimize over beta, t    |beta|_1 + sum_i c_i phi(a_i.beta - y_i t)

The loss is replaced by its quadratic model at the current point, the absolute values stay as they
are (``absolute`` solves that exactly), and the minimum of the model is the next point, or the best
one on the way to it.  The model is exact once the right rows are between the margins, so the end
comes after finitely many steps, with exact zeros in beta.

With many columns most stay zero.  A few are chosen by their slopes, the program is solved on them,
and columns whose slope is above 1 there join, until the gap over *all* columns is small enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import ridge
from lincent.solvers.newton.costs import scaled
from lincent.solvers.newton.descent import PATIENCE, STILL, Best, Start, best_threshold
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Reader, Reading
from lincent.solvers.newton.ridge import without_free_rows
from lincent.solvers.newton.signs import minimize
from lincent.solvers.newton.start import even_at_zero
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton-l1"


@dataclass(frozen=True)
class Tuning:
    """What the choice of columns and its steps trade; steps counted on 40 rows of 260 columns."""

    all_columns: int = 200
    """Up to this many columns all are taken at once."""
    most_columns: int = 150
    """Columns that join in a round: more make its steps dearer, fewer the rounds more (RBF kernels
    of 1,000 to 4,000 rows: 50 doubling to 200 takes 1.2 to 1.6 times as long)."""
    loose: float = 0.1
    """A choice is solved to this share of the open gap while more than a few columns join: 18
    steps, with 0.01 or 0.5 thirty."""
    few_new: int = 5
    """What are a few: 0 to 50 make no difference of more than a step."""
    rounds: int = 100
    """Choices of columns at most; ten are many."""
    part_tol: float = 0.1
    """A choice of columns is solved to this share of the tolerance, so that all columns meet it."""
    decrease: float = 0.1
    """A full step is taken if the objective falls by this share of what the model promises: 18
    steps, with 0.01 or 0.5 twenty-one."""
    halvings: int = 40
    """Of a step that does not go down; with 10 a degenerate program stalls."""
    ridge: float = 1e-10
    """On the diagonal, of what all rows together put there: without it columns that depend on each
    other take 200 steps, with 1e-12 thirty-two, with 1e-6 thirty-five."""


TUNING = Tuning()


class SparseReader(Reader):
    """Readings with the L1 term; ``gradient`` is that of the loss alone."""

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

    def multipliers(self, reading: Reading) -> Vector:
        alpha = super().multipliers(reading)
        combined = -reading.gradient
        if reading.slope != 0.0:
            side, share = self._mixture(reading.slope)
            mean = self._mean(side)
            combined = (1.0 - share) * combined + (share * self.class_costs[side]) * mean
        return alpha * self._feasible(combined)


def solve_path(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """The optima for the costs times each scale, each started from the one before."""
    if np.any(program.costs == 0):
        return without_free_rows(program, scales, controls, rng, solve_path)
    if program.shape[0] * program.shape[1] <= ridge.TUNING.whole_entries:
        program = replace(program, rows=program.rows.materialize())
    found: list[Solution] = []
    start = None if controls.start is None else Start(*controls.start)
    for scale in scales:
        found.append(_solve(scaled(program, scale), controls, start))
        start = Start(found[-1].certificate.beta, found[-1].certificate.t)
    return found


def _solve(program: RegularizedProgram, controls: Controls, start: Start | None) -> Solution:
    reader = SparseReader(program)
    n = program.shape[1]
    if start is None:
        point = reader.at_zero(even_at_zero(reader))
    else:
        point = reader.at(start.beta, start.t)
    if n <= TUNING.all_columns:
        status, best, steps = descend(reader, point, controls)
        return Solution(status, best.certificate(reader), steps, NAME)
    best, steps, most = Best(point, reader.unit), 0, TUNING.most_columns
    for _ in range(TUNING.rounds):
        controls.reached("all columns", best.low.objective, best.relative_gap)
        if best.relative_gap <= controls.tol:
            return Solution(Status.OPTIMAL, best.certificate(reader), steps, NAME)
        chosen, new = _choose(point, most)
        part = SparseReader(_cut(program, chosen))
        begin = part.at(point.beta[chosen], point.t, point.projected)
        # Their own gap may be smaller than that of all columns: no step at all would be no gain.
        open_gap = min(best.relative_gap, Best(begin, part.unit).relative_gap)
        loose = TUNING.loose * open_gap if new > TUNING.few_new else 0.0
        tol = max(TUNING.part_tol * controls.tol, loose)
        limits = replace(controls, tol=tol, max_iter=controls.max_iter - steps, watch=None)
        status, found, more = descend(part, begin, limits)
        steps += more
        # The point with the highest bound: at the end all are the lowest, up to rounding.
        rounding = found.low.objective + STILL * abs(found.low.objective)
        last = found.low if loose and found.high.objective > rounding else found.high
        beta = np.zeros(n)
        beta[chosen] = last.beta
        point = reader.at(beta, last.t, last.projected)
        progress = best.take(point)
        if status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT):
            return Solution(status, best.certificate(reader), steps, NAME)
        if not progress and len(chosen) == n:
            break
        most = TUNING.most_columns if progress else n
    status = Status.OPTIMAL if best.relative_gap <= controls.tol else Status.STALLED
    return Solution(status, best.certificate(reader), steps, NAME)


def _choose(point: Reading, most: int) -> tuple[Index, int]:
    """The columns in use and up to ``most`` more; the number of those."""
    slopes = np.abs(point.gradient)
    used = point.beta != 0.0
    new = spread_choice(np.where(used, 0.0, slopes), most)
    return np.union1d(np.flatnonzero(used), new), len(new)


def spread_choice(slopes: Vector, most: int) -> Index:
    """Up to ``most`` columns: half of them the steepest, half spread over all with a slope above 1.

    Where columns resemble their neighbors, as those of a kernel do, the steepest are much the same.
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


def _cut(program: RegularizedProgram, chosen: Index) -> RegularizedProgram:
    if len(chosen) == program.shape[1]:
        return program
    means = None if program.means is None else program.means[:, chosen]
    return replace(program, rows=program.rows.columns(chosen), means=means)


def descend(
    reader: Reader, point: Reading, controls: Controls, model: Model | None = None
) -> tuple[Status, Best, int]:
    """Newton steps on all columns of the reader's program."""
    best, model = Best(point, reader.unit), model or Model(reader.program)
    steps = since = 0
    while True:
        controls.reached(f"step {steps}", best.low.objective, best.relative_gap)
        if best.relative_gap <= controls.tol:
            return Status.OPTIMAL, best, steps
        if since >= PATIENCE:
            return Status.STALLED, best, steps
        if controls.out_of_time():
            return Status.TIME_LIMIT, best, steps
        if steps >= controls.max_iter:
            return Status.ITERATION_LIMIT, best, steps
        point = _advance(reader, model, point)
        steps += 1
        since = 0 if best.take(point) else since + 1


class Model:
    """The quadratic model of the loss, with a small term that keeps it definite."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        self.whole = Whole(program, stale=0.0)
        scale = program.rows.column_scale() ** 2
        self.size = float(program.costs.sum()) / program.width * scale
        self.ridge = TUNING.ridge

    def minimum(self, point: Reading) -> tuple[Vector, float]:
        """Where the model, the absolute values included, is lowest."""
        gram, v, total = self.whole.at(point.inside)
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


def _advance(reader: Reader, model: Model, point: Reading) -> Reading:
    beta, shift = model.minimum(point)
    found = reader.at(beta, point.t + shift)
    penalty = float(np.abs(beta).sum() - np.abs(point.beta).sum())
    promised = point.descent(beta - point.beta, shift) + penalty
    enough = point.objective + TUNING.decrease * min(promised, 0.0)
    if found.objective <= enough + STILL * abs(point.objective):
        model.ridge = max(TUNING.ridge, model.ridge / 10)
        return found
    model.ridge *= 10
    return _between(reader, point, found)


def _between(reader: Reader, origin: Reading, end: Reading) -> Reading:
    """The lowest of the points halfway, a quarter way, ... with its best threshold."""
    program = reader.program
    moved, step = end.projected - origin.projected, end.beta - origin.beta
    lowest, best = origin.objective, 0.0
    length = 1.0
    for _ in range(TUNING.halvings):
        z = program.positions(
            origin.projected + length * moved, origin.t + length * (end.t - origin.t)
        )
        value = program.primal_l1(origin.beta + length * step, z, program.dual_weights(z))
        if value < lowest:
            lowest, best = value, length
        elif best:
            break
        length /= 2
    if not best:
        return min(origin, end, key=lambda reading: reading.objective)
    projected = origin.projected + best * moved
    t = best_threshold(program, projected, origin.t + best * (end.t - origin.t))
    return reader.at(origin.beta + best * step, t, projected)
