"""Directions of the regularized form: from a two-class problem to beta and the cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.direction import Direction, placed
from lincent.estimators.discriminators import Cut
from lincent.estimators.problem import TwoClass
from lincent.estimators.validation import check_finite
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import in_place, ridge
from lincent.solvers.solution import Controls, Solution

SAME_SHARE = 1e-9
"""Costs that are one factor of the weights in each class, up to this share of it."""


@dataclass(frozen=True)
class RegularizedFit:
    """How one problem is fitted: margins, a free threshold, and the solver."""

    margins: tuple[float, float]
    free: bool
    controls: Controls
    seed: int
    solve_path: ridge.PathSolver = ridge.solve_path

    def directions(self, problem: TwoClass, Cs: Sequence[float]) -> list[Direction]:
        """The directions for several C, each started from the one before."""
        check_problem_finite(problem)
        low, high = float(self.margins[0]), float(self.margins[1])
        rng = np.random.default_rng(self.seed)
        if not problem.in_memory:
            return [
                self._direction(problem, solution)
                for solution in in_place.solve_path(
                    self._in_place(problem, low, high), Cs, self.controls, rng
                )
            ]
        means = _mean_rows(problem) if self.free else None
        program = RegularizedProgram(
            problem.rows, problem.sign, problem.cost, low, high, self.free, means
        )
        found = self.solve_path(program, Cs, self.controls, rng)
        return [self._direction(problem, solution) for solution in found]

    def _in_place(self, problem: TwoClass, low: float, high: float) -> in_place.RemoteProgram:
        rows: Any = problem.rows
        costs, means = problem.source.cost_means(rows, problem.cost)
        return in_place.RemoteProgram(rows, problem.cost, costs, means, low, high, self.free)

    @staticmethod
    def _direction(problem: TwoClass, solution: Solution) -> Direction:
        beta, t = solution.certificate.beta, solution.certificate.t
        middle = float(problem.means.mean(axis=0) @ beta)
        return placed(problem, beta, solution, Cut(middle + t))


def check_problem_finite(problem: TwoClass) -> None:
    """The class centers, or the error that says where X is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        means = problem.means
    if problem.in_memory:  # elsewhere the first read has looked
        check_finite(problem.X, means, "RegularizedLCC")


def _mean_rows(problem: TwoClass) -> np.ndarray | None:
    """The mean signed row of each class by cost, where it is that by weight: half of C+ - C-."""
    weight, cost, high = problem.weight, problem.cost, problem.sign > 0
    sides = (~high, high)
    factors = [float(cost @ side) / float(weight @ side) for side in sides]
    expected = np.where(high, factors[1], factors[0])
    expected *= weight
    expected -= cost
    if max(float(expected.max()), -float(expected.min())) > SAME_SHARE * max(factors):
        return None
    return np.tile(problem.difference / 2, (2, 1))
