"""Choice of the solver for a linear program, and fallbacks where one falls short.

    "auto"             by the shape, see below
    "interior-point"   the interior point on the whole
    "highs"            the reference

The routes of "auto", in the order in which they are tried:

    simplex            small dense problems: Newton steps to near the vertex, pivots to it
    row-generation     dense classes so far apart that hardly a row violates the margin at a vertex
                       of the box
    screening          many more samples than features: a sample, then the rows near the margin
    identification     many samples for each of many features: the active rows are identified by
                       Newton steps on a smooth objective, then one n x n system
    dual-identification  sparse, more features than samples: the free features are identified
                       likewise, then one system of the working rows
    row-generation     more features than samples, or separable classes: few rows matter
    interior-point     everything else, and what the others cannot finish
    highs              what the interior point cannot finish, while it is small

What one route cannot solve to ``tol`` goes on to the next; the best certificate is the answer, and
it carries the name of its solver and the reason for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lincent.problems.centralization import Certificate, Program, certify
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.lp import highs, interior_point, row_generation, scaling, screening, simplex
from lincent.solvers.lp.sparse import identification
from lincent.solvers.solution import Controls, Solution, Status, silent

SOLVERS = ("auto", "interior-point", "highs")
PATIENT_SIDE = 6_000
"""Rows or columns of wide sparse data, whichever are fewer, up to which an interior point follows
where the free features were identified and are nearly certified."""

Draws = np.random.Generator | Callable[[], np.random.Generator]
"""A generator, or a function that makes one: small problems draw nothing and need none."""


def solve(
    program: Program, solver: str, controls: Controls, rng: Draws, *, prove: bool = True
) -> Solution:
    """Return the best certified answer the chosen solver and its fallbacks can give.

    A hundredth of ``tol`` is left for the rounding of the certificate.  Without ``prove`` that
    rounding is left to a caller who certifies the point that is stored; a program that was scaled
    is certified here, where its scale is known.
    """
    controls = replace(controls, tol=0.99 * controls.tol)
    if _plain(program):
        solution = _best_of(program, solver, controls, rng)
        return _certified(program, solution, controls) if prove else solution
    return _scaled(program, solver, controls, rng, prove)


def _plain(program: Program) -> bool:
    """Return whether the program can be solved unchanged.

    That is: rows, separation and objective of an ordinary scale, more than one feasible point, no
    row that is hard or has cost zero.
    """
    costs, reach = program.costs, program.largest_separation
    size = float(np.abs(program.difference).max())
    return (
        1.0 / scaling.EXTREME <= size <= scaling.EXTREME
        # Near the largest separation nearly one point is left, and no use for the simplex.
        and scaling.TINY * reach <= program.separation < (1.0 - 1e-6) * reach
        and costs.min() > 0.0
        and costs.max(initial=0.0) < np.inf
        and (program.margin * float(costs.sum()) >= 1.0 or _unit(program) >= 1.0)
    )


def _scaled(program: Program, solver: str, controls: Controls, rng: Draws, prove: bool) -> Solution:
    """Solve a program that may be special in any way, scaled to numbers near one."""
    scaled = scaling.of_unit_scale(program)
    if not prove and scaled.near is scaled.whole:
        return _solve(program, solver, controls, rng)
    controls = replace(controls, watch=None)  # in other units

    def recertify(solution: Solution) -> Solution:
        """Certify for the whole box, which may be larger than the one solved in."""
        answer = solution.certificate
        if scaled.near is not scaled.whole:
            answer = certify(scaled.whole, answer.beta, answer.alpha, answer.t)
        # In these units an objective below one may be a large one.
        small = replace(controls, tol=controls.tol * scaled.size(answer))
        return _certified(scaled.whole, replace(solution, certificate=answer), small)

    solution = recertify(_solve(scaled.near, solver, controls, rng))
    if scaled.held(solution.certificate.beta):
        other = recertify(_solve(scaled.whole, solver, controls, rng))
        solution = min(solution, other, key=lambda solution: solution.relative_gap)
    return replace(solution, certificate=scaled.back(solution.certificate))


def _certified(program: Program, solution: Solution, controls: Controls) -> Solution:
    """Certify with a bound of the rounding, which may be what leaves a gap above ``tol``."""
    answer = certify_with_rounding(
        program, solution.certificate, controls.tol, scale=solution.scale
    )
    status = solution.status
    if status is Status.OPTIMAL and answer.relative_gap > controls.tol:
        status = Status.STALLED
    return replace(solution, status=status, certificate=answer)


def _solve(program: Program, solver: str, controls: Controls, rng: Draws) -> Solution:
    if program.infeasible:
        return _no_point(program)
    if program.costs.min() == 0:
        return _without_free_rows(program, solver, controls, rng)
    if program.hard and solver != "highs":
        return _hard(program, solver, controls, rng)
    unit = _unit(program)
    if 0.0 < unit < 1.0:
        return _in_units(program, unit, solver, controls, rng)
    return _best_of(program, solver, controls, rng)


def _best_of(program: Program, solver: str, controls: Controls, rng: Draws) -> Solution:
    """Ask one solver after the other, until one reaches ``tol``."""
    best: Solution | None = None
    for route in _routes(program, solver, rng):
        if controls.tell is not silent:
            controls.tell(f"route {route.name}: {route.reason}")
        solution = route.run(controls)
        solution = replace(solution, message=solution.message or route.reason)
        gap = solution.certificate.relative_gap
        # A gap of rounding alone is removed by a certificate with more digits.
        if (
            gap <= controls.tol
            or _certified(program, solution, controls).relative_gap <= controls.tol
        ):
            return replace(solution, status=Status.OPTIMAL)
        if best is None or gap < best.relative_gap:
            best = solution
        if solution.status is Status.TIME_LIMIT or controls.out_of_time():
            break
        controls.tell(f"{solution.solver} ends at a gap of {gap:.1e}, above tol")
    assert best is not None
    return best


@dataclass(frozen=True)
class Route:
    """A solver, and why it is asked."""

    name: str
    reason: str
    run: Callable[[Controls], Solution]


def _routes(program: Program, solver: str, rng: Draws) -> Iterator[Route]:
    """Yield the solvers to try, in order."""
    m, n = program.shape
    kind = "sparse" if program.rows.sparse else "dense"
    shape = f"{kind}, {m} rows, {n} columns"
    auto = solver == "auto"
    whole = program.materialize
    local = not (program.rows.sparse or program.rows.is_remote)
    if auto and local and simplex.is_applicable(m, n):
        yield Route(simplex.NAME, shape, lambda c: simplex.solve(whole(), c))
    if auto and local and row_generation.vertex_is_candidate(m, n):
        yield from _from_the_vertex(program, shape)
    screened = auto and screening.is_applicable(m, n, sparse=program.rows.sparse)
    # At the largest margin one point is left, which the interior point certifies at once.
    here = auto and not screened and not program.one_point
    sparse = program.rows.sparse
    identified = here and identification.rows_applicable(m, n, sparse)
    generated = here and row_generation.is_applicable(m, n, sparse, after_identification=identified)
    columns = here and identification.columns_applicable(m, n, sparse)
    if screened:
        generator = rng() if callable(rng) else rng
        yield Route(screening.NAME, shape, lambda c: screening.solve(program, c, generator))
    if identified:
        yield Route(identification.ROWS, shape, lambda c: identification.solve_rows(whole(), c))
    if columns:
        yield from _by_columns(program, shape)
        if min(m, n) > PATIENT_SIDE:
            return
    if generated and not columns:
        reason = f"{shape}; the active rows were not identified" if identified else shape
        yield Route(row_generation.NAME, reason, lambda c: row_generation.solve(whole(), c))
    # Of larger data the interior point's matrix cannot be held.
    fits = m * n <= 20_000_000 if screened else min(m, n) <= 20_000
    if solver == "interior-point" or (auto and fits):
        reason = f"{shape}; what was tried before falls short" if screened or generated else shape
        yield Route(interior_point.NAME, reason, lambda c: interior_point.exact(whole(), c))
    # With more entries HiGHS needs minutes.
    if solver == "highs" or m * n <= 1_000_000:
        reason = "asked for" if solver == "highs" else f"{shape}; the interior point falls short"
        yield Route(highs.NAME, reason, lambda c: highs.solve(whole(), c))


def _from_the_vertex(program: Program, shape: str) -> Iterator[Route]:
    """Yield row generation where classes far apart have their optimum near a vertex of the box."""
    violated = row_generation.violated_at_vertex(program)
    if violated <= row_generation.VERTEX_VIOLATED * program.shape[0]:
        reason = f"{shape}; {violated} rows violated at the farthest vertex of the box"
        solve = partial(row_generation.from_the_vertex, program, violated)
        yield Route(row_generation.NAME, reason, solve)


def _by_columns(program: Program, shape: str) -> Iterator[Route]:
    """Yield identification of free features; on large data with few at the box, of rows."""
    solutions: list[Solution] = []
    whole = program.materialize

    def columns(controls: Controls) -> Solution:
        solutions.append(identification.solve_columns(whole(), controls))
        return solutions[0]

    yield Route(identification.COLUMNS, shape, columns)
    # A smaller gap of large data is the answer, and a warning names it.
    if min(program.shape) > PATIENT_SIDE and solutions[0].relative_gap > 1e-2:
        reason = f"{shape}; the free features were not identified"
        yield Route(identification.ROWS, reason, lambda c: identification.solve_rows(whole(), c))


def _unit(program: Program) -> float:
    """Return the size of the objective: tiny where the data is."""
    if program.hard:
        return 1.0
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    return max(program.margin * float(program.costs.sum()), float(np.abs(program.linear) @ reach))


def _in_units(
    program: Program, unit: float, solver: str, controls: Controls, rng: Draws
) -> Solution:
    """Solve a tiny objective in its own unit: below one, ``tol`` would accept any point."""
    scaled = replace(
        program,
        costs=program.costs / unit,
        linear=program.linear / unit,
        offset=program.offset / unit,
    )
    solution = _best_of(scaled, solver, replace(controls, watch=None), rng)
    answer = solution.certificate
    back = certify(program, answer.beta, np.asarray(answer.alpha) * unit, answer.t * unit)
    return replace(solution, certificate=back)


def _no_point(program: Program) -> Solution:
    """Return that the margin is above the largest feasible one: there is nothing to solve."""
    m, n = program.shape
    nothing = certify(program, np.zeros(n), np.zeros(m), 0.0)
    reach, separation = program.largest_separation, program.separation
    message = f"d.beta reaches {reach:g} in the box, below the separation {separation:g}"
    return Solution(Status.INFEASIBLE, nothing, 0, "none", message)


def _without_free_rows(program: Program, solver: str, controls: Controls, rng: Draws) -> Solution:
    """Solve without rows of cost zero, which have no effect."""
    costs = np.asarray(program.costs)
    index = np.flatnonzero(costs)
    reduced = replace(program, rows=program.rows.take(index), costs=costs[index])
    solution = _solve(reduced, solver, controls, rng)
    alpha = np.zeros(program.shape[0])
    alpha[index] = solution.certificate.alpha
    return replace(solution, certificate=replace(solution.certificate, alpha=alpha))


def _hard(program: Program, solver: str, controls: Controls, rng: Draws) -> Solution:
    """Solve hard constraints by an exact penalty: a large enough cost has the same optimum.

    Whether it was large enough shows in the answer, which is certified as the hard problem.
    """
    hard = np.isinf(program.costs)
    reach = program.largest_separation / program.margin
    iterations = 0
    controls = replace(controls, watch=None)  # of other objectives
    for power in range(4):  # penalties, before HiGHS is asked
        costs = np.where(hard, (1.0 + reach) * 100.0**power, program.costs)
        solution = _solve(replace(program, costs=costs), solver, controls, rng)
        iterations += solution.iterations
        point = solution.certificate
        exact: Certificate = certify(program, point.beta, point.alpha, point.t)
        if exact.relative_gap <= controls.tol:
            return Solution(Status.OPTIMAL, exact, iterations, solution.solver)
    return highs.solve(program.materialize(), controls)
