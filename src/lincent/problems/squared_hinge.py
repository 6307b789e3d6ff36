"""Squared hinge losses with a quadratic: the regressions of the rivals whose targets may be passed.

    minimize over u    u'Pu / 2 + sum_i w_i max(0, t_i - z_i.u)^2      P positive semidefinite

The function is convex, once differentiable and piecewise quadratic.  For any multipliers a >= 0,
balanced as in ``hinge`` where there is an intercept,

    a.t - sum_i a_i^2 / (4 w_i) - q'P^-1 q / 2,    q = Z'a,

is a lower bound, attained at a_i = 2 w_i max(0, t_i - z_i.u) of the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Certificate, Rows, Vector
from lincent.problems.hinge import NO_UNIT, Quadratic


@dataclass(frozen=True)
class SquaredHingeProgram:
    """The problem as data; all weights are positive."""

    quadratic: Quadratic
    rows: Rows
    targets: Vector
    weight: Vector

    def missed(self, u: Vector) -> Vector:
        return self.targets - self.rows.dot(u)

    def objective(self, u: Vector, missed: Vector) -> float:
        return self.quadratic.value(u) + float(self.weight @ np.maximum(missed, 0.0) ** 2)

    def gradient(self, u: Vector, missed: Vector) -> tuple[Vector, float]:
        """The gradient, and the size of what cancels in it."""
        pull = self.rows.tdot(self._multipliers(missed))
        hold = self.quadratic.P @ u
        return hold - pull, max(float(np.abs(pull).max()), float(np.abs(hold).max()), NO_UNIT)

    def certificate(
        self, u: Vector, missed: Vector, inverse: Callable[[Vector], Vector]
    ) -> Certificate:
        """A point with the multipliers that it names."""
        a = self.quadratic.balanced(self._multipliers(missed))
        dual = float(a @ self.targets - a @ (a / self.weight) / 4)
        dual -= self.quadratic.conjugate(self.rows.tdot(a), inverse)
        return Certificate(u, a, 0.0, self.objective(u, missed), dual, unit=NO_UNIT)

    def _multipliers(self, missed: Vector) -> Vector:
        return np.asarray(2 * self.weight * np.maximum(missed, 0.0))
