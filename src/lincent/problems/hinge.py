"""Hinge losses with a quadratic: the soft-margin programs of the rivals.

    minimize over u    u'Pu / 2 + sum_i c_i max(0, 1 - z_i.u)          P positive semidefinite

The rows z_i carry the sign of their class, and a last entry of +-1 where there is an intercept.
For any multipliers 0 <= a <= c

    sum(a) - q'P^-1 q / 2,    q = Z'a,

is a true lower bound.  Where the last variable is a free intercept, with entries y_i in the rows, P
has no row for it and a must balance, y.a = 0: the heavier side is scaled down until it does.


---

Squared hinge losses with a quadratic: the regressions of the rivals whose targets may be passed.

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

from lincent.problems.arrays import Certificate, Matrix, Rows, Vector

NO_UNIT = float(np.finfo(np.float64).tiny)
"""The objective is positive and as small as the costs: its gap is relative however small."""


@dataclass(frozen=True)
class Quadratic:
    """u'Pu / 2; ``intercept`` has the last entries y_i of the rows where those are one's."""

    P: Matrix
    intercept: Vector | None = None

    @property
    def penalized(self) -> Matrix:
        """P without the row and the column of the intercept."""
        return self.P if self.intercept is None else self.P[:-1, :-1]

    def value(self, u: Vector) -> float:
        return float(u @ (self.P @ u) / 2)

    def balanced(self, a: Vector) -> Vector:
        """Nonnegative multipliers, the heavier side scaled down until y.a = 0."""
        if self.intercept is None:
            return a
        high = self.intercept > 0
        up, down = float(a[high].sum()), float(a[~high].sum())
        lighter = min(up, down)
        return np.asarray(a * (lighter / np.where(high, up, down))) if lighter > 0 else 0.0 * a

    def conjugate(self, q: Vector, inverse: Callable[[Vector], Vector]) -> float:
        """q'P^-1 q / 2, given what ``penalized`` has as its inverse."""
        if self.intercept is not None:
            q = q[:-1]
        return float(q @ inverse(q) / 2)


@dataclass(frozen=True)
class HingeProgram:
    """The problem as data."""

    quadratic: Quadratic
    rows: Rows
    costs: Vector

    def objective(self, u: Vector) -> float:
        missed = np.maximum(0.0, 1.0 - self.rows.dot(u))
        return self.quadratic.value(u) + float(self.costs @ missed)

    def certificate(self, u: Vector, a: Vector, inverse: Callable[[Vector], Vector]) -> Certificate:
        """A point and any multipliers, made feasible first."""
        a = self.quadratic.balanced(np.clip(a, 0.0, self.costs))
        dual = float(a.sum()) - self.quadratic.conjugate(self.rows.tdot(a), inverse)
        return Certificate(u, a, 0.0, self.objective(u), dual, unit=NO_UNIT)


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
