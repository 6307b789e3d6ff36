"""The vertex of a guessed active set, by two linear systems.

An interior point identifies, long before its last digits are right, which rows are active
(a_i.beta = s), which coordinates end at the box and whether d.beta = separation (Mehrotra and Ye
1993).  Holding these as equations,

    a_i.beta = s  (i active),  d.beta = separation  (if active),  beta_j = its bound  (at the box)
    sum_i alpha_i a_ij + t d_j = g_j     for every free coordinate j

gives beta and (alpha, t) by two linear least-squares corrections.  The guess may be wrong: the
caller keeps the point with the better certificate.

Where more rows are active than a vertex has equations, least squares may lead out of [0, c];
``fit_tied_weights`` finds dual weights inside.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, lstsq

from lincent.problems.arrays import Certificate, Matrix, Vector
from lincent.problems.centralization import Program, certify

LARGEST_SYSTEM = 4_000_000
"""Entries of a system worth solving."""
LEAST_SQUARES = 400
"""Columns up to which least squares, tens of times slower than elimination, are tried."""


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


def fit_tied_weights(rows: Matrix, rest: Vector, costs: Vector) -> Vector | None:
    """Return alpha in [0, c] with sum_i alpha_i a_i = rest, or None where none is found.

    The one next to the middle is alpha = c clip(1/2 + A lambda, 0, 1) for some lambda, which
    Newton steps find: each solves the equations for the weights that the last one left inside.
    """
    point, small = np.zeros(len(rest)), 1e-14 * float(costs @ np.abs(rows).sum(axis=1))
    last = np.inf
    for _ in range(14):
        share = rows @ point
        share += 0.5
        alpha = np.minimum(np.maximum(share, 0.0), 1.0)
        inside = (alpha == share).nonzero()[0]
        alpha *= costs
        short = rest - alpha @ rows
        left = float(np.abs(short).max(initial=0.0))
        if left <= small:
            return np.asarray(alpha)
        if not left < 0.75 * last:  # there are none
            return None
        last = left
        some = rows.take(inside, axis=0)
        normal = (some.T * costs.take(inside)) @ some
        normal.flat[:: len(rest) + 1] += 1e-11 * (normal.trace() + 1e-300)
        step, info = lapack.dposv(normal, short)[1:]
        if info != 0:
            return None
        point += step
    return None
