"""Multipliers that stay with the rows: their sums are known here, their values only on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.problems.arrays import Vector


@dataclass(frozen=True)
class Deferred:
    """One number per row that is fetched only when an array is asked for."""

    shape: tuple[int]
    fetch: Callable[[], Vector]

    def __mul__(self, factor: float) -> Deferred:
        return Deferred(self.shape, lambda: factor * self.fetch())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        return np.asarray(self.fetch(), dtype=dtype)


@dataclass(frozen=True)
class Multipliers(Deferred):
    """One multiplier per row, left with the rows, and what they add up to."""

    combined: Vector  # sum_i alpha_i a_i
    total: float  # sum_i alpha_i
