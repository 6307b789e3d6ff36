"""A fitted direction: the line x.beta, the class centers on it, and the rule that cuts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.calibration import Calibrator
from lincent.estimators.discriminators import Cut, Discriminator, Line, fit_discriminator
from lincent.estimators.problem import TwoClass
from lincent.passes.source import open_source


@dataclass(frozen=True)
class Direction:
    """One fitted two-class problem."""

    beta: np.ndarray
    centers: np.ndarray
    midpoint: float
    """Half-way between the centers on the line."""
    width: float
    """The distance of the centers on the line: the unit of calibrated scores."""
    rule: Discriminator
    solution: Any
    calibrator: Calibrator | None = None

    @property
    def intercept(self) -> float:
        """Minus the cut, or minus the midpoint where the rule is no cut."""
        return -self.rule.at if isinstance(self.rule, Cut) else -self.midpoint

    @property
    def half(self) -> float:
        """Half the distance of the centers: the unit in which directions are comparable."""
        length = float(np.linalg.norm(self.beta))
        # Centers that coincide give no unit; the length of beta does.
        half = self.width / 2
        return half if half > 1e-9 * length else max(length, 1e-300)

    def score(self, X: Any) -> np.ndarray:
        """The score of each row by the rule on the line."""
        return self.rule.score(open_source(X).project(self.beta))


def cut(problem: TwoClass, beta: np.ndarray, solution: Any, rule: str) -> Direction:
    """The direction beta with the rule of this name on its line."""
    beta = problem.direction(beta)
    low, high = (float(c) for c in problem.means @ beta)
    line = Line.without_rows((low, high), problem.importance)
    if line.needs_rows(rule):
        line = Line(*problem.line(beta), (low, high), problem.importance)
    return placed(problem, beta, solution, fit_discriminator(rule, line))


def placed(problem: TwoClass, beta: np.ndarray, solution: Any, rule: Discriminator) -> Direction:
    """The direction with a rule for the line seen from the problem's origin."""
    shift = problem.shift(beta)
    midpoint = float(problem.means.mean(axis=0) @ beta) + shift
    width = float(problem.difference @ beta)
    return Direction(beta, problem.centers, midpoint, width, rule.shifted(shift), solution)


def project_all(X: Any, directions: np.ndarray) -> np.ndarray:
    """x.beta for all rows and directions, one column each."""
    source = open_source(X)
    return np.stack([source.project(beta) for beta in directions], axis=1)
