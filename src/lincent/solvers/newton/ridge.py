"""Newton's method for the regularized program: how the shape decides the way.

(P) of ``problems.regularized`` is once differentiable and piecewise quadratic.  Newton's method
with an exact line search converges from anywhere and ends after finitely many steps, because once
the right rows are between the margins the next step is the solution itself (Mangasarian 2002;
Keerthi and DeCoste 2005).

    n > m           rotate: with A A' = R R' the rows of R, at most m columns, stand for those of A,
                    and the solution is a combination of rows.  Exact.  Sets of rows short of the
                    upper margin, from all of them on (``exchange``), by their products (``dual``).
    n large         conjugate gradients: nothing of size n x n is formed.  On sparse rows already
                    with a hundred columns, since a product costs their entries alone; where they
                    converge slowly (costs far above the usual), exact steps follow.
    few entries     plain Newton.
    more            Newton on a copy of the rows in single precision, the last step and the
                    certificate on the rows themselves: one read of them, as a rule.  With hundreds
                    of columns conjugate gradients first, while they converge fast.
    far away        where three steps leave a gap far above the objective, through the optima for
                    smaller costs (``costs``); with hundreds of columns, or where these lead nowhere
                    either, an interior point (``barrier``).
    few decide      there, or after ten steps, if few rows are short of the upper margin: those
                    alone, in rounds that all rows check (``support_rows``).
    many            Newton on a sample, then corrections over all rows with the curvature of the
                    sample.  A correction reads the rows once; a handful is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack, solve_triangular

from lincent.problems.arrays import Index, Vector
from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import barrier, support_rows
from lincent.solvers.newton.costs import approach, scaled
from lincent.solvers.newton.descent import NAME, NO_DOUBT, Doubt, Led, Start, descend, lead
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.hessian import Conjugate, Curvature, LightFirst, Sampled, Whole
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.dense import DenseRows

__all__ = ["NAME", "Start", "solve", "solve_path"]

PathSolver = Callable[
    [RegularizedProgram, Sequence[float], Controls, np.random.Generator], list[Solution]
]


@dataclass(frozen=True)
class Tuning:
    """Which way is taken when; measured on the shapes of ``benchmarks/regularized_times.py``."""

    factor_limit: int = 2000
    """A matrix of this order is factored; beyond, conjugate gradients are used."""
    sparse_factor_limit: int = 100
    """The same for sparse rows (20,000 x 500 to 2,000: a fifth to a fiftieth of the time)."""
    conjugate_steps: int = 30
    """Truncated Newton steps on sparse rows after which exact ones follow; 4 to 7 are usual."""
    whole_entries: int = 20_000
    """Up to this many entries all steps are taken on the rows themselves, copied in signed form."""
    single_entries: int = 20_000_000
    """Up to this many entries (80 MB) a copy of all rows is made in single precision."""
    sample_share: int = 3
    """A sample has at most one row in this many; where more are needed, none is drawn."""
    light_columns: int = 300
    """With as many columns forming a matrix costs more than some dozen products with the rows."""
    level_tol: float = 1e-5
    """The gap to which a level is solved; the next step brings it to about its square."""
    before_few: int = 10
    """Steps after which few rows may decide, if few are short of the margin; most ways are
    shorter."""
    rising: int = 60
    """Steps through smaller costs at most; 10 to 40 are usual."""
    corrections: int = 25
    """After this many corrections a level has misled, and exact steps follow."""
    single_range: float = 1e8
    """Rows of sizes between one over this and this leave beta room in single precision."""
    sized_rows: int = 16
    """Rows that tell the size of all of them, to within such factors."""


TUNING = Tuning()
HANDFUL = Doubt(few=150)
"""Rows short of the margin after one step with hundreds of columns, which alone may decide."""
FAR = Doubt(3, 100.0)
"""Steps after which a gap so far above the objective leads to smaller costs first,"""
LONG = Doubt(40, 1.0)
"""and to an interior point with hundreds of columns, where a factor for each cost is dear."""


def solve(program: RegularizedProgram, controls: Controls, rng: np.random.Generator) -> Solution:
    """The certified optimum.  The sample drawn by ``rng`` changes the way to it, not the place."""
    return solve_path(program, (1.0,), controls, rng)[0]


def solve_path(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """The optima for the costs times each scale, each started from the one before."""
    if np.any(program.costs == 0):
        return without_free_rows(program, scales, controls, rng, solve_path)
    m, n = program.shape
    by_products = program.rows.sparse and n > TUNING.sparse_factor_limit
    if n > m and m <= TUNING.factor_limit and not by_products:
        return _rotated(program, scales, controls)
    level: RegularizedProgram | None = None
    if m * n <= TUNING.whole_entries:
        program = replace(program, rows=program.rows.materialize())
    elif n <= TUNING.factor_limit and not by_products:
        level = _level(program, rng)
    found: list[Solution] = []
    start = None if controls.start is None else Start(*controls.start)
    for scale in scales:
        lighter = None if level is None else scaled(level, scale)
        found.append(_solve_one(scaled(program, scale), lighter, controls, start))
        start = Start(found[-1].certificate.beta, found[-1].certificate.t)
    return found


def _solve_one(
    program: RegularizedProgram,
    level: RegularizedProgram | None,
    controls: Controls,
    start: Start | None,
) -> Solution:
    if level is not None:
        return _from_level(program, level, controls, start)
    n = program.shape[1]
    usual = TUNING.sparse_factor_limit if program.rows.sparse else TUNING.factor_limit
    if n <= min(usual, TUNING.factor_limit):
        return _exact(program, controls, start)
    can_factor = n <= TUNING.factor_limit
    most = min(TUNING.conjugate_steps, controls.max_iter) if can_factor else controls.max_iter
    found = descend(program, Conjugate(program), replace(controls, max_iter=most), start)
    if not can_factor or found.status in (Status.OPTIMAL, Status.TIME_LIMIT):
        return found
    point = found.certificate
    left = _left(controls, found.iterations)
    last = descend(program, Whole(program), left, Start(point.beta, point.t))
    return replace(last, iterations=found.iterations + last.iterations)


def _exact(program: RegularizedProgram, controls: Controls, start: Start | None = None) -> Solution:
    """Newton on the rows themselves, through smaller costs where that leads nowhere soon."""
    curvature = Whole(program)
    light = program.shape[1] >= TUNING.light_columns
    doubt = LONG if light else FAR
    found = descend(program, curvature, controls, start, doubt)
    if found.status is not Status.STALLED or not doubt.about(found.iterations, found.relative_gap):
        return found
    if light:
        return _interior(program, controls, found.iterations)
    return _by_costs(program, curvature, controls, found.iterations)


def _by_costs(
    program: RegularizedProgram, curvature: Whole, controls: Controls, steps: int
) -> Solution:
    """After so many steps that led nowhere: through smaller costs."""
    loose = replace(_left(controls, steps), tol=max(TUNING.level_tol, controls.tol))
    rising = replace(loose, max_iter=min(TUNING.rising, loose.max_iter))
    led = approach(program, curvature, rising, controls.tol / 2)
    steps += led.steps
    brief = replace(controls, max_iter=min(TUNING.corrections, _left(controls, steps).max_iter))
    last = descend(program, curvature, brief, led.start)
    last = replace(last, iterations=steps + last.iterations)
    if last.status in (Status.OPTIMAL, Status.TIME_LIMIT) or last.iterations >= controls.max_iter:
        return last
    return _interior(program, controls, last.iterations)


def _interior(program: RegularizedProgram, controls: Controls, steps: int) -> Solution:
    """After so many steps that led nowhere: an interior point, which minds no row's size."""
    found = barrier.solve(program, _left(controls, steps))
    return replace(found, iterations=steps + found.iterations)


