"""Hinge and squared hinge losses with a quadratic: the soft-margin problems of the baselines.

    minimize over u    u'Pu / 2 + sum_i c_i max(0, 1 - z_i.u)          P positive semidefinite
    minimize over u    u'Pu / 2 + sum_i w_i max(0, t_i - z_i.u)^2

The rows z_i carry the sign of their class, and a last entry of +-1 where there is an intercept.
For any multipliers 0 <= a <= c of the first, and a >= 0 of the second,

    sum(a) - q'P^-1 q / 2    and    a.t - sum_i a_i^2 / (4 w_i) - q'P^-1 q / 2,    q = Z'a,

are lower bounds; the second is attained at a_i = 2 w_i max(0, t_i - z_i.u) of the optimum.  Where
the last variable is a free intercept, with entries y_i in the rows, P has no row for it and a must
balance, y.a = 0: the larger side is scaled down until it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.problems.centralization import Certificate

NO_UNIT = float(np.finfo(np.float64).tiny)
"""The objective is positive and as small as the costs: its gap is relative however small."""


@dataclass(frozen=True)
class Quadratic:
    """The quadratic u'Pu / 2; ``intercept`` has the last entries y_i of the rows, if any."""

    P: Matrix
    intercept: Vector | None = None

    @property
    def penalized(self) -> Matrix:
        """P without the row and the column of the intercept."""
        return self.P if self.intercept is None else self.P[:-1, :-1]

    def value(self, u: Vector) -> float:
        """Return u'Pu / 2."""
        return float(u @ (self.P @ u) / 2)

    def balanced(self, a: Vector) -> Vector:
        """Return nonnegative multipliers with the larger side scaled down until y.a = 0."""
        if self.intercept is None:
            return a
        high = self.intercept > 0
        up, down = float(a[high].sum()), float(a[~high].sum())
        smaller = min(up, down)
        return np.asarray(a * (smaller / np.where(high, up, down))) if smaller > 0 else 0.0 * a

    def conjugate(self, q: Vector, inverse: Callable[[Vector], Vector]) -> float:
        """Return q'P^-1 q / 2, given the product with the inverse of ``penalized``."""
        if self.intercept is not None:
            q = q[:-1]
        return float(q @ inverse(q) / 2)


@dataclass(frozen=True)
class HingeProgram:
    """The problem with hinge losses."""

    quadratic: Quadratic
    rows: Rows
    costs: Vector

    def objective(self, u: Vector) -> float:
        """Return the objective at u."""
        violation = np.maximum(0.0, 1.0 - self.rows.dot(u))
        return self.quadratic.value(u) + float(self.costs @ violation)

    def certificate(self, u: Vector, a: Vector, inverse: Callable[[Vector], Vector]) -> Certificate:
        """Certify a point with any multipliers, which are made feasible first."""
        a = self.quadratic.balanced(np.clip(a, 0.0, self.costs))
        dual = float(a.sum()) - self.quadratic.conjugate(self.rows.tdot(a), inverse)
        return Certificate(u, a, 0.0, self.objective(u), dual, unit=NO_UNIT)


@dataclass(frozen=True)
class SquaredHingeProgram:
    """The problem with squared hinge losses: convex, piecewise quadratic; all weights positive."""

    quadratic: Quadratic
    rows: Rows
    targets: Vector
    weight: Vector

    def missed(self, u: Vector) -> Vector:
        """Return t_i - z_i.u of all rows."""
        return self.targets - self.rows.dot(u)

    def objective(self, u: Vector, missed: Vector) -> float:
        """Return the objective at u; ``missed`` as above."""
        return self.quadratic.value(u) + float(self.weight @ np.maximum(missed, 0.0) ** 2)

    def gradient(self, u: Vector, missed: Vector) -> tuple[Vector, float]:
        """Return the gradient, and the size of the terms that cancel in it."""
        loss = self.rows.tdot(self._multipliers(missed))
        penalty = self.quadratic.P @ u
        size = max(float(np.abs(loss).max()), float(np.abs(penalty).max()), NO_UNIT)
        return penalty - loss, size

    def certificate(
        self, u: Vector, missed: Vector, inverse: Callable[[Vector], Vector]
    ) -> Certificate:
        """Certify a point with the multipliers that follow from it."""
        a = self.quadratic.balanced(self._multipliers(missed))
        dual = float(a @ self.targets - a @ (a / self.weight) / 4)
        dual -= self.quadratic.conjugate(self.rows.tdot(a), inverse)
        return Certificate(u, a, 0.0, self.objective(u, missed), dual, unit=NO_UNIT)

    def _multipliers(self, missed: Vector) -> Vector:
        return np.asarray(2 * self.weight * np.maximum(missed, 0.0))
