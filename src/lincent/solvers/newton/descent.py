"""Descent to the minimum of the regularized program: steps in (beta, t), at one read each.

A full step is tried first, and one sweep over the rows gives its objective, its gradient and its
duality gap.  Where it does not bring the slope along it down, the minimum along the step is found
instead: a search over one number, with the threshold t at its best throughout, that reads no data,
since the projections of both ends are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.regularized import DualSums, RegularizedProgram
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.exchange import exchanged
from lincent.solvers.newton.hessian import Curvature
from lincent.solvers.newton.oracle import Reader, Reading
from lincent.solvers.newton.start import first_step
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton"
FULL_STEP = 0.5
"""A full step is taken if the slope at its end is this share of the slope at its start."""
ENOUGH_SLOPE = 0.1
"""A line search ends where the slope is this share of the slope at its start."""
SHORT = 0.1
"""A step is cut short if less than this share of it is taken."""
SEARCHES = 60
PATIENCE = 5
STILL = 1e-13
CACHE_ENTRIES = 8_000_000
"""Up to this many entries two products with the rows cost little more than one sweep."""
UNEVEN = 1e-6
"""The share of the last gap that an inexact threshold may add to the next."""
ROUNDING = 1e-13
"""Both classes pull the same when they differ by this share of the whole."""
LAST_DIGITS = 1e-15
"""The share of a number that its last few bits are."""


@dataclass(frozen=True)
class Start:
    """Where to begin."""

    beta: Vector
    t: float


@dataclass(frozen=True)
class Doubt:
    """After so many steps a relative gap above this ends a walk: it leads nowhere soon.

    After one step so few rows short of the upper margin end it as well: they may decide.
    """

    steps: float = np.inf
    gap: float = np.inf
    few: int = -1

    def about(self, steps: int, gap: float) -> bool:
        # A gap with more digits than a number has is rounding, on any way.
        return steps >= self.steps and self.gap < gap < 1 / LAST_DIGITS

    def about_rows(self, steps: int, point: Reading) -> bool:
        return steps == 1 and int(np.count_nonzero(point.pull)) <= self.few


NO_DOUBT = Doubt()


class Best:
    """The lowest objective and the highest bound so far; they may come from different points."""

    def __init__(self, first: Reading, unit: float) -> None:
        self.low = self.high = first
        self.unit = unit

    @property
    def gap(self) -> float:
        return max(self.low.objective - self.high.bound, 0.0)

    @property
    def relative_gap(self) -> float:
        return self.gap / max(self.unit, abs(self.low.objective))

    def take(self, new: Reading) -> bool:
        """Whether the point was progress."""
        objective, gap = self.low.objective, self.gap
        if new.objective < objective:
            self.low = new
        if new.bound > self.high.bound:
            self.high = new
        # The gap of single points may rise on the way; the objective falls until rounding.
        fell = objective - self.low.objective > STILL * abs(objective)
        return fell or self.gap < gap / 2

    def certificate(self, reader: Reader) -> Certificate:
        low, high = self.low, self.high
        alpha = reader.multipliers(high)
        return Certificate(low.beta, alpha, low.t, low.objective, high.bound, unit=self.unit)


def descend(
    program: RegularizedProgram,
    curvature: Curvature,
    controls: Controls,
    start: Start | None = None,
    doubt: Doubt = NO_DOUBT,
) -> Solution:
    """Follow the steps of ``curvature`` until the gap is below ``tol``."""
    reader = Reader(program)
    walk = _walk(reader, curvature, controls, start, doubt=doubt)
    return Solution(walk.status, walk.best.certificate(reader), walk.steps, NAME)


@dataclass(frozen=True)
class Led:
    """Where a program close to another one says that its solution is, and the way to there."""

    start: Start
    status: Status
    steps: int
    gap: float = np.inf


def lead(
    program: RegularizedProgram,
    curvature: Curvature,
    controls: Controls,
    start: Start | None = None,
    goal: float = -1.0,
    doubt: Doubt = NO_DOUBT,
) -> Led:
    """It ends at ``tol``, or when the next step can be expected to bring the gap below ``goal``."""
    walk = _walk(Reader(program), curvature, controls, start, goal, doubt)
    point = walk.best.low
    if walk.status is not Status.OPTIMAL:
        end = Start(point.beta, point.t)
        return Led(end, walk.status, walk.steps, walk.best.relative_gap)
    # One more step, not looked at here: that is for the program which goes on from there.
    step, shift = curvature.step(point)
    return Led(Start(point.beta + step, point.t + shift), walk.status, walk.steps)


@dataclass(frozen=True)
class _Walk:
    status: Status
    best: Best
    steps: int


def _walk(
    reader: Reader,
    curvature: Curvature,
    controls: Controls,
    start: Start | None,
    goal: float = -1.0,
    doubt: Doubt = NO_DOUBT,
) -> _Walk:
    point = _begin(reader, curvature, controls, start)
    best = Best(point, reader.unit)
    steps, since = int(start is None), 0
    gap = np.inf
    while True:
        last, gap = gap, best.relative_gap
        controls.reached(f"step {steps}", best.low.objective, gap)
        if gap <= controls.tol or (last < np.inf and _next_gap(last, gap) <= goal):
            status = Status.OPTIMAL
        elif since >= PATIENCE or curvature.coarse or doubt.about(steps, gap):
            status = Status.STALLED
        elif controls.out_of_time():
            status = Status.TIME_LIMIT
        elif steps >= controls.max_iter or doubt.about_rows(steps, point):
            status = Status.ITERATION_LIMIT
        else:
            point = _advance(reader, curvature, point, best.gap)
            steps += 1
            since = 0 if best.take(point) else since + 1
            continue
        return _Walk(status, best, steps)


def _next_gap(last: float, gap: float) -> float:
    """What to expect: Newton steps gain more and more, each the power 1.5 of the gain before."""
    return float(gap * (gap / last) ** 1.5)


def _begin(
    reader: Reader, curvature: Curvature, controls: Controls, start: Start | None
) -> Reading:
    if start is None:
        return first_step(reader, curvature, controls)
    program = reader.program
    if isinstance(curvature, Dual):
        return exchanged(reader, curvature, controls, start.beta, start.t)
    if not program.free:
        return reader.at(start.beta, 0.0)
    if program.shape[0] * program.shape[1] > CACHE_ENTRIES:
        return reader.at(start.beta, start.t)
    # Close to the solution the gap is mostly what t is off, and the best t reads nothing more.
    projected = program.rows.dot(start.beta)
    return reader.at(start.beta, best_threshold(program, projected, start.t), projected)


def _advance(reader: Reader, curvature: Curvature, point: Reading, gap: float) -> Reading:
    step, shift = curvature.step(point)
    found = reader.at(point.beta + step, point.t + shift)
    enough = FULL_STEP * abs(point.descent(step, shift))
    rounding = STILL * abs(point.objective)
    length = 1.0
    if abs(found.descent(step, shift)) > enough or found.objective > point.objective + rounding:
        uneven = UNEVEN * min(gap, abs(point.objective))
        place, length = _along(reader.program, point, found, shift, uneven)
        # Beyond both ends their rounding errors grow, from step to step: read anew.
        found = reader.at(place.beta, place.t, None if length > 1.0 else place.projected)
    curvature.learn(point, found, length < SHORT)
    return found


@dataclass(frozen=True)
class _Place:
    """A beta with its best threshold."""

    beta: Vector
    t: float
    projected: Vector
    sums: DualSums


def _along(
    program: RegularizedProgram, origin: Reading, end: Reading, shift: float, uneven: float
) -> tuple[_Place, float]:
    """The minimum along a step, with the best threshold at every length: nothing is read."""
    step, moved = end.beta - origin.beta, end.projected - origin.projected
    first = _place(program, origin.beta, origin.projected, origin.t, uneven, moved)
    low, low_slope = 0.0, float(origin.beta @ step) - first.sums.work
    high, high_slope = np.inf, np.inf
    if low_slope >= 0.0:
        # The best threshold was all there was to gain.
        return first, 0.0
    enough = ENOUGH_SLOPE * abs(low_slope)
    length, guess, again = 1.0, origin.t + shift, 0
    for _ in range(SEARCHES):
        beta = origin.beta + length * step
        place = _place(program, beta, origin.projected + length * moved, guess, uneven, moved)
        slope = float(beta @ step) - place.sums.work
        # A small slope upward may come after a long way up: then the minimum is further back.
        if abs(slope) <= enough and (slope <= 0 or _objective(program, place) < origin.objective):
            break
        if slope < 0:
            low, low_slope, again = length, slope, max(again, 0) + 1
        else:
            high, high_slope, again = length, slope, min(again, 0) - 1
        last = length
        if np.isinf(high):
            length *= 2.0
        else:
            # The slope is piecewise linear: the secant, kept off the ends of the bracket; the
            # middle where one end moved twice, lest it creep.
            share = low_slope / (low_slope - high_slope) if abs(again) < 2 else 0.5
            length = low + min(max(share, 0.05), 0.95) * (high - low)
        # Along a straight way the best threshold is nearly straight as well.
        guess = origin.t + (place.t - origin.t) * (length / last)
    return place, length


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
        return _Place(beta, 0.0, projected, program.dual_sums(projected, 0.0, along))
    low, high = -np.inf, np.inf
    t, stride = guess, program.width
    for _ in range(SEARCHES):
        sums = program.dual_sums(projected, t, along)
        # What the last digits of t make: few pulls of rows far from zero cannot be more even.
        digits = LAST_DIGITS * sums.rise * abs(t)
        if abs(sums.excess) <= max(ROUNDING * sums.total, digits, uneven / max(1.0, abs(t))):
            break
        low, high = (low, t) if sums.excess > 0 else (t, high)
        target = t - sums.excess / sums.rise if sums.rise > 0 else np.nan
        if not low < target < high:
            # The middle; where an end is open, further and further out.
            target = (max(low, t - stride) + min(high, t + stride)) / 2
            stride *= 4
        if target == t:
            break
        t = target
    else:
        sums = program.dual_sums(projected, t, along)
    return _Place(beta, t, projected, sums)


def _objective(program: RegularizedProgram, place: _Place) -> float:
    z = program.positions(place.projected, place.t)
    return program.primal(place.beta, z, program.dual_weights(z))


def best_threshold(program: RegularizedProgram, projected: Vector, guess: float) -> float:
    """The t at which both classes pull the same for these projections."""
    return _place(program, projected, projected, guess, 0.0).t
