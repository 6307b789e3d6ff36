"""Descent to the minimum of the regularized program: steps, exact line search, best threshold.

The threshold t is at its best for the current beta throughout, a search over one number that reads
no data.  So the multipliers of every iterate are dual feasible up to rounding, and every iterate has
a duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.programs.centralization import Certificate, Vector
from lincent.programs.regularized import RegularizedProgram
from lincent.solvers.curvature import Curvature
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton"
ENOUGH_SLOPE = 0.1
"""A line search ends where the slope is this share of the slope at its start."""
SEARCHES = 60
PATIENCE = 5
ROUNDING = 1e-15


@dataclass(frozen=True)
class Start:
    """Where to begin."""

    beta: Vector
    t: float


@dataclass(frozen=True)
class _Place:
    """A beta with its best threshold."""

    beta: Vector
    t: float
    projected: Vector
    z: Vector
    pull: Vector


@dataclass(frozen=True)
class _Point:
    """A place with its gradient and its certificate."""

    place: _Place
    gradient: Vector
    certificate: Certificate


def descend(
    program: RegularizedProgram,
    curvature: Curvature,
    controls: Controls,
    start: Start | None = None,
) -> Solution:
    """Follow the steps of ``curvature`` until the gap is below ``tol``."""
    point = best = _judge(program, _begin(program, start))
    iterations = since = 0
    while True:
        gap = best.certificate.relative_gap
        controls.tell(
            f"step {iterations}: objective {point.certificate.objective:.10e}  gap {gap:.1e}"
        )
        if gap <= controls.tol:
            status = Status.OPTIMAL
        elif since >= PATIENCE:
            status = Status.STALLED
        elif controls.out_of_time():
            status = Status.TIME_LIMIT
        elif iterations >= controls.max_iter:
            status = Status.ITERATION_LIMIT
        else:
            point = _advance(program, curvature, point)
            iterations += 1
            # The gap may rise on the way; only many steps without a better one are a stall.
            if point.certificate.gap < best.certificate.gap:
                best, since = point, 0
            else:
                since += 1
            continue
        return Solution(status, best.certificate, iterations, NAME)


def _begin(program: RegularizedProgram, start: Start | None) -> _Place:
    m, n = program.shape
    if start is None:
        return _place(program, np.zeros(n), np.zeros(m), 0.0)
    return _place(program, start.beta, program.rows.dot(start.beta), start.t)


def _advance(program: RegularizedProgram, curvature: Curvature, point: _Point) -> _Point:
    step, shift = curvature.step(point.place.pull, point.gradient)
    place = _along(program, point, step, shift)
    found = _judge(program, place)
    curvature.learn(place.beta - point.place.beta, found.gradient)
    return found


def _judge(program: RegularizedProgram, place: _Place) -> _Point:
    """One read of the rows: gradient and dual bound."""
    alpha = program.balanced(program.costs * place.pull)
    combined = program.rows.tdot(alpha)
    certificate = Certificate(
        beta=place.beta,
        alpha=alpha,
        t=place.t,
        objective=program.primal(place.beta, place.z, place.pull),
        dual_objective=program.dual(alpha, combined),
    )
    return _Point(place, place.beta - combined, certificate)


def _along(program: RegularizedProgram, point: _Point, step: Vector, shift: float) -> _Place:
    """The minimum along the step: one read of the rows, whatever the number of lengths tried."""
    origin = point.place
    moved = program.rows.dot(step)
    pulled = program.costs * moved
    low, low_slope = 0.0, float(point.gradient @ step)
    high, high_slope = np.inf, np.inf
    enough = ENOUGH_SLOPE * abs(low_slope)
    length, guess = 1.0, origin.t + shift
    for _ in range(SEARCHES):
        beta = origin.beta + length * step
        place = _place(program, beta, origin.projected + length * moved, guess)
        slope = float(beta @ step) - float(pulled @ place.pull)
        if abs(slope) <= enough:
            break
        if slope < 0:
            low, low_slope = length, slope
        else:
            high, high_slope = length, slope
        if np.isinf(high):
            length *= 2.0
        else:
            # The slope is piecewise linear: the secant, kept off the ends of the bracket.
            share = low_slope / (low_slope - high_slope)
            length = low + min(max(share, 0.05), 0.95) * (high - low)
        guess = place.t
    return place


def _place(program: RegularizedProgram, beta: Vector, projected: Vector, guess: float) -> _Place:
    """Beta with the t at which both classes pull the same: sum_i y_i c_i u(z_i) = 0.

    The left side rises with t and is piecewise linear: Newton's method, held inside a bracket.
    """
    if not program.free:
        return _Place(beta, 0.0, projected, projected, program.pull(projected))
    signed = program.costs * program.sign
    total = float(program.costs.sum())
    low, high = -np.inf, np.inf
    t = guess
    for _ in range(SEARCHES):
        z = program.positions(projected, t)
        pull = program.pull(z)
        excess = float(signed @ pull)
        if abs(excess) <= ROUNDING * total:
            break
        if excess > 0:
            high = t
        else:
            low = t
        rise = float(program.costs @ ((pull > 0.0) & (pull < 1.0))) / program.width
        target = t - excess / rise if rise > 0 else np.nan
        if not low < target < high:
            target = _inside(program, projected, low, high)
        if target == t:
            break
        t = target
    return _Place(beta, t, projected, z, pull)


def _inside(program: RegularizedProgram, projected: Vector, low: float, high: float) -> float:
    """The middle of the bracket; an open end is closed where every row is past both margins."""
    reach = float(np.max(np.abs(projected))) + abs(program.high) + abs(program.low) + 1.0
    return (max(low, -reach) + min(high, reach)) / 2
