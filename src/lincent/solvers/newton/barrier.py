"""Interior-point method for the regularized problem, where active-set steps make no progress.

The loss is a maximum, phi(z) = max over 0 <= u <= 1 of u (hi - z) - width u^2 / 2, so that with
dual weights alpha = c u and slacks p of alpha >= 0 and q of alpha <= c the optimum is where

    beta = A'alpha,    sum_i y_i alpha_i = 0,    hi - z - (width / c) alpha + p - q = 0,
    p alpha = 0,       q (c - alpha) = 0,        z = A beta - y t.

A step of Mehrotra's method (``predictor_corrector``) eliminates alpha, p and q, which leaves the
system of ``hessian`` with the curvature

    D = 1 / (width / c + p / alpha + q / (c - alpha))

of all samples: a new matrix in each step, but about thirty of them whatever the scales of the
samples.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.bounds import Bounds
from lincent.solvers.newton.curvature import FactoredHessian, ThresholdTerm
from lincent.solvers.newton.descent import NAME, best_threshold
from lincent.solvers.predictor_corrector import Move, predictor_corrector
from lincent.solvers.solution import Controls, Solution, Status


def solve(program: RegularizedProgram, controls: Controls) -> Solution:
    """Return the optimum: its objective is that of (beta, t), its dual bound that of alpha."""
    rows, sign, costs = program.rows, program.sign, program.costs
    m, n = program.shape
    beta, t = np.zeros(n), 0.0
    Z = np.concatenate([costs / 2, costs / 2])  # alpha and costs - alpha, each with its own digits
    unmet = program.high - program.width / 2
    slack = np.full(m, abs(program.high) + abs(program.low))
    P = np.concatenate([slack + max(-unmet, 0.0), slack + max(unmet, 0.0)])
    bounds, since, status, steps = Bounds(program.unit), 0, Status.ITERATION_LIMIT, 0

    def direction(R: Vector) -> Move:
        """Solve the Newton equations of the current iterate for Z dP + P dZ = R."""
        push = R / Z
        wanted = off + push[:m] - push[m:]
        weight = D * wanted
        slope = float(sign @ weight) - off_t if program.free else 0.0
        dbeta, dt = factor.solve(-(off_beta + rows.tdot(weight)), slope)
        dalpha = D * (wanted - rows.dot(dbeta) + sign * dt)
        dZ = np.concatenate([dalpha, -dalpha])
        return (dbeta, dt), push - stiffness * dZ, dZ

    for steps in range(1, min(80, controls.max_iter) + 1):  # twenty to forty are usual
        alpha = Z[:m]
        off = program.high - program.positions(rows.dot(beta), t) + P[:m] - P[m:]
        off -= program.width / costs * alpha
        off_beta = rows.tdot(alpha) - beta
        off_t = -float(sign @ alpha) if program.free else 0.0
        stiffness = P / Z
        D = 1.0 / (program.width / costs + stiffness[:m] + stiffness[m:])
        total = float(D.sum()) if program.free else 0.0
        factor = FactoredHessian(ThresholdTerm(rows.tdot(D * sign), total), rows.gram(D))
        ((dbeta, dt), dP, dZ), length, _ = predictor_corrector(P, Z, direction, equal=True)
        beta, t = beta + length * dbeta, t + length * dt
        P, Z = P + length * dP, Z + length * dZ
        gap = bounds.relative_gap
        _offer(bounds, program, beta, t, Z[:m])
        controls.reached(f"interior step {steps}", bounds.objective, bounds.relative_gap)
        since = 0 if bounds.relative_gap < gap else since + 1
        if bounds.relative_gap <= controls.tol:
            status = Status.OPTIMAL
        elif controls.out_of_time():
            status = Status.TIME_LIMIT
        elif since >= 5:  # rounding
            status = Status.STALLED
        else:
            continue
        break
    beta, t = bounds.primal
    return Solution(status, bounds.certificate(beta, bounds.dual, t), steps, NAME)


def _offer(
    bounds: Bounds, program: RegularizedProgram, beta: Vector, t: float, alpha: Vector
) -> None:
    """Offer both bounds of an iterate, with the best threshold for its beta."""
    projected = program.rows.dot(beta)
    t = best_threshold(program, projected, t) if program.free else 0.0
    z = program.positions(projected, t)
    bounds.offer_primal(program.primal(beta, z, program.dual_weights(z)), (beta, t))
    balanced = program.balanced(alpha)
    bounds.offer_dual(program.dual(balanced, program.rows.tdot(balanced)), balanced)
