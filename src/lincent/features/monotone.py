"""Increasing curves of one column: combinations with coefficients of at least zero.

The slope of the curve is linear between the knots k_1 < .. < k_q and constant beyond them,

    f'(x) = sum_j c_j hat_j(x),      f(x) = sum_j c_j g_j(x),      g_j(x) = integral of hat_j to x,

so f is increasing exactly if every c_j >= 0, smooth (its slope is continuous), and linear beyond
the outer knots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.features.splines import OUTER
from lincent.sources.source import namespace_of
from lincent.tables.weighted import quantiles


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

    def values(self, column: Any, smoothing: float) -> Any:
        """The features of these values, where the values are."""
        centers = namespace_of(column).send(self.centers)
        return self.way * (integrated_hats(column, self.knots) - centers) / self.scale


def integrated_hats(x: Any, knots: np.ndarray) -> Any:
    """All g_j at all x."""
    place = namespace_of(x)
    if len(knots) == 1:
        return x[:, None] - place.send(knots)
    steps = np.diff(knots)
    # The share of each interval that x has passed; both ends go on beyond the outer knots.
    lengths = place.send(steps)
    inside = ((x[:, None] - place.send(knots[:-1])) / lengths).clip(0.0, 1.0)
    rising = lengths * inside**2 / 2
    falling = lengths * inside - rising
    out = place.empty((len(x), len(knots)))
    out[:, 1:] = rising
    out[:, 0] = (x - float(knots[0])).clip(None, 0.0)
    out[:, :-1] += falling
    out[:, -1] += (x - float(knots[-1])).clip(0.0, None)
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
