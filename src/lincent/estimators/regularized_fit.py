"""One linear rule of the regularized form: from the rows of two classes to beta and t."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.validation import check_finite
from lincent.passes.signed_rows import SignedRows
from lincent.passes.source import open_source
from lincent.programs.regularized import RegularizedProgram
from lincent.solvers.newton import ridge
from lincent.solvers.solution import Controls, Solution


@dataclass(frozen=True)
class Rule:
    """(x - l).beta > t, found with a certificate."""

    beta: np.ndarray
    t: float
    centers: np.ndarray
    solution: Solution

    @property
    def cut(self) -> float:
        """Where the line x.beta is cut."""
        return float(self.centers.mean(axis=0) @ self.beta) + self.t

    @property
    def half(self) -> float:
        """Half the distance of the centers on the line: the unit in which rules are comparable."""
        half = float((self.centers[1] - self.centers[0]) @ self.beta) / 2
        # Centers that coincide give no unit; the length of beta does.
        least = 1e-9 * float(np.linalg.norm(self.beta))
        return half if half > least else max(float(np.linalg.norm(self.beta)), 1e-300)


def balanced_costs(sign: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weights, scaled within each class so that both have half of the total."""
    total, balance = float(weight.sum()), float(weight @ sign)
    up, down = total / (total + balance), total / (total - balance)
    factor = np.multiply(sign, (up - down) / 2)
    factor += (up + down) / 2
    factor *= weight
    return factor


def fit_rules(
    X: Any,
    sign: np.ndarray,
    weight: np.ndarray,
    cost: np.ndarray,
    Cs: Sequence[float],
    margins: tuple[float, float],
    free: bool,
    controls: Controls,
    rng: np.random.Generator,
    solve_path: ridge.PathSolver = ridge.solve_path,
) -> list[Rule]:
    """The rules for several C, each started from the one before."""
    source = open_source(X)
    centers = finite_centers(X, source, sign, weight)
    rows = SignedRows(source, sign, centers.mean(axis=0))
    low, high = float(margins[0]), float(margins[1])
    means = _mean_rows(sign, weight, cost, centers) if free else None
    program = RegularizedProgram(rows, sign, cost, low, high, free, means)
    found = solve_path(program, Cs, controls, rng)
    return [Rule(s.certificate.beta, s.certificate.t, centers, s) for s in found]


def finite_centers(X: Any, source: Any, sign: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The class centers, or the error that says where X is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        centers = source.class_means(sign, weight)
    check_finite(X, centers, "RegularizedLCC")
    return centers


def _mean_rows(
    sign: np.ndarray, weight: np.ndarray, cost: np.ndarray, centers: np.ndarray
) -> np.ndarray | None:
    """The mean signed row of each class by cost, where it is that by weight: half of C+ - C-."""
    # Two numbers per class that are sums over its rows: sign adds and subtracts the classes.
    (w, w_up), (c, c_up) = ((float(v.sum()), float(v @ sign)) for v in (weight, cost))
    high, low = (c + c_up) / (w + w_up), (c - c_up) / (w - w_up)
    expected = (high + low) / 2 + ((high - low) / 2) * sign
    expected *= weight
    expected -= cost
    if max(float(expected.max()), -float(expected.min())) > 1e-9 * max(high, low):
        return None
    return np.tile((centers[1] - centers[0]) / 2, (2, 1))


def largest_gap(rules: Sequence[Rule]) -> float:
    """The worst relative duality gap among some rules."""
    return max(rule.solution.relative_gap for rule in rules)


__all__ = ["Rule", "balanced_costs", "finite_centers", "fit_rules", "largest_gap"]
