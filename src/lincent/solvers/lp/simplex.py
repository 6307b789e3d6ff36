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
3. Pivots (below) lead to the optimal vertex of the band, the others are evaluated there, and
   those on the wrong side join the band.  When none is, the vertex is optimal for all rows.  Where
   many are, the band was too small: move towards the vertex as far as the objective
   falls, and take a larger band from there.

What this cannot finish (mostly dependent features) goes on to the interior point.

**Pivots.**  Everything in (P) that can bend or stop a line is a hinge: the rows, the two sides of
the box and the separation, e_i = (a_i; unit_j; -unit_j; d) with right-hand sides h_i = (s; lo_j;
-hi_j; sep).  Beyond its right-hand side a row costs c_i per unit and a constraint costs a penalty
that is larger than any dual weight it can have, so (P) is

    minimize over beta    g.beta + sum_i c_i (h_i - e_i.beta)_+

A vertex is where n independent hinges, the basis B, are active.  With the residuals of the basis as
coordinates, every hinge and the objective are affine; the tableau

    T = [ E inv(B)   E beta - h ]          the hinges that are not active
        [ lambda     objective  ]          lambda = (g - sum_{i violated} c_i e_i) inv(B)

has them as rows.  The vertex is optimal when 0 <= lambda_k <= c_k for every k of the basis: lambda
are the dual weights.  Otherwise hinge k leaves, upwards or downwards, and the objective falls until
enough other breakpoints have been passed (the slope grows by c_i |rate_i| at each); the hinge at
which it stops falling enters (the long-step rule of Barrodale and Roberts 1973).  A pivot is one
rank-one change of T.

The first basis is the one an interior point suggests (crossover; Megiddo 1991): the rows of E,
weighted by how close each hinge is to active there, are eliminated with row pivoting, and the first
n pivots are n independent hinges that are likely to be in the optimal basis.

Collinear and constant features leave directions in which nothing changes, and a vertex lies where
they meet the box: at a coefficient of 1 for a feature without information.  There the dual weight
of the box is zero.  Such sides are released, and the answer is the point nearest to the start that
meets the other equations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.centralization import Certificate, Program, certify
from lincent.problems.double_double import pair, product_sums
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.vertex import to_vertex
from lincent.solvers.solution import Controls, Solution, Status, silent
from lincent.sources.dense import DenseRows

NAME = "simplex"
LENGTHS = 10.0 ** -np.arange(0.0, 6.5, 0.5)
"""Lengths along the discriminant direction among which the start is chosen."""
TINY = 1e-300
BLOCK = 2_048
"""Rows that are squared at a time: fresh memory for all of them costs more than the squares."""

# Trade-offs, measured on the small and mid kinds of ``benchmarks/workloads.py``.
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
POOR = 0.1
"""A length that shows that the band was not wide enough."""
SMALL_SIZE = 1e-3
"""Size of a row, in mean sizes, below which it counts as this."""
BAND = 10
"""Rows per column among which pivots are made: more cost, fewer miss some."""
LEAST_BAND = 160
"""Rows that are in the band in any case."""
PIVOTS = 12
"""Pivots per column and round; collinear columns take that many."""

# Of the pivots.
PENALTY = 1e3
"""Times the largest dual weight that a side of the box can have."""
OPTIMAL = 1e-11
"""Fraction of a cost by which a dual weight may be out of its range; where that leaves a gap, the
dual weights get more digits."""
CLOSED = 1e-10
"""Relative gap up to which the point nearest to the start is as good as the vertex."""
NEAREST = 64
"""Breakpoints that are sorted first; seldom are more passed."""

Sizes = tuple[Vector, Vector]
STEP_LENGTHS = np.array([0.0, 1.0, 0.6, 0.3, 0.1, 0.03])


