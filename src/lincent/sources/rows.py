"""Row operators: how solvers and estimators read X, wherever it is stored.

A ``Source`` knows where X is stored.  A new one has ``block``, which reads some of its rows, and
``take``; it overrides what it can do faster.  The methods are one pass over the rows each:

    project(v)     X v          one number per row
    combine(w)     X' w         one number per column (w may have several columns)
    gram(w)        X' diag(w) X, and outer(w) = X diag(w) X', for problems that are solved as one
    take(index)    the signed rows with these indices, few enough to hold

``local_project`` and ``local_combine`` are the first two for vectors in the namespace of the rows.

Solvers use signed rows a_i = y_i (x_i - l).  ``SignedRows`` has those of a whole data set without
forming them: every product is one with X and a correction of rank one, so a sparse X stays sparse
and rows on a device or a cluster stay there, as do signs and vectors that come from products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import AllRows, Index, Mask, Matrix, Rows, Vector, Weigh, root_mean
from lincent.sources.array_namespace import HOST, ArrayNamespace
from lincent.sources.evaluation import InMemoryRows
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, SideCosts, joint_sums
from lincent.sources.shared_reads import merge_results

FEWEST_ROWS, MOST_ROWS = 256, 16_384
BLOCK_BYTES = 2**20
"""A block of this size stays in the processor's cache between conversion and product."""
GRAM_BLOCK = 256
"""Rows of a Gram matrix that are corrected at a time: with many columns it fills the memory."""

Sample = tuple[Rows, Vector, Vector]
"""Some signed rows in a form to solve, their signs and their costs."""


