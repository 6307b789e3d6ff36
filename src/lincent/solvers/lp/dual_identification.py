"""Programs with more columns than rows, by naming the free columns first.

1. an augmented Lagrangian of the dual names the columns inside the box and the rows that matter:
   products with few rows alone;
2. the null-space program finds the vertex exactly, with one matrix as large as those rows;
3. where the multipliers of that vertex leave more than itself, as those of 0/1 words do, the point
   of this face is looked for that keeps all other rows (``face``);
4. rows that are missed all the same join, and 2 is done again from there, as a smaller program;
   where it was not near, 1 goes on; where the optimum is a large face, an interior point solves
   the rows that matter.

Where the rows that matter are above ``largest_matrix`` no matrix is formed, and the gap that the
first step can certify is the answer; a warning names it.  So it is with a face of many rows in
more than 20,000 columns (``others_are_asked``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Index
from lincent.problems.centralization import Program, better_sides, certify
from lincent.solvers.lp import face, null_space, row_generation
from lincent.solvers.lp.column_hinges import ColumnHinges
from lincent.solvers.lp.dual_lagrangian import TUNING as NAMING
from lincent.solvers.lp.dual_lagrangian import Named, identify, others_are_asked, start
from lincent.solvers.lp.null_space import Start, finish
from lincent.solvers.solution import Controls, Solution, Status

NAME = "dual-identification"


@dataclass(frozen=True)
class Tuning:
    """Measured on text-like, binary, counted and hashed 4,000 x 10,000 and 20,000 x 47,000."""

    spare: tuple[float, ...] = (0.12, 0.05, 0.02, 0.0)
    """Free columns beyond the rows between their bounds, as a share of these, from which on a
    vertex is tried: more cost a larger null space, fewer CG steps."""
    most_spare: int = 100
    """The same as a number: a large matrix is worth more CG steps."""
    face_spare: float = 0.4
    most_face: int = 300
    """The same where free columns no longer become fewer, and the most in any case: in few
    variables the null space is a tenth of an interior point, in many several of it."""
    near_rows: float = 0.1
    """Rows at a bound that join the working rows, as a share of those between."""
    near_columns: float = 0.05
    """Columns at a side of the box that join the free ones, as a share of the working rows."""
    joins: int = 8
    """Times that rows may join before the first step goes on."""
    largest_matrix: int = 6000
    """Rows that matter up to which their matrix is factored (288 MB, some ten seconds)."""
    least_rows: int = 500
    """With fewer rows the whole is solved as fast."""
    least_columns: float = 0.5
    """Columns per row from which on classes are often separable: then it takes half the time of an
    interior point, and where they are not, that is seen within a tenth of it."""
    short_steps: int = 10
    """Steps that count as one of ``max_iter``: each is far below one of an interior point."""


TUNING = Tuning()
FINISH = null_space.Tuning(most_joining=8.0)
"""Where few columns are spare many may be misplaced, and joining is cheap."""


def worthwhile(m: int, n: int, sparse: bool) -> bool:
    """Whether most columns may end at the box: about as many as rows, or more."""
    return sparse and m >= TUNING.least_rows and n >= TUNING.least_columns * m


def solve(program: Program, controls: Controls, tuning: Tuning = TUNING) -> Solution:
    """The certified optimum, or the smallest certified gap without a matrix."""
    point = start(program)
    steps = replace(controls, max_iter=tuning.short_steps * controls.max_iter)
    for share in tuning.spare:
        point = identify(program, point, share, tuning.most_spare, steps)
        if _closed(point, controls) or controls.out_of_time() or _gap(point) > NAMING.near:
            break
        no_fewer = point.spare > share * point.between  # free columns no longer become fewer
        if point.spare > min(tuning.face_spare * point.between, tuning.most_face):
            break
        if point.between <= tuning.largest_matrix:
            _finish(program, point, controls, tuning)
        if no_fewer or _closed(point, controls) or controls.out_of_time():
            break
    iterations = point.steps // tuning.short_steps
    near = controls.tol < _gap(point) <= NAMING.near
    if near and others_are_asked(program, point):
        iterations += _by_rows(program, point, controls)
    assert point.best is not None
    status = Status.OPTIMAL if _closed(point, controls) else Status.STALLED
    if status is Status.STALLED and controls.out_of_time():
        status = Status.TIME_LIMIT
    return Solution(status, point.best, max(iterations, 1), NAME)


def _gap(point: Named) -> float:
    assert point.best is not None
    return point.best.relative_gap


def _closed(point: Named, controls: Controls) -> bool:
    return _gap(point) <= controls.tol


def _by_rows(program: Program, point: Named, controls: Controls) -> int:
    """An interior point on the rows that have mattered: a face has no vertex to look for.

    Columns that repeat each other, of 0/1 data for instance, have faces as optima.
    """
    if controls.out_of_time():
        return 0
    _nearest(program, point, int(TUNING.near_rows * point.between) + 1)
    found = row_generation.solve(program, controls, first=point.rows)
    assert point.best is not None
    point.best = better_sides(point.best, found.certificate)
    return found.iterations


def _finish(program: Program, point: Named, controls: Controls, tuning: Tuning) -> None:
    """The vertex near the point, with the rows that it turns out to miss."""
    count = int(tuning.near_rows * point.between) + max(point.spare, 0) + 1
    joined = _nearest(program, point, count)
    keep = np.concatenate([_near_rows(point, len(point.rows) - len(joined), count), joined])
    sure = len(keep)
    at, places, known = point, keep, sure
    for _ in range(tuning.joins):
        hinges, begin = working_start(program, at, places, known)
        found = finish(hinges, begin, controls, FINISH)
        assert point.best is not None
        point.best = better_sides(point.best, found.certificate)
        if found.status is not Status.STALLED:
            break
        in_the_way = _on_the_face(program, point, hinges, controls) if hinges.optimal else None
        if _closed(point, controls):
            break
        new = point.places(hinges.missed if in_the_way is None else in_the_way)
        if at is point and not len(new):
            break
        vertex = None
        if hinges.optimal and in_the_way is None and at is point:
            vertex = _at_vertex(program, point, hinges, keep)
        keep = np.concatenate([keep, np.setdiff1d(new, keep)])
        if vertex is None:
            at, places, known = point, keep, sure
        else:
            # Next to a vertex few rows and columns are in doubt: the next program is a small one.
            vertex.over[new] = vertex.missed[new] = 0.0
            near = _near_rows(vertex, len(point.rows), int(tuning.near_rows * point.between) + 1)
            near = near[~np.isin(near, new)]
            at, places, known = vertex, np.concatenate([near, new]), len(near)


def _on_the_face(
    program: Program, point: Named, hinges: ColumnHinges, controls: Controls
) -> Index | None:
    """A point of the face that the multipliers of a vertex leave, and the rows in its way.

    None where the vertex is all that they leave.
    """
    assert point.best is not None
    alpha = hinges.fixed.copy()
    alpha[hinges.rows] = np.clip(hinges.x[:-1], 0.0, program.costs[hinges.rows])
    t = max(float(hinges.x[-1]), 0.0)
    found = face.nearest(program, alpha, t, (point.beta + hinges.beta) / 2, controls)
    if found is None:
        return None
    beta, missed = found
    point.best = better_sides(point.best, certify(program, beta, alpha, t))
    controls.reached("face", point.best.objective, _gap(point), f"  {len(missed)} rows in the way")
    return np.setdiff1d(missed, hinges.rows)


def _at_vertex(program: Program, point: Named, hinges: ColumnHinges, keep: Index) -> Named:
    """The point at the vertex that is optimal for the working rows at these places."""
    v, p, q = hinges.parts()
    beta, slopes = hinges.beta, hinges.slopes()[hinges.group]
    room = hinges.apart(np.minimum(v, hinges.top[: hinges.n] - v))
    empty = np.isinf(point.beyond)  # columns without entries stay inside the box, and are not free
    # A slope counts by the size of its column, as where columns are named.
    pull = np.abs(slopes) / np.where(empty, 1.0, program.rows.column_scale())
    beyond = np.where(empty, np.inf, np.where(room > 0.0, -room, pull))
    slack = np.append(program.rows.dot(beta)[point.rows] - program.margin, 0.0)
    over, missed = np.maximum(slack, 0.0), np.maximum(-slack, 0.0)
    x = np.append(hinges.fixed[point.rows], 0.0)
    places = np.append(keep, len(point.rows))
    x[places], over[places], missed[places] = hinges.x, p, q
    return replace(point, beta=beta, beyond=beyond, x=x, over=over, missed=missed)


def _near_rows(point: Named, have: int, spare: int) -> Index:
    """Places of working rows: those between their bounds, and those at one least firmly."""
    firm = (point.over + point.missed)[:have]
    between = int(np.count_nonzero(firm == 0.0))
    return np.argsort(firm, kind="stable")[: between + spare]


def _nearest(program: Program, point: Named, count: int) -> Index:
    """Further rows that the point is nearest to missing join; their places."""
    over = program.rows.dot(point.beta) - program.margin
    over[point.rows] = np.inf
    count = min(count, len(over) - len(point.rows))
    new = np.argpartition(over, count - 1)[:count] if count else np.empty(0, dtype=np.intp)
    places = point.places(new)
    point.over[places] = np.maximum(over[new], 0.0)
    return places


def working_start(
    program: Program, point: Named, keep: Index, sure: int
) -> tuple[ColumnHinges, Start]:
    """The hinges over the working rows at these places, and which of them are near.

    Of the rows beyond the first ``sure`` it is not known whether they are at a bound.
    """
    assert point.best is not None
    alpha = np.zeros(program.shape[0])
    alpha[point.rows] = np.where(point.missed[:-1] > 0, program.costs[point.rows], 0.0)
    rows = point.rows[keep]
    alpha[rows] = point.x[keep]
    hinges = ColumnHinges(program, rows, alpha)
    keep = np.append(keep, len(point.rows))
    sides = np.concatenate([point.over[keep], point.missed[keep]])
    doubtful = np.zeros(len(keep), dtype=bool)
    doubtful[sure:-1] = True
    held = np.flatnonzero((sides > 0.0) | np.append(doubtful, np.zeros_like(doubtful)))
    v = hinges.together(point.beta - program.lower)
    beyond = np.full(hinges.n, np.inf)
    np.minimum.at(beyond, hinges.group, point.beyond)
    near = int(TUNING.near_columns * len(rows)) + 1 + int(np.count_nonzero(beyond < 0.0))
    columns = np.sort(np.argpartition(beyond, min(near, hinges.n) - 1)[:near])
    chosen = np.concatenate([columns, hinges.n + held])
    return hinges, Start(chosen, np.concatenate([v, sides]), point.best, point.steps)
