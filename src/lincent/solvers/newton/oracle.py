"""What one read of the rows tells about a point of the regularized program.

Objective, gradient and a dual bound at (beta, t), from a single sweep over the rows.  The pulls
alpha_i = c_i u_i of a point are dual feasible but for sum_i y_i alpha_i = e, which must be zero
where t is free.  Say the positive class pulls more, e > 0.  All the costs of the negative class,
with total C-, are feasible multipliers as well, so the mixture

    (1 - share) alpha + share c-,      share = e / (e + C-),

is feasible and balanced, and everything that its bound needs is known: C- times the mean of the
signed rows of the class, once for the whole solve, and sums that the sweep has made anyway.  So
every point has an honest duality gap at no further read, and one that vanishes with e.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.regularized import RegularizedProgram, by_class, unit_of
from lincent.sources.rows import weighed

Inside = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reading:
    """A point (beta, t) with what all rows say about it."""

    beta: Vector
    t: float
    projected: Vector
    pull: Vector
    gradient: Vector
    slope: float
    """The derivative in t: by how much the positive class pulls more; zero where t is fixed."""
    objective: float
    bound: float

    @property
    def inside(self) -> Inside:
        """The rows between the margins, where the loss is curved."""
        return (self.pull > 0.0) & (self.pull < 1.0)

    def descent(self, step: Vector, shift: float) -> float:
        """The slope of the objective along a step."""
        return float(self.gradient @ step) + self.slope * shift


class Reader:
    """Reads a program at any point."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        sides = (program.sign < 0, program.sign > 0)
        # Each side by itself: a difference of sums would lose the lighter one.
        down, up = (float(program.costs @ side) for side in sides)
        self.class_costs = down, up
        self._means = program.means

    @property
    def unit(self) -> float:
        """The size of an objective that counts as zero."""
        return unit_of(self.program.low, self.program.high, sum(self.class_costs))

    def at(self, beta: Vector, t: float, projected: Vector | None = None) -> Reading:
        """The point (beta, t); A beta may be known already."""
        program, sums = self.program, _Sums(self.program, t)
        if projected is None:
            projected, combined = program.rows.sweep(beta, sums.weigh)
        else:
            combined = program.rows.tdot(weighed(projected, sums.weigh))
        return self._reading(beta, t, projected, sums, combined)

    def _reading(
        self, beta: Vector, t: float, projected: Vector, sums: _Sums, combined: Vector
    ) -> Reading:
        program = self.program
        slope = sums.excess if program.free else 0.0
        objective = self._penalty(beta) + program.width * (sums.squares / 2 + sums.beyond)
        bound = self._bound(*self._even(sums, combined, slope))
        gradient = self._gradient(beta, combined)
        return Reading(beta, t, projected, sums.pull, gradient, slope, objective, bound)

    # What depends on the norm.

    def _penalty(self, beta: Vector) -> float:
        return float(beta @ beta) / 2

    def _gradient(self, beta: Vector, combined: Vector) -> Vector:
        return beta - combined

    def _bound(self, total: float, squares: float, combined: Vector) -> float:
        p = self.program
        with np.errstate(over="ignore"):  # far from the optimum of large costs: no bound at all
            size = float(combined @ combined) / 2
        return p.high * total - p.width / 2 * squares - size

    def at_zero(self, t: float) -> Reading:
        """The point (0, t), where all rows of a class pull the same: without the rows."""
        program, m = self.program, self.program.shape[0]
        costs = np.array(self.class_costs)
        # One row of each class stands for all of it.
        v = np.maximum((program.high + t * np.array([-1.0, 1.0])) / program.width, 0.0)
        u = np.minimum(v, 1.0)
        alpha, beyond = costs * u, v - u
        sums = _Sums(program, t)
        sums.pull = np.full(m, u[0]) if u[0] == u[1] else np.where(program.sign > 0, u[1], u[0])
        sums.down, sums.up = float(alpha[0]), float(alpha[1])
        sums.squares, sums.beyond = float(alpha @ u), float(costs @ beyond)
        combined = alpha[0] * self._mean(0) + alpha[1] * self._mean(1)
        beta = np.zeros(program.shape[1])
        return self._reading(beta, t, np.zeros(m), sums, combined)

    def multipliers(self, reading: Reading) -> Vector:
        """The alpha behind the bound of a reading."""
        program = self.program
        alpha = program.costs * reading.pull
        if reading.slope == 0.0:
            return alpha
        side, share = self._mixture(reading.slope)
        weaker = program.sign > 0 if side else program.sign < 0
        alpha *= 1.0 - share
        return np.asarray(alpha + share * np.where(weaker, program.costs, 0.0))

    def _even(self, sums: _Sums, combined: Vector, slope: float) -> tuple[float, float, Vector]:
        """sum alpha, sum alpha^2 / c and A'alpha of the multipliers behind the bound."""
        total, squares = sums.total, sums.squares
        if slope != 0.0:
            side, share = self._mixture(slope)
            cost, keep = self.class_costs[side], 1.0 - share
            weaker = min(sums.down, sums.up)
            total = keep * total + share * cost
            squares = keep * (keep * squares + 2 * share * weaker) + share * share * cost
            combined = keep * combined + (share * cost) * self._mean(side)
        return total, squares, combined

    def _mixture(self, slope: float) -> tuple[int, float]:
        """Which class pulls less (0 negative, 1 positive), and the share that makes it even."""
        side = 0 if slope > 0 else 1
        return side, abs(slope) / (abs(slope) + self.class_costs[side])

    def _mean(self, side: int) -> Vector:
        if self._means is None:
            self._means = class_means(self.program, self.class_costs)
        mean: Vector = self._means[side]
        return mean


def class_means(program: RegularizedProgram, class_costs: tuple[float, float]) -> Matrix:
    """The mean signed row of each class by cost, negative class first."""
    sides = (program.sign < 0, program.sign > 0)
    return np.stack(
        [
            program.rows.tdot(np.where(side, program.costs / max(cost, 1e-300), 0.0))
            for side, cost in zip(sides, class_costs, strict=True)
        ]
    )


class _Sums:
    """Adds up, part by part, what the pulls at threshold t amount to."""

    def __init__(self, program: RegularizedProgram, t: float) -> None:
        self.program, self.t = program, t
        self.pull = np.empty(program.shape[0])
        self.down = self.up = self.squares = self.beyond = 0.0

    @property
    def total(self) -> float:
        return self.down + self.up

    @property
    def excess(self) -> float:
        return self.up - self.down

    def weigh(self, part: slice, projected: Vector) -> Vector:
        """The multipliers c_i u_i of these rows."""
        program = self.program
        costs, sign = program.costs[part], program.sign[part]
        v = np.multiply(sign, self.t)
        v -= projected
        v += program.high
        v *= 1.0 / program.width
        np.maximum(v, 0.0, out=v)
        u = np.minimum(v, 1.0, out=self.pull[part])
        # phi = width (u^2 / 2 + how far v is beyond 1), in all three ranges.
        v -= u
        self.beyond += float(costs @ v)
        alpha = np.multiply(costs, u, out=v)
        down, up = by_class(alpha, sign)
        self.down += down
        self.up += up
        self.squares += float(alpha @ u)
        return alpha
