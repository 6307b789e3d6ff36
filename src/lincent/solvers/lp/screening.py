"""The exact optimum of a program with many rows, by solving it for a few of them.

At the optimum at most n rows sit on the kink a_i.beta = s.  All others are surely outside (their
cost is linear) or surely inside (their cost is zero).  So, as Portnoy and Koenker (1997) do for
quantile regression:

    1. solve a sample; its optimum is off by about sqrt(n / sample size).  Carry it to the optimum
       of ever larger samples, and of the whole, by Newton steps on the smoothed program;
    2. rows of all the data with a_i.beta far below s are summed into the linear term, those far
       above are dropped, the rest, the band, is kept:

           minimize  (g - sum_out c_i a_i).beta + sum_band c_i (s - a_i.beta)_+

    3. solve that exactly, within a trust region: beyond it the summed rows would count wrongly
       and the restricted problem could run away;
    4. compute the certificate over all rows.  Rows that turn out misplaced join the band; repeat.

Where a neighboring problem was solved before (another margin, other costs), its optimum takes the
place of the sample: the Newton steps start there, or are not needed at all.

The restricted objective never exceeds the true one, so every round gives a valid bound, and from
the second round on the band only grows: the rounds end at the optimum of the whole.  The data is
read a handful of times, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.programs.arrays import AllRows, Certificate, SplitRows, Vector, View
from lincent.programs.centralization import Program
from lincent.solvers.lp import interior_point
from lincent.solvers.lp.smoothing import newton_step
from lincent.solvers.solution import Controls, Solution, Status

NAME = "screening"
SMALL = 4000
START_ROWS = 30
SAMPLE = 2.0
BAND = 2.0
EXACT_ROWS = 30
SHRINK = 0.25
NEWTON_STEPS = 3
TRUST = 4.0
MAX_ROUNDS = 40
# From a guess, which knows better than a sample where the kink is:
NEAR_ROWS = 10
NEAR_SHRINK = 0.5
NEAR_STEPS = 8
NEAR_ROUNDS = 8
SAMPLE_TOL = 1e-3
INNER_TOL = 1e-3


def start_size(n: int) -> int:
    """Rows of the first sample, the only one solved from nothing."""
    return START_ROWS * n + 500


def sample_size(m: int, n: int) -> int:
    """Rows of the sample before the whole: grows like (m^2 n)^(1/3), so its share of m falls."""
    return int(SAMPLE * (float(m) ** 2 * n) ** (1 / 3)) + 1


def worthwhile(m: int, n: int) -> bool:
    """Whether the first sample is well below the whole."""
    return m > SMALL and m > 3 * start_size(n)


@dataclass(frozen=True)
class Guess:
    """A point near the optimum, and the number of rows around the kink that it leaves in doubt."""

    beta: Vector
    band: int


@dataclass
class _Near:
    """A point near the optimum, and all rows as seen from there."""

    seen: View
    objective: float
    band: int  # rows around the kink among which the optimum's are expected

    @property
    def width(self) -> float:
        """Half the width of the band."""
        return self.seen.width(self.band)


def _look(program: Program, whole: AllRows, beta: Vector, band: int) -> _Near:
    seen = whole.look(beta, band)
    return _Near(seen, program.value(beta, seen.loss), band)


def _of_sample(
    program: Program, whole: AllRows, k: int, controls: Controls, rng: np.random.Generator
) -> tuple[Vector, Vector, int]:
    """A point near the optimum of k rows; they are forgotten before more rows are read."""
    rows, costs = whole.sample(k, rng)
    sample = replace(program, rows=rows, costs=costs)
    if k == start_size(program.shape[1]):
        solved = interior_point.solve(sample, replace(controls, tol=SAMPLE_TOL))
        return solved.certificate.beta, rows.column_scale(), solved.iterations
    near, scale, iterations = _approach(sample, rows.all_rows(costs, program.margin), controls, rng)
    return near.seen.beta, scale, iterations


def _approach(
    program: Program, whole: AllRows, controls: Controls, rng: np.random.Generator
) -> tuple[_Near, Vector, int]:
    """A point near the optimum, the columns' scale, and the iterations spent."""
    m, n = program.shape
    k = min(sample_size(m, n), whole.most_sampled)
    k = start_size(n) if k <= 2 * start_size(n) else k
    beta, scale, iterations = _of_sample(program, whole, k, controls, rng)
    band = int(min(1.0, BAND * np.sqrt(n / k)) * m) + n
    near = _look(program, whole, program.feasible(beta), band)
    few = max(EXACT_ROWS * n, whole.spare_rows)
    for _ in range(NEWTON_STEPS):
        if near.band <= few or controls.out_of_time():
            break
        step = newton_step(program, near.seen, near.width, rng)
        if step is None:
            break
        closer = _look(program, whole, step, max(int(SHRINK * near.band), EXACT_ROWS * n))
        controls.tell(f"newton on {m} rows: objective {closer.objective:.10e}, band {near.band}")
        iterations += 1
        if not closer.objective < near.objective:
            break
        near = closer
    return near, scale, iterations