def _left(controls: Controls, steps: int) -> Controls:
    """What is left after these steps, one at least."""
    return replace(controls, max_iter=max(controls.max_iter - steps, 1))


def without_free_rows(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
    solver: PathSolver,
) -> list[Solution]:
    """Rows of cost zero say nothing: solve without them."""
    index = np.flatnonzero(program.costs)
    reduced = replace(
        program,
        rows=program.rows.take(index),
        sign=program.sign[index],
        costs=program.costs[index],
        means=None,
    )
    whole = []
    for found in solver(reduced, scales, controls, rng):
        alpha = np.zeros(program.shape[0])
        alpha[index] = found.certificate.alpha
        whole.append(replace(found, certificate=replace(found.certificate, alpha=alpha)))
    return whole


def _rotated(
    program: RegularizedProgram, scales: Sequence[float], controls: Controls
) -> list[Solution]:
    """More columns than rows: solve in the space that the rows span."""
    m = program.shape[0]
    outer = program.rows.outer(np.ones(program.shape[1]))
    factor, pivot, rank, _ = lapack.dpstrf(outer, lower=1)
    order = pivot - 1
    turned = np.empty((m, rank))
    turned[order] = np.tril(factor)[:, :rank]
    small = replace(program, rows=DenseRows(turned), means=None)
    triangle = factor[:rank, :rank]
    solutions = []
    start: Start | None = None
    if controls.start is not None:  # the point of the small space with the same scores
        beta, t = controls.start
        own = program.rows.dot(beta)[order[:rank]]
        start = Start(solve_triangular(triangle, own, lower=True), t)
    for scale in scales:
        problem = replace(small, costs=small.costs * scale)
        # The rotation squares the condition of the rows: aim below tol, then judge the real one.
        below = replace(controls, tol=controls.tol / 10)
        found = descend(problem, Dual(problem, outer), below, start)
        if found.status is Status.STALLED:  # products of rows so large that they are rounding
            found = descend(problem, Whole(problem), below, start)
        start = Start(found.certificate.beta, found.certificate.t)
        weights = np.zeros(m)
        weights[order[:rank]] = solve_triangular(triangle, start.beta, lower=True, trans="T")
        whole = replace(program, costs=problem.costs)
        answer = certify(whole, program.rows.tdot(weights), start.t)
        if answer.relative_gap > controls.tol and found.status is not Status.TIME_LIMIT:
            last = descend(whole, Conjugate(whole), controls, Start(answer.beta, answer.t))
            found = replace(last, iterations=found.iterations + last.iterations)
        else:
            found = replace(found, certificate=answer)
        solutions.append(found)
    return solutions


