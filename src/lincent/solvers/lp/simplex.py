"""Small dense programs: Newton steps to near the optimal vertex, pivots to reach it.

On small problems (up to 700,000 entries) a solve costs its calls, not its arithmetic.  A step of an
interior point is sixty calls; the step here is twenty, and six of them lead to within a few pivots
of the vertex.  The four steps are those of ``screening`` (start, smoothed Newton, band, exact
solve), written for all rows in memory and without a trust region: calls dominate here, and without
this route small fits take half as long again (up to three times).

1. From the discriminant direction inv(A'CA) d, Newton steps on the smoothed program: within
   w size_i of its breakpoint the hinge of row i is a parabola, size_i = |a_i / scale|, so that

       alpha_i  = c_i clip((s - a_i.beta) / (2 w size_i) + 1/2, 0, 1)
       gradient = g - sum_i alpha_i a_i,      Hessian = sum_band c_i / (2 w size_i) a_i a_i'

   w is the distance of the k-th nearest row.  About as many rows are undecided as have changed
   sides in the last step, so that many are k; where steps are cut short it grows.  Each step is
   that of ``smoothing``, in the box and above the separation.
2. The rows nearest to the margin are the band.  The rest is summed up, each row on the side where
   it is: a violating row adds c_i (s - a_i.beta), the others nothing.
3. Pivots (``tableau``) lead to the optimal vertex of the band, the others are evaluated there, and
   those on the wrong side join the band.  When none is, the vertex is optimal for all rows.  Where
   many are, the band was too small: move towards the vertex as far as the objective
   falls, and take a larger band from there.

What this cannot finish (mostly dependent features) goes on to the interior point.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.centralization import Program, certify
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.tableau import crossover
from lincent.solvers.solution import Controls, Solution, Status, silent
from lincent.sources.dense import DenseRows

NAME = "simplex"
LENGTHS = 10.0 ** -np.arange(0.0, 6.5, 0.5)
"""Lengths along the discriminant direction among which the start is chosen."""
RIDGE = 3e-9
"""Of the diagonal of a Hessian, singular where features depend on each other: with less, equal ones
drift apart by rounding; with more, the step is no longer exact."""
TINY = 1e-300
BLOCK = 2_048
"""Rows that are squared at a time: fresh memory for all of them costs more than the squares."""

# Trade-offs, measured on the small and mid kinds of ``benchmarks/workloads.py``.
MOST_ENTRIES = 700_000
"""Entries beyond which reading all rows for each step no longer pays."""
SMALL = 250_000
"""Entries up to which a band may be too small by far."""
FEW_ROWS = 8_000
"""Rows up to which,"""
MOST_ROWS = 1_500
"""and rows per column up to which screening is no faster."""
TALL = 20_000
"""Rows from which on screening is as fast, steadier, and holds no copy of them."""
MOST_COLUMNS = 64
"""Columns beyond which pivots, n at a time, cost more than steps."""
SAMPLE = 30
"""Rows per column that define the discriminant direction."""
DIRECTION_RIDGE = 1e-2
"""Fraction of the diagonal of A'CA that is added: the direction need not be exact."""
FIRST_BAND = 16.0
"""Rows per column of the first step: fewer let steps overshoot."""
LAST_BAND = 2.0
"""Rows per column of the last step; a vertex has one."""
SHRINK = 0.25
"""Factor on the band after a step, at least: quadratic convergence allows no less."""
GROW = 1.6
"""Factor on the band where steps are cut short."""
STEPS = 16
"""Newton steps at most,"""
FEW_STEPS = 2
"""and beside one for every two columns: what is left costs less by pivots."""
GOOD = 0.6
"""A length that shows that the band was wide enough."""
POOR = 0.1
"""A length that shows that it was not."""
NEAR = 0.5
"""Rows per column that change sides in a last step."""
FLAT = 2e-4
"""Relative gain of a step after which pivots take over."""
SMALL_SIZE = 1e-3
"""Size of a row, in mean sizes, below which it counts as this."""
FEW_VIOLATED = 0.005
"""Fraction of rows violated up to which the box is the bound,"""
VIOLATED_AT_CORNER = 0.05
"""and up to which pivots begin at its vertex."""
BAND = 10
"""Rows per column among which pivots are made: more cost, fewer miss some."""
LEAST_BAND = 160
"""Rows that are in the band in any case."""
PIVOTED_WHOLE = 6_000
"""Entries up to which all rows are the band."""
TIES_WHOLE = 30_000
"""The same where rows repeat: ties make every round of pivots long."""
FEW_WRONG = 0.5
"""Fraction of the band on the wrong side above which the band was too small."""
MANY_WRONG = 0.05
"""Fraction of all rows on the wrong side above which, beyond ``SMALL``, screening is asked."""
ROUNDS = 8
"""Rounds of pivots, the last of them on all rows."""
PIVOTS = 12
"""Pivots per column and round; collinear columns take that many."""
REPEATED = 0.05
"""Fraction of equal rows from which on they are merged."""
Sizes = tuple[Vector, Vector]
STEP_LENGTHS = np.array([0.0, 1.0, 0.6, 0.3, 0.1, 0.03])


