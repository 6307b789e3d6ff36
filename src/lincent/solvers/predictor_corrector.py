"""Mehrotra's predictor-corrector step of a primal-dual interior-point method.

Linear and convex quadratic programs have optimality conditions of the form

    F(x, P, Z) = 0  (linear),        P_i Z_i = 0,        P, Z >= 0,

P the slacks of all inequalities and Z their dual variables.  An interior point keeps P, Z > 0 and
takes Newton steps on P_i Z_i = mu with mu going to zero.  One step solves the same linear system

    F' (dx, dP, dZ) = -F,        Z dP + P dZ = R

for two right sides (Mehrotra 1992): R = -PZ predicts how far mu can fall, and the corrector
R = center - PZ - dP dZ makes up for the product that linearization left out.  With ``correctors``
further right sides follow that aim for longer steps and bring outlying products back to their mean
(Gondzio 1996), while the steps become longer by them.

The caller brings the linear system as ``direction(R) -> (dx, dP, dZ)`` and moves its iterate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lincent.problems.arrays import Vector
from lincent.solvers.cholesky import NotPositiveDefiniteError

STEP_BACK = 0.995
"""Of the way to the boundary that is taken: Mehrotra's number.  0.9 takes 28 % more steps."""
SMALL_STEP = 0.1
"""A corrector that allows less is replaced by plain centering."""
REACH = 0.3
"""How much longer a step Gondzio's correctors aim for,"""
SPREAD = 10.0
"""and how far a product may be from the mean before it is corrected."""

Move = tuple[Any, Vector, Vector]


def predictor_corrector(
    P: Vector,
    Z: Vector,
    direction: Callable[[Vector], Move],
    *,
    equal: bool = False,
    correctors: int = 0,
    long_step: float = 0.9,
) -> tuple[Move, float, float]:
    """Return the step (dx, dP, dZ) and the lengths to go along it, primal and dual.

    ``equal`` lengths are needed where the conditions F couple x and Z, as in quadratic programs.
    Steps of more than ``long_step`` need no further corrector.  A step that is not finite raises
    ``NotPositiveDefiniteError``, as a matrix without a factor does.
    """
    inverse_P, inverse_Z = 1.0 / P, 1.0 / Z

    def lengths(move: Move, share: float = 1.0, least: float = 1.0) -> tuple[float, float]:
        """Return this share of the longest steps that keep P and Z nonnegative."""
        primal = -float((move[1] * inverse_P).min())
        dual = -float((move[2] * inverse_Z).min())
        if equal:
            primal = dual = float(np.maximum(primal, dual))
        return share * (1.0 / max(primal, least)), share * (1.0 / max(dual, least))

    product = P * Z
    mu = float(product.mean())
    _, dP, dZ = predicted = direction(-product)
    primal, dual = lengths(predicted)
    second_order = dP * dZ
    ahead = product.sum() + primal * (dP @ Z) + dual * (P @ dZ)
    ahead = (ahead + primal * dual * second_order.sum()) / P.size
    center = min((max(ahead, 0.0) / mu) ** 3, 1.0) * mu
    R = center - product - second_order
    move = direction(R)
    primal, dual = lengths(move)
    if min(primal, dual) < SMALL_STEP:
        center = max(center, SMALL_STEP * mu)
        R = center - product
        move = direction(R)
        primal, dual = lengths(move)
    for _ in range(correctors):
        if min(primal, dual) > long_step:
            break
        further = min(1.0, primal + REACH), min(1.0, dual + REACH)
        products = (P + further[0] * move[1]) * (Z + further[1] * move[2])
        change = np.minimum(np.maximum(products, center / SPREAD), center * SPREAD) - products
        corrected = R + np.maximum(change, -SPREAD * center)
        longer_move = direction(corrected)
        longer = lengths(longer_move)
        if longer[0] + longer[1] < primal + dual + 0.05:  # not worth its solve
            break
        R, move, (primal, dual) = corrected, longer_move, longer
    if not np.isfinite(primal + dual):
        raise NotPositiveDefiniteError("the step is not finite")
    # A full step, if it is possible, solves the linear equations of a quadratic program exactly.
    return move, *lengths(move, STEP_BACK, STEP_BACK if equal else 1.0)