def _from_level(
    program: RegularizedProgram,
    level: RegularizedProgram,
    controls: Controls,
    start: Start | None,
) -> Solution:
    """Begin at the solution of the level, and go on with its curvature."""
    loose = replace(controls, tol=max(TUNING.level_tol, controls.tol), watch=None)
    light = level.shape == program.shape and level.shape[1] >= TUNING.light_columns
    curvature = LightFirst(level) if light else Whole(level, rough=True)
    led, few = _lead_in(program, curvature, controls, start)
    if few is not None:
        return few
    steps, goal = led.steps, controls.tol / 2
    far = not light and _nowhere(led, curvature, FAR)
    if led.status in (Status.ITERATION_LIMIT, Status.STALLED) and steps < controls.max_iter:
        if far:  # rows of such sizes that single precision may not tell where to go
            return _by_costs(program, Whole(program), controls, steps)
        if not curvature.coarse:
            doubt = LONG if light else NO_DOUBT
            led = lead(level, curvature, _left(loose, steps), led.start, goal, doubt)
            steps += led.steps
            if light and _nowhere(led, curvature, LONG) and steps < controls.max_iter:
                return _interior(program, controls, steps)
    start = led.start
    if not curvature.coarse:
        brief = replace(controls, max_iter=min(TUNING.corrections, controls.max_iter))
        found = descend(program, _for_all(program, curvature, start), brief, start)
        steps += found.iterations
        done = found.status in (Status.OPTIMAL, Status.TIME_LIMIT)
        if done or (found.status is Status.ITERATION_LIMIT and brief.max_iter == controls.max_iter):
            return replace(found, iterations=steps)
        start = Start(found.certificate.beta, found.certificate.t)
    # Few heavy rows, columns that are nearly dependent: exact steps from where it led.
    found = descend(program, Whole(program), controls, start, LONG)
    found = replace(found, iterations=steps + found.iterations)
    stuck = found.status is Status.STALLED and LONG.about(found.iterations, found.relative_gap)
    return _interior(program, controls, found.iterations) if stuck else found


