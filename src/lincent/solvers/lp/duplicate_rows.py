"""Merging of equal rows: one of them, with the sum of their costs.

Integer tables, one-hot features and empty rows of sparse data hold many rows more than once.
Together they are one breakpoint of the objective; apart they hide the vertex, which then has more
active rows than unknowns.  Equal rows are found by two random projections: equal rows have equal
projections, and different rows do not agree in both to the last bit.  Rows that agree in one of
them alone are left apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Rows, Vector
from lincent.problems.centralization import Program, certify
from lincent.solvers.lp.sparse.compensated import CompensatedMatrix
from lincent.solvers.solution import Solution

Groups = NDArray[np.integer[Any]]
"""The group of every row, in no more bytes than it takes."""


@dataclass(frozen=True)
class Merged:
    """A program without repetitions, and the way back."""

    program: Program
    group: Groups
    original: Program

    def expand(self, solution: Solution) -> Solution:
        """Return the solution for the original rows: dual weights in proportion to costs."""
        answer = solution.certificate
        whole = certify(self.original, answer.beta, self._expand(answer.alpha), answer.t)
        return replace(solution, certificate=whole)

    def _expand(self, alpha: Vector) -> Vector:
        """Return multipliers of all rows; held by nobody else, as they are as long as the data."""
        expanded = np.asarray((alpha / self.program.costs)[self.group])
        expanded *= self.original.costs
        return expanded


def solve_distinct(program: Program, solve: Callable[[Program], Solution]) -> Solution:
    """Solve the program with equal rows merged, or as it is where there are too few."""
    merged = merge(program)
    return solve(program) if merged is None else merged.expand(solve(merged.program))


def merge(program: Program) -> Merged | None:
    """Return the program with equal rows merged, or None where there are too few."""
    equal = groups(program.rows)
    if equal is None:
        return None
    first, group = equal
    rows, costs = one_of_each(program.rows, first), summed(program.costs, group)
    return Merged(replace(program, rows=rows, costs=costs), group, program)


def one_of_each(rows: Rows, first: Index) -> Rows:
    """Return the rows of these indices, which represent the others."""
    taken = rows.take(first)
    taken.merged = True
    return taken


def summed(costs: Vector, group: Groups) -> Vector:
    """Return the sums of costs by group."""
    return np.bincount(group, weights=costs).astype(np.float64)


def groups(rows: Rows | CompensatedMatrix) -> tuple[Index, Groups] | None:
    """Return one row of each group of equal ones and the group of every row; None if few."""
    m, n = rows.shape
    first, second = np.random.default_rng(n).standard_normal((2, n))
    key = rows.dot(first)
    ordered = np.sort(key)
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    del ordered
    if len(distinct) > 0.95 * m:  # for fewer repetitions finding them all does not pay
        return None
    group: Groups = np.searchsorted(distinct, key).astype(np.min_scalar_type(m))
    del key  # as long as the data
    representative = np.empty(len(distinct), dtype=np.intp)
    representative[group] = np.arange(m)
    check = rows.dot(second)
    apart = np.flatnonzero(check != check[representative][group])
    group[apart] = len(representative) + np.arange(len(apart))
    return np.concatenate([representative, apart]), group
