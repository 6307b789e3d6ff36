"""The regularized problem with an L2 penalty: the route to its optimum by the shape of the data.

    n > m           rotation: with A A' = R R' the rows of R, at most m columns, stand for those of
                    A, and the solution is a combination of samples.  Exact.  Block pivoting
                    (``start``) by products of samples with each other (``dual``).
    n large         conjugate gradients: nothing of size n x n is formed.  On sparse data already
                    with a hundred features, since a product costs their entries alone; where they
                    converge slowly (costs far above the usual), exact steps follow.
    small           up to 20,000 entries: Newton's method on the samples themselves.
    more            Newton's method on a copy of the samples in single precision, the last step and
                    the certificate on the samples themselves: one pass over them, as a rule.  With
                    hundreds of features conjugate gradients first, while they converge fast.
    large           beyond 20,000,000 entries: Newton's method on a subsample, then corrections over
                    all samples with its curvature; a handful of passes is enough.

Large costs and samples of very different scales make steps short.  Where five steps leave a gap
far above the objective the costs rise from small ones (``_by_costs``); with hundreds of features,
or where these lead nowhere either, an interior-point method follows (``barrier``).  With hundreds
of features of which few samples decide, those alone are solved for (``support_rows``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import lapack, solve_triangular

from lincent.problems.arrays import Vector
from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import barrier, support_rows
from lincent.solvers.newton.curvature import Curvature, Exact, Sampled, Truncated, TruncatedFirst
from lincent.solvers.newton.descent import NO_DOUBT, Approach, Doubt, Start, descend, lead
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Evaluator
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.dense import DenseRows

PathSolver = Callable[..., list[Solution]]
"""``solve_path`` of this module or of ``lasso``."""

# Which route is taken when; measured on the shapes of ``benchmarks/regularized_times.py``.
FACTOR_LIMIT = 2000
"""A matrix of this order is factored; beyond, conjugate gradients are used."""
SPARSE_FACTOR_LIMIT = 100
"""The same for sparse data (20,000 x 500 to 2,000: a fifth to a fiftieth of the time)."""
CONJUGATE_STEPS = 30
"""Truncated Newton steps on sparse data after which exact ones follow; 4 to 7 are usual."""
WHOLE_ENTRIES = 20_000
"""Up to this many entries all steps are taken on the samples themselves."""
SINGLE_ENTRIES = 20_000_000
"""Up to this many entries (80 MB) a copy of all samples is made in single precision."""
LIGHT_FEATURES = 300
"""With as many features forming a matrix costs more than some dozen products with the samples.
Only here are support samples asked for: at C = 1e4 they take 2 to 11 times as long on separable
data of 50 to 250 features and 0.3 to 5 times on mixtures; from 300 on 0.04 to 0.3 times at
1,000 samples."""
LEVEL_TOL = 1e-5
"""The gap to which a cheaper problem is solved; the next step brings it to about its square."""
BEFORE_FEW = 10
"""Steps after which few samples may decide, if few are short of the margin."""
CORRECTIONS = 25
"""After this many corrections a cheaper problem has misled, and exact steps follow."""
HANDFUL = Doubt(few=150)
"""Samples short of the margin after one step with hundreds of features, which may decide."""
FAR = Doubt(5, 100.0)
"""Steps after which a gap so far above the objective leads to smaller costs first (after three it
takes 1.2 times as long in the mean of separable, mixture and cubed data at C = 100 to 1e6),"""
LONG = Doubt(40, 1.0)
"""and to an interior point with hundreds of features, where a factor for each cost is dear."""


def solve_path(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """Return the optima for the costs times each scale, each started from the one before."""
    if np.any(program.costs == 0):
        return without_zero_costs(program, scales, controls, rng, solve_path)
    m, n = program.shape
    by_products = program.rows.sparse and n > SPARSE_FACTOR_LIMIT
    if n > m and m <= FACTOR_LIMIT and not by_products:
        return _rotated(program, scales, controls)
    level: RegularizedProgram | None = None
    if m * n <= WHOLE_ENTRIES:
        program = replace(program, rows=program.rows.materialize())
    elif n <= FACTOR_LIMIT and not by_products:
        level = _cheaper(program, rng)
    solutions: list[Solution] = []
    start = None if controls.start is None else Start(*controls.start)
    for scale in scales:
        whole = scaled(program, scale)
        if level is not None:
            solution = _from_level(whole, scaled(level, scale), controls, start)
        elif n <= (SPARSE_FACTOR_LIMIT if program.rows.sparse else FACTOR_LIMIT):
            solution = _exact(whole, controls, start)
        else:
            solution = _by_products(whole, controls, start)
        solutions.append(solution)
        start = Start(solution.certificate.beta, solution.certificate.t)
    return solutions


def scaled(program: RegularizedProgram, scale: float) -> RegularizedProgram:
    """Return the same problem with all costs times the scale."""
    return program if scale == 1.0 else replace(program, costs=program.costs * scale)


def without_zero_costs(
    program: RegularizedProgram,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
    solver: PathSolver,
) -> list[Solution]:
    """Solve without the samples of cost zero, which have no effect."""
    index = np.flatnonzero(program.costs)
    reduced = replace(
        program,
        rows=program.rows.take(index),
        sign=program.sign[index],
        costs=program.costs[index],
        means=None,
    )
    whole = []
    for solution in solver(reduced, scales, controls, rng):
        alpha = np.zeros(program.shape[0])
        alpha[index] = solution.certificate.alpha
        whole.append(replace(solution, certificate=replace(solution.certificate, alpha=alpha)))
    return whole


def _left(controls: Controls, steps: int) -> Controls:
    """Return what is left after these steps, one at least."""
    return replace(controls, max_iter=max(controls.max_iter - steps, 1))


def _by_products(program: RegularizedProgram, controls: Controls, start: Start | None) -> Solution:
    """Take truncated Newton steps, followed by exact ones where a matrix can be factored."""
    can_factor = program.shape[1] <= FACTOR_LIMIT
    most = min(CONJUGATE_STEPS, controls.max_iter) if can_factor else controls.max_iter
    first = descend(program, Truncated(program), replace(controls, max_iter=most), start)
    if not can_factor or first.status in (Status.OPTIMAL, Status.TIME_LIMIT):
        return first
    point, left = first.certificate, _left(controls, first.iterations)
    last = descend(program, Exact(program), left, Start(point.beta, point.t))
    return replace(last, iterations=first.iterations + last.iterations)


def _exact(program: RegularizedProgram, controls: Controls, start: Start | None) -> Solution:
    """Newton's method on the samples themselves, by smaller costs where that leads nowhere soon."""
    curvature = Exact(program)
    light = program.shape[1] >= LIGHT_FEATURES
    doubt = LONG if light else FAR
    solution = descend(program, curvature, controls, start, doubt)
    steps, gap = solution.iterations, solution.relative_gap
    if solution.status is not Status.STALLED or not doubt.is_stuck(steps, gap):
        return solution
    if light:
        return _interior(program, controls, steps)
    return _by_costs(program, curvature, controls, steps)


