"""How rows are read: what a source of rows can do.

A source is the only thing that knows where X lives.  It offers a few verbs, each one read:

    project(v)     X v          one number per row
    combine(w)     X' w         one number per column (w may have several columns)
    gram(w)        X' diag(w) X, and outer(w) = X diag(w) X', for problems that are solved whole
    take(index)    the signed rows with these indices, small enough to hold

``measure`` and ``gather`` are the first two for vectors that live with the rows (``place``).  What
a source can do faster than by these verbs it says in a method that has a default here.  Solvers
never see a source.  They see signed rows a_i = y_i (x_i - l) through ``SignedRows``.


---

What all signed rows do, unless they know better.

---

The signed rows y_i (x_i - l) of a whole data set: never formed, wherever X lives.

Every product is one with X and a correction of rank one, so a sparse X stays sparse and rows on a
device or a cluster stay there.  Signs, and vectors that come from products, live with the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import AllRows, Index, Matrix, Rows, Vector, Weigh
from lincent.sources.array_namespace import HOST, ArrayNamespace
from lincent.sources.evaluation import InMemoryRows
from lincent.sources.gradients import LossSums, QueryPoint, SideCosts, loss_sums

Sample = tuple[Rows, Vector, Vector]
"""Some signed rows in a form to solve, their signs and their costs."""


class Source(Protocol):
    """One way of reading X."""

    shape: tuple[int, int]
    sparse: bool = False
    dtype: np.dtype[Any] = np.dtype(np.float64)
    namespace: ArrayNamespace = HOST
    """Where vectors as long as the data live."""
    origin: Vector | None = None
    """What is taken off every row before anything else (see ``dense``)."""
    sampled_range: Vector | float = 0.0
    """How far some rows of each column are apart, where that was looked at."""
    swept: bool = False
    """Whether ``sweep`` is one read."""
    formed: bool = False
    """Whether the signed rows are so few that they are formed at once."""
    is_remote: bool = False
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
    def constant_columns(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
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

    def float32(self, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
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

    def pulls(self, rows: Any, costs: Any, points: Sequence[QueryPoint]) -> list[LossSums]:
        """What all signed rows of this source pull at some points: one read for all of them."""
        cost = self._there(rows, costs)
        return [loss_sums(rows, cost, at) for at in points]

    def draw(self, rows: Any, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        """About k rows, all with the same chance, and what they cost to stand for all."""
        m, place = self.shape[0], self.namespace
        chosen = np.arange(m) if k >= m else rng.integers(0, m, k)
        index, count = place.distinct(chosen)
        cost = place.fetch(self._there(rows, costs)[index]) * count * (m / len(chosen))
        return rows.take(index), np.asarray(place.fetch(rows.sign[index])), np.asarray(cost)

    def cost_means(self, rows: Any, costs: Any) -> tuple[tuple[float, float], Matrix]:
        """The cost of each class, negative first, and its mean signed row by cost."""
        cost, place = self._there(rows, costs), self.namespace
        parts = [place.where(side, cost) for side in (rows.sign < 0, rows.sign > 0)]
        low, high = (float(part.sum()) for part in parts)
        sums = np.stack([rows.gather(part) for part in parts])
        return (low, high), sums / np.array([[low], [high]])

    def _there(self, rows: Any, costs: Any) -> Any:
        if isinstance(costs, SideCosts):
            return costs.on(self.namespace, rows.sign)
        return self.namespace.send(np.asarray(costs))

    def all_rows(self, rows: Any, costs: Any, margin: float) -> AllRows:
        """The signed rows of this source as something to look at."""
        return InMemoryRows(rows, costs, margin)


SWEEP_BYTES = 2**20
"""A block of this size, with the vectors that go with it, stays in the cache of one core."""
FEWEST_ROWS = 256
MOST_ROWS = 16_384


class RowsBase(Rows):
    """Signed rows with the methods that have a default."""

    sparse = False
    is_remote = False
    merged = False
    swept = False
    """Whether ``sweep`` is one read."""

    namespace: ArrayNamespace = HOST
    """Where vectors as long as the rows live."""

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def measure(self, beta: Vector) -> Any:
        """``dot``, left where the rows are."""
        return self.dot(beta)

    def sizes(self, ruler: Matrix) -> Vector:
        return np.asarray(self.namespace.fetch(self.sizes_there(ruler)))

    def sizes_there(self, ruler: Matrix) -> Any:
        """``sizes``, left where the rows are."""
        return sum(self.measure(column) ** 2 for column in ruler.T) ** 0.5

    def gather(self, alpha: Any) -> Vector:
        """``tdot``, of multipliers that are where the rows are."""
        return self.tdot(alpha)

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        projected = self.dot(beta)
        return projected, self.tdot(weighed(projected, weigh))

    def float32(self, index: Index | None) -> Rows | None:
        return None

    def materialize(self) -> Rows:
        return self

    def factors(self) -> tuple[Any, Vector, Vector]:
        return self.dense(), np.zeros(self.shape[0]), np.zeros(self.shape[1])

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        return InMemoryRows(self, costs, margin)


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


GRAM_BLOCK = 256
"""Rows of a Gram matrix that are corrected at a time: with many columns it fills the memory."""


class SignedRows(RowsBase):
    """Rows of a source with a sign each, around a center."""

    def __init__(self, source: Source, sign: Any, center: Vector) -> None:
        self.source, self.sign, self.center = source, sign, center
        self.shape, self.sparse, self.namespace = source.shape, source.sparse, source.namespace
        self.is_remote = source.is_remote or source.namespace is not HOST
        self.swept = source.swept

    @property
    def entries(self) -> int:
        return self.source.entries

    def measure(self, beta: Vector) -> Any:
        projected = self.source.measure(beta)
        projected -= float(self.center @ beta)
        projected *= self.sign
        return projected

    def sizes_there(self, ruler: Matrix) -> Any:
        return self.source.sizes(ruler, self.center)

    def gather(self, alpha: Any) -> Vector:
        signed = alpha * self.sign
        return self.source.gather(signed) - float(signed.sum()) * self.center

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(self.namespace.fetch(self.measure(beta)))

    def tdot(self, alpha: Vector) -> Vector:
        return self.gather(self.namespace.send(alpha))

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        return self.source.sweep(self.sign, self.center, beta, weigh)

    def gram(self, weight: Vector) -> Matrix:
        # sum w (x - l)(x - l)' = X'WX - u l' - l (u - w l)', block by block.
        u = self.source.combine(weight)
        v = u - float(weight.sum()) * self.center
        gram = self.source.gram(weight)
        for start in range(0, len(u), GRAM_BLOCK):
            part = slice(start, start + GRAM_BLOCK)
            gram[part] -= u[part, None] * self.center
            gram[part] -= self.center[part, None] * v
        return gram

    def outer(self, weight: Vector) -> Matrix:
        # y y' * [(X - 1 l') W (X - 1 l')'], by rank-one corrections again.
        v = self.source.project(weight * self.center)
        sign = self._sign_here()
        outer = self.source.outer(weight)
        outer -= v[:, None]
        outer -= v - float(weight @ self.center**2)
        outer *= sign
        outer *= sign[:, None]
        return outer

    def take(self, index: Index) -> Rows:
        return self.source.take(index, self.sign, self.center)

    def columns(self, index: Index) -> Rows:
        return self.source.columns(index, self._sign_here(), self.center)

    def float32(self, index: Index | None) -> Rows | None:
        return self.source.float32(index, self.sign, self.center)

    def materialize(self) -> Rows:
        return self if self.sparse else self.source.take_all(self.sign, self.center)

    def dense(self) -> Matrix:
        return (self.source.array() - self.center) * self._sign_here()[:, None]

    def factors(self) -> tuple[Any, Vector, Vector]:
        sign = self._sign_here()
        return self.source.signed(sign), sign, self.center

    def column_scale(self) -> Vector:
        return self.source.column_scale(self.center)

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        return self.source.all_rows(self, costs, margin)

    def pulls(self, costs: Any, points: Sequence[QueryPoint]) -> list[LossSums]:
        """What all rows pull at some points of the regularized program: one read for all."""
        return self.source.pulls(self, costs, points)

    def draw(self, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        """About k rows with their signs, and costs that let them stand for all."""
        return self.source.draw(self, costs, k, rng)

    def _sign_here(self) -> Vector:
        return np.asarray(self.namespace.fetch(self.sign))


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
