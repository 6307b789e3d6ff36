"""Programs with many features, by active-set identification and a null-space finish.

**Rows** (many more samples than features): equal rows are merged, the augmented Lagrangian of (P)
identifies the rows near their breakpoints, and up to 20,000 features ``null_space`` reaches the
vertex with one n x n matrix.  Beyond that the certified gap is the answer, and a warning names it.

**Columns** (more features than samples, sparse):

1. the augmented Lagrangian of the dual identifies the features inside the box and the working rows;
2. ``null_space`` finds the vertex exactly, with one matrix as large as those rows;
3. where the dual weights of that vertex leave a face, as those of 0/1 words do, its point nearest
   to the iterate is tried (``face``);
4. rows that are still violated join, and 2 is repeated; where the vertex was not near, 1
   continues; where the optimum is a large face, an interior point solves the working rows.

Where the working rows are above ``largest_matrix`` no matrix is formed, and the gap that the first
step can certify is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Index
from lincent.problems.centralization import Program, certify
from lincent.solvers.lp import interior_point, row_generation
from lincent.solvers.lp.duplicate_rows import solve_distinct
from lincent.solvers.lp.sparse import face
from lincent.solvers.lp.sparse.hinges import ColumnHinges, RowHinges
from lincent.solvers.lp.sparse.lagrangian import (
    DUAL,
    PRIMAL,
    DualPoint,
    PrimalPoint,
    identify_columns,
    identify_rows,
    interior_point_affordable,
    start_columns,
)
from lincent.solvers.lp.sparse.null_space import FaceStart, finish, nearest_hinges
from lincent.solvers.solution import Controls, Solution, Status

ROWS, COLUMNS = "identification", "dual-identification"
"""Names of the two solvers."""


@dataclass(frozen=True)
class RowTuning:
    """Trade-offs, measured on sparse 50,000 x 5,000 (uniform, text-like), dense 10,000 x 500."""

    largest_matrix: int = 20_000
    """Features up to which one n x n matrix (3.2 GB) is formed."""
    spare: float = 0.05
    least_spare: int = 160
    """Hinges beyond the number of features, as a fraction of it and at least (three tenths of it
    where those are fewer), from which on the null space takes over: fewer cost Newton steps (80
    on dense 10,000 x 1,000 a fifth more), more a larger null space, whose pivots grow with its cube
    (700 on 50,000 x 5,000 twice as much)."""

    def spare_hinges(self, n: int) -> int:
        """Return how many hinges beyond the number of features a null space may have."""
        return max(int(self.spare * n), min(3 * n // 10, self.least_spare))


@dataclass(frozen=True)
class ColumnTuning:
    """Trade-offs, measured on texts of 4,000 x 10,000 and 20,000 x 47,000."""

    spare: tuple[float, ...] = (0.12, 0.05, 0.02, 0.0)
    """Free features beyond the rows between their bounds, as a fraction of these, from which on a
    vertex is tried: more cost a larger null space, fewer CG steps."""
    most_spare: int = 100
    """The same as a number: a large matrix is worth more CG steps."""
    face_spare: float = 0.4
    most_face: int = 300
    """The same where free features no longer decrease, and the most in any case: in few variables
    the null space is a tenth of an interior point, in many several of it."""
    near_rows: float = 0.1
    """Rows at a bound that join the working rows, as a fraction of those between."""
    near_columns: float = 0.05
    """Features at a side of the box that join the free ones, as a fraction of the working rows."""
    largest_matrix: int = 6000
    """Working rows up to which their matrix is factored (288 MB, some ten seconds)."""
    short_steps: int = 10
    """Steps that count as one of ``max_iter``: each is far below one of an interior point."""


BY_ROWS, BY_COLUMNS = RowTuning(), ColumnTuning()
LEAST_ROWS = 4
"""Distinct rows per feature: with fewer most may be active, and the interior point is as fast."""
MOST_JOINING = 8.0
"""Misplaced hinges, in first variables: with few spare many may be, and joining is cheap."""


def rows_applicable(m: int, n: int, sparse: bool) -> bool:
    """Return whether the active rows are identified faster than the program is solved directly.

    Sparse 20,000 x 1,000 takes a fifth of the time of an interior point, dense 4,000 x 200 of real
    data half of it, dense 2,000 x 500 half as long again.
    """
    # Of dense data a matrix of all rows costs little more than one of the active rows.
    least = (LEAST_ROWS, 500) if sparse else (2 * LEAST_ROWS, 150)
    return m >= least[0] * n and n >= least[1]


def columns_applicable(m: int, n: int, sparse: bool) -> bool:
    """Return whether most features may end at the box: half as many as samples, or more.

    Classes are often separable then, and it takes half the time of an interior point; where they
    are not, that is detected within a tenth of it.
    """
    return sparse and m >= 500 and n >= 0.5 * m


def solve_rows(program: Program, controls: Controls, tuning: RowTuning = BY_ROWS) -> Solution:
    """Return the certified optimum, or the smallest certified gap without a matrix."""
    return solve_distinct(program, lambda some: _solve_rows(some, controls, tuning))


def _solve_rows(program: Program, controls: Controls, tuning: RowTuning) -> Solution:
    m, n = program.shape
    if m < LEAST_ROWS * n:  # once equal ones are merged
        return interior_point.exact(program, controls)
    enough = n + tuning.spare_hinges(n)
    exact = n <= tuning.largest_matrix
    point = identify_rows(program, controls, enough if exact else 0.0)
    gap = point.gap
    if exact and controls.tol < gap <= PRIMAL.near and not controls.out_of_time():
        solution = finish(RowHinges(program), start_from_rows(program, point, tuning), controls)
        return replace(solution, iterations=max(solution.iterations, 1), solver=ROWS)
    status = Status.ITERATION_LIMIT if point.steps >= controls.max_iter else Status.STALLED
    if gap <= controls.tol:
        status = Status.OPTIMAL
    elif controls.out_of_time():
        status = Status.TIME_LIMIT
    return Solution(status, point.best, max(point.steps, 1), ROWS)


def start_from_rows(program: Program, point: PrimalPoint, tuning: RowTuning = BY_ROWS) -> FaceStart:
    """Return the rows and sides near their breakpoints, and a dual weight for every hinge."""
    m, n = program.shape
    close = 0.02 * (program.upper - program.lower)
    low = (point.low > 0) | (point.beta < program.lower + close)
    high = (point.high > 0) | (point.beta > program.upper - close)
    sides = np.where(np.concatenate([low, high]), -np.inf, np.inf)
    held = int(np.count_nonzero(point.low) + np.count_nonzero(point.high))
    count = min(m, max(n + tuning.spare_hinges(n), point.between) - held)
    count += int(np.count_nonzero(sides < 0.0))
    distance = np.concatenate([point.distance_from_active(program.costs), sides])
    dual = np.concatenate([point.alpha, point.low, point.high, [point.t]])
    return nearest_hinges(distance, count, dual, program.costs, point.best, point.steps)


def solve_columns(
    program: Program, controls: Controls, tuning: ColumnTuning = BY_COLUMNS
) -> Solution:
    """Return the certified optimum, or the smallest certified gap without a matrix."""
    point = start_columns(program)
    steps = replace(controls, max_iter=tuning.short_steps * controls.max_iter)
    for share in tuning.spare:
        point = identify_columns(program, point, share, tuning.most_spare, steps)
        if point.gap <= controls.tol or controls.out_of_time() or point.gap > DUAL.near:
            break
        no_fewer = point.spare > share * point.between  # free features no longer decrease
        if point.spare > min(tuning.face_spare * point.between, tuning.most_face):
            break
        if point.between <= tuning.largest_matrix:
            _finish(program, point, controls, tuning)
        if no_fewer or point.gap <= controls.tol or controls.out_of_time():
            break
    iterations = point.steps // tuning.short_steps
    near = controls.tol < point.gap <= DUAL.near
    if near and interior_point_affordable(program, point):
        iterations += _by_interior_point(program, point, controls)
    status = Status.OPTIMAL if point.gap <= controls.tol else Status.STALLED
    if status is Status.STALLED and controls.out_of_time():
        status = Status.TIME_LIMIT
    return Solution(status, point.best, max(iterations, 1), COLUMNS)


def _by_interior_point(program: Program, point: DualPoint, controls: Controls) -> int:
    """Solve the working rows by an interior point: a face has no vertex to look for.

    Features that repeat each other, of 0/1 data for instance, have a face as optimum.
    """
    if controls.out_of_time():
        return 0
    _nearest(program, point, int(BY_COLUMNS.near_rows * point.between) + 1)
    solution = row_generation.solve(program, controls, first=point.rows)
    point.certify(solution.certificate)
    return solution.iterations


def _finish(program: Program, point: DualPoint, controls: Controls, tuning: ColumnTuning) -> None:
    """Improve the point by the vertex near it, with the rows that the vertex violates."""
    count = int(tuning.near_rows * point.between) + max(point.spare, 0) + 1
    joined = _nearest(program, point, count)
    keep = np.concatenate([_near_rows(point, len(point.rows) - len(joined), count), joined])
    sure = len(keep)
    for _ in range(8):  # times that rows may join before the first step continues
        hinges, begin = start_from_columns(program, point, keep, sure)
        solution = finish(hinges, begin, controls, MOST_JOINING)
        point.certify(solution.certificate)
        if solution.status is not Status.STALLED:
            break
        in_the_way = _on_the_face(program, point, hinges, controls) if hinges.optimal else None
        if point.gap <= controls.tol:
            break
        new = point.places(hinges.missed if in_the_way is None else in_the_way)
        if not len(new):
            break
        keep = np.concatenate([keep, np.setdiff1d(new, keep)])


def _on_the_face(
    program: Program, point: DualPoint, hinges: ColumnHinges, controls: Controls
) -> Index | None:
    """Try the face that the dual weights of a vertex leave; return the rows in its way.

    None where the face is the vertex alone.
    """
    alpha = hinges.fixed.copy()
    alpha[hinges.rows] = np.clip(hinges.x[:-1], 0.0, program.costs[hinges.rows])
    t = max(float(hinges.x[-1]), 0.0)
    projection = face.nearest(program, alpha, t, (point.beta + hinges.beta) / 2, controls)
    if projection is None:
        return None
    beta, missed = projection
    point.certify(certify(program, beta, alpha, t))
    controls.reached("face", point.best.objective, point.gap, f"  {len(missed)} rows in the way")
    return np.setdiff1d(missed, hinges.rows)


def _near_rows(point: DualPoint, have: int, spare: int) -> Index:
    """Return places of working rows: between their bounds, and those at one least firmly."""
    firm = (point.over + point.missed)[:have]
    between = int(np.count_nonzero(firm == 0.0))
    return np.argsort(firm, kind="stable")[: between + spare]


def _nearest(program: Program, point: DualPoint, count: int) -> Index:
    """Add the rows that the point is nearest to violating; return their places."""
    over = program.rows.dot(point.beta) - program.margin
    over[point.rows] = np.inf
    count = min(count, len(over) - len(point.rows))
    new = np.argpartition(over, count - 1)[:count] if count else np.empty(0, dtype=np.intp)
    places = point.places(new)
    point.over[places] = np.maximum(over[new], 0.0)
    return places


def start_from_columns(
    program: Program, point: DualPoint, keep: Index, sure: int
) -> tuple[ColumnHinges, FaceStart]:
    """Return the hinges over the working rows at these places, and which of them are near.

    Of the rows beyond the first ``sure`` it is not known whether they are at a bound.
    """
    alpha = np.zeros(program.shape[0])
    alpha[point.rows] = np.where(point.missed[:-1] > 0, program.costs[point.rows], 0.0)
    rows = point.rows[keep]
    alpha[rows] = point.x[keep]
    hinges = ColumnHinges(program, rows, alpha)
    keep = np.append(keep, len(point.rows))
    sides = np.concatenate([point.over[keep], point.missed[keep]])
    undecided = np.zeros(len(keep), dtype=bool)
    undecided[sure:-1] = True
    held = np.flatnonzero((sides > 0.0) | np.append(undecided, np.zeros_like(undecided)))
    v = hinges.together(point.beta - program.lower)
    beyond = np.full(hinges.n, np.inf)
    np.minimum.at(beyond, hinges.group, point.beyond)
    near = int(BY_COLUMNS.near_columns * len(rows)) + 1 + int(np.count_nonzero(beyond < 0.0))
    columns = np.sort(np.argpartition(beyond, min(near, hinges.n) - 1)[:near])
    chosen = np.concatenate([columns, hinges.n + held])
    return hinges, FaceStart(chosen, np.concatenate([v, sides]), point.best, point.steps)
