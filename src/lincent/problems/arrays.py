"""The words the equations are written in: vectors, signed rows, and a certified point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.intp]
Weigh = Callable[[slice, Vector], Vector]
"""From some rows and their a_i.beta to their alpha_i; the array that is returned may be reused."""


class Rows(Protocol):
    """The signed rows a_i, known only by what a solver does with them."""

    shape: tuple[int, int]
    sparse: bool
    is_remote: bool
    """Whether the rows live elsewhere, so that bringing all of them here is dear."""
    merged: bool
    """Whether equal rows were made one: their values are few, and rows meet in ties."""

    @property
    def entries(self) -> int:
        """Numbers that a product reads: fewer than m n where the data is sparse."""

    def dot(self, beta: Vector) -> Vector:
        """All a_i.beta, one number per row."""

    def tdot(self, alpha: Vector) -> Vector:
        """sum_i alpha_i a_i, one number per column."""

    def sizes(self, ruler: Matrix) -> Vector:
        """|a_i ruler| of every row."""

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        """(A beta, A' alpha), where ``weigh`` turns each part of the first into alpha."""

    def gram(self, weight: Vector) -> Matrix:
        """sum_i weight_i a_i a_i', columns by columns."""

    def outer(self, weight: Vector) -> Matrix:
        """The matrix of sum_j weight_j a_ij a_kj, rows by rows."""

    def take(self, index: Index) -> Rows:
        """The rows with these indices."""

    def columns(self, index: Index) -> Rows:
        """All rows, cut down to these columns, as one array."""

    def float32(self, index: Index | None) -> Rows | None:
        """These rows (None: all) in single precision, or None where that cannot be had."""

    def materialize(self) -> Rows:
        """The same rows in the form an exact solve works on (dense rows as one array)."""

    def dense(self) -> Matrix:
        """The rows as one array; asked for only when they are few."""

    def factors(self) -> tuple[Any, Vector, Vector]:
        """(S, y, l) with a_i = s_i - y_i l, where S is sparse if the data is."""

    def column_scale(self) -> Vector:
        """A typical size of each column of the signed rows (never zero)."""

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        """The rows with their costs and the margin, to be looked at from a point."""


# What a solver asks of all rows of a program at once; ``passes.band`` has the answers.


class AllRows(Protocol):
    """All rows with their costs and the margin."""

    spare_rows: int
    most_sampled: int
    here: bool
    """Whether vectors as long as the data may be brought here."""
    sampled_by_size: bool
    """Whether rows that have sizes are drawn by them, too."""

    def sized(self, ruler: Matrix | None) -> AllRows:
        """The same rows, each with the size |a_i ruler|; without a ruler all have the same."""

    def look(self, beta: Vector, band: int) -> View:
        """All rows from beta; ``band`` is for how many rows around the kink will be asked next."""

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        """Some k rows drawn by cost, and what each costs to stand for all."""


class View(Protocol):
    """All rows, seen from one point."""

    beta: Vector
    loss: float

    @property
    def below(self) -> float:
        """What the rows below the kink cost."""

    def along(self, other: Any, lengths: Vector) -> Vector:
        """The loss at some points on the way to where another view is from."""

    def between(self, other: Any, length: float, loss: float) -> View | None:
        """The other view, taken back to a point on that way; None where that takes a look."""

    def crossed(self, other: Any, width: float) -> float:
        """About how many rows beyond this width are on the other side of the kink from there."""

    def width(self, k: int) -> float:
        """The k-th smallest distance of a row from the kink, in the row's size."""

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """Gradient and Hessian of the program with its kink smoothed over this width."""

    def split(self, width: float) -> SplitRows:
        """The band of this width, and the rows beyond it as a sum."""


class SplitRows(Protocol):
    """The band, and what the rows beyond it add up to."""

    costs: Vector
    summed: Vector
    summed_cost: float

    @property
    def rows(self) -> Rows:
        """Those of the band."""

    def check(self, beta: Vector) -> Checked:
        """All rows from a new point, against the sides on which this split has them."""

    def grow(self, checked: Checked) -> SplitRows:
        """The misplaced rows join the band."""

    def wider(self, view: Any, width: float) -> SplitRows:
        """The rows within this width from a view, and as far as can be those of this band."""

    def multipliers(self, alpha: Vector, combined: Vector) -> Any:
        """One multiplier per row of all the data, from those of the band; sum_i alpha_i a_i."""


@dataclass(frozen=True)
class Checked:
    """What a check found: the loss, how many rows are misplaced, and which."""

    loss: float
    misplaced: int
    found: Any
    view: Any = None  # what was looked at, where it can be kept


@dataclass(frozen=True)
class Certificate:
    """A feasible point, a dual bound, and how far the point can be from the optimum.

    ``rounding`` is what the arithmetic of both numbers can be wrong by: it belongs to the gap,
    which without it would not be proved.  ``unit`` is the size of an objective that counts as zero:
    one, or less where the data is of a smaller scale.
    """

    beta: Vector
    alpha: Vector
    t: float
    objective: float
    dual_objective: float
    rounding: float = 0.0
    unit: float = 1.0

    @property
    def gap(self) -> float:
        return max(self.objective - self.dual_objective, 0.0) + self.rounding

    @property
    def relative_gap(self) -> float:
        """The gap in units of the objective, or of ``unit`` where the objective is below it."""
        if not np.isfinite(self.objective):
            return np.inf
        return self.gap / max(self.unit, abs(self.objective))


def root_mean(squares: Vector, m: int) -> Vector:
    """The size of columns from their sums of squares over m rows, never zero."""
    scale = np.sqrt(squares / max(1, m))
    scale[scale == 0] = 1.0
    return np.asarray(scale)
