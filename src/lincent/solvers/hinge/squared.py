"""Squared hinge losses with a quadratic, by a semismooth Newton method.

    minimize over u    sum_i w_i max(0, t_i - z_i.u)^2 + u'Pu / 2      P positive semidefinite

The function is convex, once differentiable and piecewise quadratic: with the rows that miss their
target (t_i > z_i.u) held fixed it is a weighted least-squares problem, and its minimizer is the
next
iterate.  A line search makes the method safe; when a full step leaves the set of missing rows
unchanged the answer is exact, usually after 5 to 10 steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.programs.arrays import Matrix, Vector
from lincent.solvers.hinge.interior_point import RowOperator
from lincent.solvers.linear_system import PositiveDefinite

SUFFICIENT = 1e-4
SHORTEST = 2.0**-40


@dataclass(frozen=True)
class SquaredHingeSolution:
    """The minimizer; ``gradient`` is its largest entry there, relative to what cancels in it."""

    u: Vector
    objective: float
    gradient: float
    iterations: int


@dataclass(frozen=True)
class SquaredHinge:
    """The problem as data."""

    P: Matrix
    rows: RowOperator
    targets: Vector
    weight: Vector

    def value(self, u: Vector, missed: Vector) -> float:
        return float(self.weight @ np.maximum(missed, 0.0) ** 2 + u @ (self.P @ u) / 2)

    def missed(self, u: Vector) -> Vector:
        return self.targets - self.rows.dot(u)

    def gradient(self, u: Vector, missed: Vector) -> tuple[Vector, float]:
        """The gradient, and the size of what cancels in it."""
        pull = self.rows.tdot(2 * self.weight * np.maximum(missed, 0.0))
        hold = self.P @ u
        return hold - pull, max(float(np.abs(pull).max()), float(np.abs(hold).max()), 1e-300)


def solve_squared_hinge(
    problem: SquaredHinge, *, tol: float = 1e-12, max_iter: int = 100
) -> SquaredHingeSolution:
    """Newton steps from zero until the missing rows no longer change."""
    u = np.zeros(problem.rows.shape[1])
    missed = problem.missed(u)
    value = problem.value(u, missed)
    gradient, size = problem.gradient(u, missed)
    iteration = 0
    while iteration < max_iter and np.abs(gradient).max() > tol * size:
        iteration += 1
        active = missed > 0
        hessian = problem.P + 2 * problem.rows.gram(np.where(active, problem.weight, 0.0))
        step = PositiveDefinite(hessian).solve(-gradient)
        slope = float(gradient @ step)
        change = problem.rows.dot(step)
        length = 1.0
        while True:
            trial, trial_missed = u + length * step, missed - length * change
            trial_value = problem.value(trial, trial_missed)
            if trial_value <= value + SUFFICIENT * length * slope or length < SHORTEST:
                break
            length /= 2
        if not trial_value <= value:
            break
        settled = length == 1.0 and np.array_equal(active, trial_missed > 0)
        u, value = trial, trial_value
        missed = problem.missed(u)
        gradient, size = problem.gradient(u, missed)
        if settled:
            break
    return SquaredHingeSolution(u, value, float(np.abs(gradient).max()) / size, iteration)
