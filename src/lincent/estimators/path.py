"""Exact solutions along the margin: ``lcc_path``, and the follower it is made of.

With beta = s gamma the program of margin s is, up to the factor s, the program of margin 1 in a
box of half-width 1/s:

    minimize over gamma    g.gamma + sum_i c_i (1 - a_i.gamma)_+
    subject to             -1/s <= gamma <= 1/s,   d.gamma >= 1

So while no coefficient reaches the box, gamma and the multipliers (alpha, t) do not depend on s:
beta(s) = (s/s0) beta(s0), and both sides of the certificate scale by s/s0.  Such points cost two
products with the rows.  Where the box acts, beta is piecewise linear in s: the active set of the
last margin names a vertex at the next one, which is tried first; if its certificate falls short,
the solvers take over.  Either way the certificate of each point is computed from that point's own
program, so a shortcut can be slow but never wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.passes import class_centers, open_pass, signed_rows
from lincent.programs.centralization import Certificate, Program, Rows, certify, lcc_program
from lincent.solvers import chain, interior_point, screening
from lincent.solvers.solution import Controls, Solution, Status
from lincent.solvers.vertex import to_vertex

SCALED = "scaled"
KINK = 1e-9
ONLY_POINT = 1e-12
SCREEN_ABOVE = 1.5


class TwoClassData:
    """Signed rows, centers and costs of one two-class problem, whatever the margin."""

    def __init__(self, X: Any, sign: np.ndarray, weight: np.ndarray, cost: np.ndarray) -> None:
        self.source = open_pass(X)
        self.sign, self.weight, self.cost = sign, weight, cost
        self.centers = class_centers(self.source, sign, weight)
        self.difference = self.centers[1] - self.centers[0]
        self.largest_margin = float(np.abs(self.difference).sum())

    def rows(self) -> Rows:
        return signed_rows(self.source, self.sign, self.centers.mean(axis=0))

    def program(self, costs: np.ndarray, margin: float) -> Program:
        return lcc_program(self.rows(), self.difference, costs, margin)


@dataclass(frozen=True)
class _Visited:
    """The last solved point of a path."""

    program: Program
    certificate: Certificate


class Follower:
    """Solves one program after the other, each from the last."""

    def __init__(self, solver: str, controls: Controls, rng: np.random.Generator) -> None:
        self.solver, self.controls, self.rng = solver, controls, rng
        self._first: _Visited | None = None
        self._last: _Visited | None = None

    def rewind(self) -> None:
        """Go on from the first point since the last rewind: the next line starts near it."""
        self._last, self._first = self._first, None

    def solve(self, program: Program) -> Solution:
        """The certified solution of a program that differs from the last in margin or costs."""
        if program.infeasible:
            return chain.solve(program, self.solver, self.controls, self.rng)
        found = self._from_last(program)
        if found is None:
            found = self._afresh(program)
        if np.isfinite(found.certificate.objective):
            self._last = _Visited(program, found.certificate)
            self._first = self._first or self._last
        return found

    def _afresh(self, program: Program) -> Solution:
        """What the solvers say without a hint."""
        if self.solver == "auto" and not program.hard and np.all(program.costs > 0):
            # On a path screening pays earlier than for a single solve, since its cost is that of
            # a sample; and where the margin leaves one point, nothing needs to be solved.
            m, n = program.shape
            found = None
            if program.gap >= program.largest_gap * (1 - ONLY_POINT):
                found = interior_point.solve(program, self.controls)
            elif m > SCREEN_ABOVE * screening.start_size(n):
                found = screening.solve(program, self.controls, self.rng)
            if found is not None and found.relative_gap <= self.controls.tol:
                return found
        return chain.solve(program, self.solver, self.controls, self.rng)

    def _from_last(self, program: Program) -> Solution | None:
        """The last solution scaled, or its vertex, where the certificate proves it."""
        if self._last is None:
            return None
        for name, shortcut in ((SCALED, _scaled), ("vertex", _vertex)):
            answer = shortcut(program, self._last)
            if answer is not None and answer.relative_gap <= self.controls.tol:
                return Solution(Status.OPTIMAL, answer, 0, name)
        return None


def _scaled(program: Program, last: _Visited) -> Certificate | None:
    before, point = last.program, last.certificate
    if np.any(before.costs != program.costs):
        return None
    beta = point.beta * (program.margin / before.margin)
    if np.any(beta < program.lower) or np.any(beta > program.upper):
        return None
    return certify(program, beta, point.alpha, point.t)


def _vertex(program: Program, last: _Visited) -> Certificate | None:
    """The vertex that the active set of the last point names in this program."""
    before, point = last.program, last.certificate
    if program.hard or before.hard:
        return None
    distance = before.rows.dot(point.beta) - before.margin
    size = float(np.abs(distance).mean()) + before.margin
    ratio = np.divide(
        program.costs, before.costs, where=before.costs > 0, out=np.zeros(len(distance))
    )
    between = (point.alpha > KINK * before.costs) & (point.alpha < (1 - KINK) * before.costs)
    kink = (np.abs(distance) <= KINK * size) | between
    free = (point.beta > before.lower) & (point.beta < before.upper)
    tight = float(before.difference @ point.beta) <= before.gap * (1 + KINK)
    # Off the kink the multiplier is zero or the whole cost; rounding of the last point ends here.
    off = np.where(distance < 0, program.costs, 0.0)
    alpha = np.where(kink, point.alpha * ratio, off)
    beta = np.clip(point.beta, program.lower, program.upper)
    return to_vertex(program, beta, alpha, point.t, kink, free, tight)


def follow(
    data: TwoClassData,
    margins: Sequence[float] | np.ndarray,
    costs: Sequence[np.ndarray],
    follower: Follower,
) -> list[list[Solution]]:
    """Solutions by cost vector and margin; margins are visited in ascending order."""
    rows: Any = data.rows()
    if not screening.worthwhile(*rows.shape):
        # A problem that is solved whole is formed once, not once per margin.
        rows = rows.materialize()
    order = np.argsort(margins)
    table = []
    for cost in costs:
        line: dict[int, Solution] = {}
        for k in order:
            program = lcc_program(rows, data.difference, cost, float(margins[k]))
            line[int(k)] = follower.solve(program)
        follower.rewind()
        table.append([line[k] for k in range(len(margins))])
    return table