def is_applicable(m: int, n: int) -> bool:
    """Return whether a dense program is so small that calls dominate its cost.

    Beyond 700,000 entries reading all rows for each step no longer pays, beyond 64 columns pivots,
    n at a time, cost more than steps, and with more rows screening is as fast and steadier.  With
    fewer than three rows per column the classes are separable, and beta is at the box.
    """
    few = m * n <= 700_000 and m <= max(8_000, 1_500 * n) and m < 20_000
    return few and n <= 64 and m >= 3 * n


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
        # Entries up to which all rows are the band: integers tie, and a growing band would go
        # through the ties every time.
        self.pivoted_whole = 30_000 if program.rows.merged else 6_000
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
        part = slice(None, None, max(1, len(self.rows) // (30 * n)))
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
        return bool(np.count_nonzero(ordered[1:] == ordered[:-1]) > 0.05 * len(ordered))

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
            close = length >= 0.6 and turned <= 0.5 * n and band <= 2.0 * least
            # From a start that no step leads away from, pivots are few.
            stuck = length == 0.0 and (self.started or band >= largest)
            flat = length > POOR and self.gain <= 2e-4
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
        if np.count_nonzero(self.beyond) > 0.005 * m:
            return self.beta
        missed = np.count_nonzero(self.rows @ corner < self.program.margin)
        return corner if missed <= 0.05 * m else self.beta

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
    # Where features depend on each other H is singular: with a smaller ridge equal ones drift apart
    # by rounding, with a larger one the step is no longer exact.  Of each diagonal entry: a ridge
    # for all would hold features of a small scale.
    H.flat[:: len(H) + 1] += 3e-9 * diagonal + 1e-16 * largest
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
    for _ in range(8):  # the last on all rows
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
        if count <= len(index) / 2:
            near.stand(answer.beta, violation)
            chosen |= wrong
            box = near.beta
            continue
        hopeless = m * n > 250_000 and count > 0.05 * m  # screening is faster then
        if hopeless or _late(controls):
            return None
        # Too far for a band of this size: only part of the way is a descent.
        near.move(answer.beta - near.beta, near.missed - violation)
        band *= 3
        chosen, box = near.nearest(band), near.beta
    return None


# Pivots


def crossover(
    program: Program, start: Vector, weight: Vector, most: int, unit: Vector | None = None
) -> Certificate | None:
    """Return the certified optimal vertex, or None if ``most`` pivots do not reach it.

    ``weight`` has one positive number for each row, lower side, upper side and d, the larger the
    likelier it is active; ``unit`` is the scale of the features where it is known.
    """
    tableau = Tableau(program, weight, unit)
    if not tableau.usable or not tableau.descend(most):
        return None
    best = tableau.certificate(start)
    if best.relative_gap > CLOSED and tableau.by_exact_weights(2 * program.shape[1]):
        best = min(best, tableau.certificate(start), key=lambda answer: answer.gap)
    return best


class Tableau:
    """The hinges and the objective, as seen from a vertex."""

    def __init__(self, program: Program, weight: Vector, unit: Vector | None = None) -> None:
        m, n = program.shape
        rows, d = program.rows.dense(), program.difference
        # The sides of the box in the scale of the rows, so that rates can be compared.
        unit = program.rows.column_scale() if unit is None else unit
        side = PENALTY * (np.abs(program.linear) + program.costs @ np.abs(rows)) / unit
        total = float(side.sum()) / max(float(np.abs(d / unit).max()), 1e-300)
        self.costs = np.concatenate([program.costs, side, side, [total]])
        self.hinges = np.zeros((m + 2 * n + 1, n), order="F")
        self.hinges[:m] = rows
        column = np.arange(n)
        self.hinges[m + column, column] = unit
        self.hinges[m + n + column, column] = -unit
        self.hinges[-1] = d
        self.limits = np.empty(m + 2 * n + 1)
        self.limits[m : m + n] = unit * program.lower
        self.limits[m + n : -1] = -unit * program.upper
        self._set_limits(program)
        self.pivots, self.stuck, self.tolerance = 0, False, OPTIMAL
        weight = np.sqrt(weight)
        weight[m:-1].reshape(2, n)[:] /= unit
        self.basis = independent_rows(self.hinges * weight[:, None])
        self.usable = self._form()

    def _set_limits(self, program: Program) -> None:
        self.program = program
        self.limits[: program.shape[0]] = program.margin
        self.limits[-1] = program.separation

    def _form(self) -> bool:
        """Form the tableau at the vertex of the basis; False where the basis is singular."""
        hinges, basis = self.hinges, self.basis
        count, n = hinges.shape
        factor, pivots, info = lapack.dgetrf(hinges[basis])
        if info != 0:
            return False
        self.T = np.empty((count + 1, n + 1), order="F")
        np.matmul(hinges, lapack.dgetri(factor, pivots)[0], out=self.T[:-1, :n])
        self.T[basis, :n] = 0.0
        self.T[basis, np.arange(n)] = 1.0
        return self._set_vertex()

    def aim(self, program: Program, *, fresh: bool) -> bool:
        """Move to the vertex that the basis has in a program of another margin.

        Rates do not depend on right-hand sides, so they stay; ``fresh`` recomputes them, without
        the rounding of the pivots that were made.
        """
        self._set_limits(program)
        return self._form() if fresh else self._set_vertex()

    def _set_vertex(self) -> bool:
        """Compute the residuals of all hinges at the vertex, and the slopes of the objective."""
        program, T, basis = self.program, self.T, self.basis
        m, n = program.shape
        limits = self.limits
        T[:-1, n] = T[:-1, :n] @ limits[basis] - limits
        T[basis, n] = 0.0
        self.side = np.where(T[:-1, n] < 0, -1.0, 1.0)
        # The lower sides of the box are hinges: they have the inverse of the basis, and the vertex.
        per_unit = program.linear / self.hinges[m : m + n].diagonal()
        T[-1] = per_unit @ T[m : m + n]
        T[-1, n] += float(per_unit @ limits[m : m + n])
        T[-1] -= np.where(self.side < 0, self.costs, 0.0) @ T[:-1]
        return bool(np.isfinite(T[-1]).all())

    def descend(self, most: int) -> bool:
        """Pivot until the vertex is optimal; False if that takes more than ``most`` pivots."""
        T, costs, basis, side = self.T, self.costs, self.basis, self.side
        n = T.shape[1] - 1
        multiplier, cost, columns = T[-1, :n], costs[basis], T[:-1, :n]
        squares = np.einsum("ij,ij->j", columns, columns)
        for _ in range(most + 1):
            wrong = np.maximum(-multiplier, multiplier - cost)
            wrong -= self.tolerance * cost
            # Steepest edge: the objective falls most per length.
            k = int((wrong / np.sqrt(squares)).argmax())
            if not wrong[k] > 0.0:
                return True
            leaving, upwards, column = basis[k], multiplier[k] < 0, T[:, k].copy()
            side[leaving] = 1.0 if upwards else -1.0
            rate = side * column[:-1]
            if upwards:
                np.negative(rate, out=rate)
            entering = self._pass_breakpoints(rate, -float(wrong[k]))
            if entering < 0:
                self.stuck = True
                return False
            if not upwards:
                T[-1, k] -= cost[k]
            if side[entering] < 0:
                T[-1] += costs[entering] * T[entering]
            change = T[entering].copy()
            change[k] -= 1.0
            change /= T[entering, k]
            turn = change[:n]
            product = column[:-1] @ columns
            squares += turn * (turn * product[k] - 2.0 * product)
            np.maximum(squares, 1.0 + turn * turn, out=squares)  # rounding
            squares[k] = product[k] / T[entering, k] ** 2
            column[-1] = T[-1, k]
            # In place: T is in the order of columns.
            blas.dger(-1.0, column, change, a=T, overwrite_a=1)
            basis[k], cost[k] = entering, costs[entering]
            self.pivots += 1
            self._pivoted()
        return False

    def by_exact_weights(self, most: int) -> bool:
        """Pivot by dual weights with twice the digits; return whether the vertex has changed.

        Of features that are equal up to rounding, the last digits of a sum decide which is at the
        box, and on which side.
        """
        before, self.tolerance = self.pivots, 0.0
        for _ in range(most):
            self._set_exact_weights()
            if self.descend(0) or self.stuck:
                break
        return self.pivots > before

    def _set_exact_weights(self) -> None:
        program, basis = self.program, self.basis
        m, n = program.shape
        beyond = (self.side[:m] < 0).nonzero()[0]
        beyond = beyond[~np.isin(beyond, basis)]
        rows, costs = program.rows.dense()[beyond], program.costs[beyond]
        rest = pair(program.linear) + product_sums(rows, costs[:, None], axis=0).times(-1.0)
        hinges = self.hinges[basis]
        factor, pivots, _ = lapack.dgetrf(hinges)
        first = lapack.dgetrs(factor, pivots, rest.value, trans=1)[0]
        left = rest + product_sums(hinges, first[:, None], axis=0).times(-1.0)
        self.T[-1, :n] = first + lapack.dgetrs(factor, pivots, left.value, trans=1)[0]

    def _pivoted(self) -> None:
        """Update an objective that depends on the vertex (``solvers.ramp``); here it does not."""

    def _pass_breakpoints(self, rate: Vector, slope: float) -> int:
        """Pass breakpoints while the objective falls; return the entering hinge, or -1."""
        T, side, costs = self.T, self.side, self.costs
        ahead = (rate > 1e-9 * rate[rate.argmax()]).nonzero()[0]  # slower ones divide by rounding
        rate = rate.take(ahead)
        when = side.take(ahead)
        when *= T[:-1, -1].take(ahead)
        when /= rate
        rate *= costs.take(ahead)
        if len(ahead) > 4 * NEAREST:
            first = (when <= np.partition(when, NEAREST)[NEAREST]).nonzero()[0]
            if slope + rate[first].sum() >= 0:
                ahead, when, rate = ahead[first], when[first], rate[first]
        order = when.argsort()
        place = int(rate.take(order).cumsum().searchsorted(-slope))
        if place == len(order):
            return -1
        passed = ahead.take(order[:place])
        if place:
            turned = side.take(passed)
            T[-1] -= (turned * costs.take(passed)) @ T[passed]
            side[passed] = -turned
        return int(ahead[order[place]])

    def certificate(self, start: Vector) -> Certificate:
        """Return the vertex certified on (P) itself, without the penalty."""
        program, basis = self.program, self.basis
        m, n = program.shape
        factor, pivots, _ = lapack.dgetrf(self.hinges[basis])
        beta = lapack.dgetrs(factor, pivots, self.limits[basis])[0]
        alpha = np.where(self.side[:m] < 0, program.costs, 0.0)
        rows = basis[basis < m]
        alpha[rows] = 0.0
        rest = program.linear - program.rows.tdot(alpha)
        multiplier = lapack.dgetrs(factor, pivots, rest, trans=1)[0]
        alpha[rows] = multiplier[basis < m]
        t = max(float(multiplier[basis == m + 2 * n].sum()), 0.0)
        sides = (basis >= m) & (basis < m + 2 * n)
        return self._certify(start, (beta, alpha, t), basis[sides] - m, multiplier[sides])

    def _certify(
        self,
        start: Vector,
        point: tuple[Vector, Vector, float],
        at: NDArray[np.intp],
        multiplier: Vector,
    ) -> Certificate:
        """Return the vertex, or the point nearest to the start without sides of zero weight."""
        program, (beta, alpha, t) = self.program, point
        if len(at) == 0:
            return certify(program, beta, alpha, t)
        m, n = program.shape
        column = at % n
        # Exactly: a solve beside rows of a larger scale leaves a digit or two.
        beta[column] = np.where(at < n, program.lower[column], program.upper[column])
        largest = self.costs[m : m + n] / PENALTY  # dual weight that a side can have
        held = column[multiplier > 1e-9 * largest[column]]
        if len(held) == len(column):
            return certify(program, beta, alpha, t)
        near, free, active = start.copy(), np.ones(n, dtype=bool), np.zeros(m, dtype=bool)
        near[held] = beta[held]
        free[held], active[self.basis[self.basis < m]] = False, True
        met = bool((self.basis == m + 2 * n).any())
        nearest = to_vertex(program, near, alpha, t, active, free, met)
        if nearest is not None and nearest.relative_gap <= CLOSED:
            return nearest
        # A row was passed on the way to the nearest point, beyond which the vertex is not optimal.
        # Objectives show that also where rounding of dual weights is most of both gaps.
        vertex = certify(program, beta, alpha, t)
        if nearest is None or vertex.gap < nearest.gap:
            return vertex
        worse = nearest.objective - vertex.objective
        return vertex if worse > CLOSED * max(1.0, abs(vertex.objective)) else nearest


def independent_rows(weighted: Matrix) -> NDArray[np.intp]:
    """Return n independent rows, heavy ones first: the pivots of an elimination."""
    n = weighted.shape[1]
    if n == 0:
        return np.empty(0, dtype=np.intp)
    _, pivots, _ = lapack.dgetrf(np.asfortranarray(weighted), overwrite_a=1)
    order = np.arange(len(weighted))
    for i, p in enumerate(pivots[:n].tolist()):
        order[i], order[p] = order[p], order[i]
    return order[:n].copy()