def _lead_in(
    program: RegularizedProgram,
    curvature: Whole | LightFirst,
    controls: Controls,
    start: Start | None,
) -> tuple[Led, Solution | None]:
    """The first steps on the level, and the solution where few rows decide."""
    loose = replace(controls, tol=max(TUNING.level_tol, controls.tol), watch=None)
    steps, doubt = 0, HANDFUL if isinstance(curvature, LightFirst) else FAR
    while True:
        brief = replace(loose, max_iter=min(TUNING.before_few, controls.max_iter - steps))
        led = lead(curvature.program, curvature, brief, start, controls.tol / 2, doubt)
        start, steps = led.start, steps + led.steps
        if led.status not in (Status.ITERATION_LIMIT, Status.STALLED) or steps >= controls.max_iter:
            break
        found = support_rows.solve(program, start, _left(controls, steps))
        if found is not None:
            return led, replace(found, iterations=steps + found.iterations)
        if led.status is Status.STALLED or steps >= TUNING.before_few:
            break
        doubt = NO_DOUBT
    return replace(led, steps=steps), None


def _nowhere(led: Led, curvature: Curvature, doubt: Doubt) -> bool:
    """Whether a way ended in doubt, not by rounding."""
    ended = led.status is Status.STALLED and doubt.about(led.steps, led.gap)
    return ended and not curvature.coarse


def _for_all(program: RegularizedProgram, curvature: Whole | LightFirst, at: Start) -> Curvature:
    """The curvature of the level, for steps over all rows."""
    if isinstance(curvature, LightFirst):
        curvature.close = True
        return curvature
    level = curvature.program
    if level.shape == program.shape:
        return curvature
    pull = level.dual_weights(level.positions(level.rows.dot(at.beta), at.t))
    inside = (pull > 0.0) & (pull < 1.0)
    crowd = program.shape[1] / max(1, int(np.count_nonzero(inside)))
    return Sampled(curvature.factored(inside), crowd)


def _level(program: RegularizedProgram, rng: np.random.Generator) -> RegularizedProgram | None:
    """A program with nearly the same solution that is cheaper to read, or none."""
    m, n = program.shape
    if not _fits_single(program):
        return None
    if m * n <= TUNING.single_entries:
        rows = program.rows.float32(None)
        if rows is not None:
            return replace(program, rows=rows)
    size = sample_size(m, n)
    return _sample(program, size, rng) if size * TUNING.sample_share <= m else None


def _fits_single(program: RegularizedProgram) -> bool:
    """Whether some of the rows, and so beta, are of a size that single precision holds."""
    m = program.shape[0]
    some = program.rows.take(np.arange(0, m, max(1, m // TUNING.sized_rows)))
    size = float(np.abs(some.tdot(np.ones(some.shape[0]) / some.shape[0])).max())
    return size == 0.0 or 1 / TUNING.single_range < size < TUNING.single_range


def sample_size(m: int, n: int) -> int:
    """Enough rows that their curvature is within a few percent of that of all rows."""
    return max(1_000, 50 * n, m // 15)


def _sample(program: RegularizedProgram, size: int, rng: np.random.Generator) -> RegularizedProgram:
    index, costs = _draw(program, size, rng)
    rows = program.rows.float32(index) or program.rows.take(index)
    return replace(program, rows=rows, sign=program.sign[index], costs=costs, means=None)


def _draw(program: RegularizedProgram, size: int, rng: np.random.Generator) -> tuple[Index, Vector]:
    """About ``size`` rows, drawn by cost and evenly along the data, standing for all of them."""
    reach = np.cumsum(program.costs)
    # One draw from each of ``size`` equal parts of the total cost.
    spots = (np.arange(size) + rng.random(size)) * (reach[-1] / size)
    drawn = np.minimum(np.searchsorted(reach, spots, side="right"), program.shape[0] - 1)
    # The draws are in order: a row drawn again follows itself.
    first = np.flatnonzero(np.diff(drawn, prepend=-1))
    index, count = drawn[first], np.diff(first, append=size)
    sign = program.sign[index]
    costs = count * (reach[-1] / size)
    balance = float(program.costs @ program.sign)
    for side in (-1.0, 1.0):
        # Each class keeps its share of the total cost exactly.
        here = sign == side
        wanted = (reach[-1] + side * balance) / 2
        costs[here] *= wanted / max(float(costs[here].sum()), 1e-300)
    return index, costs
