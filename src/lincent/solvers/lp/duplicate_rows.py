"""Rows that are the same row: one of them, with the sum of their costs.

Tables of whole numbers, one-hot columns and empty rows of sparse data hold many rows more than
once.  Together they are one kink of the objective; apart they hide the vertex, which then has more
rows on the kink than unknowns.  Equal rows are found by two random projections: equal rows have
equal projections, and different rows do not agree in both to the last bit.  Rows that agree in one
of them alone are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Rows, Vector
from lincent.problems.centralization import Program, certify
from lincent.solvers.solution import Solution
from lincent.sources.sparse import CompensatedMatrix

Groups = NDArray[np.integer[Any]]
"""The group of every row, in no more bytes than it takes."""


@dataclass(frozen=True)
class Tuning:
    """What merging trades; measured on the whole-number kinds of ``benchmarks/workloads.py``."""

    worth: float = 0.05  # the share of repetitions from which on finding them all pays


TUNING = Tuning()


@dataclass(frozen=True)
class Merged:
    """A program without repetitions, and the way back."""

    program: Program
    group: Groups
    original: Program

    def expand(self, solution: Solution) -> Solution:
        """The same solution for the rows as they were: multipliers in proportion to costs."""
        answer = solution.certificate
        whole = certify(self.original, answer.beta, self._spread(answer.alpha), answer.t)
        return replace(solution, certificate=whole)

    def _spread(self, alpha: Vector) -> Vector:
        spread = np.asarray((alpha / self.program.costs)[self.group])
        spread *= self.original.costs
        return spread


def merge(program: Program) -> Merged | None:
    """The program with equal rows merged, or None where there are too few."""
    found = groups(program.rows)
    if found is None:
        return None
    first, group = found
    rows, costs = one_of_each(program.rows, first), summed(program.costs, group)
    return Merged(replace(program, rows=rows, costs=costs), group, program)


def one_of_each(rows: Rows, first: Index) -> Rows:
    """The rows of these indices, which stand for the others."""
    taken = rows.take(first)
    taken.merged = True
    return taken


def summed(costs: Vector, group: Groups) -> Vector:
    """The costs of the rows of each group together."""
    return np.bincount(group, weights=costs).astype(np.float64)


def groups(rows: Rows | CompensatedMatrix) -> tuple[Index, Groups] | None:
    """One row of each group of equal ones and the group of every row, or None if few are equal."""
    m, n = rows.shape
    first, second = np.random.default_rng(n).standard_normal((2, n))
    key = rows.dot(first)
    distinct = _distinct(key)
    if len(distinct) > (1 - TUNING.worth) * m:
        return None
    group: Groups = np.searchsorted(distinct, key).astype(np.min_scalar_type(m))
    del key  # what is as long as the data goes as soon as it can
    found = np.empty(len(distinct), dtype=np.intp)
    found[group] = np.arange(m)
    check = rows.dot(second)
    apart = np.flatnonzero(check != check[found][group])
    group[apart] = len(found) + np.arange(len(apart))
    return np.concatenate([found, apart]), group


def _distinct(key: Vector) -> Vector:
    """The different numbers among these, in order."""
    ordered = np.sort(key)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])])