def _from_guess(
    program: Program, whole: AllRows, guess: Guess, controls: Controls, rng: np.random.Generator
) -> tuple[_Near, int]:
    """The guess, brought closer until a few rows around the kink remain; and the steps taken."""
    n = program.shape[1]
    few = max(NEAR_ROWS * n, whole.spare_rows)
    near = _look(program, whole, program.feasible(guess.beta), max(guess.band, few // 2))
    steps = 0
    while near.band > few and steps < NEAR_STEPS and not controls.out_of_time():
        step = newton_step(program, near.seen, near.width, rng)
        band = max(int(NEAR_SHRINK * near.band), few)
        steps += 1
        before = near.seen.beta
        # A step that overshoots is halved once; where that does not help either, the point is
        # nearer already than the smoothed optimum of this width.
        for point in () if step is None else (step, (before + step) / 2):
            closer = _look(program, whole, program.feasible(point), band)
            if closer.objective < near.objective:
                near = closer
                break
        near.band = band
    return near, steps


def _restricted(program: Program, split: SplitRows, beta: Vector, radius: Vector) -> Program:
    """The band alone, with the rows beyond it in the linear term, in a trust region."""
    return replace(
        program,
        rows=split.rows,
        costs=split.costs,
        linear=program.linear - split.summed,
        offset=program.offset + program.margin * split.summed_cost,
        lower=np.maximum(program.lower, beta - radius),
        upper=np.minimum(program.upper, beta + radius),
    )


def _certificate(
    program: Program, split: SplitRows, point: Certificate, objective: float
) -> Certificate:
    """As ``certify`` does it: both sides were read already, the rows beyond the band as a sum."""
    combined = split.summed + split.rows.tdot(point.alpha)
    total = split.summed_cost + float(point.alpha.sum())
    t = program.best_t(combined, point.t)
    bound = program.bound(total, t, combined)
    return Certificate(point.beta, split.multipliers(point.alpha), t, objective, bound)


def solve(
    program: Program,
    controls: Controls,
    rng: np.random.Generator,
    start: Guess | None = None,
) -> Solution:
    """The certified optimum over all rows; a start takes the place of the sample."""
    whole = program.rows.all_rows(program.costs, program.margin)
    if start is None:
        near, scale, iterations = _approach(program, whole, controls, rng)
    else:
        near, iterations = _from_guess(program, whole, start, controls, rng)
    rounds = MAX_ROUNDS if start is None else NEAR_ROUNDS
    beta, width = near.seen.beta, near.width
    split = near.seen.split(width)
    if start is not None:
        scale = split.rows.column_scale()
    radius = TRUST * width / scale
    del near
    # The restricted problem lives in a small box, where its own gap says little: it is solved
    # further than asked, normally to its vertex.
    inner_tol = INNER_TOL * controls.tol
    status = Status.ITERATION_LIMIT
    for number in range(rounds):
        small = _restricted(program, split, beta, radius)
        inner = interior_point.solve(small, replace(controls, tol=inner_tol), start=beta)
        iterations += inner.iterations
        point = inner.certificate
        held = (np.abs(point.beta - beta) >= radius * (1 - 1e-6)) & (
            (point.beta > program.lower) & (point.beta < program.upper)
        )
        beta = point.beta
        checked = split.check(beta)
        objective = program.value(beta, checked.loss)
        controls.tell(
            f"round {number + 1}: objective {objective:.10e}  band {small.shape[0]}  "
            f"misplaced {checked.misplaced}  at trust region {np.count_nonzero(held)}"
        )
        gap = objective - point.dual_objective
        if gap <= controls.tol * max(1.0, abs(objective)):
            answer = _certificate(program, split, point, objective)
            if answer.relative_gap <= controls.tol:
                return Solution(Status.OPTIMAL, answer, iterations, NAME, scale=scale)
            if not held.any():
                inner_tol *= INNER_TOL
        if inner.status is Status.TIME_LIMIT or controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if start is not None and checked.misplaced > small.shape[0]:
            break  # the start was not near: a sample is
        if number + 1 < rounds:
            split = split.grow(checked)
        if held.any():
            radius = radius * 2
    answer = _certificate(program, split, point, objective)
    return Solution(status, answer, iterations, NAME, scale=scale)
