"""The vertex of a guessed active set, by two linear systems.

An interior point identifies, long before its last digits are right, which rows are active
(a_i.beta = s), which coordinates end at the box and whether d.beta = separation (Mehrotra and Ye
1993).  Holding these as equations,

    a_i.beta = s  (i active),  d.beta = separation  (if active),  beta_j = its bound  (at the box)
    sum_i alpha_i a_ij + t d_j = g_j     for every free coordinate j

gives beta and (alpha, t) by two linear least-squares corrections.  The guess may be wrong: the
caller keeps the point with the better certificate.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, lstsq

from lincent.problems.arrays import Mask, Matrix, Vector
from lincent.problems.centralization import Certificate, Program, certify

ACTIVE = 1e-9
"""Relative distance up to which a row or a side is active."""
LARGEST_SYSTEM = 4_000_000
"""Entries of a system worth solving."""
LEAST_SQUARES = 2000
"""Columns up to which least squares (half a second then) are tried."""


def _corrections(
    block: Matrix, primal_rest: Vector, dual_rest: Vector
) -> tuple[Vector, Vector] | None:
    """Solve block x = primal_rest and block' y = dual_rest, by least squares if singular."""
    row_size = _sizes(block.T)
    block = block / row_size[:, None]
    column_size = _sizes(block)
    block /= column_size
    primal_rest, dual_rest = primal_rest / row_size, dual_rest / column_size
    if block.shape[0] == block.shape[1]:
        factor, pivots, info = lapack.dgetrf(block)
        rcond = lapack.dgecon(factor, 1.0)[0] if info == 0 else 0.0
        if rcond > 1e-13:
            x = lapack.dgetrs(factor, pivots, primal_rest)[0]
            y = lapack.dgetrs(factor, pivots, dual_rest, trans=1)[0]
            return x / column_size, y / row_size
    if min(block.shape) > LEAST_SQUARES:
        return None
    x = lstsq(block, primal_rest, lapack_driver="gelsy", check_finite=False)[0]
    y = lstsq(block.T, dual_rest, lapack_driver="gelsy", check_finite=False)[0]
    return x / column_size, y / row_size


def _sizes(matrix: Matrix) -> Vector:
    size: Vector = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    size[size == 0] = 1.0
    return size


def to_vertex(
    program: Program,
    beta: Vector,
    alpha: Vector,
    t: float,
    active: np.ndarray,
    free: np.ndarray,
    touches: bool,
) -> Certificate | None:
    """Return the certified vertex of a guessed active set, or None where it is unusable."""
    rows_on, columns = np.flatnonzero(active), np.flatnonzero(free)
    if len(columns) == 0 or len(rows_on) + touches == 0:
        return certify(program, beta, alpha, t)
    if (len(rows_on) + 1) * len(columns) > LARGEST_SYSTEM:
        return None
    on = program.rows.take(rows_on)
    block = on.dense()
    rest = program.margin - block @ beta
    block = block[:, columns]
    if touches:
        block = np.vstack([block, program.difference[columns]])
        rest = np.append(rest, program.separation - program.difference @ beta)
    stationarity = program.linear - program.rows.tdot(alpha) - t * program.difference
    corrections = _corrections(block, rest, stationarity[columns])
    if corrections is None:
        return None
    step, change = corrections
    beta, alpha = beta.copy(), alpha.copy()
    beta[columns] += step
    alpha[rows_on] += change[: len(rows_on)]
    if touches:
        t = max(t + float(change[-1]), 0.0)
    return certify(program, beta, alpha, t)


def vertex_of_active_set(
    program: Program, before: Program, point: Certificate, width: float = ACTIVE
) -> Certificate | None:
    """Return the vertex that the active set of a point defines; None where rows are hard.

    ``before`` is the program of the point, which may have another margin and other costs; what is
    within ``width`` of its bound, relatively, is active.
    """
    if program.hard or before.hard:
        return None
    distance = before.rows.dot(point.beta) - before.margin
    size = float(np.abs(distance).mean()) + before.margin
    ratio = np.divide(
        program.costs, before.costs, where=before.costs > 0, out=np.zeros(len(distance))
    )
    between, at_low, at_high = active_hinges(before, point, width)
    active = (np.abs(distance) <= width * size) | between
    tight = float(before.difference @ point.beta) <= before.separation * (1 + width)
    # An inactive row has weight zero or its cost; rounding of the last point ends here.
    alpha = np.where(active, point.alpha * ratio, np.where(distance < 0, program.costs, 0.0))
    beta = np.where(at_low, program.lower, np.where(at_high, program.upper, point.beta))
    return to_vertex(program, beta, alpha, point.t, active, ~(at_low | at_high), tight)


def active_hinges(
    program: Program, point: Certificate, width: float = ACTIVE
) -> tuple[Mask, Mask, Mask]:
    """Return which rows (by their dual weights), lower sides and upper sides are active."""
    costs, rounding = program.costs, width * (program.upper - program.lower)
    between = (point.alpha > width * costs) & (point.alpha < (1 - width) * costs)
    return between, point.beta - program.lower <= rounding, program.upper - point.beta <= rounding
