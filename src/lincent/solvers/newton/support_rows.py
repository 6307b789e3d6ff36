"""The regularized problem where few samples decide: classes that are nearly or wholly separable.

A sample beyond the upper margin has neither loss nor dual weight.  So the problem of some samples W
alone is a lower bound, its dual weights with zeros for all others are dual weights of the whole
problem, and its optimum is that of the whole once no sample outside W is short of the margin
(working sets of support vectors, Joachims 1998):

    solve     the samples of W, by their products with each other where they are few (``dual``)
    pass      over all samples: their objective, beside the bound of W, is a valid gap
    choose    samples short of the margin join, the shortest first; those well beyond it leave

Samples with a dual weight never leave, so the optimum of W rises from round to round, and no W
comes twice.  Where many samples have dual weights ``solve`` gives up and returns None.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.bounds import Bounds
from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import NAME, Start, descend
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Mask
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.dense import DenseRows

NEAR = 150
"""Samples of the first choice beside those, and samples that join at most (or half as many as
there are)."""


class _WorkingSet:
    """Some samples, with their products with each other where they are few beside the features."""

    def __init__(self, program: RegularizedProgram, index: Index) -> None:
        self.program, self.index = program, index
        self.rows: Matrix = program.rows.take(index).dense()
        self.outer: Matrix | None = None
        if len(index) <= 2 * program.shape[1]:  # their mutual products are less work
            self.outer = self.rows @ self.rows.T

    def change(self, keep: Mask, joining: Index) -> None:
        """Keep some, add the joining ones: only products with those are new."""
        new, old = self.program.rows.take(joining).dense(), self.rows[keep]
        if self.outer is not None:
            kept, across = self.outer[np.ix_(keep, keep)], old @ new.T
            self.outer = np.block([[kept, across], [across.T, new @ new.T]])
        self.rows = np.vstack([old, new])
        self.index = np.concatenate([self.index[keep], joining])

    def solve(self, controls: Controls, start: Start | None) -> Solution:
        p, index = self.program, self.index
        rows = DenseRows(self.rows)
        part = replace(p, rows=rows, sign=p.sign[index], costs=p.costs[index], means=None)
        curvature = Exact(part) if self.outer is None else Dual(part, self.outer)
        return descend(part, curvature, controls, start)


def solve(program: RegularizedProgram, at: Start, controls: Controls) -> Solution | None:
    """Return the certified optimum from a point near it, or None where many samples decide."""
    first = _first_choice(program, at)
    if first is None:
        return None
    chosen, bounds, gap = _WorkingSet(program, first), Bounds(program.unit), 1.0
    bounds.offer_dual(0.0, np.zeros(program.shape[0]))
    # From all samples of a few, rather than from those that are short far from the optimum.
    start = at if chosen.outer is None else None

    def ended(status: Status, rounds: int) -> Solution:
        beta, t = bounds.primal
        return Solution(status, bounds.certificate(beta, bounds.dual, t), rounds, NAME)

    for rounds in range(1, min(40, controls.max_iter) + 1):  # four to ten are usual
        tol = max(controls.tol / 10, 1e-4 * min(gap, 1.0))
        limits = replace(controls, tol=tol, max_iter=200, watch=None)  # 5 to 30 are usual
        part = chosen.solve(limits, start).certificate
        start = Start(part.beta, part.t)
        z = program.positions(program.rows.dot(part.beta), part.t)
        u = program.dual_weights(z)
        bounds.offer_primal(program.primal(part.beta, z, u), (part.beta, part.t))
        whole = np.zeros(len(z))
        whole[chosen.index] = part.alpha
        bounds.offer_dual(part.dual_objective, whole)
        gap = bounds.relative_gap
        controls.reached(f"{len(chosen.index)} samples", bounds.objective, gap)
        if gap <= controls.tol:
            return ended(Status.OPTIMAL, rounds)
        if controls.out_of_time():
            return ended(Status.TIME_LIMIT, rounds)
        supporting = u[chosen.index] > 0.0
        count = np.count_nonzero(supporting)
        if count > NEAR + 0.35 * program.shape[1]:
            return None  # exact steps over all samples are cheaper
        short = u > 0.0
        short[chosen.index] = False
        if count > 0.9 * len(supporting) and np.count_nonzero(short) > 0.4 * len(short):
            return None  # all of a choice support, and many others would: many decide
        joining = _worst(z, np.flatnonzero(short), max(NEAR, len(supporting) // 2))
        if not joining.size and tol == controls.tol / 10:
            return None  # rounding: nobody is short of the margin, and the gap is open
        chosen.change(supporting | (z[chosen.index] < program.high + 1.0), joining)
    return None


def _first_choice(program: RegularizedProgram, at: Start) -> Index | None:
    """Return the samples short of the margin and some close to it, or None if those are many."""
    z = program.positions(program.rows.dot(at.beta), at.t)
    short, few = int(np.count_nonzero(z < program.high)), len(z) // 10
    if short > few:
        # Unless the objective is far below that of beta = 0, too many may decide.
        zero = program.loss(np.zeros_like(z), program.dual_weights(np.zeros_like(z)))
        if program.primal(at.beta, z, program.dual_weights(z)) > 1e-3 * zero:
            return None
        short = few
    sides = [_worst(z, np.flatnonzero(program.sign == side), 1) for side in (-1.0, 1.0)]
    return np.unique(np.concatenate([_worst(z, np.arange(len(z)), short + NEAR), *sides]))


def _worst(z: Vector, index: Index, most: int) -> Index:
    """Return those of the samples that are shortest of the margin."""
    if len(index) <= most:
        return index
    return np.asarray(index[np.argpartition(z[index], most - 1)[:most]])
