"""Types of the problems: vectors, and signed rows as solvers use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Weigh = Callable[[slice, Vector], Vector]
"""From some rows and their a_i.beta to their alpha_i; the array that is returned may be reused."""


class Rows(Protocol):
    """The signed rows a_i, by the operations that solvers use (``sources.rows``)."""

    shape: tuple[int, int]
    sparse: bool
    is_remote: bool
    """Whether the rows are on a device or a cluster, so that transferring all of them is slow."""
    merged: bool
    """Whether equal rows were merged: their values are few, and many rows are tied."""

    @property
    def entries(self) -> int:
        """Stored numbers that a product reads: fewer than m n where the data is sparse."""

    def dot(self, beta: Vector) -> Vector:
        """Return all a_i.beta, one number per row."""

    def tdot(self, alpha: Vector) -> Vector:
        """Return sum_i alpha_i a_i, one number per column."""

    def sizes(self, ruler: Matrix) -> Vector:
        """Return |a_i ruler| of every row."""

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        """Return (A beta, A' alpha), where ``weigh`` turns each part of the first into alpha."""

    def gram(self, weight: Vector) -> Matrix:
        """Return sum_i weight_i a_i a_i', columns by columns."""

    def outer(self, weight: Vector) -> Matrix:
        """Return the matrix of sum_j weight_j a_ij a_kj, rows by rows."""

    def take(self, index: Index) -> Rows:
        """Return the rows with these indices."""

    def columns(self, index: Index) -> Rows:
        """Return all rows restricted to these columns, as one array."""

    def float32(self, index: Index | None) -> Rows | None:
        """Return these rows (None: all) in single precision, or None where that is not possible."""

    def materialize(self) -> Rows:
        """Return the rows in the form of an exact solve (dense rows as one array)."""

    def dense(self) -> Matrix:
        """Return the rows as one array; for few rows."""

    def factors(self) -> tuple[Any, Vector, Vector]:
        """Return (S, y, l) with a_i = s_i - y_i l, where S is sparse if the data is."""

    def column_scale(self) -> Vector:
        """Return a typical size of each column of the signed rows (never zero)."""

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        """Return the rows with their costs and the margin, for the active-set solver."""


# Operations of the active-set solver on all rows of a problem; ``sources.evaluation`` has them.


class AllRows(Protocol):
    """All rows with their costs and the margin."""

    spare_rows: int
    most_sampled: int
    on_host: bool
    """Whether vectors as long as the data may be transferred to the host."""
    sampled_by_size: bool
    """Whether samples are drawn by the sizes of rows, too."""

    def sized(self, ruler: Matrix | None) -> AllRows:
        """Return the same rows, each with the size |a_i ruler|; None: all have the same."""

    def look(self, beta: Vector, band: int) -> EvaluatedRows:
        """Evaluate all rows at beta; ``band``: rows near the margin that will be needed next."""

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        """Return some k rows drawn by cost, and costs with which they represent all."""


class EvaluatedRows(Protocol):
    """All rows, evaluated at one point."""

    beta: Vector
    loss: float

    @property
    def below(self) -> float:
        """The total cost of the rows that violate the margin."""

    def along(self, other: Any, lengths: Vector) -> Vector:
        """Return the loss at some points on the segment to the point of another evaluation."""

    def between(self, other: Any, length: float, loss: float) -> EvaluatedRows | None:
        """Return the other evaluation moved to a point on that segment; None if not possible."""

    def crossed(self, other: Any, width: float) -> float:
        """Estimate how many rows beyond this width change sides of the margin."""

    def width(self, k: int) -> float:
        """Return the k-th smallest distance of a row from the margin, in the row's size."""

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """Return gradient and Hessian of the problem with its hinges smoothed over this width."""

    def split(self, width: float) -> SplitRows:
        """Return the rows within this width of the margin, and the others as a sum."""


class SplitRows(Protocol):
    """The rows near the margin (the band), and the sum of the rows beyond it."""

    costs: Vector
    summed: Vector
    summed_cost: float

    @property
    def rows(self) -> Rows:
        """Those of the band."""

    def check(self, beta: Vector) -> Checked:
        """Evaluate all rows at a new point, and compare with the sides of this split."""

    def grow(self, checked: Checked) -> SplitRows:
        """Add the misplaced rows to the band."""

    def wider(self, view: Any, width: float) -> SplitRows:
        """Return the rows within this width of an evaluation and, if possible, of this band."""

    def multipliers(self, alpha: Vector, combined: Vector) -> Any:
        """Return one multiplier per row of all the data, from those of the band."""


@dataclass(frozen=True)
class Checked:
    """The loss at a point, how many rows are misplaced there, and which."""

    loss: float
    misplaced: int
    found: Any
    view: Any = None  # the evaluation, where it can be kept


def root_mean(squares: Vector, m: int) -> Vector:
    """Return the root mean square of columns from their sums of squares over m rows, never zero."""
    scale = np.sqrt(squares / max(1, m))
    scale[scale == 0] = 1.0
    return np.asarray(scale)
