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

from lincent.estimators.path import SCALED, TwoClassData
from lincent.passes.band import Multipliers
from lincent.programs.arrays import Certificate
from lincent.programs.centralization import (
    Program,
    lcc_program,
)
from lincent.solvers.lp import (
    choose,
    screening,
)
from lincent.solvers.solution import Controls, Solution, Status


def in_blocks(data: TwoClassData) -> bool:
    """Whether the rows are read in blocks and too many to be brought here."""
    return data.source.far and screening.worthwhile(*data.source.shape)


def follow_blocks(
    data: TwoClassData,
    margins: Sequence[float] | np.ndarray,
    costs: Sequence[Any],
    solver: str,
    controls: Controls,
    rng: np.random.Generator,
) -> list[list[Solution]]:
    """Solutions by cost and margin; margins are visited from the largest down."""
    rows = data.rows()
    order = np.argsort(margins)[::-1]
    table = []
    for cost in costs:
        line: dict[int, Solution] = {}
        last: tuple[Program, Certificate] | None = None
        for k in order:
            program = lcc_program(rows, data.difference, cost, float(margins[k]))
            found = _solve(program, last, solver, controls, rng)
            if np.isfinite(found.certificate.objective):
                last = program, found.certificate
            line[int(k)] = found
        table.append([line[k] for k in range(len(margins))])
    return table


def _solve(
    program: Program,
    last: tuple[Program, Certificate] | None,
    solver: str,
    controls: Controls,
    rng: np.random.Generator,
) -> Solution:
    if program.infeasible:
        nowhere = Certificate(np.zeros(program.shape[1]), np.empty(0), 0.0, np.inf, -np.inf)
        return Solution(Status.INFEASIBLE, nowhere, 0, "none")
    if not program.hard and solver == "auto":
        scaled = None if last is None else _scaled(program, *last)
        if scaled is not None and scaled.relative_gap <= controls.tol:
            return Solution(Status.OPTIMAL, scaled, 0, SCALED)
        if program.one_point:
            point = _only_point(program)
            if point.relative_gap <= controls.tol:
                return Solution(Status.OPTIMAL, point, 0, "vertex")
    return choose.solve(program, solver, controls, rng)


def _scaled(program: Program, before: Program, point: Certificate) -> Certificate | None:
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
    alpha: Any = split.multipliers(np.zeros(len(split.costs)))
    # t large enough that every coordinate of r leads to the corner.
    rest = program.linear - split.summed
    steep = program.difference != 0
    most = np.max(np.abs(rest[steep] / program.difference[steep]), initial=0.0)
    t = program.best_t(split.summed, float(most))
    objective = program.value(beta, seen.loss)
    bound = program.bound(split.summed_cost, t, split.summed)
    return Certificate(beta, alpha, t, objective, bound)