def is_applicable(m: int, n: int) -> bool:
    """Return whether a dense program is so small that calls dominate its cost.

    With fewer than three rows per column the classes are separable, and beta is at the box.
    """
    few = m * n <= MOST_ENTRIES and m <= max(FEW_ROWS, MOST_ROWS * n)
    few = few and m < TALL
    return few and n <= MOST_COLUMNS and m >= 3 * n


@np.errstate(all="ignore")  # what is not finite does not get a certificate
def solve(
    program: Program, controls: Controls, start: Vector | None = None, sizes: Sizes | None = None
) -> Solution:
    """Return the certified optimal vertex, or the last point where it is not reached."""
    point = BandPoint(program, start, sizes)
    if sizes is None and not program.rows.merged and point.repeats():
        merged = merge(program)
        if merged is not None:
            point = BandPoint(merged.program, start)
            return merged.expand(_finish(merged.program, point, controls))
    return _finish(program, point, controls)


def _finish(program: Program, near: BandPoint, controls: Controls) -> Solution:
    steps = near.approach(controls)
    late = _late(controls)
    answer = None if late else _solve_band(program, near, controls)
    if answer is None:
        answer = certify(program, near.beta, near.multipliers(), 0.0)
    status = Status.TIME_LIMIT if late else Status.STALLED
    if answer.relative_gap <= controls.tol:
        status = Status.OPTIMAL
    return Solution(status, answer, steps, NAME, scale=near.scale)


def _late(controls: Controls) -> bool:
    return controls.deadline < np.inf and controls.out_of_time()


def scales_and_sizes(rows: Matrix) -> Sizes:
    """Return scale_j, the root mean square of columns, and 1 / sqrt(sum_j (a_ij / scale_j)^2)."""
    m = len(rows)
    parts = [rows[first : first + BLOCK] for first in range(0, m, BLOCK)]
    squares = parts[0] * parts[0]
    mean = np.ones(len(squares)) @ squares
    for some in parts[1:]:
        mean += np.ones(len(some)) @ (some * some)
    mean /= m
    mean[mean == 0.0] = 1.0
    weight = 1.0 / mean
    sizes = [squares @ weight, *((some * some) @ weight for some in parts[1:])]
    size = np.sqrt(sizes[0] if len(sizes) == 1 else np.concatenate(sizes))
    return np.sqrt(mean), 1.0 / np.maximum(size, SMALL_SIZE * size.sum() / m + TINY)


