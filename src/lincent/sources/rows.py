"""What all signed rows do, unless they know better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lincent.problems.arrays import AllRows, Index, Matrix, Rows, Vector, Weigh
from lincent.sources.band import RowsAtOnce
from lincent.sources.corrected import Corrected
from lincent.sources.place import HERE, Place

SWEEP_BYTES = 2**20
"""A block of this size, with the vectors that go with it, stays in the cache of one core."""
FEWEST_ROWS = 256
MOST_ROWS = 16_384


class RowsBase(Rows):
    """Signed rows with the methods that have a default."""

    sparse = False
    far = False
    merged = False
    swept = False
    """Whether ``sweep`` is one read."""

    place: Place = HERE
    """Where vectors as long as the rows live."""

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def measure(self, beta: Vector) -> Any:
        """``dot``, left where the rows are."""
        return self.dot(beta)

    def sizes(self, ruler: Matrix) -> Vector:
        return np.asarray(self.place.fetch(self.sizes_there(ruler)))

    def sizes_there(self, ruler: Matrix) -> Any:
        """``sizes``, left where the rows are."""
        return sum(self.measure(column) ** 2 for column in ruler.T) ** 0.5

    def gather(self, alpha: Any) -> Vector:
        """``tdot``, of multipliers that are where the rows are."""
        return self.tdot(alpha)

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        projected = self.dot(beta)
        return projected, self.tdot(weighed(projected, weigh))

    def single(self, index: Index | None) -> Rows | None:
        return None

    def materialize(self) -> Rows:
        return self

    def factors(self) -> tuple[Any, Vector, Vector]:
        return self.dense(), np.zeros(self.shape[0]), np.zeros(self.shape[1])

    def corrected(self) -> Corrected:
        return Corrected(*self.factors())

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        return RowsAtOnce(self, costs, margin)


def weighed(projected: Vector, weigh: Weigh) -> Vector:
    """The multipliers of all rows from their a_i.beta."""
    alpha = np.empty(len(projected))
    for part in cache_blocks(len(projected), 1):
        alpha[part] = weigh(part, projected[part])
    return alpha


def cache_blocks(m: int, n: int) -> Iterator[slice]:
    """Parts of m rows of n columns that stay in the cache, all of about the same size."""
    step = min(MOST_ROWS, max(FEWEST_ROWS, SWEEP_BYTES // (8 * max(1, n))))
    # A short last part would cost as many calls as a long one.
    parts = -(-m // step)
    for k in range(parts):
        yield slice(k * m // parts, (k + 1) * m // parts)
