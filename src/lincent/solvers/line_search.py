"""Exact line search along a Newton step.

Along a line the objectives of this package are convex and piecewise quadratic, so that their slope
is nondecreasing and piecewise linear, and the minimum is where it changes its sign (Nocedal and
Wright, chapter 3.5).  Evaluating a slope needs no pass over the data, because the projections of
the samples are known at both ends of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Bracket:
    """Safeguarded secant iteration for the zero of a nondecreasing slope.

    Begins with the (negative) slope at length zero.  The step is doubled until the slope is
    positive; then follow secant steps, held away from the ends of the bracket by ``edge`` times its
    width, and bisection where the same end has moved ``patience`` times in a row.
    """

    low_slope: float
    edge: float = 0.05
    patience: float = 2
    low: float = 0.0
    high: float = np.inf
    high_slope: float = np.inf
    moved: int = 0
    """How often in a row the lower (positive) or upper (negative) end has moved."""

    def next(self, length: float, slope: float) -> float:
        """Return the length to try after ``length``, at which the slope is ``slope``."""
        if slope < 0:
            self.low, self.low_slope, self.moved = length, slope, max(self.moved, 0) + 1
        else:
            self.high, self.high_slope, self.moved = length, slope, min(self.moved, 0) - 1
        if self.high == np.inf:
            return 2.0 * length
        share = 0.5
        if abs(self.moved) < self.patience:
            share = self.low_slope / (self.low_slope - self.high_slope)
        return self.low + min(max(share, self.edge), 1.0 - self.edge) * (self.high - self.low)


def bisect_step(slope: Callable[[float], float], width: float, max_iter: int = 50) -> float:
    """Return the length in (0, 1] at which a nondecreasing slope changes its sign.

    One, if the slope is still negative there; else the lower end of a bracket that is at most
    ``width`` times its upper end wide.
    """
    if slope(1.0) <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(max_iter):
        if high - low <= width * high:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
    return low if low > 0.0 else high / 2
