"""Descent to the minimum of the regularized program: steps, exact line search, best threshold.

The threshold t is at its best for the current beta throughout, a search over one number that reads
no data.  So the multipliers of every iterate are nearly dual feasible; what little is missing is
made up by scaling one class down, and every iterate has an honest duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.programs.centralization import Certificate, Vector
from lincent.programs.regularized import PullSums, RegularizedProgram
from lincent.solvers.curvature import Curvature, Inside
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton"
ENOUGH_SLOPE = 0.1
"""A line search ends where the slope is this share of the slope at its start."""
SEARCHES = 60
PATIENCE = 5
STILL = 1e-13
UNEVEN = 1e-6
"""The share of the last gap that an inexact threshold may add to the next."""
ROUNDING = 1e-13
"""Both classes pull the same when they differ by this share of the whole."""


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
    sums: PullSums


@dataclass(frozen=True)
class _Point:
    """A place with its gradient and its certificate."""

    place: _Place
    inside: Inside
    gradient: Vector
    certificate: Certificate


def descend(
    program: RegularizedProgram,
    curvature: Curvature,
    controls: Controls,
    start: Start | None = None,
) -> Solution:
    """Follow the steps of ``curvature`` until the gap is below ``tol``."""
    point = _judge(program, _begin(program, start))
    best = point.certificate
    iterations = since = 0
    while True:
        controls.tell(
            f"step {iterations}: objective {best.objective:.10e}  gap {best.relative_gap:.1e}"
        )
        if best.relative_gap <= controls.tol:
            status = Status.OPTIMAL
        elif since >= PATIENCE:
            status = Status.STALLED
        elif controls.out_of_time():
            status = Status.TIME_LIMIT
        elif iterations >= controls.max_iter:
            status = Status.ITERATION_LIMIT
        else:
            point = _advance(program, curvature, point, best.gap)
            iterations += 1
            found = _better(best, point.certificate)
            # The gap of single points may rise on the way; the objective falls until rounding.
            progress = best.objective - found.objective > STILL * abs(best.objective)
            since = 0 if progress or found.gap < best.gap / 2 else since + 1
            best = found
            continue
        return Solution(status, best, iterations, NAME)


def _better(best: Certificate, new: Certificate) -> Certificate:
    """The lower objective with the higher bound."""
    if new.objective < best.objective:
        best = replace(best, beta=new.beta, t=new.t, objective=new.objective)
    if new.dual_objective > best.dual_objective:
        best = replace(best, alpha=new.alpha, dual_objective=new.dual_objective)
    return best


def _begin(program: RegularizedProgram, start: Start | None) -> _Place:
    m, n = program.shape
    if start is None:
        return _place(program, np.zeros(n), np.zeros(m), 0.0, 0.0)
    return _place(program, start.beta, program.rows.dot(start.beta), start.t, 0.0)


def _advance(
    program: RegularizedProgram, curvature: Curvature, point: _Point, gap: float
) -> _Point:
    step, shift = curvature.step(point.inside, point.gradient)
    place = _along(program, point, step, shift, UNEVEN * gap)
    found = _judge(program, place)
    curvature.learn(place.beta - point.place.beta, found.gradient)
    return found


def _judge(program: RegularizedProgram, place: _Place) -> _Point:
    """One read of the rows: gradient and dual bound."""
    found = program.judge(place.beta, place.projected, place.t, place.sums)
    combined = program.rows.tdot(found.alpha)
    certificate = Certificate(
        beta=place.beta,
        alpha=found.alpha,
        t=place.t,
        objective=found.objective,
        dual_objective=found.bound - float(combined @ combined) / 2,
    )
    return _Point(place, found.inside, place.beta - combined, certificate)


def _along(
    program: RegularizedProgram, point: _Point, step: Vector, shift: float, uneven: float
) -> _Place:
    """The minimum along the step: one read of the rows, whatever the number of lengths tried."""
    origin = point.place
    moved = program.rows.dot(step)
    low, low_slope = 0.0, float(point.gradient @ step)
    high, high_slope = np.inf, np.inf
    enough = ENOUGH_SLOPE * abs(low_slope)
    length, guess = 1.0, origin.t + shift
    for _ in range(SEARCHES):
        beta = origin.beta + length * step
        place = _place(program, beta, origin.projected + length * moved, guess, uneven, moved)
        slope = float(beta @ step) - place.sums.work
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


def _place(
    program: RegularizedProgram,
    beta: Vector,
    projected: Vector,
    guess: float,
    uneven: float,
    along: Vector | None = None,
) -> _Place:
    """Beta with the t at which both classes pull the same: sum_i y_i c_i u(z_i) = 0.

    The left side rises with t and is piecewise linear: Newton's method, held inside a bracket.
    What remains of it adds about ``remainder * t`` to the gap, which may be up to ``uneven``.
    """
    if not program.free:
        return _Place(beta, 0.0, projected, program.pull_sums(projected, 0.0, along))
    low, high = -np.inf, np.inf
    t = guess
    for _ in range(SEARCHES):
        sums = program.pull_sums(projected, t, along)
        if abs(sums.excess) <= max(ROUNDING * sums.total, uneven / max(1.0, abs(t))):
            break
        low, high = (low, t) if sums.excess > 0 else (t, high)
        target = t - sums.excess / sums.rise if sums.rise > 0 else np.nan
        if not low < target < high:
            target = _inside(program, projected, low, high)
        if target == t:
            break
        t = target
    else:
        sums = program.pull_sums(projected, t, along)
    return _Place(beta, t, projected, sums)


def _inside(program: RegularizedProgram, projected: Vector, low: float, high: float) -> float:
    """The middle of the bracket; an open end is closed where every row is past both margins."""
    reach = float(np.max(np.abs(projected))) + abs(program.high) + abs(program.low) + 1.0
    return (max(low, -reach) + min(high, reach)) / 2