class Source(ABC):
    """One way of reading X."""

    shape: tuple[int, int]
    sparse: bool = False
    dtype: np.dtype[Any] = np.dtype(np.float64)
    namespace: ArrayNamespace = HOST
    """Of vectors as long as the data."""
    origin: Vector | None = None
    """Subtracted from every row before anything else (see ``dense``)."""
    sampled_range: Vector | float = 0.0
    """The range of each column over some rows, where that was computed."""
    swept: bool = False
    """Whether ``sweep`` is one pass."""
    formed: bool = False
    """Whether the signed rows are so few that they are formed at once."""
    is_remote: bool = False
    """Whether a pass is slow, and vectors as long as the data should not be transferred."""
    block_bytes: int = BLOCK_BYTES
    """The size of the parts in which rows are converted, or mapped."""

    @abstractmethod
    def take(self, index: Index, sign: Vector, center: Vector) -> Rows: ...

    @property
    def entries(self) -> int:
        """Stored numbers that a product reads."""
        return self.shape[0] * self.shape[1]

    def blocks(self, count: int | None = None) -> Iterator[slice]:
        """Yield the parts in which the rows, or so many of them, are read."""
        m, n = self.shape
        return row_blocks_of(m if count is None else count, n, self.block_bytes)

    def block(self, part: Any) -> Any:
        """Return some rows as float64 in their namespace, to be used before the next are read."""
        raise NotImplementedError

    def project(self, v: Vector) -> Vector:
        """Return X v."""
        return np.asarray(self.namespace.fetch(self.local_project(v)))

    def combine(self, w: Vector) -> Vector:
        """Return X' w."""
        return self.local_combine(self.namespace.send(w))

    def local_project(self, v: Vector) -> Any:
        """Return ``project`` in the namespace of the rows."""
        out, v = self.namespace.empty((self.shape[0],)), self.namespace.send(v)
        for part in self.blocks():
            out[part] = self.block(part) @ v
        return out

    def local_combine(self, w: Any) -> Vector:
        """Return ``combine`` of a vector in the namespace of the rows."""
        each = (self.namespace.tdot(self.block(part), w[part]) for part in self.blocks())
        return self._summed(each, (self.shape[1], *w.shape[1:]))

    def _summed(self, each: Iterable[Any], shape: tuple[int, ...]) -> Matrix:
        """Return the sum of arrays of the namespace, on the host."""
        total = np.zeros(shape)
        for one in each:
            total += self.namespace.fetch(one)
        return total

    def column_scale(self, center: Vector) -> Vector:
        """Return the root of the mean square of x - center, 1 where that is 0."""
        middle = self.namespace.send(center)
        each = (self.namespace.square_sums(self.block(part) - middle) for part in self.blocks())
        return root_mean(self._summed(each, center.shape), self.shape[0])

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        """Return the weighted means of the two classes, negative first: one pass."""
        local = 1.0 if weight.strides == (0,) else self.namespace.send(weight)
        empty = np.empty if self.namespace is HOST else self.namespace.empty
        split = empty((2, len(sign)))
        split[1] = local * (sign > 0)
        split[0] = local - split[1]
        totals = [float(side.sum()) for side in split]
        return np.ascontiguousarray((self.local_combine(split.T) / totals).T)

    def take_all(self, sign: Vector, center: Vector) -> Rows:
        """Return all signed rows, formed."""
        return self.take(np.arange(self.shape[0]), sign, center)

    def spread(self, weight: Vector, mean: Vector | None = None) -> ColumnStatistics:
        """Return statistics of each column over rows of positive weight, whose mean is known."""
        space, local = self.namespace, self.namespace.doubles(weight)
        mean = self.combine(weight) / float(weight.sum()) if mean is None else mean
        limits = np.full(len(mean), np.inf)
        parts = [ColumnStatistics(mean, np.zeros(len(mean)), limits, -limits)]
        for part in self.blocks():
            rows, some = self.block(part), local[part]
            if weight.strides != (0,):
                counted = space.nonzero(some > 0)
                rows, some = rows[counted], some[counted]
            if len(some):
                squares = space.tdot((rows - space.send(mean)) ** 2, some)
                columns = squares, space.down(rows, "min"), space.down(rows, "max")
                parts.append(ColumnStatistics(mean, *map(space.fetch, columns)))
        return ColumnStatistics.joined(parts)

    def gather(self, index: Index) -> Matrix:
        """Return some rows as a new array, on the host."""
        rows = np.empty((len(index), self.shape[1]))
        for part in self.blocks(len(index)):
            rows[part] = self.namespace.fetch(self.block(index[part]))
        return rows

    def array(self) -> Matrix:
        """Return all rows, on the host."""
        return self.gather(np.arange(self.shape[0]))

    def columns(self, index: Index, sign: Vector, center: Vector) -> Rows:
        """Return all signed rows, restricted to these columns."""
        return self.take_all(sign, center).columns(index)

    def constant_columns(self, index: Index) -> Mask:
        """Return which of these columns are constant."""
        columns, same = self.namespace.send(index), np.ones(len(index), dtype=bool)
        first = self.block(slice(0, 1))[:, columns]
        for part in self.blocks():
            equal = self.namespace.down(self.block(part)[:, columns] == first, "all")
            same &= self.namespace.fetch(equal)
        return same

    def local_sizes(self, ruler: Matrix, center: Vector) -> Any:
        """Return |(x_i - center) ruler| of every row, in the namespace of the rows."""
        shifts = center @ ruler
        columns = zip(ruler.T, shifts, strict=True)
        return sum((self.local_project(v) - float(shift)) ** 2 for v, shift in columns) ** 0.5

    def gram(self, w: Vector) -> Matrix:
        """Return X' diag(w) X."""
        root = self.namespace.doubles(w)[:, None] ** 0.5
        scaled = (self.block(part) * root[part] for part in self.blocks())
        return self._summed((rows.T @ rows for rows in scaled), (self.shape[1], self.shape[1]))

    def outer(self, w: Vector) -> Matrix:
        """Return X diag(w) X'."""
        scaled = self.array() * np.sqrt(w)
        return np.asarray(scaled @ scaled.T)

    def signed(self, sign: Vector) -> Any:
        """Return diag(sign) X, sparse where X is."""
        return self.array() * sign[:, None]

    def float32(self, index: Index | None, sign: Vector, center: Vector) -> Rows | None:
        """Return signed rows in single precision, or None."""
        return None

    def sweep(
        self, sign: Vector, center: Vector, beta: Vector, weigh: Weigh
    ) -> tuple[Vector, Vector]:
        """Return ``Rows.sweep`` of the signed rows; the default takes two passes."""
        projected = self.project(beta)
        projected -= center @ beta
        projected *= sign
        signed = weighed(projected, weigh) * sign
        return projected, self.combine(signed) - float(signed.sum()) * center

    def joint_sums(
        self,
        codes: Any,
        weight: Any,
        losses: LossStructure,
        points: list[JointPoint],
        center: Any = None,
    ) -> list[JointSums]:
        """Return the sums of a regularized problem, less a center, at some points: one pass."""
        middle = None if center is None else self.namespace.send(center)
        if self.namespace.fast_reads:
            # Products are cheap beside the maps of a further pass: all rows make the Gram matrix.
            points = [replace(at, share=1.0) for at in points]
        parts = []
        for part in self.blocks():  # converted or mapped once for all points
            given = self.block(part), codes[part], weight[part], losses
            parts.append(tuple(joint_sums(*given, at, self.namespace, middle) for at in points))
        return list(merge_results(parts))

    def signed_sums(
        self, rows: Any, costs: Any, losses: LossStructure, points: list[JointPoint]
    ) -> list[JointSums]:
        """Return the sums over signed rows of a binary problem, whose weights are their costs."""
        cost = self._local_costs(rows, costs)
        return self.joint_sums(rows.sign > 0, cost, losses, points, rows.center)

    def draw(self, rows: Any, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        """Draw about k rows with equal probability, with costs that represent all."""
        m, namespace = self.shape[0], self.namespace
        chosen = np.arange(m) if k >= m else rng.integers(0, m, k)
        index, count = namespace.distinct(chosen)
        cost = namespace.fetch(self._local_costs(rows, costs)[index]) * count * (m / len(chosen))
        return rows.take(index), np.asarray(namespace.fetch(rows.sign[index])), np.asarray(cost)

    def _local_costs(self, rows: Any, costs: Any) -> Any:
        if isinstance(costs, SideCosts):
            return costs.on(self.namespace, rows.sign)
        return self.namespace.send(np.asarray(costs))

    def all_rows(self, rows: Any, costs: Any, margin: float) -> AllRows:
        """Return the signed rows of this source for the active-set solver."""
        return InMemoryRows(rows, costs, margin)


class RowsBase(Rows):
    """Signed rows with the methods that have a default."""

    sparse = False
    is_remote = False
    merged = False
    swept = False
    """Whether ``sweep`` is one pass."""
    namespace: ArrayNamespace = HOST
    """Of vectors as long as the rows."""

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    # A subclass has either these or their local forms.

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(self.namespace.fetch(self.local_dot(beta)))

    def tdot(self, alpha: Vector) -> Vector:
        return self.local_tdot(self.namespace.send(alpha))

    def local_dot(self, beta: Vector) -> Any:
        """Return ``dot`` in the namespace of the rows."""
        return self.dot(beta)

    def local_tdot(self, alpha: Any) -> Vector:
        """Return ``tdot`` of multipliers in the namespace of the rows."""
        return self.tdot(alpha)

    def sizes(self, ruler: Matrix) -> Vector:
        return np.asarray(self.namespace.fetch(self.local_sizes(ruler)))

    def local_sizes(self, ruler: Matrix) -> Any:
        """Return ``sizes`` in the namespace of the rows."""
        return sum(self.local_dot(column) ** 2 for column in ruler.T) ** 0.5

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


class SignedRows(RowsBase):
    """Rows of a source with a sign each, around a center; never formed."""

    def __init__(self, source: Source, sign: Any, center: Vector) -> None:
        self.source, self.sign, self.center = source, sign, center
        self.shape, self.sparse, self.namespace = source.shape, source.sparse, source.namespace
        self.is_remote = source.is_remote or source.namespace is not HOST
        self.swept = source.swept

    @property
    def entries(self) -> int:
        return self.source.entries

    def local_dot(self, beta: Vector) -> Any:
        projected = self.source.local_project(beta)
        projected -= float(self.center @ beta)
        projected *= self.sign
        return projected

    def local_tdot(self, alpha: Any) -> Vector:
        signed = alpha * self.sign
        return self.source.local_combine(signed) - float(signed.sum()) * self.center

    def local_sizes(self, ruler: Matrix) -> Any:
        return self.source.local_sizes(ruler, self.center)

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
        outer = self.source.outer(weight)
        outer -= v[:, None]
        outer -= v - float(weight @ self.center**2)
        sign = self._host_sign()
        outer *= sign
        outer *= sign[:, None]
        return outer

    def take(self, index: Index) -> Rows:
        return self.source.take(index, self.sign, self.center)

    def columns(self, index: Index) -> Rows:
        return self.source.columns(index, self._host_sign(), self.center)

    def float32(self, index: Index | None) -> Rows | None:
        return self.source.float32(index, self.sign, self.center)

    def materialize(self) -> Rows:
        return self if self.sparse else self.source.take_all(self.sign, self.center)

    def dense(self) -> Matrix:
        return (self.source.array() - self.center) * self._host_sign()[:, None]

    def factors(self) -> tuple[Any, Vector, Vector]:
        sign = self._host_sign()
        return self.source.signed(sign), sign, self.center

    def column_scale(self) -> Vector:
        return self.source.column_scale(self.center)

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        return self.source.all_rows(self, costs, margin)

    def joint_sums(
        self, costs: Any, losses: LossStructure, points: list[JointPoint]
    ) -> list[JointSums]:
        """Return the sums of the regularized problem at some points: one pass for all."""
        return self.source.signed_sums(self, costs, losses, points)

    def draw(self, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        """Draw about k rows with their signs, and costs that represent all."""
        return self.source.draw(self, costs, k, rng)

    def _host_sign(self) -> Vector:
        return np.asarray(self.namespace.fetch(self.sign))


def weighed(projected: Vector, weigh: Weigh) -> Vector:
    """Return the multipliers of all rows from their a_i.beta."""
    alpha = np.empty(len(projected))
    for part in cache_blocks(len(projected), 1):
        alpha[part] = weigh(part, projected[part])
    return alpha


def cache_blocks(m: int, n: int) -> Iterator[slice]:
    """Yield parts of m rows of n columns that stay in the cache, all of about the same size."""
    step = min(MOST_ROWS, max(FEWEST_ROWS, BLOCK_BYTES // (8 * max(1, n))))
    # A short last part would cost as many calls as a long one.
    parts = -(-m // step)
    for k in range(parts):
        yield slice(k * m // parts, (k + 1) * m // parts)


def row_blocks_of(m: int, n: int, size: int) -> Iterator[slice]:
    """Yield parts of m rows whose n doubles each take up to ``size`` bytes."""
    step = max(1, size // (8 * max(1, n)))
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))


@dataclass(frozen=True)
class ColumnStatistics:
    """Of each column: its mean over all rows, sum_i w_i (x_ij - mean_j)^2, and its range."""

    mean: Vector
    squares: Vector
    low: Vector
    high: Vector

    def variance(self, total: float) -> float:
        """Return the variance over all entries, of rows with this total weight."""
        return float(self.squares.mean() / total) + float(np.var(self.mean))

    @classmethod
    def joined(cls, parts: list[ColumnStatistics]) -> ColumnStatistics:
        """Return the statistics of all rows; the parts have the same means."""
        return cls(
            parts[0].mean,
            np.sum([part.squares for part in parts], axis=0),
            np.min([part.low for part in parts], axis=0),
            np.max([part.high for part in parts], axis=0),
        )


@dataclass(frozen=True)
class Drawn:
    """Distinct rows in the order of their hashes, with indices and the weights of equal ones.

    Rows are drawn by their hashes (``hashing``), so a sample does not depend on chunks or order.
    """

    keys: NDArray[np.uint64]
    index: Index
    rows: Any
    weights: Vector


@dataclass(frozen=True)
class ClassSample:
    """Rows drawn from each class, and the statistics of all rows."""

    classes: list[Drawn]
    spread: ColumnStatistics
    cut: bool = False
    """Whether the total was too large, so that each class was limited to its part."""