class BandPoint:
    """A point on its way to the optimum, and the margin violation of each row there."""

    def __init__(self, program: Program, start: Vector | None, sizes: Sizes | None = None) -> None:
        self.program, self.rows = program, program.rows.dense()
        self.scale, self.per_size = sizes or scales_and_sizes(self.rows)
        # Integers tie, and a growing band would go through the ties every time.
        merged = program.rows.merged
        self.pivoted_whole = TIES_WHOLE if merged else PIVOTED_WHOLE
        self.curvature = 0.5 * self.per_size * program.costs
        self.gain = 1.0  # of the last step, relative to the loss
        self.width = 0.0  # of the last band
        self.started = start is not None
        self.band = FIRST_BAND
        if start is None:
            self._start()
        else:
            self.band = LAST_BAND
            beta = program.feasible(start)
            self.stand(beta, program.margin - self.rows @ beta)

    def _start(self) -> None:
        """Move to the best point along the discriminant direction, by a sample of the rows."""
        program, n = self.program, self.rows.shape[1]
        part = slice(None, None, max(1, len(self.rows) // (SAMPLE * n)))
        some, costs = self.rows[part], program.costs[part]
        gram = (some.T * costs) @ some
        diagonal = gram.diagonal().copy()
        diagonal[diagonal == 0.0] = 1.0
        gram.flat[:: n + 1] += DIRECTION_RIDGE * diagonal
        direction = lapack.dposv(gram, program.difference)[1]
        middle = (program.lower + program.upper) / 2
        direction *= 0.9 / np.abs(direction / (program.upper - middle)).max()
        base = program.margin - some @ middle if middle.any() else program.margin
        along = some @ direction
        values = LENGTHS * float(program.linear @ direction) * (len(some) / len(self.rows))
        values += np.maximum(base - np.multiply.outer(LENGTHS, along), 0.0) @ costs
        beta = middle + LENGTHS[values.argmin()] * direction
        if program.difference @ beta < program.separation:
            beta = program.feasible(beta)
        self.stand(beta, program.margin - self.rows @ beta)

    def stand(self, beta: Vector, missed: Vector) -> None:
        """Move to a point with these margin violations."""
        self.beta, self.missed, self.beyond = beta, missed, missed > 0.0

    def repeats(self) -> bool:
        """Return whether many rows are equal: their violations then are."""
        ordered = np.sort(self.missed)
        return bool(np.count_nonzero(ordered[1:] == ordered[:-1]) > REPEATED * len(ordered))

    def approach(self, controls: Controls) -> int:
        """Take Newton steps towards the optimum; return how many."""
        m, n = self.rows.shape
        largest, least = m // 2, LAST_BAND * n
        band = float(min(self.band * n, largest))
        count = 0
        most = min(STEPS, FEW_STEPS + n // 2, controls.max_iter)
        for count in range(1, most + 1):
            before = self.beyond
            length = self._step(int(band))
            turned = np.count_nonzero(before != self.beyond)
            if controls.tell is not silent:
                controls.tell(
                    f"{count:4d}  objective {self.objective():.10e}  {turned} rows turned"
                )
            close = length >= GOOD and turned <= NEAR * n and band <= 2.0 * least
            # From a start that no step leads away from, pivots are few.
            stuck = length == 0.0 and (self.started or band >= largest)
            flat = length > POOR and self.gain <= FLAT
            if close or stuck or flat or _late(controls):
                break
            if length > POOR:
                band = min(max(turned / length, SHRINK * band, least), largest)
            else:
                band = min(GROW * band, largest)
                if length == 0.0:  # so narrow a band leads nowhere here, and would not later
                    least = band
        return count

    def objective(self) -> float:
        """Return the objective of (P) here."""
        program = self.program
        loss = float(program.costs @ np.maximum(self.missed, 0.0))
        return program.offset + float(program.linear @ self.beta) + loss

    def _step(self, band: int) -> float:
        """Take a step with about so many hinges smoothed; return the length it was cut to."""
        rows, missed, costs = self.rows, self.missed, self.program.costs
        distance = missed * self.per_size
        near = np.abs(distance)
        width = self._width(near, band)
        inside = (near <= width).nonzero()[0]
        distance *= 0.5 / width
        distance += 0.5
        alpha = np.minimum(np.maximum(distance, 0.0), 1.0)
        alpha *= costs
        some = rows.take(inside, axis=0)
        hessian = (some.T * self.curvature.take(inside)) @ some
        # In units of 1 / w, so that the numbers are of the size of the data.
        # Far out the model does not say where the others would go once some are at the box.
        moves = 2 if self.started else 1
        slope = width * self._slope(alpha)
        aim = clipped_newton_point(self.program, self.beta, slope, hessian, moves)
        if aim is None:
            return 0.0
        step = aim - self.beta
        return self.move(step, rows @ step)

    def _width(self, distance: Vector, band: int) -> float:
        """Return the distance within which so many rows are, sought near that of the last step."""
        some = distance[distance <= 2.0 * self.width] if self.width else distance
        if len(some) <= band:
            some = distance
        self.width = float(np.partition(some, band)[band]) + TINY
        return self.width

    def _slope(self, alpha: Vector) -> Vector:
        """Return the gradient of the smoothed objective."""
        return self.program.linear - alpha @ self.rows

    def move(self, step: Vector, along: Vector) -> float:
        """Take the best of a few lengths of a step, along which the rows move by ``along``."""
        missed, costs = self.missed, self.program.costs
        values = np.maximum(missed - STEP_LENGTHS[:, None] * along, 0.0) @ costs
        values += STEP_LENGTHS * float(self.program.linear @ step)
        best = int(values[1:].argmin()) + 1
        if not values[best] < values[0]:
            return 0.0
        length = float(STEP_LENGTHS[best])
        self.gain = float(1.0 - values[best] / values[0])
        self.stand(self.beta + length * step, missed - length * along)
        return length

    def nearest(self, band: int) -> np.ndarray | None:
        """Return which rows are the so many nearest to the margin; None where these are most."""
        if 2 * band >= len(self.rows) or self.rows.size <= self.pivoted_whole:
            return None
        chosen = np.zeros(len(self.rows), dtype=bool)
        chosen[np.argpartition(np.abs(self.missed) * self.per_size, band)[:band]] = True
        return chosen

    def hinge_weights(self, index: Index | slice, box: Vector) -> Vector:
        """Return how close each hinge is to active: rows, lower sides, upper sides, separation.

        The sides are measured at ``box``, which need not be here.
        """
        program, missed = self.program, self.missed[index]
        reach = float(program.difference @ self.beta) - program.separation
        distance = np.concatenate([missed, box - program.lower, program.upper - box, [reach]])
        distance *= distance
        # Active hinges count alike, whatever their rounding.
        rounding = 1e-18 * float(self.missed @ self.missed) / len(self.missed)
        return np.asarray(1.0 / (distance + rounding + TINY))

    def subproblem(self, index: Index, beyond: Vector) -> Program:
        """Return the program of some rows, with the dual weights of all others summed up."""
        program = self.program
        return replace(
            program,
            rows=DenseRows(self.rows[index]),
            costs=program.costs[index],
            linear=program.linear - beyond @ self.rows,
            offset=program.offset + program.margin * float(beyond.sum()),
        )

    def in_the_box(self) -> Vector:
        """Return where in the box the optimum is likely to be: here, or at the vertex along d.

        Classes far apart have it near that vertex: hardly a row is violated here or there.
        """
        m, corner = len(self.rows), self.program.farthest_point
        if np.count_nonzero(self.beyond) > FEW_VIOLATED * m:
            return self.beta
        missed = np.count_nonzero(self.rows @ corner < self.program.margin)
        return corner if missed <= VIOLATED_AT_CORNER * m else self.beta

    def multipliers(self) -> Vector:
        """Return the dual weights: c where a row is violated, else zero."""
        return self.beyond * self.program.costs


def clipped_newton_point(
    program: Program, beta: Vector, gradient: Vector, H: Matrix, moves: int = 2
) -> Vector | None:
    """Return the Newton step in the box; None where H is singular.

    Coordinates at a bound whose gradient points out of the box are fixed, and the others take the
    unconstrained step, along the separation if it would end below it.  Those that would leave the
    box stop at it; in the next of two ``moves`` they are fixed as well.  What the last one takes
    out of the box is projected.  A third gains nothing.  H is overwritten.
    """
    d, rounding = program.difference, 1e-9 * (program.upper - program.lower)
    held = (beta <= program.lower + rounding) & (gradient > 0.0)
    held |= (beta >= program.upper - rounding) & (gradient < 0.0)
    diagonal = H.diagonal()
    largest = diagonal.max()
    if not largest > 0.0:
        return None
    # Of each diagonal entry: a ridge for all would hold features of a small scale.
    H.flat[:: len(H) + 1] += RIDGE * diagonal + 1e-16 * largest
    new = beta
    for _ in range(moves):
        free = (~held).nonzero()[0]
        if len(free) == 0:
            break
        moved = np.where(held, new, beta)
        inner, right = H, np.array([gradient, d])
        if len(free) < len(beta):
            right[0] += H @ (moved - beta)
            inner, right = H.take(free, axis=0).take(free, axis=1), right.take(free, axis=1)
        solved, failed = lapack.dposv(inner, right.T)[1:]
        step, along = -solved[:, 0], solved[:, 1]
        if failed or not np.isfinite(step).all():
            return None
        reach = float(d @ moved) + float(right[1] @ step)
        if reach < program.separation:
            step += along * ((program.separation - reach) / max(float(right[1] @ along), 1e-300))
        moved[free] += step
        new = np.minimum(np.maximum(moved, program.lower), program.upper)
        if (new == moved).all():
            break
        held |= new != moved
    return new if float(d @ new) >= program.separation else program.feasible(new)


def _solve_band(program: Program, near: BandPoint, controls: Controls) -> Certificate | None:
    """Return the optimal vertex, by pivots in a growing band of rows."""
    m, n = program.shape
    band = max(BAND * n, LEAST_BAND)
    most = PIVOTS * n + 20
    chosen, box = near.nearest(band), near.in_the_box()
    for _ in range(ROUNDS):
        if chosen is None:
            if controls.tell is not silent:
                controls.tell(f"pivots among all {m} rows")
            weight = near.hinge_weights(slice(None), box)
            return crossover(program, near.beta, weight, most, near.scale)
        index = chosen.nonzero()[0]
        beyond = np.where(chosen, 0.0, near.multipliers())
        part = near.subproblem(index, beyond)
        answer = crossover(part, near.beta, near.hinge_weights(index, box), most, near.scale)
        if answer is None:
            return None
        violation = program.margin - near.rows @ answer.beta
        wrong = ~chosen & ((violation > 0.0) != (beyond > 0.0))
        count = np.count_nonzero(wrong)
        if controls.tell is not silent:
            controls.tell(f"pivots among {len(index)} rows: {count} others on the wrong side")
        if count == 0:
            beyond[index] = answer.alpha
            return certify(program, answer.beta, beyond, answer.t)
        if count <= FEW_WRONG * len(index):
            near.stand(answer.beta, violation)
            chosen |= wrong
            box = near.beta
            continue
        hopeless = m * n > SMALL and count > MANY_WRONG * m
        if hopeless or _late(controls):
            return None
        # Too far for a band of this size: only part of the way is a descent.
        near.move(answer.beta - near.beta, near.missed - violation)
        band *= 3
        chosen, box = near.nearest(band), near.beta
    return None
