"""Out of a local optimum of the ramp program, along lines.

On a line beta + t u the objective (R) of ``programs.ramp`` is a sum of hinges,

    F(t) = const - (q + t q_u) + sum_i c_i (s + p_i + t p_ui)_+
                               - sum_i c_i (p_i - q + t (p_ui - q_u))_+

piecewise linear with at most two kinks a row.  Sorting the kinks and adding up slopes gives its
*global* minimum on the line, at the price of a sort.  From a local optimum three families of
lines are looked along:

    the axes and the ray through zero
    the edges of the vertex: one active constraint let go, the others kept
    inv(A'CA) a_i: the lines that move row i and disturb the others least

The lines cost far less than a linear program, and the convex-concave procedure goes on from the
lowest point on them, if any is lower.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.ramp import RampProgram

MOST_COLUMNS = 300
"""With more columns the lines are no longer cheap, and none is searched."""
MOST_ENTRIES = 4_000_000
"""Rows times lines that are searched."""
BATCH_ENTRIES = 400_000
MOST_ROW_LINES = 150
ON_THE_KINK = 1e-7
WORTH = 1e-9


def lowest_on_lines(program: RampProgram, beta: Vector, value: float) -> Vector | None:
    """The lowest point on the lines through a local optimum, or None if none is below it."""
    m, n = program.shape
    room = MOST_ENTRIES // max(1, m)
    if n > MOST_COLUMNS or room < n:
        return None
    projected = program.rows.dot(beta)
    lines = _lines(program, beta, projected)[:, :room]
    best, found = value - WORTH * max(1.0, abs(value)), None
    step = max(1, BATCH_ENTRIES // max(1, m))
    for start in range(0, lines.shape[1], step):
        batch = lines[:, start : start + step]
        length, values = minimum_on_lines(program, beta, projected, batch)
        k = int(np.argmin(values))
        if values[k] < best:
            best, found = float(values[k]), beta + length[k] * batch[:, k]
    return found


def minimum_on_lines(
    program: RampProgram, beta: Vector, projected: Vector, lines: Matrix
) -> tuple[Vector, Vector]:
    """(t, F): for each column u of ``lines`` the best t inside the box and d.beta >= s."""
    along = np.column_stack([program.rows.dot(u) for u in np.ascontiguousarray(lines.T)])
    s, c, d = program.margin, program.costs, program.difference
    q, q_u = float(d @ beta), d @ lines
    low, high = _range(beta, lines, q - s, q_u)
    at = np.concatenate([s - 2 * projected, -2 * projected - q])[:, None]
    slope = np.concatenate([-2 * along, -2 * along - q_u])
    weight = np.concatenate([c, -c])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        kink = np.where(slope != 0, -at / slope, np.inf)
    kink = np.clip(kink, low, high)
    order = np.argsort(kink, axis=0)
    kink = np.vstack([low, np.take_along_axis(kink, order, axis=0), high])
    first = at + slope * low
    # Just above the lower end a hinge counts if it is positive or about to be.
    rising = (first > 0) | ((first == 0) & (slope > 0))
    jump = np.where(rising & (slope > 0), 0.0, weight * np.abs(slope))
    # Kinks outside the range were moved to its ends; their jump must not count inside.
    jump[~rising & (slope <= 0)] = 0.0
    jump = np.take_along_axis(jump, order, axis=0)
    value = -(q + q_u * low) - s * float(c.sum()) + (weight * np.maximum(first, 0.0)).sum(axis=0)
    begin = -q_u + (weight * slope * rising).sum(axis=0)
    slopes = begin + np.vstack([np.zeros_like(low), np.cumsum(jump, axis=0)])
    values = value + np.vstack(
        [np.zeros_like(low), np.cumsum(slopes * np.diff(kink, axis=0), axis=0)]
    )
    best = np.argmin(values, axis=0)
    each = np.arange(lines.shape[1])
    return kink[best, each], values[best, each]


def _range(beta: Vector, lines: Matrix, room: float, q_u: Vector) -> tuple[Vector, Vector]:
    """How far each line goes back and forth before it leaves the box or d.beta >= s."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([(-1.0 - beta[:, None]) / lines, (1.0 - beta[:, None]) / lines])
        ends = np.where(lines == 0, np.array([-np.inf, np.inf])[:, None, None], ends)
        low, high = ends.min(axis=0).max(axis=0), ends.max(axis=0).min(axis=0)
        back = np.where(q_u > 0, -room / q_u, -np.inf)
        forth = np.where(q_u < 0, -room / q_u, np.inf)
    # t = 0 is inside, up to rounding.
    return np.minimum(np.maximum(low, back), 0.0), np.maximum(np.minimum(high, forth), 0.0)


def _lines(program: RampProgram, beta: Vector, projected: Vector) -> Matrix:
    families = [np.eye(len(beta)), beta[:, None], _edges(program, beta, projected)]
    lines = np.hstack([*families, _row_lines(program, projected)])
    return lines[:, np.any(lines != 0, axis=0)]


def _edges(program: RampProgram, beta: Vector, projected: Vector) -> Matrix:
    size = float(np.mean(np.abs(projected))) + program.margin
    on = np.flatnonzero(np.abs(2 * projected - program.margin) <= ON_THE_KINK * size)
    at_box = np.flatnonzero(np.abs(beta) >= 1.0 - 1e-9)
    active = [program.rows.take(on).dense(), np.eye(len(beta))[at_box]]
    if float(program.difference @ beta) <= program.margin * (1 + 1e-9):
        active.append(program.difference[None, :])
    together = np.vstack(active)
    if not 0 < len(together) <= 2 * len(beta) + 10:
        return np.empty((len(beta), 0))
    return np.asarray(np.linalg.pinv(together))


def _row_lines(program: RampProgram, projected: Vector) -> Matrix:
    gram = program.rows.gram(program.costs)
    # Rows evenly along the line, equal ones once: repeated rows add no lines.
    _, chosen = np.unique(projected, return_index=True)
    if len(chosen) > MOST_ROW_LINES:
        chosen = chosen[np.linspace(0, len(chosen) - 1, MOST_ROW_LINES).astype(np.intp)]
    rows = program.rows.take(np.sort(chosen)).dense()
    return np.asarray(np.linalg.pinv(gram, hermitian=True) @ rows.T)
