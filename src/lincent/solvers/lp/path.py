"""Exact solutions for a decreasing sequence of margins, each started from the last.

With beta = s gamma the program of margin s is, up to the factor s, the program of margin 1 in a
box of half-width 1/s:

    minimize over gamma    g.gamma + sum_i c_i (1 - a_i.gamma)_+
    subject to             -1/s <= gamma <= 1/s,   d.gamma >= 1

So while no coefficient reaches the box, gamma and the dual weights (alpha, t) do not depend on s:
beta(s) = (s/s0) beta(s0), and both sides of the certificate scale by s/s0.

Where the box acts, beta is piecewise linear in s, with a breakpoint wherever a row passes the
margin (parametric programming; Gass and Saaty 1955): between margins a factor of two apart there
are as many as such rows, often thousands, so they are not followed one by one.  With beta kept,
the rows with |a_i.beta - s| <= |s - s0| change sides; these are undecided, all others hardly are.

    small problems, or few hinges entered or left the active set before
                                      pivots from the last vertex (``MarginPivots``)
    larger ones, few undecided        the vertex of the last active set is tried
    else, up to 700,000 entries       Newton steps from the last point, then pivots (``simplex``)
    else                              screening from the last point, the undecided rows as band

At the largest feasible margin one vertex of the box is left, and nothing is solved at all.  The
certificate of each point is computed from that point's own program, so a shortcut can be slow but
never wrong; where its certificate falls short, the solvers start from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np

from lincent.problems.arrays import Rows, Vector
from lincent.problems.centralization import Certificate, Program, certify, lcc_program
from lincent.solvers.lp import dispatch, interior_point, screening, simplex
from lincent.solvers.lp.duplicate_rows import groups, one_of_each, summed
from lincent.solvers.lp.simplex import Tableau
from lincent.solvers.lp.vertex import active_hinges, vertex_of_active_set
from lincent.solvers.solution import Controls, Solution, Status, not_begun
from lincent.sources.evaluation import Multipliers

SCALED, VERTEX, PIVOTS = "scaled", "vertex", "pivots"
"""Names of the shortcuts."""
TRIED_GAP = 100.0
"""Times ``tol``: a scaled solution whose gap is expected to be larger is not certified."""
REFRESH = 200
"""Pivots after which the tableau is recomputed, as their rounding errors add up."""


def solve_path(
    rows: Rows, difference: Vector, margins: Vector, costs: Sequence[Any], path_solver: PathSolver
) -> list[list[Solution]]:
    """Return solutions by cost vector and margin; margins are visited from the largest down.

    Near the largest feasible margin the solution is nearly known and cheap to find from nothing;
    at the smallest it is expensive on separable classes.  Nothing starts after the deadline.
    """
    rows, costs = path_solver.prepare(rows, costs)
    order = np.argsort(margins)[::-1]
    table = []
    for cost in costs:
        line: dict[int, Solution] = {}
        for k in order:
            if path_solver.controls.out_of_time():
                line[int(k)] = not_begun(len(difference))
                continue
            program = lcc_program(rows, difference, cost, float(margins[k]))
            line[int(k)] = path_solver.solve(program)
        path_solver.rewind()
        table.append([line[k] for k in range(len(margins))])
    return table


@dataclass(frozen=True)
class _Visited:
    """The last solved point of a path."""

    program: Program
    certificate: Certificate

    @cached_property
    def box_term(self) -> float:
        """What the sides of the box add to the bound, which does not scale with the margin."""
        program, answer = self.program, self.certificate
        scales = program.margin * float(np.sum(answer.alpha)) + program.separation * answer.t
        return answer.dual_objective - program.offset - scales

    @cached_property
    def projected(self) -> np.ndarray:
        """a_i.beta of every row."""
        return self.program.rows.dot(self.certificate.beta)

    @cached_property
    def active(self) -> np.ndarray:
        """Which rows, lower sides and upper sides are active."""
        return np.concatenate(active_hinges(self.program, self.certificate))

    def changed_from(self, before: _Visited | None) -> float:
        """Return how many hinges differ in the active sets of two points."""
        return np.inf if before is None else float(np.sum(self.active != before.active))


class PathSolver:
    """Solves one program after the other, each from the last."""

    def __init__(self, solver: str, controls: Controls, rng: np.random.Generator) -> None:
        self.solver, self.controls, self.rng = solver, controls, rng
        self._first: _Visited | None = None
        self._last: _Visited | None = None
        self._before: _Visited | None = None  # the point before the last
        self._pivots = MarginPivots()
        self._sizes: simplex.Sizes | None = None

    def prepare(self, rows: Rows, costs: Sequence[Any]) -> tuple[Rows, list[Vector]]:
        """Return the rows of positive cost, in the form in which they are solved repeatedly."""
        vectors = [np.asarray(cost) for cost in costs]
        kept = np.flatnonzero(vectors[0])
        if len(kept) < len(vectors[0]):
            rows, vectors = rows.take(kept), [cost[kept] for cost in vectors]
        small = _is_small(rows)
        if small or not screening.is_applicable(*rows.shape, sparse=rows.sparse):
            # A problem that is solved directly is formed once, not once per margin.
            rows = rows.materialize()
        self._sizes = None
        if small:
            equal = groups(rows)
            if equal is not None:
                first, group = equal
                rows, vectors = one_of_each(rows, first), [summed(cost, group) for cost in vectors]
            self._sizes = simplex.scales_and_sizes(rows.dense())
        return rows, vectors

    def rewind(self) -> None:
        """Continue from the first point since the last rewind: the next line starts near it."""
        self._last, self._first = self._first, None

    def solve(self, program: Program) -> Solution:
        """Return the certified solution of a program that differs in margin or costs only."""
        if program.infeasible:
            return dispatch.solve(program, self.solver, self.controls, self.rng)
        solution = self._from_last(program) or self._from_nothing(program)
        if solution.solver not in (SCALED, PIVOTS):
            self._pivots.forget()
        if np.isfinite(solution.certificate.objective):
            self._before, self._last = self._last, _Visited(program, solution.certificate)
            self._first = self._first or self._last
        return solution

    def _from_last(self, program: Program) -> Solution | None:
        """Return the last solution scaled, or its vertex, or what is found near it."""
        last = self._last
        if last is None:
            return None
        answer = _scaled(program, last, self.controls.tol)
        if self._good(answer):
            return Solution(Status.OPTIMAL, answer, 0, SCALED)
        m, n = program.shape
        small, auto = _is_small(program.rows), self._is_auto(program)
        undecided = _undecided(program, last)
        turned = (last.projected < program.margin) != (last.projected < last.program.margin)
        # Where few hinges changed between the last two margins, those of the next take 10 to 160
        # pivots at 1,600 x 500, a twentieth to half of an interior point's time.
        few = auto and not small and MarginPivots.has_tableau(program)
        few = few and last.changed_from(self._before) <= n / 4
        if few or (auto and MarginPivots.is_applicable(program, int(np.count_nonzero(turned)))):
            weight = hinge_weights(last.program, last.certificate.beta, last.projected)
            solution = self._pivots.solve(program, last.certificate.beta, weight, self.controls)
            if solution is not None:
                return solution
        # Otherwise the active set surely changes; for other costs it is unknown.
        if (undecided <= n and not small) or program.margin == last.program.margin:
            answer = vertex_of_active_set(program, last.program, last.certificate)
            if self._good(answer):
                return Solution(Status.OPTIMAL, answer, 0, VERTEX)
        if not auto or m < 5 * n or program.one_point:
            return None
        if small:
            solution = simplex.solve(program, self.controls, last.certificate.beta, self._sizes)
            if self._final(solution):
                return solution
        if last.program.one_point:
            return None  # that vertex says nothing of the active rows
        guess = screening.Guess(last.certificate.beta, undecided)
        solution = screening.solve(program, self.controls, self.rng, start=guess)
        return solution if self._final(solution) else None

    def _good(self, answer: Certificate | None) -> TypeGuard[Certificate]:
        return answer is not None and answer.relative_gap <= self.controls.tol

    def _final(self, solution: Solution) -> bool:
        return self._good(solution.certificate) or self.controls.out_of_time()

    def _from_nothing(self, program: Program) -> Solution:
        """Return the solution without a warm start.

        On a path screening pays earlier than for a single solve, since its cost is that of a
        sample; and where the margin leaves one point, nothing needs to be solved.
        """
        if self._is_auto(program):
            m, n = program.shape
            solution = None
            if program.one_point:
                solution = replace(
                    interior_point.solve(program, self.controls), solver=VERTEX, iterations=0
                )
            elif m > 1.5 * screening.start_size(n) and not _is_small(program.rows):
                solution = screening.solve(program, self.controls, self.rng)
            if solution is not None and self._final(solution):
                return solution
        return dispatch.solve(program, self.solver, self.controls, self.rng)

    def _is_auto(self, program: Program) -> bool:
        return self.solver == "auto" and not program.hard and bool(np.all(program.costs > 0))


def _is_small(rows: Rows) -> bool:
    """Return whether Newton steps and pivots are cheaper than screening."""
    return not (rows.is_remote or rows.sparse) and simplex.is_applicable(*rows.shape)


def _undecided(program: Program, last: _Visited) -> int:
    """Return about how many rows change sides.

    With the point kept, those whose distance from the margin is below its change.
    """
    shift = abs(program.margin - last.program.margin)
    if shift == 0.0:  # other costs, so any of them
        return program.shape[0] // 2
    return int(np.count_nonzero(np.abs(last.projected - program.margin) <= shift))


def _scaled(program: Program, last: _Visited, tol: float) -> Certificate | None:
    before, point = last.program, last.certificate
    if before.costs is not program.costs and np.any(before.costs != program.costs):
        return None
    if isinstance(point.alpha, Multipliers):  # on a device: the sums are known
        return scaled_by_sums(program, before, point)
    ratio = program.margin / before.margin
    # Objective and bound agree before: after, they differ by what does not scale.
    size = max(1.0, abs(program.offset + ratio * (point.objective - before.offset)))
    if abs((1.0 - ratio) * last.box_term) > TRIED_GAP * tol * size:
        return None
    beta = point.beta * ratio
    if np.any(beta < program.lower) or np.any(beta > program.upper):
        return None
    return certify(program, beta, point.alpha, point.t)


def hinge_weights(program: Program, beta: Vector, projected: Vector) -> Vector:
    """Return how close each hinge is to active at a vertex; active ones count alike."""
    missed = program.margin - projected
    above = float(program.difference @ beta) - program.separation
    distance = np.concatenate([missed, beta - program.lower, program.upper - beta, [above]])
    rounding = 1e-18 * (float(missed @ missed) / len(missed) + program.margin**2)
    return np.asarray(1.0 / (distance * distance + rounding))


class MarginPivots:
    """Pivots from the vertex of one margin to that of the next.

    Rates and slopes do not depend on right-hand sides: a margin changes only where each hinge is.
    So the tableau of one margin becomes that of the next by one product with the right-hand sides,
    and as many pivots are left as hinges enter or leave the basis between the two margins.
    """

    def __init__(self) -> None:
        self._tableau: Tableau | None = None
        self._refreshed = 0

    @staticmethod
    def has_tableau(program: Program) -> bool:
        """Return whether the tableau of all rows can be held."""
        m, n = program.shape
        local = not (program.rows.is_remote or program.rows.sparse)
        return local and (m + 2 * n) * n <= 4_000_000

    @staticmethod
    def is_affordable(program: Program) -> bool:
        """Return whether the tableau of all rows is small enough for many pivots.

        In a larger one Newton steps, which pass many breakpoints at once, are faster.
        """
        m, n = program.shape
        return m * n <= 30_000 and n <= 64 and MarginPivots.has_tableau(program)

    @staticmethod
    def is_applicable(program: Program, turned: int) -> bool:
        """Return whether pivots are cheaper than Newton steps, if so many rows change sides.

        With fewer than five rows per column Newton steps have nothing to sum up.
        """
        m, n = program.shape
        # Up to 6,000 entries calls dominate, and pivots have the fewest.
        short = m * n <= 6_000 or m < 5 * n
        return (short or turned <= 0.5 * n) and MarginPivots.is_affordable(program)

    def forget(self) -> None:
        """Drop the tableau: the last point of the path is not its vertex."""
        self._tableau = None

    def solve(
        self, program: Program, last: Vector, weight: Vector, controls: Controls
    ) -> Solution | None:
        """Return the certified vertex of a program from that of another margin, or None.

        ``weight`` are those of the hinges at the last vertex, if there is no tableau yet.
        """
        tableau = self._at_margin(program, weight)
        if tableau is None:
            return None
        before = tableau.pivots
        self._tableau = None  # until it is known to be good
        n = program.shape[1]
        if not tableau.descend(12 * n + 20 if self.is_affordable(program) else n):
            return None
        answer = tableau.certificate(program.feasible(last))
        if answer.relative_gap > controls.tol:
            return None
        self._tableau = tableau
        return Solution(Status.OPTIMAL, answer, tableau.pivots - before, PIVOTS)

    def _at_margin(self, program: Program, weight: Vector) -> Tableau | None:
        """Return the tableau of a program at the basis of the last vertex."""
        tableau = self._tableau
        if tableau is None or tableau.program.costs is not program.costs:
            self._refreshed = 0
            tableau = Tableau(program, weight)
            return tableau if tableau.usable else None
        fresh = tableau.pivots - self._refreshed > REFRESH
        if fresh:
            self._refreshed = tableau.pivots
        return tableau if tableau.aim(program, fresh=fresh) else None


class StreamedPathSolver(PathSolver):
    """The path over remote data, of which only sums are transferred.

    At the largest feasible margin one pass over the data certifies the one point left.  Where no
    coefficient reaches the box, the last solution scales: gamma = beta / s and (alpha, t) stay, so

        loss = s * sum_i c_i (1 - a_i.gamma)_+        sum_i alpha_i a_i  and  sum_i alpha_i  stay

    and the certificate of the next margin follows from known sums, without a pass.  Everything else
    is screened from nothing.
    """

    def prepare(self, rows: Rows, costs: Sequence[Any]) -> tuple[Rows, list[Any]]:
        return rows, list(costs)

    def rewind(self) -> None:
        """Forget the last point: the next line has other costs."""
        self._last = None

    def solve(self, program: Program) -> Solution:
        if program.infeasible:
            nowhere = Certificate(np.zeros(program.shape[1]), np.empty(0), 0.0, np.inf, -np.inf)
            return Solution(Status.INFEASIBLE, nowhere, 0, "none")
        return super().solve(program)

    def _from_last(self, program: Program) -> Solution | None:
        if self._last is None or not self._is_auto(program):
            return None
        answer = scaled_by_sums(program, self._last.program, self._last.certificate)
        return Solution(Status.OPTIMAL, answer, 0, SCALED) if self._good(answer) else None

    def _from_nothing(self, program: Program) -> Solution:
        if program.one_point and self._is_auto(program):
            answer = only_point_by_sums(program)
            if self._good(answer):
                return Solution(Status.OPTIMAL, answer, 0, VERTEX)
        return dispatch.solve(program, self.solver, self.controls, self.rng)

    def _is_auto(self, program: Program) -> bool:
        return self.solver == "auto" and not program.hard


def scaled_by_sums(program: Program, before: Program, point: Certificate) -> Certificate | None:
    """Return the point for another margin, certified from the sums of its dual weights."""
    alpha: Any = point.alpha
    if not isinstance(alpha, Multipliers):  # of another solver, row by row
        return None
    ratio = program.margin / before.margin
    beta = point.beta * ratio
    if np.any(beta < program.lower) or np.any(beta > program.upper):
        return None
    beta = program.feasible(beta)
    loss = ratio * (point.objective - before.value(point.beta, 0.0))
    t = program.best_t(alpha.combined, point.t)
    bound = program.bound(alpha.total, t, alpha.combined)
    return Certificate(beta, point.alpha, t, program.value(beta, loss), bound)


def only_point_by_sums(program: Program) -> Certificate:
    """Certify the one vertex that the margin leaves by one split of the rows there."""
    beta = program.farthest_point
    seen = program.rows.all_rows(program.costs, program.margin).look(beta, 0)
    split = seen.split(0.0)
    # Active rows add nothing to either side.
    alpha: Any = split.multipliers(np.zeros(len(split.costs)), split.summed)
    t = program.best_t(split.summed, program.corner_t(split.summed))
    objective = program.value(beta, seen.loss)
    bound = program.bound(split.summed_cost, t, split.summed)
    return Certificate(beta, alpha, t, objective, bound)
