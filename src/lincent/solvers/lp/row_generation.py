"""Row generation (constraint generation) for programs in which few rows matter.

Where features are as many as samples, or the classes are separable, most rows keep the margin at
the optimum and their dual weights are zero.  So solve a few rows, evaluate all, add those that
violate the margin, and repeat (the cutting-plane method of Kelley 1960):

    minimize over beta    g.beta + sum_{i in W} c_i (s - a_i.beta)_+

Leaving out rows only lowers the objective, so the bound of every such program holds for the whole,
and the point is optimal when no row outside W violates the margin.  The first rows are the worst at
the vertex of the box farthest along d.  Early rounds are solved loosely: they only identify rows.

Classes far apart in many features keep the margin for nearly all rows at that very vertex.  Where
none is violated it is the optimum, with dual weights of zero; where few are, few rows matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lincent.problems.arrays import Index
from lincent.problems.centralization import Certificate, Program, certify
from lincent.solvers.bounds import Bounds
from lincent.solvers.lp import interior_point
from lincent.solvers.solution import Controls, Solution, Status

NAME = "row-generation"

# Measured on text-like 4,000 x 10,000 and 20,000 x 47,000.
FIRST_SHARE = 0.1
FIRST_ROWS = 100
"""Rows of the first program: a fraction of all, but at least so many."""
FIRST_TOL = 1e-2
BELOW_GAP = 1e-2
"""Tolerance of the first program; later ones are solved to this fraction of the open gap."""
LAST_SHARE = 0.1
"""The last rounds are solved to this fraction of ``tol``."""
ROUNDS = 15
VERTEX_VIOLATED = 0.04
"""Of the rows, violated at the vertex, up to which few are assumed to matter: at 2,000 x 1,000 with
up to 2 % this is a tenth of an interior point's time, with 8 % a sixth or three times as much."""


def is_applicable(m: int, n: int, sparse: bool, *, after_identification: bool) -> bool:
    """Return whether few rows may matter: more columns than rows, or no active rows identified.

    With fewer rows, or fewer columns of separable classes, the whole is solved as fast.
    """
    if after_identification:
        return n >= 2000
    return n >= m >= (500 if sparse else 1500)


def vertex_is_candidate(m: int, n: int) -> bool:
    """Return whether counting the rows violated at the farthest vertex pays.

    With fewer columns, or more rows for each, screening takes no longer than these passes (50,000 x
    100: four fifths of the time).
    """
    return n >= 100 and m <= 100 * n


def violated_at_vertex(program: Program) -> int:
    """Return how many rows violate the margin at the vertex of the box farthest along d."""
    return int(np.count_nonzero(program.rows.dot(program.farthest_point) < program.margin))


def from_the_vertex(program: Program, violated: int, controls: Controls) -> Solution:
    """Return the optimum where the vertex violates so few rows, or the best when many join."""
    if violated:
        return solve(program, controls, near_vertex=True)
    zero = np.zeros(program.shape[0])
    return Solution(Status.OPTIMAL, certify(program, program.farthest_point, zero, 0.0), 1, NAME)


def solve(
    program: Program, controls: Controls, first: Index | None = None, *, near_vertex: bool = False
) -> Solution:
    """Return the certified optimum of all rows, from programs of some of them.

    Where the ``first`` of them are given, they are nearly all that matter.  ``near_vertex`` leaves
    programs of many rows to other solvers.
    """
    m, n = program.shape
    chosen, bounds = np.zeros(m, dtype=bool), Bounds()
    least = LAST_SHARE * controls.tol
    tol, iterations, status = least, 0, Status.STALLED
    if first is None:
        tol = FIRST_TOL
        violation = program.margin - program.rows.dot(program.farthest_point)
        count = min(m, max(int(FIRST_SHARE * m), FIRST_ROWS))
        first = np.argpartition(-violation, count - 1)[:count]
    chosen[first] = True
    for number in range(ROUNDS):
        index = np.flatnonzero(chosen)
        some = program
        if len(index) < m:
            some = replace(program, rows=program.rows.take(index), costs=program.costs[index])
        within = replace(controls, tol=max(tol, least), watch=None)
        solution = interior_point.solve(some, within, enough=controls.tol)
        iterations += solution.iterations
        answer = solution.certificate
        projected = program.rows.dot(answer.beta)
        bounds.offer_primal(program.primal(answer.beta, projected), answer.beta)
        # Rows left out have dual weights of zero: the bound holds for all rows, whose offset is in
        # either program.
        bounds.offer_dual(answer.dual_objective, (index, answer.alpha, answer.t))
        missed = np.asarray(program.margin - projected)
        count, gap = int(np.count_nonzero(~chosen & (missed > 0.0))), bounds.relative_gap
        more = f"  {len(index)} rows, {count} violated"
        controls.reached(f"rows, round {number + 1}", bounds.objective, gap, more)
        if gap <= controls.tol:
            status = Status.OPTIMAL
            break
        if solution.status is Status.TIME_LIMIT or controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if tol <= least and count == 0:
            break
        # The rows that are close to the margin join the violated ones.
        chosen |= missed > -0.05 * float(np.median(np.abs(missed)))
        many = np.count_nonzero(chosen) / m
        if near_vertex and many > 0.25:
            break  # other solvers are faster where many rows matter
        if many > 0.7:
            chosen[:] = True
        # With so few violated, or no others, the round that follows is solved to the end.
        tol = min(tol, gap) * BELOW_GAP if count > 5 and not chosen.all() else least
    beta, alpha, t = np.zeros(n) if bounds.primal is None else bounds.primal, np.zeros(m), 0.0
    if bounds.dual is not None:
        index, weights, t = bounds.dual
        alpha[index] = weights
    answer = Certificate(beta, alpha, t, bounds.objective, bounds.bound)
    return Solution(status, answer, max(iterations, 1), NAME)
