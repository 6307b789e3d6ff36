"""Which solver when, and what happens if one falls short.

    "auto"             screening if rows are many, else the interior point on the whole
    "interior-point"   the interior point on the whole
    "highs"            the reference

What the first solver cannot bring to ``tol`` goes on to HiGHS, as long as HiGHS has a chance at
that size; the better certificate is the answer, and it carries the name of its solver.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lincent.programs.centralization import Certificate, Program, certify
from lincent.solvers import highs, interior_point, screening
from lincent.solvers.solution import Controls, Solution, Status

SOLVERS = ("auto", "interior-point", "highs")
HIGHS_ENTRIES = 5_000_000
"""Beyond this many entries HiGHS needs minutes; it is not tried as a fallback."""
PENALTY_STEPS = 4


def solve(
    program: Program, solver: str, controls: Controls, rng: np.random.Generator
) -> Solution:
    """The best certified answer the chosen solver and its fallback can give."""
    if program.infeasible:
        return _no_point(program)
    if np.any(program.costs == 0):
        return _without_free_rows(program, solver, controls, rng)
    if program.hard and solver != "highs":
        return _hard(program, solver, controls, rng)
    if solver == "highs":
        return highs.solve(replace(program, rows=program.rows.materialize()), controls)
    first = _own(program, solver, controls, rng)
    m, n = program.shape
    short = first.relative_gap > controls.tol and first.status is not Status.TIME_LIMIT
    if not short or m * n > HIGHS_ENTRIES:
        return first
    controls.tell(f"gap {first.relative_gap:.1e} is above tol; HiGHS takes over")
    second = highs.solve(replace(program, rows=program.rows.materialize()), controls)
    return second if second.relative_gap < first.relative_gap else first


def _no_point(program: Program) -> Solution:
    """The margin is above the largest feasible one: there is nothing to solve."""
    m, n = program.shape
    nothing = certify(program, np.zeros(n), np.zeros(m), 0.0)
    message = f"d.beta reaches {program.largest_gap:g} in the box, below the gap {program.gap:g}"
    return Solution(Status.INFEASIBLE, nothing, 0, "none", message)


def _own(
    program: Program, solver: str, controls: Controls, rng: np.random.Generator
) -> Solution:
    if solver == "auto" and screening.worthwhile(*program.shape):
        return screening.solve(program, controls, rng)
    whole = replace(program, rows=program.rows.materialize())
    return interior_point.solve(whole, controls)


def _without_free_rows(
    program: Program, solver: str, controls: Controls, rng: np.random.Generator
) -> Solution:
    """Rows of cost zero say nothing: solve without them."""
    index = np.flatnonzero(program.costs)
    reduced = replace(program, rows=program.rows.take(index), costs=program.costs[index])
    found = solve(reduced, solver, controls, rng)
    alpha = np.zeros(program.shape[0])
    alpha[index] = found.certificate.alpha
    return replace(found, certificate=replace(found.certificate, alpha=alpha))


def _hard(
    program: Program, solver: str, controls: Controls, rng: np.random.Generator
) -> Solution:
    """Hard rows by an exact penalty: a large enough finite cost has the same optimum.

    Whether it was large enough is seen from the answer, which is certified as the hard problem.
    """
    hard = np.isinf(program.costs)
    reach = program.largest_gap / program.margin
    iterations = 0
    for power in range(PENALTY_STEPS):
        costs = np.where(hard, (1.0 + reach) * 100.0**power, program.costs)
        found = _own(replace(program, costs=costs), solver, controls, rng)
        iterations += found.iterations
        point = found.certificate
        judged: Certificate = certify(program, point.beta, point.alpha, point.t)
        if judged.relative_gap <= controls.tol:
            return Solution(Status.OPTIMAL, judged, iterations, found.solver)
    return highs.solve(replace(program, rows=program.rows.materialize()), controls)
