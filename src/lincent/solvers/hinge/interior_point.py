"""The soft-margin programs of ``programs.hinge`` by a primal-dual interior point.

With multipliers a, surplus s and slack x (xi in the papers) the optimality conditions are

    Pu = Z'a,    Zu - 1 + x - s = 0,    a s = 0,    (c - a) x = 0,    0 <= a <= c,   s, x >= 0.

A Newton step on them (Mehrotra's predictor and corrector) needs one k x k system,
P + Z' diag(1/D) Z with D = s/a + x/(c - a): O(m k^2) an iteration, 10 to 30 iterations, and no
m x m matrix.  The certificate does not rest on the iterate being feasible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.hinge import HingeProgram
from lincent.solvers.linear_system import PositiveDefinite
from lincent.solvers.solution import Controls, Solution, Status

NAME = "interior-point"


@dataclass(frozen=True)
class Tuning:
    """What the interior point trades, on LinearSVM and TwinSVC at 200 x 6 to 5,000 x 30."""

    to_the_wall: float = 0.995  # of the longest step: 0.9 takes 28 % more steps, 0.9999 3 % fewer
    centered: float = 1e-6  # of tol: at such complementarity a step that gains nothing is the last


TUNING = Tuning()


def solve(program: HingeProgram, controls: Controls) -> Solution:
    """The optimum, to a relative duality gap of ``tol`` unless ``max_iter`` ends it."""
    state = _State(program)
    best, iteration, status = state.certificate(), 0, Status.STALLED
    while best.relative_gap > controls.tol:
        if iteration == controls.max_iter:
            status = Status.ITERATION_LIMIT
            break
        try:
            state.step()
        except ArithmeticError:
            break
        iteration += 1
        now = state.certificate()
        if now.relative_gap < best.relative_gap:
            best = now
        elif not state.complementarity > TUNING.centered * controls.tol * best.objective:
            break
    else:
        status = Status.OPTIMAL
    return Solution(status, best, iteration, NAME)


class _State:
    """The iterate u, a, s, x; all of a, c - a, s, x stay positive."""

    def __init__(self, program: HingeProgram) -> None:
        self.program, self.rows, self.P = program, program.rows, program.quadratic.P
        self.inverse = PositiveDefinite(program.quadratic.penalized).solve
        m, k = self.rows.shape
        self.u = np.zeros(k)
        self.a = program.costs / 2
        self.room = program.costs - self.a
        self.s, self.x = np.ones(m), np.full(m, 2.0)

    @property
    def complementarity(self) -> float:
        return float(self.a @ self.s + self.room @ self.x)

    def certificate(self) -> Certificate:
        return self.program.certificate(self.u.copy(), self.a, self.inverse)

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
        reach = min(1.0, TUNING.to_the_wall * self._reach(da, ds, dx, limit=2.0))
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
