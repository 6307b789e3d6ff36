"""The exact optimum of a program with many rows, by solving it for a few of them.

At the optimum at most n rows sit on the kink a_i.beta = s.  All others are surely outside (their
cost is linear) or surely inside (their cost is zero).  So, as Portnoy and Koenker (1997) do for
quantile regression:

    1. solve a sample; its optimum beta is off by about sqrt(n / sample size);
    2. rows of all the data with a_i.beta far below s are summed into the linear term, those far
       above are dropped, the rest, the band, is kept:

           minimize  (g - sum_out c_i a_i).beta + sum_band c_i (s - a_i.beta)_+

    3. solve that exactly, within a trust region: beyond it the summed rows would count wrongly
       and the restricted problem could run away;
    4. compute the certificate over all rows.  Rows that turn out misplaced join the band; repeat.

The restricted objective never exceeds the true one, so every round gives a valid bound, and the
band only grows: the rounds end at the optimum of the whole.  The sample is solved by the same
method if it is itself large.  The data is read a handful of times, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.programs.centralization import Certificate, Program, Vector, certify
from lincent.solvers import interior_point
from lincent.solvers.solution import Controls, Solution, Status

NAME = "screening"
SMALL = 4000
SAMPLE = 2.0
BAND = 2.0
TRUST = 4.0
MAX_ROUNDS = 40
SAMPLE_TOL = 1e-6


def sample_size(m: int, n: int) -> int:
    """Balances the sample against the band it leaves: both grow like (m^2 n)^(1/3)."""
    return int(SAMPLE * (float(m) ** 2 * n) ** (1 / 3)) + 1


def worthwhile(m: int, n: int) -> bool:
    """Whether sample and band together are well below the whole."""
    k = sample_size(m, n)
    return m > SMALL and k + _band_size(m, n, k) < 0.7 * m


def _band_size(m: int, n: int, k: int) -> int:
    return int(min(1.0, BAND * np.sqrt(n / k)) * m) + n


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
class _Round:
    """One restricted problem: which rows are in the band, and which are summed."""

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


def solve(
    program: Program, controls: Controls, rng: np.random.Generator, depth: int = 0
) -> Solution:
    """The certified optimum over all rows."""
    m, n = program.shape
    if not worthwhile(m, n):
        return interior_point.solve(program, controls)
    k = sample_size(m, n)
    sample = _sample(program, k, rng)
    first = solve(sample, replace(controls, tol=max(SAMPLE_TOL, controls.tol)), rng, depth + 1)
    beta = program.feasible(first.certificate.beta)
    iterations = first.iterations
    margin_distance = program.rows.dot(beta) - program.margin
    size = _band_size(m, n, k)
    scale = sample.rows.column_scale()
    width = float(np.partition(np.abs(margin_distance), size)[size])
    radius = TRUST * width / scale
    state = _Round(program, np.abs(margin_distance) <= width, margin_distance < -width)
    answer: Certificate | None = None
    status = Status.ITERATION_LIMIT
    for number in range(MAX_ROUNDS):
        small = state.restricted(beta, radius)
        inner = interior_point.solve(small, replace(controls, tol=controls.tol / 10), start=beta)
        iterations += inner.iterations
        point = inner.certificate
        trusted = (point.beta <= beta - radius * (1 - 1e-6)) | (
            point.beta >= beta + radius * (1 - 1e-6)
        )
        trusted &= (point.beta > program.lower) & (point.beta < program.upper)
        beta = point.beta
        distance = program.rows.dot(beta) - program.margin
        wrong = ~state.band & ((distance < 0) != state.outside)
        misplaced = int(np.count_nonzero(wrong))
        objective = program.primal(beta, distance + program.margin)
        controls.tell(
            f"{'  ' * depth}round {number + 1}: objective {objective:.10e}  "
            f"band {small.shape[0]}  misplaced {misplaced}  at trust region {trusted.sum()}"
        )
        gap = objective - point.dual_objective if not trusted.any() else np.inf
        if gap <= controls.tol * max(1.0, abs(objective)):
            status = Status.OPTIMAL
            alpha = state.full_alpha(point.alpha)
            answer = Certificate(beta, alpha, point.t, objective, point.dual_objective)
            break
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if misplaced:
            state = _Round(program, state.band | wrong, state.outside & ~wrong)
        if trusted.any():
            radius = radius * 2
    if answer is None or depth == 0:
        answer = certify(program, beta, state.full_alpha(point.alpha), point.t)
    return Solution(status, answer, iterations, NAME)
