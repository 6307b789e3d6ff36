"""Programs with many rows and many columns, by naming the rows on the kink first.

1. rows that are the same row are merged;
2. an augmented Lagrangian names the hinges near the kink: products with the rows alone;
3. up to ``largest_matrix`` columns, the null-space program finds the vertex exactly, with one
   n x n matrix; beyond that no such matrix is formed, and the gap that the augmented Lagrangian
   can certify is the answer, and a warning names it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.centralization import Program
from lincent.solvers.lp.augmented_lagrangian import Identified, identify
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.null_space import Start, finish
from lincent.solvers.lp.working_set import RowHinges
from lincent.solvers.solution import Controls, Solution, Status

NAME = "identification"


@dataclass(frozen=True)
class Tuning:
    """Measured on sparse 50,000 x 5,000, uniform and text-like, and dense 10,000 x 500."""

    largest_matrix: int = 20_000
    """Columns up to which one n x n matrix (3.2 GB) is formed."""
    near_a_vertex: float = 1.08
    """Hinges in doubt, in columns, from which on the null space takes over: later costs CG steps,
    earlier a larger null space (1.16 costs twice the whole on sparse 50,000 x 5,000)."""
    near: float = 2e-2
    """The certified gap from which on identified rows are worth a factorization; on separable
    classes, whose optimum is at the box, this is not reached, and the next solver is asked."""
    sparse_columns: int = 500
    sparse_rows: float = 4.0
    dense_columns: int = 400
    dense_rows: float = 8.0
    """Columns, and rows per column, from which on naming the rows is faster than an interior point
    (dense 10,000 x 500: half its time; 4,000 x 300: the same; sparse 20,000 x 1,000: a fifth)."""
    spare: float = 0.07
    """Hinges beyond the number of columns, as a share of it: more are dearer, fewer misplaced."""
    least_spare: int = 20
    near_side: float = 0.02
    """A side joins the working set within this share of the box."""


TUNING = Tuning()


def worthwhile(m: int, n: int, sparse: bool) -> bool:
    """Whether the rows on the kink are sooner named than a whole is solved."""
    columns, rows = TUNING.dense_columns, TUNING.dense_rows
    if sparse:
        columns, rows = TUNING.sparse_columns, TUNING.sparse_rows
    return n >= columns and m >= rows * n


def solve(program: Program, controls: Controls, tuning: Tuning = TUNING) -> Solution:
    """The certified optimum, or the smallest certified gap without a matrix."""
    merged = merge(program)
    if merged is not None:
        return merged.expand(_solve(merged.program, controls, tuning))
    return _solve(program, controls, tuning)


def _solve(program: Program, controls: Controls, tuning: Tuning) -> Solution:
    n = program.shape[1]
    exact = n <= tuning.largest_matrix
    near = identify(program, controls, tuning.near_a_vertex * n if exact else 0.0)
    assert near.best is not None
    open_gap = controls.tol < near.best.relative_gap <= tuning.near
    if exact and open_gap and not controls.out_of_time():
        found = finish(RowHinges(program), working_start(program, near, tuning), controls)
        return Solution(found.status, found.certificate, max(found.iterations, 1), NAME)
    return Solution(_status(near, controls), near.best, max(near.steps, 1), NAME)


def _status(near: Identified, controls: Controls) -> Status:
    assert near.best is not None
    if near.best.relative_gap <= controls.tol:
        return Status.OPTIMAL
    if controls.out_of_time():
        return Status.TIME_LIMIT
    return Status.ITERATION_LIMIT if near.steps >= controls.max_iter else Status.STALLED


def working_start(program: Program, near: Identified, tuning: Tuning = TUNING) -> Start:
    """The rows and sides near the kink, and a multiplier for every hinge."""
    m, n = program.shape
    room = tuning.near_side * (program.upper - program.lower)
    low = (near.low > 0) | (near.beta < program.lower + room)
    high = (near.high > 0) | (near.beta > program.upper - room)
    sides = np.flatnonzero(np.concatenate([low, high]))
    held = int(np.count_nonzero(near.low) + np.count_nonzero(near.high))
    spare = max(int(tuning.spare * n), tuning.least_spare)
    count = min(m, max(n + spare - held, near.between - held))
    rows = np.sort(np.argpartition(near.doubt(program.costs), count - 1)[:count])
    alpha = np.where(near.alpha > program.costs / 2, program.costs, 0.0)
    alpha[rows] = near.alpha[rows]
    box = np.zeros(2 * n)
    box[sides] = np.concatenate([near.low, near.high])[sides]
    chosen = np.concatenate([rows, m + sides, [m + 2 * n]])
    assert near.best is not None
    return Start(chosen, np.concatenate([alpha, box, [near.t]]), near.best, near.steps)
