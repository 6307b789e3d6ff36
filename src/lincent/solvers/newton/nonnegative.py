"""One rule some of whose coefficients must not be negative.

    minimize over beta, b   |beta|^2 / 2 + C sum_i c_i phi(s_i (x_i.beta + b)),  beta_j >= 0 in J

Newton's method on the coefficients that are free to move, projected (Bertsekas, 1982).  The dual of
``problems.joint`` with g = sum_i A_i x_i: a coefficient in J contributes max(g_j, 0)^2 / 2 instead
of g_j^2 / 2, since the minimum of beta^2 / 2 - g beta over beta >= 0 is at max(g, 0).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.joint import LossAtScores, SeparateLoss
from lincent.solvers.newton.design import Design
from lincent.solvers.newton.joint import JointSolution

SHORTEST = 1e-12
ENOUGH = 1e-4
"""A step is taken if it brings this share of the decrease that its slope promises."""
NUDGE = 1e-13


def solve_nonnegative(
    design: Design,
    program: SeparateLoss,
    scale: float,
    held: np.ndarray,
    tol: float,
    max_iter: int,
    start: Matrix | None = None,
) -> JointSolution:
    """The rule with beta[held] >= 0 and its certificate."""
    point = np.zeros(design.shape[1]) if start is None else start[:, 0].copy()
    held = np.append(held, False)
    point[held] = np.maximum(point[held], 0.0)
    steps = 0
    while True:
        at, gradient, value = _look(design, program, scale, point)
        bound = _bound(design, program, scale, at, held)
        gap = (value - bound) / max(1.0, abs(value))
        if gap <= tol or steps >= max_iter:
            break
        steps += 1
        ahead = _advance(design, program, scale, held, point, at, gradient, value)
        if ahead is None:
            break
        point = ahead
    return JointSolution(point[:, None], np.array([value]), np.array([bound]), steps)


def _look(
    design: Design, program: SeparateLoss, scale: float, point: Vector
) -> tuple[LossAtScores, Vector, float]:
    at = program.read(design.dot(point[:, None]))
    gradient = design.tdot(scale * at.slope)[:, 0]
    gradient[:-1] += point[:-1]
    return at, gradient, float(point[:-1] @ point[:-1]) / 2 + scale * float(at.loss[0])


def _bound(
    design: Design, program: SeparateLoss, scale: float, at: LossAtScores, held: np.ndarray
) -> float:
    def combine(amounts: Matrix) -> Matrix:
        combined = design.tdot(amounts)[:-1]
        return np.where(held[:-1, None], np.maximum(combined, 0.0), combined)

    return float(program.bound(at.dual_weight, scale, combine)[0])


def _advance(
    design: Design,
    program: SeparateLoss,
    scale: float,
    held: np.ndarray,
    point: Vector,
    at: LossAtScores,
    gradient: Vector,
    value: float,
) -> Vector | None:
    """The next point; None where no step leads down."""
    free = np.flatnonzero(~(held & (point <= 0.0) & (gradient >= 0.0)))
    hessian = scale * design.gram_by_changes(program.hessian_diagonal(at)[:, 0])
    hessian.flat[: len(point) * (len(point) - 1) : len(point) + 1] += 1.0
    hessian.flat[:: len(point) + 1] += NUDGE * float(hessian.diagonal().max())
    step = np.zeros_like(point)
    step[free] = -cho_solve(cho_factor(hessian[np.ix_(free, free)]), gradient[free])
    for direction in (step, -gradient):
        length = 1.0
        while length > SHORTEST:
            ahead = point + length * direction
            ahead[held] = np.maximum(ahead[held], 0.0)
            promised = float(gradient @ (point - ahead))
            if promised > 0.0:
                _, _, there = _look(design, program, scale, ahead)
                if there <= value - ENOUGH * promised:
                    return ahead
            length /= 2
    return None
