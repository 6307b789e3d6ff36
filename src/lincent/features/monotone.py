"""Increasing curves of one column: combinations with coefficients of at least zero.

The slope of the curve is linear between the knots k_1 < .. < k_q and constant beyond them,

    f'(x) = sum_j c_j hat_j(x),      f(x) = sum_j c_j g_j(x),      g_j(x) = integral of hat_j to x,

so f is increasing exactly if every c_j >= 0, smooth (its slope is continuous), and linear beyond
the outer knots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.features.splines import OUTER
from lincent.features.weighted import quantiles


@dataclass(frozen=True)
class IncreasingCurve:
    """The g_j of one column, each of mean zero and a common scale; ``way`` -1 turns them round."""

    knots: np.ndarray
    centers: np.ndarray
    scale: float
    way: float

    @property
    def width(self) -> int:
        return len(self.knots)

    def names(self, name: str) -> list[str]:
        return [f"{name} slope {j + 1}" for j in range(self.width)]

    def factors(self, smoothing: float) -> np.ndarray:
        """What smoothing multiplies each feature by: it has no part in them."""
        return np.ones(self.width)

    def values(self, column: np.ndarray, smoothing: float) -> np.ndarray:
        """The features of these values."""
        return self.way * (integrated_hats(column, self.knots) - self.centers) / self.scale


def integrated_hats(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """All g_j at all x."""
    if len(knots) == 1:
        return x[:, None] - knots
    steps = np.diff(knots)
    # The share of each interval that x has passed; both ends go on beyond the outer knots.
    passed = (x[:, None] - knots[:-1]) / steps
    inside = np.clip(passed, 0.0, 1.0)
    rising = steps * inside**2 / 2
    falling = steps * inside - rising
    out = np.zeros((len(x), len(knots)))
    out[:, 1:] += rising
    out[:, :-1] += falling
    out[:, 0] += np.minimum(x - knots[0], 0.0)
    out[:, -1] += np.maximum(x - knots[-1], 0.0)
    return out


def learn_increasing(
    column: np.ndarray, weight: np.ndarray, n_knots: int, way: float
) -> IncreasingCurve:
    """Knots at quantiles of a sample."""
    knots = np.unique(quantiles(column, weight, np.linspace(OUTER, 1 - OUTER, n_knots)))
    values = integrated_hats(column, knots)
    share = weight / weight.sum()
    centers = share @ values
    spread = float(np.sqrt((share @ (values - centers) ** 2).sum()))
    return IncreasingCurve(knots, centers, spread if spread > 1e-12 else 1.0, way)