def _interior(program: RegularizedProgram, controls: Controls, steps: int) -> Solution:
    """Solve by an interior point, which the scales of samples do not slow down."""
    solution = barrier.solve(program, _left(controls, steps))
    return replace(solution, iterations=steps + solution.iterations)


def _by_costs(
    program: RegularizedProgram, curvature: Exact, controls: Controls, steps: int
) -> Solution:
    """Solve for costs that rise from small ones, after so many steps that led nowhere."""
    loose = replace(_left(controls, steps), tol=max(LEVEL_TOL, controls.tol))
    rising = replace(loose, max_iter=min(60, loose.max_iter))  # 10 to 40 steps are usual
    led = rise_costs(program, curvature, rising, controls.tol / 2)
    steps += led.steps
    brief = replace(controls, max_iter=min(CORRECTIONS, _left(controls, steps).max_iter))
    last = descend(program, curvature, brief, led.start)
    last = replace(last, iterations=steps + last.iterations)
    if last.status in (Status.OPTIMAL, Status.TIME_LIMIT) or last.iterations >= controls.max_iter:
        return last
    return _interior(program, controls, last.iterations)


def rise_costs(
    program: RegularizedProgram, curvature: Exact, controls: Controls, goal: float
) -> Approach:
    """Approach the optimum as ``lead`` does, through the optima for smaller costs (continuation).

    With costs s c for a small s the optimum is near beta = 0, where all samples are active, and one
    step leads to it.  From there s rises, each optimum, roughly found, the start of the next.
    Samples then cross the margins a few at a time, where from zero at full costs a step takes most
    of them across at once and is cut short.  Gram matrices are proportional to s, so that their
    sums stay of use.
    """
    scale, before, steps = _first_scale(program), 1.0, 0
    start: Start | None = None
    while scale < 0.4 and steps < controls.max_iter:
        part = scaled(program, scale)
        curvature.with_costs(part, scale / before)
        most = min(30, controls.max_iter - steps)
        rough = descend(
            part, curvature, replace(controls, tol=0.3, max_iter=most, watch=None), start
        )
        start, taken = Start(rough.certificate.beta, rough.certificate.t), rough.iterations
        steps += taken
        if rough.status in (Status.TIME_LIMIT, Status.STALLED):
            return Approach(start, rough.status, steps)
        before = scale
        scale *= 30.0 if taken <= 1 else 10.0 if taken <= 4 else 4.0
    curvature.with_costs(program, 1.0 / before)
    led = lead(program, curvature, _left(controls, steps), start, goal)
    return replace(led, steps=steps + led.steps)


