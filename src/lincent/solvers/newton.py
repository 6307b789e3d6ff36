"""Newton's method for the regularized program: how the shape decides the way.

(P) of ``programs.regularized`` is once differentiable and piecewise quadratic.  Newton's method
with an exact line search converges from anywhere and ends after finitely many steps, because once
the right rows are between the margins the next step is the solution itself (Mangasarian 2002;
Keerthi and DeCoste 2005).

    n > m           rotate: with A A' = R R' the rows of R, at most m columns, stand for those of A,
                    and the solution is a combination of rows.  Exact.
    n large         conjugate gradients: nothing of size n x n is formed.
    many rows       solve a sample, then correct over all rows with the curvature of the sample.
                    A correction reads the data twice; a handful is enough.
    else            plain Newton.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import lapack, solve_triangular

from lincent.passes.dense import DenseRows
from lincent.programs.regularized import RegularizedProgram, certify
from lincent.solvers.curvature import Conjugate, Sampled, Whole
from lincent.solvers.descent import NAME, Start, descend
from lincent.solvers.solution import Controls, Solution, Status

__all__ = ["NAME", "Start", "solve", "solve_path"]

FACTOR_LIMIT = 2000
"""A matrix of this order is factored; beyond, conjugate gradients are used."""
COPY_ENTRIES = 200_000
"""Up to this many entries the rows are copied once in signed form, which saves work per step."""
SAMPLE_ROWS = 15_000
"""From this many rows on, a sample is solved first."""
SAMPLE_TOL = 1e-5


def solve(program: RegularizedProgram, controls: Controls, rng: np.random.Generator) -> Solution:
    """The certified optimum.  The sample drawn by ``rng`` changes the way to it, not the place."""
    return solve_path(program, (1.0,), controls, rng)[0]


def solve_path(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """The optima for the costs times each scale, each started from the one before."""
    if np.any(program.costs == 0):
        return _without_free_rows(program, scales, controls, rng)
    m, n = program.shape
    if n > m and m <= FACTOR_LIMIT:
        return _rotated(program, scales, controls)
    if m * n <= COPY_ENTRIES:
        program = replace(program, rows=program.rows.materialize())
    found: list[Solution] = []
    start: Start | None = None
    for scale in scales:
        scaled = program if scale == 1.0 else replace(program, costs=program.costs * scale)
        found.append(_solve_one(scaled, controls, rng, start))
        start = Start(found[-1].certificate.beta, found[-1].certificate.t)
    return found


def _solve_one(
    program: RegularizedProgram,
    controls: Controls,
    rng: np.random.Generator,
    start: Start | None,
) -> Solution:
    m, n = program.shape
    if n > FACTOR_LIMIT:
        return descend(program, Conjugate(program), controls, start)
    if m >= SAMPLE_ROWS:
        return _from_sample(program, controls, rng, start)
    return descend(program, Whole(program), controls, start)


def _without_free_rows(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """Rows of cost zero say nothing: solve without them."""
    index = np.flatnonzero(program.costs)
    reduced = replace(
        program,
        rows=program.rows.take(index),
        sign=program.sign[index],
        costs=program.costs[index],
    )
    whole = []
    for found in solve_path(reduced, scales, controls, rng):
        alpha = np.zeros(program.shape[0])
        alpha[index] = found.certificate.alpha
        whole.append(replace(found, certificate=replace(found.certificate, alpha=alpha)))
    return whole


def _rotated(
    program: RegularizedProgram, scales: Sequence[float], controls: Controls
) -> list[Solution]:
    """More columns than rows: solve in the space that the rows span."""
    m = program.shape[0]
    factor, pivot, rank, _ = lapack.dpstrf(program.rows.outer(np.ones(program.shape[1])), lower=1)
    order = pivot - 1
    turned = np.empty((m, rank))
    turned[order] = np.tril(factor)[:, :rank]
    small = replace(program, rows=DenseRows(turned))
    triangle = factor[:rank, :rank]
    solutions = []
    start: Start | None = None
    for scale in scales:
        problem = replace(small, costs=small.costs * scale)
        # The rotation squares the condition of the rows: aim below tol, then judge the real one.
        found = descend(problem, Whole(problem), replace(controls, tol=controls.tol / 10), start)
        start = Start(found.certificate.beta, found.certificate.t)
        weights = np.zeros(m)
        weights[order[:rank]] = solve_triangular(triangle, start.beta, lower=True, trans="T")
        whole = replace(program, costs=problem.costs)
        answer = certify(whole, program.rows.tdot(weights), start.t)
        if answer.relative_gap > controls.tol and found.status is not Status.TIME_LIMIT:
            last = descend(whole, Conjugate(whole), controls, Start(answer.beta, answer.t))
            found = replace(last, iterations=found.iterations + last.iterations)
        else:
            found = replace(found, certificate=answer)
        solutions.append(found)
    return solutions


def _from_sample(
    program: RegularizedProgram,
    controls: Controls,
    rng: np.random.Generator,
    start: Start | None,
) -> Solution:
    """Many rows: begin at the solution of a sample, and go on with its curvature."""
    sample = _sample(program, sample_size(*program.shape), rng)
    loose = replace(controls, tol=max(SAMPLE_TOL, controls.tol))
    first = _solve_one(sample, loose, rng, start)
    beta, t = first.certificate.beta, first.certificate.t
    pull = sample.pull(sample.positions(sample.rows.dot(beta), t))
    curvature = Sampled(sample, (pull > 0.0) & (pull < 1.0))
    found = descend(program, curvature, controls, Start(beta, t))
    if found.status is Status.STALLED:
        # A sample that misleads (few heavy rows): exact steps from where it led.
        point = found.certificate
        last = descend(program, Whole(program), controls, Start(point.beta, point.t))
        found = replace(last, iterations=found.iterations + last.iterations)
    return replace(found, iterations=found.iterations + first.iterations)


def sample_size(m: int, n: int) -> int:
    """Enough rows that their curvature is within a few percent of that of all rows."""
    return min(m // 4, max(1_000, 20 * n, m // 15))


def _sample(program: RegularizedProgram, size: int, rng: np.random.Generator) -> RegularizedProgram:
    """About ``size`` rows, drawn by cost and evenly along the data, standing for all of them."""
    reach = np.cumsum(program.costs)
    # One draw from each of ``size`` equal parts of the total cost.
    spots = (np.arange(size) + rng.random(size)) * (reach[-1] / size)
    drawn = np.minimum(np.searchsorted(reach, spots, side="right"), program.shape[0] - 1)
    index, count = np.unique(drawn, return_counts=True)
    sign = program.sign[index]
    costs = count * (reach[-1] / size)
    for side in (-1.0, 1.0):
        # Each class keeps its share of the total cost exactly.
        here = sign == side
        wanted = (reach[-1] + side * float(program.costs @ program.sign)) / 2
        costs[here] *= wanted / max(float(costs[here].sum()), 1e-300)
    return replace(program, rows=program.rows.take(index), sign=sign, costs=costs)
