"""The path of margins over rows in blocks, with nothing as long as the data brought here.

The shortcuts of ``path`` in the form that sums allow.  At the largest feasible margin one point is
left, and one split of the rows there proves it.  Where no coefficient reaches the box, the last
solution only scales: with s the margin, gamma = beta / s and (alpha, t) stay, so that

    loss = s * sum_i c_i (1 - a_i.gamma)_+        sum_i alpha_i a_i  and  sum_i alpha_i  stay

and the certificate of the next margin follows from sums that are known: no read at all.  Everything
else is screened afresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.problems.arrays import Certificate, Rows
from lincent.problems.centralization import Program
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.evaluation import Multipliers

SCALED = "scaled"


class BlockFollower:
    """Solves one program after the other over rows that stay where they are."""

    def __init__(self, solver: str, controls: Controls, rng: np.random.Generator) -> None:
        self.solver, self.controls, self.rng = solver, controls, rng
        self._last: tuple[Program, Certificate] | None = None

    def prepared(self, rows: Rows, costs: Sequence[Any]) -> tuple[Rows, Sequence[Any]]:
        """Rows and costs as they are: they are left where they are."""
        return rows, costs

    def rewind(self) -> None:
        """The next line has other costs, for which the sums that are known say nothing."""
        self._last = None

    def solve(self, program: Program) -> Solution:
        """The certified solution of a program that differs from the last in its margin."""
        if program.infeasible:
            nowhere = Certificate(np.zeros(program.shape[1]), np.empty(0), 0.0, np.inf, -np.inf)
            return Solution(Status.INFEASIBLE, nowhere, 0, "none")
        found = self._known(program)
        if found is None:
            found = dispatch.solve(program, self.solver, self.controls, self.rng)
        if np.isfinite(found.certificate.objective):
            self._last = program, found.certificate
        return found

    def _known(self, program: Program) -> Solution | None:
        """What sums that are known, or one read, can prove."""
        if program.hard or self.solver != "auto":
            return None
        scaled = None if self._last is None else scaled_by_sums(program, *self._last)
        if scaled is not None and scaled.relative_gap <= self.controls.tol:
            return Solution(Status.OPTIMAL, scaled, 0, SCALED)
        if program.one_point:
            point = _only_point(program)
            if point.relative_gap <= self.controls.tol:
                return Solution(Status.OPTIMAL, point, 0, "vertex")
        return None


def scaled_by_sums(program: Program, before: Program, point: Certificate) -> Certificate | None:
    """The point for another margin, and its certificate, from the sums of its multipliers."""
    alpha: Any = point.alpha
    if not isinstance(alpha, Multipliers):  # an answer of another solver, row by row
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


def _only_point(program: Program) -> Certificate:
    """The one corner of the box that the margin leaves, proved by the rows that miss it."""
    beta = program.farthest_point
    seen = program.rows.all_rows(program.costs, program.margin).look(beta, 0)
    split = seen.split(0.0)
    # Rows on the kink itself add nothing to either side.
    alpha: Any = split.multipliers(np.zeros(len(split.costs)), split.summed)
    t = program.best_t(split.summed, program.corner_t(split.summed))
    objective = program.value(beta, seen.loss)
    bound = program.bound(split.summed_cost, t, split.summed)
    return Certificate(beta, alpha, t, objective, bound)