def _first_scale(program: RegularizedProgram) -> float:
    """Return the s at which a step of s A g, g = -A'alpha at zero, leads to the upper margin."""
    moved = program.rows.dot(Evaluator(program).at_zero().gradient)
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(np.square(moved, dtype=np.float64))))
    return program.high / size if 0.0 < size < np.inf else 1.0


def _rotated(
    program: RegularizedProgram, scales: Sequence[float], controls: Controls
) -> list[Solution]:
    """More features than samples: solve in the space that the samples span."""
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
        problem = scaled(small, scale)
        # The rotation squares the condition of the samples: aim below tol, then certify.
        below = replace(controls, tol=controls.tol / 10)
        solution = descend(problem, Dual(problem, outer), below, start, LONG)
        if solution.status is Status.STALLED:  # products of large samples are rounding
            steps = solution.iterations
            solution = _exact(problem, _left(below, steps), start)
            solution = replace(solution, iterations=steps + solution.iterations)
        start = Start(solution.certificate.beta, solution.certificate.t)
        weights = np.zeros(m)
        weights[order[:rank]] = solve_triangular(triangle, start.beta, lower=True, trans="T")
        whole = scaled(program, scale)
        answer = certify(whole, program.rows.tdot(weights), start.t)
        if answer.relative_gap > controls.tol and solution.status is not Status.TIME_LIMIT:
            last = _by_products(whole, controls, Start(answer.beta, answer.t))
            solution = replace(last, iterations=solution.iterations + last.iterations)
        else:
            solution = replace(solution, certificate=answer)
        solutions.append(solution)
    return solutions


