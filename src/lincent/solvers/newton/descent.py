"""Newton's method with an exact line search, for all problems of this package that it solves.

``newton_loop`` is the loop: it keeps the best bounds and decides when to stop; the problem brings
its step.  ``walk`` is the step of the regularized problem (P) in (beta, t).  A full step is tried
first, and one pass over the samples gives its objective, gradient and duality gap.  Where it does
not bring the slope along it down, the minimum along the step is found instead, with the threshold t
at its best throughout.  That search reads no data, since the projections of both ends are known.

(P) is once differentiable and piecewise quadratic, so that Newton's method with an exact line
search converges from anywhere and ends after finitely many steps: once the right samples are active
the next step is the solution itself (Mangasarian 2002; Keerthi and DeCoste 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Certificate
from lincent.problems.regularized import DualSums, RegularizedProgram
from lincent.solvers.bounds import Bounds
from lincent.solvers.line_search import Bracket
from lincent.solvers.newton.curvature import Curvature
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Evaluation, Evaluator
from lincent.solvers.newton.start import block_pivoting, first_step
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton"
STILL = 1e-13
"""A relative fall of the objective that is rounding."""
LAST_DIGITS = 1e-15
"""The share of a number that its last few bits are."""


@dataclass(frozen=True)
class Start:
    """Where to begin."""

    beta: Vector
    t: float


@dataclass(frozen=True)
class Walk:
    """How a Newton loop ended."""

    status: Status
    bounds: Bounds
    steps: int

    @property
    def end(self) -> Start:
        """The lowest point."""
        return Start(self.bounds.primal.beta, self.bounds.primal.t)


def newton_loop(
    point: Any,
    advance: Callable[[Any, Bounds], Any],
    controls: Controls,
    unit: float,
    *,
    steps: int = 0,
    stop: Callable[[int, float, Any], Status | None] | None = None,
) -> Generator[Any, Any, Walk]:
    """Take steps until the relative gap is at most ``tol``; run it by ``run`` or in lockstep.

    ``point`` has an ``objective`` and a dual ``bound``.  ``advance(point, bounds)`` returns the
    next point, or a generator that does so after it was sent the answers to what it yields.
    ``stop(steps, gap, point)`` replaces the test of the gap.
    """
    bounds, since = Bounds(unit), 0
    bounds.offer(point.objective, point.bound, point)
    while True:
        gap = bounds.relative_gap
        controls.reached(f"step {steps}", bounds.objective, gap)
        if stop is None:
            status = Status.OPTIMAL if gap <= controls.tol else None
        else:
            status = stop(steps, gap, point)
        if status is None and since >= 5:
            status = Status.STALLED
        elif status is None and controls.out_of_time():
            status = Status.TIME_LIMIT
        elif status is None and steps >= controls.max_iter:
            status = Status.ITERATION_LIMIT
        if status is not None:
            return Walk(status, bounds, steps)
        point = advance(point, bounds)
        if isinstance(point, Generator):
            point = yield from point
        steps += 1
        since = 0 if bounds.offer(point.objective, point.bound, point, STILL) else since + 1


def run(loop: Generator[Any, Any, Walk]) -> Walk:
    """Run a loop that asks for nothing to its end."""
    try:
        next(loop)
    except StopIteration as end:
        walk: Walk = end.value
        return walk
    raise RuntimeError("the loop waits for an answer")


@dataclass(frozen=True)
class Doubt:
    """After so many steps a relative gap above ``gap`` ends a walk as stalled: it leads nowhere.

    After one step so few samples short of the upper margin end it as well: they may decide.
    """

    steps: float = np.inf
    gap: float = np.inf
    few: int = -1

    def is_stuck(self, steps: int, gap: float) -> bool:
        # A gap with more digits than a number has is rounding, on any way.
        return steps >= self.steps and self.gap < gap < 1 / LAST_DIGITS


NO_DOUBT = Doubt()


def walk(
    evaluator: Evaluator,
    curvature: Curvature,
    controls: Controls,
    start: Start | None = None,
    doubt: Doubt = NO_DOUBT,
    goal: float = -1.0,
) -> Walk:
    """Follow the steps of ``curvature`` until the gap is at most ``tol``.

    Or until the next step can be expected to bring it below ``goal``: Newton steps gain more and
    more, each about the power 1.5 of the gain before.
    """
    last = np.inf

    def stop(steps: int, gap: float, point: Evaluation) -> Status | None:
        nonlocal last
        before, last = last, gap
        if gap <= controls.tol or (before < np.inf and gap * (gap / before) ** 1.5 <= goal):
            return Status.OPTIMAL
        if curvature.coarse or doubt.is_stuck(steps, gap):
            return Status.STALLED
        if steps == 1 and np.count_nonzero(point.u) <= doubt.few and not controls.out_of_time():
            return Status.ITERATION_LIMIT
        return None

    def advance(point: Evaluation, bounds: Bounds) -> Evaluation:
        return _advance(evaluator, curvature, point, bounds.gap)

    point = _begin(evaluator, curvature, controls, start)
    steps = int(start is None)
    return run(newton_loop(point, advance, controls, evaluator.unit, steps=steps, stop=stop))


def descend(
    program: RegularizedProgram,
    curvature: Curvature,
    controls: Controls,
    start: Start | None = None,
    doubt: Doubt = NO_DOUBT,
) -> Solution:
    """Return the certified end of a walk."""
    evaluator = Evaluator(program)
    end = walk(evaluator, curvature, controls, start, doubt)
    return Solution(end.status, certificate(evaluator, end.bounds), end.steps, NAME)


def certificate(evaluator: Evaluator, bounds: Bounds) -> Certificate:
    """Return the certificate of the best bounds."""
    if bounds.dual is None:
        raise ArithmeticError("the objective is not a finite number")
    low, alpha = bounds.primal, evaluator.dual_weights(bounds.dual)
    return bounds.certificate(low.beta, alpha, low.t)


@dataclass(frozen=True)
class Approach:
    """Where a problem close to another one says that its solution is, and the way to there."""

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
) -> Approach:
    """Walk until ``tol``, or until the next step can be expected to bring the gap below ``goal``.

    That step is taken, but not evaluated here: this is for the problem which goes on from there.
    """
    end = walk(Evaluator(program), curvature, controls, start, doubt, goal)
    if end.status is not Status.OPTIMAL:
        return Approach(end.end, end.status, end.steps, end.bounds.relative_gap)
    point = end.bounds.primal
    step, shift = curvature.step(point)
    return Approach(Start(point.beta + step, point.t + shift), end.status, end.steps)


def _begin(
    evaluator: Evaluator, curvature: Curvature, controls: Controls, start: Start | None
) -> Evaluation:
    if start is None:
        return first_step(evaluator, curvature, controls)
    program = evaluator.program
    if isinstance(curvature, Dual):
        return block_pivoting(evaluator, curvature, controls, start.beta, start.t)
    if not program.free:
        return evaluator.at(start.beta, 0.0)
    if program.shape[0] * program.shape[1] > 8_000_000:
        return evaluator.at(start.beta, start.t)  # two products would cost more than one sweep
    # Close to the solution the gap is mostly what t is off, and the best t needs no further pass.
    projected = program.rows.dot(start.beta)
    return evaluator.at(start.beta, best_threshold(program, projected, start.t), projected)


def _advance(
    evaluator: Evaluator, curvature: Curvature, point: Evaluation, gap: float
) -> Evaluation:
    step, shift = curvature.step(point)
    end = evaluator.at(point.beta + step, point.t + shift)
    enough = abs(point.descent(step, shift)) / 2
    rounding = STILL * abs(point.objective)
    length = 1.0
    # Without an active sample there is no curvature, and the step leaves the threshold where it is.
    flat = shift == 0.0 and abs(point.slope) > LAST_DIGITS * sum(evaluator.class_costs)
    raised = end.objective > point.objective + rounding
    if flat or raised or abs(end.descent(step, shift)) > enough:
        # The share of the last gap that an inexact threshold may add to the next.
        uneven = 1e-6 * min(gap, abs(point.objective))
        place, length = _along(evaluator.program, point, end, shift, uneven)
        # Beyond both ends their rounding errors grow, from step to step: project again.
        end = evaluator.at(place.beta, place.t, None if length > 1.0 else place.projected)
    curvature.learn(point, end, length < 0.1)
    return end


@dataclass(frozen=True)
class _Place:
    """A beta with its best threshold."""

    beta: Vector
    t: float
    projected: Vector
    sums: DualSums


def _along(
    program: RegularizedProgram, origin: Evaluation, end: Evaluation, shift: float, uneven: float
) -> tuple[_Place, float]:
    """Return the minimum along a step, with the best threshold at every length."""
    step, moved = end.beta - origin.beta, end.projected - origin.projected
    place = _place(program, origin.beta, origin.projected, origin.t, uneven, moved)
    slope = float(origin.beta @ step) - place.sums.work
    if slope >= 0.0:  # the best threshold was all there was to gain
        return place, 0.0
    bracket, enough = Bracket(slope), 0.1 * abs(slope)
    length, guess = 1.0, origin.t + shift
    for _ in range(60):
        beta = origin.beta + length * step
        place = _place(program, beta, origin.projected + length * moved, guess, uneven, moved)
        slope = float(beta @ step) - place.sums.work
        # A small slope upward may come after a long way up: then the minimum is further back.
        if abs(slope) <= enough and (slope <= 0 or _objective(program, place) < origin.objective):
            break
        last, length = length, bracket.next(length, slope)
        # Along a straight line the best threshold is nearly straight as well.
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
    """Return beta with the t at which both classes have equal sums: sum_i y_i c_i u(z_i) = 0.

    The left side rises with t and is piecewise linear: Newton's method, held inside a bracket.
    What remains of it adds about ``remainder * t`` to the gap, which may be up to ``uneven``.
    """
    if not program.free:
        return _Place(beta, 0.0, projected, program.dual_sums(projected, 0.0, along))
    low, high = -np.inf, np.inf
    t, stride = guess, program.width
    for _ in range(60):
        sums = program.dual_sums(projected, t, along)
        # What the last digits of t make: few samples far from zero cannot be more even.
        digits = LAST_DIGITS * sums.rise * abs(t)
        if abs(sums.excess) <= max(1e-13 * sums.total, digits, uneven / max(1.0, abs(t))):
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
    """Return the t at which both classes have equal sums of dual weights."""
    return _place(program, projected, projected, guess, 0.0).t
