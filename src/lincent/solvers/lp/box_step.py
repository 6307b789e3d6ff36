"""The minimum of a quadratic model in a box: where a Newton step leads that the box cuts short.

    minimize over x     gradient.(x - b) + (x - b)'H(x - b) / 2
    subject to          lower <= x <= upper,   d.x >= separation

The step of a model whose minimum is inside is one solve.  Outside, clipping it does not give the
minimum of the box: where columns are correlated, the coordinates that stay free have to answer for
those that are held, and a clipped step leads anywhere.  So the model is minimized properly, by
Mehrotra's predictor-corrector on slacks P = [x - lower, upper - x, d.x - separation] and their
multipliers Z.  It takes about ten factorizations of an n x n matrix and no look at the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import NotPositiveDefiniteError, PositiveDefinite


@dataclass(frozen=True)
class Tuning:
    """What a step trades; measured on the tall shapes of ``benchmarks/workloads.py``."""

    at_the_box: float = 1e-9  # a coordinate this near to the box, as a share of its width, is at it
    exact: float = 1e-10  # relative residual of the solve: the next step corrects the rest
    inside: float = 0.05  # of the box between a start and its sides: nearer takes more iterations
    most: int = 30  # iterations; ten are usual
    enough: float = 1e-4  # of the model's decrease may be left: the model itself is a guess
    step_back: float = 0.99  # of the way to the boundary


TUNING = Tuning()


def model_minimum(program: Program, beta: Vector, gradient: Vector, H: Matrix) -> Vector | None:
    """The feasible point where the model around beta is least; None where H says nothing."""
    try:
        inside = _with_sides_held(program, beta, gradient, H)
        if inside is not None:
            return inside
        return program.feasible(_Model(program, beta, gradient, H).minimum())
    except NotPositiveDefiniteError:
        return None


def _with_sides_held(program: Program, beta: Vector, gradient: Vector, H: Matrix) -> Vector | None:
    """The minimum with those coordinates held that press against the box, if it is in the box."""
    rounding = TUNING.at_the_box * (program.upper - program.lower)
    at_low = (beta <= program.lower + rounding) & (gradient > 0)
    at_high = (beta >= program.upper - rounding) & (gradient < 0)
    free = np.flatnonzero(~(at_low | at_high))
    if len(free) == 0:
        return beta
    part = H if len(free) == len(beta) else H[np.ix_(free, free)]
    solve = PositiveDefinite(part, full=True, exact=TUNING.exact).solve
    step = -solve(gradient[free])
    d = program.difference[free]
    reach = float(program.difference @ beta) + float(d @ step)
    if reach < program.separation:
        along = solve(d)
        step += along * ((program.separation - reach) / float(d @ along))
    new = beta.copy()
    new[free] += step
    if not np.all(np.isfinite(new)):
        raise NotPositiveDefiniteError("the step is not finite")
    outside = (new < program.lower - rounding) | (new > program.upper + rounding)
    return None if outside.any() else program.feasible(new)


class _Model:
    """The quadratic, and the iterates towards its minimum."""

    def __init__(self, program: Program, beta: Vector, gradient: Vector, H: Matrix) -> None:
        self.d, self.separation = program.difference, program.separation
        self.lower, self.upper = program.lower, program.upper
        self.beta, self.gradient, self.H = beta, gradient, H
        n, width = len(beta), self.upper - self.lower
        margin = TUNING.inside * width
        self.x = np.clip(beta, self.lower + margin, self.upper - margin)
        self.low, self.high, self.apart = slice(0, n), slice(n, 2 * n), 2 * n
        self.P = np.empty(2 * n + 1)
        self.P[self.low], self.P[self.high] = self.x - self.lower, self.upper - self.x
        typical = float(np.abs(self.d) @ width) / n
        self.P[self.apart] = max(float(self.d @ self.x) - self.separation, TUNING.inside * typical)
        pull = self.gradient + self.H @ (self.x - beta)
        mu = max(TUNING.inside * float(np.abs(pull) @ width) / n, 1e-300)
        self.Z = mu / self.P

    def minimum(self) -> Vector:
        d, P, Z, low, high, apart = self.d, self.P, self.Z, self.low, self.high, self.apart
        for _ in range(TUNING.most):
            moved = self.x - self.beta
            curved = self.H @ moved
            rest = Z[low] - Z[high] + Z[apart] * d - self.gradient - curved
            short = float(d @ self.x) - self.separation - P[apart]
            decrease = abs(float(moved @ (self.gradient + curved / 2)))
            off = float(np.abs(rest) @ (self.upper - self.lower))
            if float(P @ Z) + off <= TUNING.enough * decrease:
                break
            matrix = self.H + (Z[apart] / P[apart]) * np.outer(d, d)
            matrix.flat[:: len(d) + 1] += Z[low] / P[low] + Z[high] / P[high]
            self.solve = PositiveDefinite(matrix, full=True, exact=1e-8).solve
            product = P * Z
            mu = float(product.mean())
            dx, dP, dZ = self._direction(-product, rest, short)
            length = self._length(dP, dZ)
            ahead = float(((P + length * dP) * (Z + length * dZ)).mean())
            center = min((ahead / mu) ** 3, 1.0) * mu
            dx, dP, dZ = self._direction(center - product - dP * dZ, rest, short)
            length = TUNING.step_back * self._length(dP, dZ)
            if not np.isfinite(length):
                raise NotPositiveDefiniteError("the step is not finite")
            self.x = self.x + length * dx
            P += length * dP
            Z += length * dZ
        return self.x

    def _direction(self, R: Vector, rest: Vector, short: float) -> tuple[Vector, Vector, Vector]:
        """Newton's step for Z dP + P dZ = R."""
        P, Z, low, high, apart = self.P, self.Z, self.low, self.high, self.apart
        push = R / P
        pull = push[low] - push[high] + (push[apart] - Z[apart] * short / P[apart]) * self.d
        dx = self.solve(rest + pull)
        dP = np.concatenate([dx, -dx, [float(self.d @ dx) + short]])
        return dx, dP, push - Z * dP / P

    def _length(self, dP: Vector, dZ: Vector) -> float:
        """The longest step in (0, 1] that keeps P and Z nonnegative."""
        return 1.0 / max(1.0, -float((dP / self.P).min()), -float((dZ / self.Z).min()))
