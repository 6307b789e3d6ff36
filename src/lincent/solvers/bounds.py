"""The best bounds of an optimal value: weak duality puts it between any two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Certificate, relative_gap


class Bounds:
    """Lowest objective and highest dual bound so far, each with the point that attains it.

    The two may come from different points, and either may come first.  ``unit`` is the size of an
    objective that counts as zero in the relative gap.
    """

    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit
        self.objective, self.bound = np.inf, -np.inf
        self.primal: Any = None
        self.dual: Any = None

    @property
    def gap(self) -> float:
        return max(self.objective - self.bound, 0.0)

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.gap, self.objective, self.unit)

    def certificate(self, beta: Vector, alpha: Vector, t: float) -> Certificate:
        """Return the certificate of the points that attain the bounds."""
        return Certificate(beta, alpha, t, self.objective, self.bound, unit=self.unit)

    def offer_primal(self, objective: float, point: Any) -> bool:
        """Keep the point if its objective is the lowest; return whether it is."""
        if not objective < self.objective:
            return False
        self.objective, self.primal = objective, point
        return True

    def offer_dual(self, bound: float, point: Any) -> bool:
        """Keep the point if its dual bound is the highest; return whether it is."""
        if not bound > self.bound:
            return False
        self.bound, self.dual = bound, point
        return True

    def offer(self, objective: float, bound: float, point: Any, still: float = 1e-13) -> bool:
        """Offer one point for both bounds; return whether it was progress.

        That is an objective that falls by more than ``still`` times itself, or a gap that halves:
        the gap of single points may rise on the way, and the objective falls until rounding.
        """
        before, gap = self.objective, self.gap
        self.offer_primal(objective, point)
        self.offer_dual(bound, point)
        if before == np.inf:
            return True
        return before - self.objective > still * abs(before) or self.gap < gap / 2
