"""The first point of Newton's method for the regularized problem.

At beta = 0 the gradient is known without the samples, and a Newton step from there is a least
squares fit: the right direction, roughly, but too short, since it also holds back the samples
beyond the margins.  How much too short is a question of two numbers, the length s and the
threshold t,

    minimize over s, t    s^2 |step|^2 / 2 + sum_i c_i phi(s p_i - y_i t),    p_i = a_i.step

and Newton's method on every k-th of the samples answers it.

Block pivoting (Judice and Pires 1994).  Without a lower margin the loss is a square,
(hi - z)^2 / (2 width) for z < hi, and a full Newton step from a point with the samples J short of
the margin ends at the least squares solution of J:

    J_0 = all samples,    J_k+1 = the samples short of the margin at the solution of J_k

until a set comes again: that is the optimum.  Only a step on which the squares rise is cut to their
lowest point; what the loss itself does on the way is not looked at.  A whole step decides on which
side many samples are, where a line search stays with the few that are first on the way: five to
fifteen sets are enough where a search takes fifty steps.  It is used where next to no samples are
beyond the lower margin, that is, where features can tell the classes apart; Newton's method goes on
from the lowest point that was seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.line_search import bisect_step
from lincent.solvers.newton.curvature import CG_SHARE, Curvature, Exact, TruncatedFirst
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Evaluation, Evaluator
from lincent.solvers.solution import Controls

SETS = 40
"""Sets of block pivoting at most; 3 to 20 are usual."""
DEEP = 1e6
"""So many times as far away a lower margin is as good as none."""


def first_step(evaluator: Evaluator, curvature: Curvature, controls: Controls) -> Evaluation:
    """Return the point to which the first step leads, or zero if that is the better one."""
    program, zero = evaluator.program, evaluator.at_zero()
    m = program.shape[0]
    # Where zero is at or beyond a breakpoint of the loss no sample is active; close to it all are.
    base = zero if np.any(zero.active) else replace(zero, u=np.full(m, 0.5))
    step, shift = curvature.step(base)
    projected = program.rows.dot(step)
    length, t = _best_length(program, float(step @ step), projected, zero.t)
    z = program.positions(length * projected, t)
    # A first step of about the right length leaves few samples short: those may decide alone.
    many = np.count_nonzero(z < program.high) > 0.1 * m and length > 1.5
    apart = _is_separated(program, program.positions(projected, zero.t + shift), curvature)
    if apart and (many or isinstance(curvature, Dual)):
        return block_pivoting(evaluator, curvature, controls, step, zero.t + shift)
    point = evaluator.at(length * step, t, length * projected)
    return point if point.objective < zero.objective else zero


def _best_length(
    program: RegularizedProgram, square: float, projected: Vector, t: float
) -> tuple[float, float]:
    """Return s and t, by Newton's method on every k-th sample; at least as good as a full step."""
    every = max(1, len(projected) // 500)  # so many know the length
    p, sign, costs = (v[::every].copy() for v in (projected, program.sign, program.costs))
    square *= float(costs.sum()) / float(program.costs.sum())
    length, best, lowest = 1.0, (1.0, t), np.inf
    for _ in range(5):
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
        slope = length * square - float(u @ p)
        curvature = square + float(D @ (p * p))
        if not curvature > 0.0:  # the step is nothing: all samples are at the center
            break
        if not program.free:
            length -= slope / curvature
            continue
        across, mixed, excess = float(D.sum()), -float(D @ (p * sign)), float(u @ sign)
        determinant = curvature * across - mixed * mixed
        if not determinant > 0.0:
            break
        move = (across * slope - mixed * excess) / determinant
        length -= move
        t -= (curvature * excess - mixed * slope) / determinant
        if abs(move) < 3e-2 * length:
            best = (length, t)
            break
    return best


def _is_separated(program: RegularizedProgram, z: Vector, curvature: Curvature) -> bool:
    """Return whether next to no samples are beyond the lower margin (none, if steps are cheap)."""
    if isinstance(curvature, TruncatedFirst) and not curvature.cheap:
        return False  # dependent features: each set would need a matrix of its own
    most = 0.0 if isinstance(curvature, Exact) else 0.02
    return int(np.count_nonzero(z <= program.low)) <= most * len(z)


def block_pivoting(
    evaluator: Evaluator, curvature: Curvature, controls: Controls, beta: Vector, t: float
) -> Evaluation:
    """Return the lowest point that block pivoting meets on its way from (beta, t)."""
    program = evaluator.program
    low, costs = program.high - DEEP * program.width, program.costs * DEEP
    squares = Evaluator(replace(program, low=low, costs=costs))
    point = squares.at(beta, t)
    if isinstance(curvature, TruncatedFirst):
        curvature.light.share = 0.02  # samples on the wrong side cost more than products
    best, lowest = point, np.inf
    for _ in range(SETS):
        step, shift = curvature.step(point)
        end = squares.at(point.beta + step, point.t + shift)
        same = np.array_equal(end.active, point.active)
        if end.objective > point.objective:
            length = _lowest(squares.program, point, end)
            end = squares.at(point.beta + length * step, point.t + length * shift)
        point = end
        z = program.positions(point.projected, point.t)
        objective = program.primal(point.beta, z, program.dual_weights(z))
        if objective < lowest:
            best, lowest = point, objective
        if same or curvature.coarse or controls.out_of_time():
            break
    if isinstance(curvature, TruncatedFirst):
        curvature.light.share = CG_SHARE
    return evaluator.at(best.beta, best.t, best.projected)


def _lowest(program: RegularizedProgram, one: Evaluation, two: Evaluation) -> float:
    """Return how far from one point to the other the objective is lowest."""
    step = two.beta - one.beta
    linear, square = float(one.beta @ step), float(step @ step)
    z = program.positions(one.projected, one.t)
    moved = program.positions(two.projected, two.t) - z

    def slope(length: float) -> float:
        alpha = program.costs * program.dual_weights(z + length * moved)
        return linear + length * square - float(alpha @ moved)

    # A finer search costs more than it saves.
    return bisect_step(slope, 0.0, max_iter=10)
