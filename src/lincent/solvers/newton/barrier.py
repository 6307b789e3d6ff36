"""An interior point for the regularized program: where steps from margin to margin lead nowhere.

The loss is a maximum, phi(z) = max over 0 <= u <= 1 of u (hi - z) - width u^2 / 2, so that with
slacks p of u >= 0 and q of u <= 1 the optimum is where

    beta = A'(c u),    sum_i y_i c_i u_i = 0,    hi - z - width u + p - q = 0,
    p u = 0,           q (1 - u) = 0,            z = A beta - y t.

The products are held at a number that falls to zero (Mehrotra's predictor and corrector).  A step
eliminates u, p and q, and what is left is the system of ``hessian`` with the curvature

    D = c / (width + p / u + q / (1 - u))

of all rows: a whole matrix each time, but some thirty of them whatever the sizes of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.descent import NAME, best_threshold
from lincent.solvers.newton.factor import Factored, Threshold
from lincent.solvers.solution import Controls, Solution, Status

STEPS = 80
"""Steps at most; twenty to forty are usual."""
PATIENCE = 5
"""Steps that do not bring the gap down after which rounding has the last word."""
BACK = 0.995
"""The share of the way to a bound that is gone."""


@dataclass
class _Point:
    beta: Vector
    t: float
    u: Vector
    p: Vector
    q: Vector


def solve(program: RegularizedProgram, controls: Controls) -> Solution:
    """The optimum from (beta, t) for its objective and from u for its bound."""
    now, since = _begin(program), 0
    best = _certificate(program, now)
    for steps in range(1, min(STEPS, controls.max_iter) + 1):
        now = _advance(program, now)
        gap = best.relative_gap
        best = _better(best, _certificate(program, now))
        controls.reached(f"interior step {steps}", best.objective, best.relative_gap)
        since = 0 if best.relative_gap < gap else since + 1
        if best.relative_gap <= controls.tol:
            return Solution(Status.OPTIMAL, best, steps, NAME)
        if controls.out_of_time():
            return Solution(Status.TIME_LIMIT, best, steps, NAME)
        if since >= PATIENCE:
            return Solution(Status.STALLED, best, steps, NAME)
    return Solution(Status.ITERATION_LIMIT, best, steps, NAME)


def _certificate(program: RegularizedProgram, at: _Point) -> Certificate:
    """What is proved at a point, with the best threshold for its beta."""
    projected = program.rows.dot(at.beta)
    t = best_threshold(program, projected, at.t) if program.free else 0.0
    z = program.positions(projected, t)
    objective = program.primal(at.beta, z, program.pull(z))
    alpha = program.balanced(program.costs * at.u)
    bound = program.dual(alpha, program.rows.tdot(alpha))
    return Certificate(at.beta, alpha, t, objective, bound, unit=program.unit)


def _better(one: Certificate, two: Certificate) -> Certificate:
    """The lower objective, with its threshold, and the higher bound of both."""
    low = min(one, two, key=lambda found: found.objective)
    high = max(one, two, key=lambda found: found.dual_objective)
    return replace(low, alpha=high.alpha, dual_objective=high.dual_objective)


def _begin(program: RegularizedProgram) -> _Point:
    m, n = program.shape
    u = np.full(m, 0.5)
    unmet = program.high - program.width * u
    room = np.full(m, abs(program.high) + abs(program.low))
    return _Point(np.zeros(n), 0.0, u, room + np.maximum(-unmet, 0), room + np.maximum(unmet, 0))


def _advance(program: RegularizedProgram, at: _Point) -> _Point:
    rows, sign, costs = program.rows, program.sign, program.costs
    z = program.positions(rows.dot(at.beta), at.t)
    off_beta = rows.tdot(costs * at.u) - at.beta
    off_t = -float(sign @ (costs * at.u)) if program.free else 0.0
    off = program.high - z - program.width * at.u + at.p - at.q
    below = 1.0 - at.u
    D = costs / (program.width + at.p / at.u + at.q / below)
    total = float(D.sum()) if program.free else 0.0
    factor = Factored(Threshold(rows.tdot(D * sign), total), rows.gram(D))

    def toward(low: Vector, high: Vector) -> _Point:
        wanted = off + low / at.u - high / below
        pulled = D * wanted
        slope = float(sign @ pulled) - off_t if program.free else 0.0
        beta, t = factor.solve(-(off_beta + rows.tdot(pulled)), slope)
        u = (D / costs) * (wanted - rows.dot(beta) + sign * t)
        return _Point(beta, t, u, (low - at.p * u) / at.u, (high + at.q * u) / below)

    mean = float(costs @ (at.p * at.u + at.q * below)) / (2 * float(costs.sum()))
    first = toward(-at.p * at.u, -at.q * below)
    length = _length(at, first, 1.0)
    ahead = _moved(at, first, length)
    left = float(costs @ (ahead.p * ahead.u + ahead.q * (1 - ahead.u)))
    aim = mean * (left / (2 * float(costs.sum())) / mean) ** 3
    step = toward(aim - at.p * at.u - first.u * first.p, aim - at.q * below + first.u * first.q)
    return _moved(at, step, _length(at, step, BACK))


def _length(at: _Point, step: _Point, share: float) -> float:
    """How far the step can go before a bound is met."""
    most = 1.0
    for value, change in (
        (at.u, step.u), (1.0 - at.u, -step.u), (at.p, step.p), (at.q, step.q),
    ):  # fmt: skip
        falls = change < 0.0
        if np.any(falls):
            most = min(most, share * float(np.min(-value[falls] / change[falls])))
    return most


def _moved(at: _Point, step: _Point, length: float) -> _Point:
    return _Point(
        at.beta + length * step.beta,
        at.t + length * step.t,
        at.u + length * step.u,
        at.p + length * step.p,
        at.q + length * step.q,
    )
