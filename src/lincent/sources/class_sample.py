"""Some different rows of each class, and what all rows say of each column.

Rows are drawn by their keys (``row_hash``), so that the sample is the same wherever the rows are
and however they are cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Vector


@dataclass(frozen=True)
class Spread:
    """Of each column: its mean over all rows, sum_i w_i (x_ij - mean_j)^2, and its extent."""

    mean: Vector
    squares: Vector
    low: Vector
    high: Vector

    @classmethod
    def joined(cls, parts: list[Spread]) -> Spread:
        """That of all rows; the parts have the same means."""
        return cls(
            parts[0].mean,
            np.sum([part.squares for part in parts], axis=0),
            np.min([part.low for part in parts], axis=0),
            np.max([part.high for part in parts], axis=0),
        )


@dataclass(frozen=True)
class ClassSample:
    """Different rows of each class in the order of their keys, what equal ones weigh together."""

    keys: list[NDArray[np.uint64]]
    rows: list[Any]
    weights: list[Vector]
    spread: Spread
    cut: bool = False
    """Whether there were too many in all, so that each class has its share."""

    @classmethod
    def of(
        cls, classes: list[tuple[Any, Any, Vector]], spread: Spread, cut: bool = False
    ) -> ClassSample:
        """From keys, rows and weights of each class."""
        keys, rows = [part[0] for part in classes], [part[1] for part in classes]
        return cls(keys, rows, [part[2] for part in classes], spread, cut)
