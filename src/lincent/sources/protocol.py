"""How rows are read: what a source of rows can do.

A source is the only thing that knows where X lives.  It offers a few verbs, each one read:

    project(v)     X v          one number per row
    combine(w)     X' w         one number per column (w may have several columns)
    gram(w)        X' diag(w) X, and outer(w) = X diag(w) X', for problems that are solved whole
    take(index)    the signed rows with these indices, small enough to hold

``measure`` and ``gather`` are the first two for vectors that live with the rows (``place``).  What
a source can do faster than by these verbs it says in a method that has a default here.  Solvers
never see a source.  They see signed rows a_i = y_i (x_i - l) through ``SignedRows``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import AllRows, Index, Matrix, Rows, Vector, Weigh
from lincent.sources.band import RowsAtOnce
from lincent.sources.corrected import Corrected
from lincent.sources.place import HERE, Place
from lincent.sources.pulls import PullPoint, Pulls, SideCosts, pulls_of
from lincent.sources.rows import weighed

Sample = tuple[Rows, Vector, Vector]
"""Some signed rows in a form to solve, their signs and their costs."""


class Source(Protocol):
    """One way of reading X."""

    shape: tuple[int, int]
    sparse: bool = False
    dtype: np.dtype[Any] = np.dtype(np.float64)
    place: Place = HERE
    """Where vectors as long as the data live."""
    origin: Vector | None = None
    """What is taken off every row before anything else (see ``dense``)."""
    seen_spread: Vector | float = 0.0
    """How far some rows of each column are apart, where that was looked at."""
    swept: bool = False
    """Whether ``sweep`` is one read."""
    formed: bool = False
    """Whether the signed rows are so few that they are formed at once."""
    far: bool = False
    """Whether a read is dear, and nothing as long as the data should be brought here."""

    @abstractmethod
    def project(self, v: Vector) -> Vector: ...

    @abstractmethod
    def combine(self, w: Vector) -> Vector: ...

    @abstractmethod
    def gram(self, w: Vector) -> Matrix: ...

    @abstractmethod
    def take(self, index: Index, sign: Vector, center: Vector) -> Rows: ...

    @abstractmethod
    def array(self) -> Matrix:
        """All rows, here."""

    @abstractmethod
    def column_scale(self, center: Vector) -> Vector:
        """The root of the mean square of x - center, 1 where that is 0."""

    @abstractmethod
    def columns(self, index: Index, sign: Vector, center: Vector) -> Rows:
        """All signed rows, cut down to these columns."""

    @abstractmethod
    def class_means(self, sign: Any, weight: Any) -> Matrix:
        """The weighted means of the two classes, negative first: one read."""

    @abstractmethod
    def unchanging(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which of these columns are one number."""

    # The rest has a default.

    @property
    def entries(self) -> int:
        """Numbers that a product reads."""
        return self.shape[0] * self.shape[1]

    def take_all(self, sign: Vector, center: Vector) -> Rows:
        """All signed rows, formed."""
        return self.take(np.arange(self.shape[0]), sign, center)

    def measure(self, v: Vector) -> Any:
        return self.project(v)

    def sizes(self, ruler: Matrix, center: Vector) -> Any:
        """|(x_i - center) ruler| of every row, left where the rows are."""
        shifts = center @ ruler
        columns = zip(ruler.T, shifts, strict=True)
        return sum((self.measure(v) - float(shift)) ** 2 for v, shift in columns) ** 0.5

    def gather(self, w: Any) -> Vector:
        return self.combine(w)

    def outer(self, w: Vector) -> Matrix:
        scaled = self.array() * np.sqrt(w)
        return np.asarray(scaled @ scaled.T)

    def signed(self, sign: Vector) -> Any:
        """diag(sign) X, sparse where X is."""
        return self.array() * sign[:, None]

    def corrected(self, S: Any, u: Vector, v: Vector) -> Corrected:
        """S - u v' where S came from ``signed``."""
        return Corrected(S, u, v)

    def single(self, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
        """Signed rows in single precision."""
        return None

    def sweep(
        self, sign: Vector, center: Vector, beta: Vector, weigh: Weigh
    ) -> tuple[Vector, Vector]:
        """``Rows.sweep`` of the signed rows; here by two reads."""
        projected = self.project(beta)
        projected -= center @ beta
        projected *= sign
        signed = weighed(projected, weigh) * sign
        return projected, self.combine(signed) - float(signed.sum()) * center

    def pulls(self, rows: Any, costs: Any, points: Sequence[PullPoint]) -> list[Pulls]:
        """What all signed rows of this source pull at some points: one read for all of them."""
        cost = self._there(rows, costs)
        return [pulls_of(rows, cost, at) for at in points]

    def draw(self, rows: Any, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        """About k rows, all with the same chance, and what they cost to stand for all."""
        m, place = self.shape[0], self.place
        chosen = np.arange(m) if k >= m else rng.integers(0, m, k)
        index, count = place.distinct(chosen)
        cost = place.fetch(self._there(rows, costs)[index]) * count * (m / len(chosen))
        return rows.take(index), np.asarray(place.fetch(rows.sign[index])), np.asarray(cost)

    def cost_means(self, rows: Any, costs: Any) -> tuple[tuple[float, float], Matrix]:
        """The cost of each class, negative first, and its mean signed row by cost."""
        cost, place = self._there(rows, costs), self.place
        parts = [place.where(side, cost) for side in (rows.sign < 0, rows.sign > 0)]
        low, high = (float(part.sum()) for part in parts)
        sums = np.stack([rows.gather(part) for part in parts])
        return (low, high), sums / np.array([[low], [high]])

    def _there(self, rows: Any, costs: Any) -> Any:
        if isinstance(costs, SideCosts):
            return costs.on(self.place, rows.sign)
        return self.place.send(np.asarray(costs))

    def all_rows(self, rows: Any, costs: Any, margin: float) -> AllRows:
        """The signed rows of this source as something to look at."""
        return RowsAtOnce(rows, costs, margin)
