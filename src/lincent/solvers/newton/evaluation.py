"""Objective, gradient and dual bound of the regularized problem at a point, in one pass.

The dual weights alpha_i = c_i u_i of a point (``problems.regularized``) are dual feasible but for
sum_i y_i alpha_i = e, which must be zero where the threshold t is free.  Say e > 0, so that the
positive class has the larger sum.  All the costs of the negative class, with total C-, are feasible
dual weights as well, so the mixture

    (1 - share) alpha + share c-,      share = e / (e + C-),

is feasible, and everything that its bound needs is known: C- times the mean of the signed samples
of the class, once for the whole solve, and sums that the pass has computed anyway.  So every point
has a valid duality gap at no further pass, and one that vanishes with e.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.regularized import RegularizedProgram, by_class, unit_of
from lincent.sources.rows import weighed

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A point (beta, t) with what one pass over the samples says about it."""

    beta: Vector
    t: float
    projected: Vector
    u: Vector
    """Dual weights as shares of the costs."""
    gradient: Vector
    slope: float
    """The derivative in t, sum_i y_i alpha_i; zero where t is fixed."""
    objective: float
    bound: float

    @property
    def active(self) -> Mask:
        """The samples between the margins, where the loss is curved."""
        return (self.u > 0.0) & (self.u < 1.0)

    def descent(self, step: Vector, shift: float) -> float:
        """Return the slope of the objective along a step."""
        return float(self.gradient @ step) + self.slope * shift


@dataclass
class Sums:
    """What the dual weights at a threshold amount to, added up block by block."""

    u: Vector
    down: float = 0.0
    up: float = 0.0
    squares: float = 0.0
    beyond: float = 0.0
    """sum_i c_i times how far (hi - z_i) / (hi - lo) is above one."""


class Evaluator:
    """Evaluates a problem at any point."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        sides = (program.sign < 0, program.sign > 0)
        # Each class by itself: a difference of sums would lose the lighter one.
        down, up = (float(program.costs @ side) for side in sides)
        self.class_costs = down, up
        self._means = program.means

    @property
    def unit(self) -> float:
        """The size of an objective that counts as zero."""
        return unit_of(self.program.low, self.program.high, sum(self.class_costs))

    def at(self, beta: Vector, t: float, projected: Vector | None = None) -> Evaluation:
        """Evaluate (beta, t); A beta may be known already."""
        program = self.program
        sums = Sums(np.empty(program.shape[0]))

        def weigh(block: slice, projected: Vector) -> Vector:
            """Return the dual weights c_i u_i of a block of samples, and add up their sums."""
            costs, sign = program.costs[block], program.sign[block]
            v = np.multiply(sign, t)
            v -= projected
            v += program.high
            v *= 1.0 / program.width
            np.maximum(v, 0.0, out=v)
            u = np.minimum(v, 1.0, out=sums.u[block])
            # phi = width (u^2 / 2 + how far v is beyond 1), in all three ranges.
            v -= u
            sums.beyond += float(costs @ v)
            alpha = np.multiply(costs, u, out=v)
            down, up = by_class(alpha, sign)
            sums.down += down
            sums.up += up
            sums.squares += float(alpha @ u)
            return alpha

        if projected is None:
            projected, combined = program.rows.sweep(beta, weigh)
        else:
            combined = program.rows.tdot(weighed(projected, weigh))
        return self.from_sums(beta, t, projected, sums, combined)

    def at_zero(self) -> Evaluation:
        """Evaluate beta = 0 with the t at which both classes have the same sum of dual weights.

        All samples of a class have the same dual weight there, so no sample is read.
        """
        program, m, costs = self.program, self.program.shape[0], np.array(self.class_costs)
        down, up = self.class_costs
        # up (hi + t) = down (hi - t), if neither side is capped there; else any t will do.
        t = program.high * (down - up) / (down + up) if program.free and down != up else 0.0
        v = np.maximum((program.high + t * np.array([-1.0, 1.0])) / program.width, 0.0)
        u = np.minimum(v, 1.0)
        alpha = costs * u
        each = np.full(m, u[0]) if u[0] == u[1] else np.where(program.sign > 0, u[1], u[0])
        sums = Sums(each, *map(float, (alpha[0], alpha[1], alpha @ u, costs @ (v - u))))
        combined = alpha[0] * self._mean(0) + alpha[1] * self._mean(1)
        return self.from_sums(np.zeros(program.shape[1]), t, np.zeros(m), sums, combined)

    def from_sums(
        self, beta: Vector, t: float, projected: Vector, sums: Sums, combined: Vector
    ) -> Evaluation:
        """Return the evaluation from its sums and from A'alpha."""
        program = self.program
        slope = sums.up - sums.down if program.free else 0.0
        objective = self._penalty(beta) + program.width * (sums.squares / 2 + sums.beyond)
        gradient = self._gradient(beta, combined)
        total, squares = sums.down + sums.up, sums.squares
        if slope != 0.0:
            side, share = self._mixture(slope)
            cost, keep = self.class_costs[side], 1.0 - share
            total = keep * total + share * cost
            squares = keep * (keep * squares + 2 * share * min(sums.down, sums.up))
            squares += share * share * cost
            combined = keep * combined + (share * cost) * self._mean(side)
        bound = self._bound(total, squares, combined)
        return Evaluation(beta, t, projected, sums.u, gradient, slope, objective, bound)

    def dual_weights(self, point: Evaluation) -> Vector:
        """Return the alpha behind the bound of an evaluation."""
        program = self.program
        alpha = program.costs * point.u
        if point.slope == 0.0:
            return alpha
        side, share = self._mixture(point.slope)
        smaller = program.sign > 0 if side else program.sign < 0
        return np.asarray((1.0 - share) * alpha + share * np.where(smaller, program.costs, 0.0))

    def _mixture(self, slope: float) -> tuple[int, float]:
        """Return the class with the smaller sum (0 negative) and the share that balances both."""
        side = 0 if slope > 0 else 1
        return side, abs(slope) / (abs(slope) + self.class_costs[side])

    def _mean(self, side: int) -> Vector:
        if self._means is None:
            self._means = class_means(self.program, self.class_costs)
        mean: Vector = self._means[side]
        return mean

    # What depends on the norm.

    def _penalty(self, beta: Vector) -> float:
        return float(beta @ beta) / 2

    def _gradient(self, beta: Vector, combined: Vector) -> Vector:
        return beta - combined

    def _bound(self, total: float, squares: float, combined: Vector) -> float:
        with np.errstate(over="ignore"):  # far from the optimum of large costs: no bound at all
            size = float(combined @ combined) / 2
        return self.program.high * total - self.program.width / 2 * squares - size


def class_means(program: RegularizedProgram, class_costs: tuple[float, float]) -> Matrix:
    """Return the mean signed sample of each class by cost, negative class first."""
    sides = (program.sign < 0, program.sign > 0)
    return np.stack(
        [
            program.rows.tdot(np.where(side, program.costs / max(cost, 1e-300), 0.0))
            for side, cost in zip(sides, class_costs, strict=True)
        ]
    )
