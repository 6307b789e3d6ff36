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

The restricted objective never exceeds the true one, so every round gives a valid bound, and from
the second round on the band only grows: the rounds end at the optimum of the whole.  The data is
read a handful of times, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.programs.centralization import Certificate, Program, Vector
from lincent.solvers import interior_point
from lincent.solvers.smoothing import newton_step
from lincent.solvers.solution import Controls, Solution, Status

NAME = "screening"
SMALL = 4000
START_ROWS = 30
SAMPLE = 2.0
BAND = 2.0
EXACT_ROWS = 30
SHRINK = 0.25
NEWTON_STEPS = 4
TRUST = 4.0
TIED = 1e-5
MAX_ROUNDS = 40
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


def _sample(program: Program, k: int, rng: np.random.Generator) -> Program:
    """About k rows, drawn in proportion to their costs, standing for all of them."""
    costs = program.costs
    m = costs.shape[0]
    if costs.min() == costs.max():
        drawn = rng.integers(0, m, k)
    else:
        total = np.cumsum(costs)
        drawn = np.searchsorted(total, rng.random(k) * total[-1], side="right")
        drawn = np.minimum(drawn, m - 1)
    index, count = np.unique(drawn, return_counts=True)
    share = count * (float(costs.sum()) / k)
    return replace(program, rows=program.rows.take(index), costs=share)


@dataclass
class _Near:
    """A point near the optimum, with everything one read at it tells."""

    beta: Vector
    distance: Vector  # a_i.beta - s for all rows
    objective: float
    band: int  # rows around the kink among which the optimum's are expected

    @property
    def width(self) -> float:
        """Half the width of the band."""
        size = min(self.band, len(self.distance) - 1)
        away = np.abs(self.distance)
        # Tied rows (whole numbers, repetitions) can fill the band at a width of zero, which would
        # leave a trust region without room.
        return max(float(np.partition(away, size)[size]), TIED * float(away.mean()))


def _look(program: Program, beta: Vector, band: int) -> _Near:
    projected = program.rows.dot(beta)
    objective = program.primal(beta, projected)
    projected -= program.margin
    return _Near(beta, projected, objective, band)


def _approach(
    program: Program, controls: Controls, rng: np.random.Generator
) -> tuple[_Near, Vector, int]:
    """A point near the optimum, the columns' scale, and the iterations spent."""
    m, n = program.shape
    k = sample_size(m, n)
    if k <= 2 * start_size(n):
        k = start_size(n)
        sample = _sample(program, k, rng)
        loose = replace(controls, tol=SAMPLE_TOL)
        solved = interior_point.solve(sample, loose)
        beta, iterations = solved.certificate.beta, solved.iterations
        scale = sample.rows.column_scale()
    else:
        near, scale, iterations = _approach(_sample(program, k, rng), controls, rng)
        beta = near.beta
    near = _look(program, program.feasible(beta), int(min(1.0, BAND * np.sqrt(n / k)) * m) + n)
    for _ in range(NEWTON_STEPS):
        if near.band <= EXACT_ROWS * n or controls.out_of_time():
            break
        step = newton_step(program, near.beta, near.distance, near.width, rng)
        if step is None:
            break
        closer = _look(program, step, max(int(SHRINK * near.band), EXACT_ROWS * n))
        controls.tell(f"newton on {m} rows: objective {closer.objective:.10e}, band {near.band}")
        iterations += 1
        if not closer.objective < near.objective:
            break
        near = closer
    return near, scale, iterations


@dataclass
class _Split:
    """Which rows are in the band, and which are summed."""

    program: Program
    band: np.ndarray
    outside: np.ndarray

    def restricted(self, beta: Vector, radius: Vector) -> Program:
        whole = self.program
        summed = np.where(self.outside, whole.costs, 0.0)
        index = np.flatnonzero(self.band)
        return replace(
            whole,
            rows=whole.rows.take(index),
            costs=whole.costs[index],
            linear=whole.linear - whole.rows.tdot(summed),
            offset=whole.offset + whole.margin * float(summed.sum()),
            lower=np.maximum(whole.lower, beta - radius),
            upper=np.minimum(whole.upper, beta + radius),
        )

    def full_alpha(self, alpha: Vector) -> Vector:
        full = np.where(self.outside, self.program.costs, 0.0)
        full[self.band] = alpha
        return full


def solve(program: Program, controls: Controls, rng: np.random.Generator) -> Solution:
    """The certified optimum over all rows."""
    near, scale, iterations = _approach(program, controls, rng)
    width = near.width
    radius = TRUST * width / scale
    split = _Split(program, np.abs(near.distance) <= width, near.distance < -width)
    beta = near.beta
    # The restricted problem lives in a small box, where its own gap says little: it is solved
    # further than asked, normally to its vertex.
    inner_tol = INNER_TOL * controls.tol
    status = Status.ITERATION_LIMIT
    for number in range(MAX_ROUNDS):
        small = split.restricted(beta, radius)
        inner = interior_point.solve(small, replace(controls, tol=inner_tol), start=beta)
        iterations += inner.iterations
        point = inner.certificate
        held = (np.abs(point.beta - beta) >= radius * (1 - 1e-6)) & (
            (point.beta > program.lower) & (point.beta < program.upper)
        )
        beta = point.beta
        near = _look(program, beta, near.band)
        wrong = ~split.band & ((near.distance < 0) != split.outside)
        misplaced = int(np.count_nonzero(wrong))
        controls.tell(
            f"round {number + 1}: objective {near.objective:.10e}  band {small.shape[0]}  "
            f"misplaced {misplaced}  at trust region {np.count_nonzero(held)}"
        )
        gap = np.inf if held.any() else near.objective - point.dual_objective
        if gap <= controls.tol * max(1.0, abs(near.objective)):
            answer = _certificate(program, near, split.full_alpha(point.alpha), point.t)
            if answer.relative_gap <= controls.tol:
                return Solution(Status.OPTIMAL, answer, iterations, NAME)
            inner_tol *= INNER_TOL
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if misplaced:
            split = _Split(program, split.band | wrong, split.outside & ~wrong)
        if held.any():
            radius = radius * 2
    answer = _certificate(program, near, split.full_alpha(point.alpha), point.t)
    return Solution(status, answer, iterations, NAME)


def _certificate(program: Program, near: _Near, alpha: Vector, t: float) -> Certificate:
    """As ``certify`` does it; the primal side was read already."""
    combined = program.rows.tdot(alpha)
    t = program.best_t(combined, t)
    return Certificate(near.beta, alpha, t, near.objective, program.dual(alpha, t, combined))