def _from_level(
    program: RegularizedProgram, level: RegularizedProgram, controls: Controls, start: Start | None
) -> Solution:
    """Begin at the solution of a cheaper problem, and go on with its curvature."""
    loose = replace(controls, tol=max(LEVEL_TOL, controls.tol), watch=None)
    light = level.shape == program.shape and level.shape[1] >= LIGHT_FEATURES
    curvature = TruncatedFirst(level) if light else Exact(level, rough=True)
    steps, goal, unfinished = 0, controls.tol / 2, (Status.ITERATION_LIMIT, Status.STALLED)
    led: Approach | None = None
    for early in (HANDFUL, NO_DOUBT) if light else ():
        brief = replace(loose, max_iter=min(BEFORE_FEW, controls.max_iter - steps))
        led = lead(level, curvature, brief, start, goal, early)
        start, steps = led.start, steps + led.steps
        if led.status not in unfinished or steps >= controls.max_iter:
            break
        solution = support_rows.solve(program, start, _left(controls, steps))
        if solution is not None:
            return replace(solution, iterations=steps + solution.iterations)
        if led.status is Status.STALLED or steps >= BEFORE_FEW:
            break
    if led is None or (
        led.status in unfinished and steps < controls.max_iter and not curvature.coarse
    ):
        doubt = LONG if light else FAR
        led = lead(level, curvature, _left(loose, steps), start, goal, doubt)
        start, steps = led.start, steps + led.steps
        stuck = led.status is Status.STALLED and doubt.is_stuck(led.steps, led.gap)
        if stuck and not curvature.coarse and steps < controls.max_iter:
            if light:
                return _interior(program, controls, steps)
            # Samples of such scales that single precision may not tell where to go.
            return _by_costs(program, Exact(program), controls, steps)
    if not curvature.coarse:
        brief = replace(controls, max_iter=min(CORRECTIONS, controls.max_iter))
        corrected = descend(program, _for_all(program, curvature, led.start), brief, led.start)
        steps += corrected.iterations
        limited = corrected.status is Status.ITERATION_LIMIT
        done = corrected.status in (Status.OPTIMAL, Status.TIME_LIMIT)
        if done or (limited and brief.max_iter == controls.max_iter):
            return replace(corrected, iterations=steps)
        start = Start(corrected.certificate.beta, corrected.certificate.t)
    # Few heavy samples, features that are nearly dependent: exact steps from where it led.
    exact = descend(program, Exact(program), controls, start, LONG)
    exact = replace(exact, iterations=steps + exact.iterations)
    stuck = exact.status is Status.STALLED and LONG.is_stuck(exact.iterations, exact.relative_gap)
    return _interior(program, controls, exact.iterations) if stuck else exact


def _for_all(
    program: RegularizedProgram, curvature: Exact | TruncatedFirst, at: Start
) -> Curvature:
    """Return the curvature of the cheaper problem, for steps over all samples."""
    if isinstance(curvature, TruncatedFirst):
        curvature.close = True
        return curvature
    level = curvature.program
    if level.shape == program.shape:
        return curvature
    u = level.dual_weights(level.positions(level.rows.dot(at.beta), at.t))
    active = (u > 0.0) & (u < 1.0)
    crowd = program.shape[1] / max(1, int(np.count_nonzero(active)))
    return Sampled(curvature.factored(active), crowd)


def _cheaper(program: RegularizedProgram, rng: np.random.Generator) -> RegularizedProgram | None:
    """Return a problem with nearly the same solution that is cheaper to read, or None."""
    m, n = program.shape
    # Sixteen samples tell whether samples, and so beta, are of a size that single precision holds.
    some = program.rows.take(np.arange(0, m, max(1, m // 16)))
    size = float(np.abs(some.tdot(np.ones(some.shape[0]) / some.shape[0])).max())
    if size != 0.0 and not 1e-8 < size < 1e8:
        return None
    if m * n <= SINGLE_ENTRIES:
        rows = program.rows.float32(None)
        if rows is not None:
            return replace(program, rows=rows)
    size_of_sample = sample_size(m, n)
    return _subsample(program, size_of_sample, rng) if size_of_sample * 3 <= m else None


def sample_size(m: int, n: int) -> int:
    """Return how many samples have a curvature within a few percent of that of all."""
    return max(1_000, 50 * n, m // 15)


def _subsample(
    program: RegularizedProgram, size: int, rng: np.random.Generator
) -> RegularizedProgram:
    """Draw about ``size`` samples, by cost and evenly along the data, standing for all of them."""
    cumulated = np.cumsum(program.costs)
    total = float(cumulated[-1])
    # One draw from each of ``size`` equal parts of the total cost.
    spots = (np.arange(size) + rng.random(size)) * (total / size)
    drawn = np.minimum(np.searchsorted(cumulated, spots, side="right"), program.shape[0] - 1)
    # The draws are in order: a sample drawn again follows itself.
    first = np.flatnonzero(np.diff(drawn, prepend=-1))
    index, count = drawn[first], np.diff(first, append=size)
    sign = program.sign[index]
    costs: Vector = count * (total / size)
    balance = float(program.costs @ program.sign)
    for side in (-1.0, 1.0):
        # Each class keeps its share of the total cost exactly.
        here = sign == side
        costs[here] *= (total + side * balance) / 2 / max(float(costs[here].sum()), 1e-300)
    rows = program.rows.float32(index) or program.rows.take(index)
    return replace(program, rows=rows, sign=sign, costs=costs, means=None)
