"""Newton's method for the regularized program: how the shape decides the way.

(P) of ``programs.regularized`` is once differentiable and piecewise quadratic.  Newton's method with
an exact line search converges from anywhere and ends after finitely many steps, because once the
right rows are between the margins the next step is the solution itself (Mangasarian 2002; Keerthi
and DeCoste 2005).

    n > m           rotate: with A A' = R R' the rows of R, at most m columns, stand for those of A,
                    and the solution is a combination of rows.  Exact.
    n large         conjugate gradients: nothing of size n x n is formed.
    many rows       solve a sample, then correct over all rows with the curvature of the sample.
                    A correction reads the data twice; a handful is enough.
    else            plain Newton.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack, solve_triangular

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import Vector
from lincent.programs.regularized import RegularizedProgram, certify
from lincent.solvers.curvature import Conjugate, Sampled, Whole
from lincent.solvers.descent import NAME, Start, descend
from lincent.solvers.solution import Controls, Solution, Status

__all__ = ["NAME", "Start", "solve"]

FACTOR_LIMIT = 2000
"""A matrix of this order is factored; beyond, conjugate gradients are used."""
COPY_ENTRIES = 200_000
"""Up to this many entries the rows are copied once in signed form, which saves work per step."""
SAMPLE_ROWS = 20_000
"""From this many rows on, a sample is solved first."""
SAMPLE_TOL = 1e-5


def solve(
    program: RegularizedProgram,
    controls: Controls,
    rng: np.random.Generator,
    start: Start | None = None,
) -> Solution:
    """The certified optimum.  The sample drawn by ``rng`` changes the way to it, not the place."""
    if np.any(program.costs == 0):
        return _without_free_rows(program, controls, rng, start)
    m, n = program.shape
    if n > m and m <= FACTOR_LIMIT:
        return _rotated(program, controls)
    if n > FACTOR_LIMIT:
        return descend(program, Conjugate(program), controls, start)
    if m * n <= COPY_ENTRIES:
        program = replace(program, rows=program.rows.materialize())
    elif m >= SAMPLE_ROWS and start is None:
        return _from_sample(program, controls, rng)
    return descend(program, Whole(program), controls, start)


def _without_free_rows(
    program: RegularizedProgram,
    controls: Controls,
    rng: np.random.Generator,
    start: Start | None,
) -> Solution:
    """Rows of cost zero say nothing: solve without them."""
    index = np.flatnonzero(program.costs)
    reduced = replace(
        program,
        rows=program.rows.take(index),
        sign=program.sign[index],
        costs=program.costs[index],
    )
    found = solve(reduced, controls, rng, start)
    alpha = np.zeros(program.shape[0])
    alpha[index] = found.certificate.alpha
    return replace(found, certificate=replace(found.certificate, alpha=alpha))


def _rotated(program: RegularizedProgram, controls: Controls) -> Solution:
    """More columns than rows: solve in the space that the rows span."""
    m = program.shape[0]
    factor, pivot, rank, _ = lapack.dpstrf(program.rows.outer(np.ones(program.shape[1])), lower=1)
    order = pivot - 1
    turned = np.empty((m, rank))
    turned[order] = np.tril(factor)[:, :rank]
    small = replace(program, rows=DenseRows(turned))
    # The rotation squares the condition of the rows: aim below tol, then judge the real problem.
    found = descend(small, Whole(small), replace(controls, tol=controls.tol / 10))
    weights = np.zeros(m)
    weights[order[:rank]] = solve_triangular(
        factor[:rank, :rank], found.certificate.beta, lower=True, trans="T"
    )
    beta, t = program.rows.tdot(weights), found.certificate.t
    answer = certify(program, beta, t)
    if answer.relative_gap <= controls.tol or found.status is Status.TIME_LIMIT:
        return replace(found, certificate=answer, status=found.status)
    last = descend(program, Conjugate(program), controls, Start(beta, t))
    return replace(last, iterations=found.iterations + last.iterations)


def _from_sample(
    program: RegularizedProgram, controls: Controls, rng: np.random.Generator
) -> Solution:
    """Many rows: begin at the solution of a sample, and go on with its curvature."""
    sample = _sample(program, sample_size(*program.shape), rng)
    first = solve(sample, replace(controls, tol=max(SAMPLE_TOL, controls.tol)), rng)
    beta, t = first.certificate.beta, first.certificate.t
    z = sample.positions(sample.rows.dot(beta), t)
    curvature = Sampled(sample, sample.pull(z))
    found = descend(program, curvature, controls, Start(beta, t))
    if found.status is Status.STALLED:
        # A sample that misleads (few heavy rows): exact steps from where it led.
        point = found.certificate
        last = descend(program, Whole(program), controls, Start(point.beta, point.t))
        found = replace(last, iterations=found.iterations + last.iterations)
    return replace(found, iterations=found.iterations + first.iterations)


def sample_size(m: int, n: int) -> int:
    """Enough rows that their curvature is within a few percent of that of all rows."""
    return min(m // 4, max(5_000, 400 * n, m // 10))


def _sample(
    program: RegularizedProgram, size: int, rng: np.random.Generator
) -> RegularizedProgram:
    """About ``size`` rows, drawn evenly along each class, standing for all of them."""
    m = program.shape[0]
    drawn = _spread(program.costs, size, rng)
    index, count = np.unique(drawn, return_counts=True)
    total = float(program.costs.sum())
    sign = program.sign[index]
    costs = count * (total / drawn.shape[0])
    for side in (-1.0, 1.0):
        # Each class keeps its share of the total cost exactly.
        here = sign == side
        wanted = float(program.costs[program.sign == side].sum())
        costs[here] *= wanted / max(float(costs[here].sum()), 1e-300)
    return replace(program, rows=program.rows.take(index), sign=sign, costs=costs)


def _spread(costs: Vector, size: int, rng: np.random.Generator) -> np.ndarray:
    m = costs.shape[0]
    reach = np.cumsum(costs)
    return np.minimum(np.searchsorted(reach, rng.random(size) * reach[-1], side="right"), m - 1)
