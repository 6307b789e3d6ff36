"""Hinge losses with a quadratic: the soft-margin programs, by a primal-dual interior point.

    minimize over u    u'Pu / 2 + sum_i c_i max(0, 1 - z_i.u)          P positive semidefinite

The rows z_i carry the sign of their class, and a last entry of +-1 where there is an intercept.
With multipliers a, surplus s and slack x (xi in the papers) the optimality conditions are

    Pu = Z'a,    Zu - 1 + x - s = 0,    a s = 0,    (c - a) x = 0,    0 <= a <= c,   s, x >= 0.

A Newton step on them (Mehrotra's predictor and corrector) needs one k x k system,
P + Z' diag(1/D) Z with D = s/a + x/(c - a): O(m k^2) an iteration, 10 to 30 iterations, and no
m x m matrix.

The certificate does not rest on the iterate being feasible: for any 0 <= a <= c the dual value is

    sum(a) - q'P^-1 q / 2,    q = Z'a,

a true lower bound.  Where the last variable is a free intercept, with entries y_i in the rows, P
has no row for it and a must balance, y.a = 0: the heavier side is scaled down until it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lincent.programs.arrays import Matrix, Vector
from lincent.solvers.linear_system import PositiveDefinite

TO_THE_WALL = 0.995


class RowOperator(Protocol):
    """What the solver asks of the rows z_i."""

    shape: tuple[int, int]

    def dot(self, u: Vector, /) -> Vector: ...

    def tdot(self, a: Vector, /) -> Vector: ...

    def gram(self, weight: Vector, /) -> Matrix: ...


@dataclass(frozen=True)
class HingeSolution:
    """The answer with its certificate."""

    u: Vector
    multipliers: Vector
    objective: float
    dual_objective: float
    iterations: int

    @property
    def gap(self) -> float:
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        # The objective is positive and at most the sum of costs, however small those are.
        return self.gap / self.objective if self.objective > 0 else self.gap


def hinge_objective(P: Matrix, rows: RowOperator, costs: Vector, u: Vector) -> float:
    """u'Pu / 2 + sum of hinge losses."""
    return float(u @ (P @ u) / 2 + costs @ np.maximum(0.0, 1.0 - rows.dot(u)))


def solve_hinge(
    P: Matrix,
    rows: RowOperator,
    costs: Vector,
    *,
    intercept: Vector | None = None,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> HingeSolution:
    """The optimum, to a relative duality gap of ``tol`` unless ``max_iter`` ends it.

    ``intercept`` says that the last variable is one: the last entries y_i of the rows, P zero
    there.
    """
    state = _State(P, rows, costs, intercept)
    best = state.certified(0)
    for iteration in range(1, max_iter + 1):
        if best.relative_gap <= tol:
            break
        try:
            state.step()
        except ArithmeticError:
            break
        now = state.certified(iteration)
        if now.relative_gap < best.relative_gap:
            best = now
        elif not state.complementarity > 1e-6 * tol * best.objective:
            break
    return best


class _Dual:
    """The dual value of multipliers, made feasible first."""

    def __init__(self, P: Matrix, rows: RowOperator, intercept: Vector | None) -> None:
        self.rows, self.intercept = rows, intercept
        self.P = PositiveDefinite(P if intercept is None else P[:-1, :-1])

    def balanced(self, a: Vector) -> Vector:
        if self.intercept is None:
            return a
        high = self.intercept > 0
        up, down = a[high].sum(), a[~high].sum()
        return np.asarray(a * np.where(high, min(1.0, down / up), min(1.0, up / down)))

    def value(self, a: Vector) -> float:
        q = self.rows.tdot(a)
        if self.intercept is not None:
            q = q[:-1]
        return float(a.sum() - q @ self.P.solve(q) / 2)


class _State:
    """The iterate u, a, s, x; all of a, c - a, s, x stay positive."""

    def __init__(
        self, P: Matrix, rows: RowOperator, costs: Vector, intercept: Vector | None
    ) -> None:
        self.P, self.rows, self.costs = P, rows, costs
        self.dual = _Dual(P, rows, intercept)
        m, k = rows.shape
        self.u = np.zeros(k)
        self.a = costs / 2
        self.room = costs - self.a
        self.s, self.x = np.ones(m), np.full(m, 2.0)

    @property
    def complementarity(self) -> float:
        return float(self.a @ self.s + self.room @ self.x)

    def certified(self, iteration: int) -> HingeSolution:
        a = self.dual.balanced(np.clip(self.a, 0.0, self.costs))
        objective = hinge_objective(self.P, self.rows, self.costs, self.u)
        return HingeSolution(self.u.copy(), a, objective, self.dual.value(a), iteration)

    def step(self) -> None:
        a, room, s, x = self.a, self.room, self.s, self.x
        D = s / a + x / room
        system = PositiveDefinite(self.P + self.rows.gram(1.0 / D))
        primal = 1.0 - self.rows.dot(self.u) - x + s
        dual = self.rows.tdot(a) - self.P @ self.u

        def direction(ra: Vector, rc: Vector) -> tuple[Vector, ...]:
            h = primal + ra / a - rc / room
            du = system.solve(dual + self.rows.tdot(h / D))
            da = (h - self.rows.dot(du)) / D
            return du, da, (ra - s * da) / a, (rc + x * da) / room

        mean = self.complementarity / (2 * len(a))
        _, da, ds, dx = direction(-a * s, -room * x)
        reach = self._reach(da, ds, dx)
        ahead = (a + reach * da) @ (s + reach * ds) + (room - reach * da) @ (x + reach * dx)
        target = mean * (max(float(ahead), 0.0) / (2 * len(a)) / mean) ** 3
        du, da, ds, dx = direction(target - a * s - da * ds, target - room * x + da * dx)
        reach = min(1.0, TO_THE_WALL * self._reach(da, ds, dx, limit=2.0))
        self.u = self.u + reach * du
        self.a = a + reach * da
        # Both distances to the walls are kept, since costs - a loses all digits near the cost.
        self.room = room - reach * da
        self.s, self.x = s + reach * ds, x + reach * dx

    def _reach(self, da: Vector, ds: Vector, dx: Vector, limit: float = 1.0) -> float:
        """The longest step, up to the limit, that keeps everything nonnegative."""
        shrink = max(
            float(np.max(-da / self.a)),
            float(np.max(da / self.room)),
            float(np.max(-ds / self.s)),
            float(np.max(-dx / self.x)),
        )
        return limit if shrink <= 1.0 / limit else 1.0 / shrink
