"""The regularized program where few rows decide: classes that are nearly or wholly apart.

A row beyond the upper margin costs nothing and pulls nothing.  So the program of some rows W alone
is below the whole one, its multipliers with zeros for all other rows are multipliers of the whole,
and its optimum is that of the whole once no row outside W is short of the margin:

    solve     the rows of W, by their products with each other where they are few (``dual``)
    read      all rows there: their objective, beside the bound of W, is an honest gap
    choose    rows short of the margin join, the shortest first; rows well beyond it leave

Rows with a multiplier never leave, so the optimum of W rises from round to round, and no W comes
twice.  Where many rows have multipliers this is not the way, and ``None`` says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.descent import NAME, Start, descend
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Inside
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.dense import DenseRows


@dataclass(frozen=True)
class Tuning:
    """When few rows decide, and how many are looked at; rounds of 5,000 x 1,000 counted."""

    few: float = 0.1
    """Rows short of the margin at the start, of all, from which on too many may decide,"""
    apart: float = 1e-3
    """unless the objective there is below this share of what beta = 0 costs."""
    near: int = 150
    """Rows of the first choice beside those, and rows that join at most (or half as many as there
    are)."""
    supporting: float = 0.35
    """Rows with a multiplier, per column (and ``near`` more), from which on exact steps over all
    rows are cheaper."""
    all_support: float = 0.9
    """Rows with a multiplier, of a choice, from which on many decide if of all rows"""
    most: float = 0.4
    """as many are short of the margin."""
    few_beside: float = 2.0
    """Rows of a choice, per column, up to which their products with each other are less work."""
    beyond: float = 1.0
    """How far beyond the margin a row leaves."""
    loose: float = 1e-4
    """A choice is solved to this share of the open gap."""
    rounds: int = 40
    """Choices at most; four to ten are usual."""
    steps: int = 200
    """Steps on one choice at most; 5 to 30 are usual."""


TUNING = Tuning()


class _Choice:
    """Some rows, with their products with each other where they are few beside the columns."""

    def __init__(self, program: RegularizedProgram, index: Index) -> None:
        self.program, self.index = program, index
        self.rows: Matrix = program.rows.take(index).dense()
        self.outer: Matrix | None = None
        if len(index) <= TUNING.few_beside * program.shape[1]:
            self.outer = self.rows @ self.rows.T

    def part(self) -> RegularizedProgram:
        p, index = self.program, self.index
        rows = DenseRows(self.rows)
        return replace(p, rows=rows, sign=p.sign[index], costs=p.costs[index], means=None)

    def change(self, keep: Inside, joining: Index) -> None:
        """Only those to keep, and the joining ones: products of those alone are new."""
        new, old = self.program.rows.take(joining).dense(), self.rows[keep]
        if self.outer is not None:
            kept, across = self.outer[np.ix_(keep, keep)], old @ new.T
            self.outer = np.block([[kept, across], [across.T, new @ new.T]])
        self.rows = np.vstack([old, new])
        self.index = np.concatenate([self.index[keep], joining])

    def solve(self, controls: Controls, start: Start | None) -> Solution:
        part = self.part()
        curvature = Whole(part) if self.outer is None else Dual(part, self.outer)
        return descend(part, curvature, controls, start)


def solve(program: RegularizedProgram, at: Start, controls: Controls) -> Solution | None:
    """The certified optimum from a point near it, or None where many rows decide."""
    first = _first_choice(program, at)
    if first is None:
        return None
    choice, best, gap = _Choice(program, first), _Best(program), 1.0
    # From all rows of a few, rather than from those that are short at a point far from the optimum.
    start = at if choice.outer is None else None
    for rounds in range(1, min(TUNING.rounds, controls.max_iter) + 1):
        tol = max(controls.tol / 10, TUNING.loose * min(gap, 1.0))
        found = choice.solve(replace(controls, tol=tol, max_iter=TUNING.steps, watch=None), start)
        point = best.take(found.certificate, choice.index)
        gap, start = best.relative_gap, Start(found.certificate.beta, found.certificate.t)
        controls.reached(f"{len(choice.index)} rows", best.objective, gap)
        if gap <= controls.tol:
            return Solution(Status.OPTIMAL, best.certificate(), rounds, NAME)
        if controls.out_of_time():
            return Solution(Status.TIME_LIMIT, best.certificate(), rounds, NAME)
        alpha = program.costs[choice.index] * point.pull[choice.index]
        if np.count_nonzero(alpha) > TUNING.near + TUNING.supporting * program.shape[1]:
            return None
        keep = (alpha > 0.0) | (point.z[choice.index] < program.high + TUNING.beyond)
        short = point.pull > 0.0
        short[choice.index] = False
        all_support = np.count_nonzero(alpha) > TUNING.all_support * len(alpha)
        if all_support and np.count_nonzero(short) > TUNING.most * len(short):
            return None
        joining = _worst(point.z, np.flatnonzero(short), max(TUNING.near, len(alpha) // 2))
        if not joining.size and tol == controls.tol / 10:
            return None  # rounding: nobody is short of the margin, and the gap is open
        choice.change(keep, joining)
    return None


def _first_choice(program: RegularizedProgram, at: Start) -> Index | None:
    """The rows short of the margin and some that are near it, or None if those are many."""
    z = program.positions(program.rows.dot(at.beta), at.t)
    short, few = int(np.count_nonzero(z < program.high)), int(TUNING.few * len(z))
    if short > few:
        apart = TUNING.apart * program.loss(
            np.zeros_like(z), program.dual_weights(np.zeros_like(z))
        )
        if program.primal(at.beta, z, program.dual_weights(z)) > apart:
            return None
        short = few
    sides = [_worst(z, np.flatnonzero(program.sign == side), 1) for side in (-1.0, 1.0)]
    return np.unique(np.concatenate([_worst(z, np.arange(len(z)), short + TUNING.near), *sides]))


def _worst(z: Vector, index: Index, most: int) -> Index:
    """Those of the rows that are shortest of the margin."""
    if len(index) <= most:
        return index
    return np.asarray(index[np.argpartition(z[index], most - 1)[:most]])


@dataclass(frozen=True)
class _Point:
    z: Vector
    pull: Vector


class _Best:
    """The lowest objective over all rows and the highest bound so far."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program, self.unit = program, program.unit
        self.beta, self.t, self.objective = np.zeros(program.shape[1]), 0.0, np.inf
        self.alpha, self.bound = np.zeros(program.shape[0]), 0.0

    @property
    def relative_gap(self) -> float:
        return max(self.objective - self.bound, 0.0) / max(self.unit, abs(self.objective))

    def take(self, found: Certificate, index: Index) -> _Point:
        """What all rows say of the optimum of some."""
        program = self.program
        z = program.positions(program.rows.dot(found.beta), found.t)
        pull = program.dual_weights(z)
        objective = program.primal(found.beta, z, pull)
        if objective < self.objective:
            self.beta, self.t, self.objective = found.beta, found.t, objective
        if found.dual_objective > self.bound:
            self.bound = found.dual_objective
            self.alpha = np.zeros(len(z))
            self.alpha[index] = found.alpha
        return _Point(z, pull)

    def certificate(self) -> Certificate:
        return Certificate(
            self.beta, self.alpha, self.t, self.objective, self.bound, unit=self.unit
        )
