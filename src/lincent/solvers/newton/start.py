"""The first step from beta = 0, where the gradient is known without the rows.

At zero every row of a class is pulled the same, so a Newton step from there is a least squares fit:
the right direction, roughly, but too short, since it also pulls back the rows beyond the margins.
How much too short is a question of two numbers, the length s and the threshold t,

    minimize over s, t    s^2 |step|^2 / 2 + sum_i c_i phi(s p_i - y_i t),    p_i = a_i.step

and Newton's method on a few of the rows answers it.  Neither the direction nor the length needs all
rows, so both are found from every k-th one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.exchange import exchanged, parted
from lincent.solvers.newton.hessian import Curvature, Whole
from lincent.solvers.newton.oracle import Reader, Reading
from lincent.solvers.solution import Controls

FEW_ROWS = 2_000
PER_COLUMN = 30
"""So many rows per column know the direction of the first step well enough."""
MANY_COLUMNS = 64
"""With fewer columns a Gram matrix of all rows is cheap."""
LENGTH_ROWS = 500
MANY_SHORT = 0.1
"""The share of rows short of the upper margin from which on sets of them are exchanged,"""
FAR_TOO_SHORT = 1.5
"""if the best length of the first step is above this: else few rows may decide."""
ROUNDS = 5
CLOSE = 3e-2
"""The length is close enough when it changes by less than this share."""


def first_step(reader: Reader, curvature: Curvature, controls: Controls) -> Reading:
    """The point to which the first step leads, or zero if that is the better one."""
    program = reader.program
    zero = reader.at_zero(even_at_zero(reader))
    m, n = program.shape
    # Where zero is a corner of the loss, or beyond it, no row is curved there; close to it all are.
    near = zero if np.any(zero.inside) else replace(zero, pull=np.full(m, 0.5))
    every = m // max(FEW_ROWS, PER_COLUMN * n)
    if every > 1 and n >= MANY_COLUMNS and isinstance(curvature, Whole):
        step, shift = curvature.thin(near.inside, every).solve(zero.gradient, zero.slope)
    else:
        step, shift = curvature.step(near)
    projected = program.rows.dot(step)
    square = float(step @ step)
    length, t = _best_length(program, square, projected, zero.t, max(1, m // LENGTH_ROWS))
    z = program.positions(length * projected, t)
    many = np.count_nonzero(z < program.high) > MANY_SHORT * m and length > FAR_TOO_SHORT
    apart = parted(program, program.positions(projected, zero.t + shift), curvature)
    if apart and (many or isinstance(curvature, Dual)):
        return exchanged(reader, curvature, controls, step, zero.t + shift)
    point = reader.at(length * step, t, length * projected)
    return point if point.objective < zero.objective else zero


def even_at_zero(reader: Reader) -> float:
    """The t at which both classes pull the same where all rows are at zero."""
    program, (down, up) = reader.program, reader.class_costs
    if not program.free or down == up:
        return 0.0
    # up (hi + t) = down (hi - t), if neither pull is beyond its range there; else any t will do.
    return program.high * (down - up) / (down + up)


def _best_length(
    program: RegularizedProgram, square: float, projected: Vector, t: float, every: int
) -> tuple[float, float]:
    """s and t, by Newton's method on every k-th row; rough, and not worse than a full step."""
    p, sign, costs = (v[::every].copy() for v in (projected, program.sign, program.costs))
    square *= float(costs.sum()) / float(program.costs.sum())
    length, best, lowest = 1.0, (1.0, t), np.inf
    for _ in range(ROUNDS):
        z = length * p - t * sign
        u = program.dual_weights(z)
        phi = u * (program.high - z - (program.width / 2) * u)
        value = length * length * square / 2 + float(costs @ phi)
        if not value < lowest:
            break
        lowest, best = value, (length, t)
        D = np.where((u > 0.0) & (u < 1.0), costs, 0.0)
        D /= program.width
        u *= costs
        down = length * square - float(u @ p)
        curve = square + float(D @ (p * p))
        if not curve > 0.0:  # the step is nothing: all rows are at the center
            break
        if not program.free:
            length -= down / curve
            continue
        across, along, excess = float(D.sum()), -float(D @ (p * sign)), float(u @ sign)
        det = curve * across - along * along
        if not det > 0.0:
            break
        move = (across * down - along * excess) / det
        length -= move
        t -= (curve * excess - along * down) / det
        if abs(move) < CLOSE * length:
            best = (length, t)
            break
    return best
