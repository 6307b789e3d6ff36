"""The time of one fold of a search, dealt to the paths that it follows."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from lincent.solvers.solution import Controls

REFIT_SHARE = 0.25
"""Of the time limit, kept for the fit to all rows."""


def search_ends(limits: Controls, began: float, refit: bool) -> float:
    """When the search must end, so that there is time for the refit."""
    if not refit or not np.isfinite(limits.deadline):
        return limits.deadline
    return limits.deadline - REFIT_SHARE * (limits.deadline - began)


@dataclass
class FoldTime:
    """Until when, for how many paths one after the other, and which points came too late."""

    ends: float
    paths: int
    late: np.ndarray

    def next_path(self) -> float:
        """When the next path must end.

        Its share of the time left is that of all that follow: a candidate is finished when all
        two-class problems of the fold have it, so none of them may take the time of the others.
        """
        now = time.monotonic()
        share = (self.ends - now) / max(self.paths, 1)
        self.paths -= 1
        return now + share
