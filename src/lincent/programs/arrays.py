"""The words the equations are written in: vectors, signed rows, and a certified point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class Rows(Protocol):
    """The signed rows a_i, known only by what a solver does with them."""

    shape: tuple[int, int]
    sparse: bool

    def dot(self, beta: Vector) -> Vector:
        """All a_i.beta, one number per row."""

    def tdot(self, alpha: Vector) -> Vector:
        """sum_i alpha_i a_i, one number per column."""

    def gram(self, weight: Vector) -> Matrix:
        """sum_i weight_i a_i a_i', columns by columns."""

    def outer(self, weight: Vector) -> Matrix:
        """The matrix of sum_j weight_j a_ij a_kj, rows by rows."""

    def take(self, index: NDArray[np.intp]) -> Rows:
        """The rows with these indices."""

    def materialize(self) -> Rows:
        """The same rows in the form an exact solve works on (dense rows as one array)."""

    def dense(self) -> Matrix:
        """The rows as one array; asked for only when they are few."""

    def factors(self) -> tuple[Any, Vector, Vector]:
        """(S, y, l) with a_i = s_i - y_i l, where S is sparse if the data is."""

    def column_scale(self) -> Vector:
        """A typical size of each column of the signed rows (never zero)."""


@dataclass(frozen=True)
class Certificate:
    """A feasible point, a dual bound, and the distance between them."""

    beta: Vector
    alpha: Vector
    t: float
    objective: float
    dual_objective: float

    @property
    def gap(self) -> float:
        return max(self.objective - self.dual_objective, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap in units of the objective, or absolute where the objective is below one."""
        if not np.isfinite(self.objective):
            return np.inf
        return self.gap / max(1.0, abs(self.objective))
