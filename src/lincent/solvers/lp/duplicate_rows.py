"""Rows that are the same row: one of them, with the sum of their costs.

Tables of whole numbers, one-hot columns and empty rows of sparse data hold many rows more than
once.  Together they are one kink of the objective; apart they hide the vertex, which then has more
rows on the kink than unknowns.  Equal rows are found by two random projections: equal rows have
equal projections, and different rows do not agree in both to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lincent.programs.arrays import Rows, Vector
from lincent.programs.centralization import Program, certify
from lincent.solvers.solution import Solution


@dataclass(frozen=True)
class Tuning:
    """What merging trades; measured on the whole-number kinds of ``benchmarks/workloads.py``."""

    worth: float = 0.05  # the share of repetitions from which on finding them all pays


TUNING = Tuning()


@dataclass(frozen=True)
class Merged:
    """A program without repetitions, and the way back."""

    program: Program
    group: NDArray[np.intp]
    original: Program

    def expand(self, solution: Solution) -> Solution:
        """The same solution for the rows as they were: multipliers in proportion to costs."""
        answer = solution.certificate
        alpha = (answer.alpha / self.program.costs)[self.group]
        alpha *= self.original.costs
        return replace(solution, certificate=certify(self.original, answer.beta, alpha, answer.t))


def merge(program: Program) -> Merged | None:
    """The program with equal rows merged, or None where there are too few."""
    found = groups(program.rows)
    if found is None:
        return None
    first, group = found
    rows, costs = program.rows.take(first), summed(program.costs, group)
    return Merged(replace(program, rows=rows, costs=costs), group, program)


def summed(costs: Vector, group: NDArray[np.intp]) -> Vector:
    """The costs of the rows of each group together."""
    return np.bincount(group, weights=costs).astype(np.float64)


def groups(rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """One row of each group of equal ones and the group of every row, or None if few are equal."""
    m, n = rows.shape
    first, second = np.random.default_rng(n).standard_normal((2, n))
    key = rows.dot(first)
    if _ties(key) < TUNING.worth * m:
        return None
    check = rows.dot(second)
    order = np.lexsort((check, key))
    new = np.ones(m, dtype=bool)
    new[1:] = False
    for part in (key, check):
        part = part[order]
        new[1:] |= part[1:] != part[:-1]
    group = np.empty(m, dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return order[new], group


def _ties(key: Vector) -> int:
    """How many numbers are equal to one before them."""
    ordered = np.sort(key)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))
