"""Exact solutions along the margin, each from the last.

With beta = s gamma the program of margin s is, up to the factor s, the program of margin 1 in a
box of half-width 1/s:

    minimize over gamma    g.gamma + sum_i c_i (1 - a_i.gamma)_+
    subject to             -1/s <= gamma <= 1/s,   d.gamma >= 1

So while no coefficient reaches the box, gamma and the multipliers (alpha, t) do not depend on s:
beta(s) = (s/s0) beta(s0), and both sides of the certificate scale by s/s0.  Such points cost two
products with the rows, or none where the sums of the last one are known.

Where the box acts, beta is piecewise linear in s, with a break wherever a row passes the kink:
between margins a factor of two apart there are as many breaks as such rows, often thousands, so
they are not followed one by one.  With beta kept, the rows with |a_i.beta - s| <= |s - s0| change
sides; these are in doubt, all others hardly are.

    little data, few turn         exchanges from the last vertex (``margin_exchanges``)
    more data, few in doubt       the active set of the last margin names a vertex: it is tried
    else, up to middling data     Newton steps from the last point, then exchanges (``simplex``)
    else                          screening from the last point, with the rows in doubt as the band

At the largest feasible margin a corner of the box is left, and nothing is solved at all.

Either way the certificate of each point is computed from that point's own program, so a shortcut
can be slow but never wrong; where its certificate falls short, the solvers start from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np

from lincent.problems.arrays import Certificate, Rows, Vector
from lincent.problems.centralization import Program, certify, lcc_program
from lincent.solvers.lp import dispatch, margin_exchanges, screening, simplex
from lincent.solvers.lp.block_path import SCALED, BlockFollower, scaled_by_sums
from lincent.solvers.lp.duplicate_rows import groups, one_of_each, summed
from lincent.solvers.lp.margin_exchanges import MarginExchanges, Vertex
from lincent.solvers.lp.vertex import to_vertex
from lincent.solvers.solution import Controls, Solution, Status, not_begun
from lincent.sources.evaluation import Multipliers

VERTEX = "vertex"
KINK = 1e-9
SCREEN_ABOVE = 1.5
NEAR_ABOVE = 5
FAR = 0.5
SURELY = 100.0
"""Times ``tol``: a gap that is expected to be larger is not looked at."""


@dataclass(frozen=True)
class _Visited:
    """The last solved point of a path."""

    program: Program
    certificate: Certificate

    @cached_property
    def pulled(self) -> float:
        """What the sides of the box add to the bound, which does not scale with the margin."""
        program, answer = self.program, self.certificate
        scales = program.margin * float(np.sum(answer.alpha)) + program.separation * answer.t
        return answer.dual_objective - program.offset - scales

    @cached_property
    def projected(self) -> np.ndarray:
        """a_i.beta of every row."""
        return self.program.rows.dot(self.certificate.beta)


class Follower:
    """Solves one program after the other, each from the last."""

    def __init__(self, solver: str, controls: Controls, rng: np.random.Generator) -> None:
        self.solver, self.controls, self.rng = solver, controls, rng
        self._first: _Visited | None = None
        self._last: _Visited | None = None
        self._exchanges = MarginExchanges()
        self._known: simplex.Known | None = None

    def prepared(self, rows: Rows, costs: Sequence[Any]) -> tuple[Rows, list[Vector]]:
        """The rows that cost anything, in the form in which they are solved again and again."""
        vectors = [np.asarray(cost) for cost in costs]
        kept = np.flatnonzero(vectors[0])
        if len(kept) < len(vectors[0]):  # rows of cost zero say nothing
            rows, vectors = rows.take(kept), [cost[kept] for cost in vectors]
        near = not (rows.is_remote or rows.sparse) and simplex.worthwhile(*rows.shape)
        if near or not screening.worthwhile(*rows.shape, sparse=rows.sparse):
            # A problem that is solved whole is formed once, not once per margin.
            rows = rows.materialize()
        self._known = None
        if near:
            found = groups(rows)
            if found is not None:
                first, group = found
                rows, vectors = one_of_each(rows, first), [summed(cost, group) for cost in vectors]
            self._known = simplex.Known.of(rows.dense())
        return rows, vectors

    def rewind(self) -> None:
        """Go on from the first point since the last rewind: the next line starts near it."""
        self._last, self._first = self._first, None

    def solve(self, program: Program) -> Solution:
        """The certified solution of a program that differs from the last in margin or costs."""
        if program.infeasible:
            return dispatch.solve(program, self.solver, self.controls, self.rng)
        found = self._from_last(program)
        if found is None:
            found = self._afresh(program)
        if found.solver not in (SCALED, margin_exchanges.NAME):
            self._exchanges.forget()
        if np.isfinite(found.certificate.objective):
            self._last = _Visited(program, found.certificate)
            self._first = self._first or self._last
        return found

    def _from_last(self, program: Program) -> Solution | None:
        """The last solution scaled, or its vertex, or what screening finds near it."""
        last = self._last
        if last is None:
            return None
        answer = _scaled(program, last, self.controls.tol)
        if self._good(answer):
            return Solution(Status.OPTIMAL, answer, 0, SCALED)
        m, n = program.shape
        doubt = _in_doubt(program, last)
        turned = (last.projected < program.margin) != (last.projected < last.program.margin)
        if self._screens(program) and margin_exchanges.worthwhile(
            program, int(np.count_nonzero(turned))
        ):
            vertex = Vertex(last.program, last.certificate.beta, last.projected)
            found = self._exchanges.solve(program, vertex, self.controls)
            if found is not None:
                return found
        # Otherwise the active set surely changes; for other costs nobody knows.
        if (doubt <= n and not _little(program)) or program.margin == last.program.margin:
            answer = _vertex(program, last)
            if self._good(answer):
                return Solution(Status.OPTIMAL, answer, 0, VERTEX)
        if not self._screens(program) or m < NEAR_ABOVE * n:
            return None
        if program.one_point:
            return None  # nothing to solve
        if _little(program):
            found = simplex.solve(program, self.controls, last.certificate.beta, self._known)
            if self._final(found):
                return found
        if last.program.one_point:
            return None  # a corner says nothing of the rows near the kink
        guess = screening.Guess(last.certificate.beta, doubt)
        found = screening.solve(program, self.controls, self.rng, start=guess)
        return found if self._final(found) else None

    def _good(self, answer: Certificate | None) -> TypeGuard[Certificate]:
        return answer is not None and answer.relative_gap <= self.controls.tol

    def _final(self, found: Solution) -> bool:
        """Whether it is good, or there is no time for another."""
        return self._good(found.certificate) or self.controls.out_of_time()

    def _afresh(self, program: Program) -> Solution:
        """What the solvers say without a hint."""
        if self._screens(program):
            # On a path screening pays earlier than for a single solve, since its cost is that of
            # a sample; and where the margin leaves one point, nothing needs to be solved.
            m, n = program.shape
            found = None
            if program.one_point:
                found = self._corner(program)
            elif m > SCREEN_ABOVE * screening.start_size(n) and not _little(program):
                found = screening.solve(program, self.controls, self.rng)
            if found is not None and self._final(found):
                return found
        return dispatch.solve(program, self.solver, self.controls, self.rng)

    def _corner(self, program: Program) -> Solution | None:
        """The one corner that the margin leaves; columns without a difference stay free."""
        answer = _only_point(program)
        if self._good(answer) or not margin_exchanges.affordable(program):
            return Solution(Status.OPTIMAL, answer, 0, VERTEX)
        corner = Vertex(program, answer.beta, program.rows.dot(answer.beta))
        return self._exchanges.solve(program, corner, self.controls)

    def _screens(self, program: Program) -> bool:
        return self.solver == "auto" and not program.hard and bool(np.all(program.costs > 0))


def _little(program: Program) -> bool:
    """Whether exchanges from a point are cheaper than screening."""
    rows = program.rows
    return not (rows.is_remote or rows.sparse) and simplex.worthwhile(*program.shape)


def _in_doubt(program: Program, last: _Visited) -> int:
    """About how many rows change sides.

    With the point kept, those whose distance from the kink is below the change of the margin.
    """
    shift = abs(program.margin - last.program.margin)
    if shift == 0.0:  # other costs, so any of them
        return int(FAR * program.shape[0])
    return int(np.count_nonzero(np.abs(last.projected - program.margin) <= shift))


def _only_point(program: Program) -> Certificate:
    """The one corner of the box that the margin leaves, proved by the rows that miss it."""
    beta = program.farthest_point
    alpha = np.where(program.rows.dot(beta) < program.margin, program.costs, 0.0)
    return certify(program, beta, alpha, program.corner_t(program.rows.tdot(alpha)))


def _scaled(program: Program, last: _Visited, tol: float) -> Certificate | None:
    before, point = last.program, last.certificate
    if before.costs is not program.costs and np.any(before.costs != program.costs):
        return None
    if isinstance(point.alpha, Multipliers):  # rows on a device: sums are known, none is read
        return scaled_by_sums(program, before, point)
    ratio = program.margin / before.margin
    # Objective and bound agree before: after, they differ by what does not scale.
    size = max(1.0, abs(program.offset + ratio * (point.objective - before.offset)))
    if abs((1.0 - ratio) * last.pulled) > SURELY * tol * size:
        return None
    beta = point.beta * ratio
    if np.any(beta < program.lower) or np.any(beta > program.upper):
        return None
    return certify(program, beta, point.alpha, point.t)


def _vertex(program: Program, last: _Visited) -> Certificate | None:
    """The vertex that the active set of the last point names in this program."""
    before, point = last.program, last.certificate
    if program.hard or before.hard:
        return None
    distance = last.projected - before.margin
    size = float(np.abs(distance).mean()) + before.margin
    ratio = np.divide(
        program.costs, before.costs, where=before.costs > 0, out=np.zeros(len(distance))
    )
    between = (point.alpha > KINK * before.costs) & (point.alpha < (1 - KINK) * before.costs)
    kink = (np.abs(distance) <= KINK * size) | between
    rounding = KINK * (before.upper - before.lower)
    at_low, at_high = point.beta - before.lower <= rounding, before.upper - point.beta <= rounding
    tight = float(before.difference @ point.beta) <= before.separation * (1 + KINK)
    # Off the kink the multiplier is zero or the whole cost; rounding of the last point ends here.
    off = np.where(distance < 0, program.costs, 0.0)
    alpha = np.where(kink, point.alpha * ratio, off)
    beta = np.where(at_low, program.lower, np.where(at_high, program.upper, point.beta))
    return to_vertex(program, beta, alpha, point.t, kink, ~(at_low | at_high), tight)


def follow(
    rows: Rows,
    difference: Vector,
    margins: Vector,
    costs: Sequence[Any],
    follower: Follower | BlockFollower,
) -> list[list[Solution]]:
    """Solutions by cost vector and margin; margins are visited from the largest down.

    Near the largest feasible margin the solution is nearly known and cheap to find from nothing;
    at the smallest it is dear on separable classes.  After the deadline nothing is begun.
    """
    rows, costs = follower.prepared(rows, costs)
    order = np.argsort(margins)[::-1]
    table = []
    for cost in costs:
        line: dict[int, Solution] = {}
        for k in order:
            if follower.controls.out_of_time():
                line[int(k)] = not_begun(len(difference))
                continue
            program = lcc_program(rows, difference, cost, float(margins[k]))
            line[int(k)] = follower.solve(program)
        follower.rewind()
        table.append([line[k] for k in range(len(margins))])
    return table
