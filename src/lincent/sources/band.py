"""What a solver asks of all rows at once, answered where the rows are.

A program with many rows is never handed to a solver whole.  The solver looks at it from a point
beta, with z_i = a_i.beta - s for every row, and asks

    loss             sum_i c_i (-z_i)_+
    along(other)     the loss at points between this one and another
    width(k)         the k-th smallest |z_i| / size_i
    smoothed(w)      sum_i alpha_i a_i and sum_band c_i / (2 w size_i) a_i a_i'  (see lp.smoothing)
    split(w)         the rows with |z_i| <= w size_i, the band, and sum c_i a_i over those below it
    sample(k)        k rows, drawn in proportion to their costs, half of them also to their sizes

A row's size is |a_i G| for a ruler G with a few columns: how far the row moves where beta moves by
as much as it is uncertain (see lp.ruler).  Without a ruler every row has the size 1.

Every answer is short: a number, something as wide as the rows, or a few rows.  What is as long as
the data (the z_i, the masks, the costs) stays inside the objects of this file, so that it can stay
on a device or be spread over a cluster.  This file has the answers for rows in one place, on its
array namespace; ``passes.dask`` has those for rows in blocks, each of which is ``RowsAtOnce``.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import Index, Matrix, Rows, Vector, Weigh
from lincent.sources.place import Place
from lincent.sources.view import ViewAtOnce

FEW_ENTRIES = 2**18
PART = 2**15
"""Rows whose distances, with what is made of them, stay in the cache."""
TINY = 1e-9
"""The least size of a row, where a typical one is 1: a row at the midpoint moves nowhere."""


def one_cost(costs: Vector) -> float | None:
    """The cost that all rows share, or None where they differ."""
    if len(costs) == 0:
        return 0.0
    if costs.strides == (0,) or costs.min() == costs.max():
        return float(costs[0])
    return None


def scaled_costs(costs: Any, scale: float) -> Any:
    """scale times the costs; an infinite scale makes every cost above zero infinite."""
    if not isinstance(costs, np.ndarray):
        return costs.scaled(scale)
    if costs.strides == (0,):  # one number, repeated without memory: stays so
        return np.broadcast_to(scale * costs[0], costs.shape)
    return scale * costs if np.isfinite(scale) else np.where(costs > 0, np.inf, 0.0)


def drawn(cumulative: Vector, points: Vector) -> Index:
    """Where each point falls among the cumulative costs."""
    index = np.searchsorted(cumulative, points, side="right")
    return np.minimum(index, len(cumulative) - 1)


class HeldRows(Protocol):
    """Signed rows in one place: their vectors as long as the data stay there."""

    shape: tuple[int, int]
    sparse: bool

    place: Place
    swept: bool

    def measure(self, beta: Vector) -> Any: ...

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]: ...

    def sizes_there(self, ruler: Matrix) -> Any: ...

    def gather(self, alpha: Any) -> Vector: ...

    def take(self, index: Any) -> Rows: ...


class RowsAtOnce:
    """All rows of a program, in one place."""

    most_sampled = 2**62
    """Rows of a sample that can be held."""
    sampled_by_size = True

    def __init__(self, rows: HeldRows, costs: Any, margin: float) -> None:
        self.rows, self.margin, self.place = rows, margin, rows.place
        self.costs = np.asarray(costs)
        shared = one_cost(self.costs)
        self.cost: Any = self.place.send(self.costs) if shared is None else shared
        # Rows that an exact solve may take although fewer would do: its work grows like n^2 per
        # row, that of a read like n, and below this the read is the larger part.
        self.spare_rows = 0 if self.place.fast_reads else rows.shape[0] // (4 * rows.shape[1])
        self.here = not self.place.fast_reads
        self.size: Any = 1.0

    def sized(self, ruler: Matrix | None) -> RowsAtOnce:
        """The same rows with the sizes that a ruler gives them: one read."""
        if ruler is None:
            return self
        other = copy(self)
        size = self.rows.sizes_there(ruler)
        size += TINY
        # A size is known to a quarter: here, where memory counts, half of its digits do.
        other.size = size.astype(np.float32) if self.here else size
        return other

    def look(self, beta: Vector, band: int = 0) -> ViewAtOnce:
        return ViewAtOnce(self, beta, swept=band > 0 and self.rows.swept)

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        m = self.rows.shape[0]
        if isinstance(self.size, float) and isinstance(self.cost, float):
            index, count = self.place.distinct(rng.integers(0, m, k))
            return self.rows.take(index), count * (self.cost * m / k)
        # Half in proportion to cost alone, half to cost times size: it is few rows that are large,
        # and the optimum hangs on them.  What a row costs then stands for its share.
        size = np.broadcast_to(np.asarray(self.place.fetch(self.size)), m)
        even, large = 0.5 / float(np.sum(self.costs)), 0.5 / float(self.costs @ size)
        cumulative = np.multiply(size, large, dtype=np.float64)
        cumulative += even
        cumulative *= self.costs
        np.cumsum(cumulative, out=cumulative)
        chosen = drawn(cumulative, rng.random(k) * float(cumulative[-1]))
        index, count = self.place.distinct(chosen)
        return self.rows.take(index), count / (k * (even + large * self.sizes_at(index)))

    def parts(self) -> Iterator[slice]:
        """All rows, here in parts whose vectors stay in the cache, on a device at once."""
        m = self.rows.shape[0]
        step = PART if self.here else max(m, 1)
        for start in range(0, m, step):
            yield slice(start, min(start + step, m))

    def loss(self, distance: Any) -> float:
        """sum_i c_i (-z_i)_+"""
        return sum(self.loss_in(part, distance[part]) for part in self.parts())

    def loss_in(self, part: slice, distance: Any) -> float:
        """The same for the rows of a part, at these distances."""
        short = distance.clip(None, 0.0)
        if isinstance(self.cost, float):
            return -self.cost * float(short.sum())
        return -float(self.cost[part] @ short)

    def costs_at(self, index: Any) -> Vector:
        if isinstance(self.cost, float):
            return np.full(len(index), self.cost)
        return np.asarray(self.costs[self.place.fetch(index)])

    def sizes_at(self, index: Any) -> Any:
        """The sizes of these rows, or the one size of all."""
        if isinstance(self.size, float):
            return self.size
        return np.asarray(self.place.fetch(self.size[index]), dtype=np.float64)

    def gram_of(self, index: Any, scale: float) -> Matrix:
        """scale * sum_i c_i / size_i a_i a_i' over these rows."""
        n = self.rows.shape[1]
        gram = np.zeros((n, n))
        for part in self._few_at_a_time(index):
            weight = self.costs_at(part) * scale / self.sizes_at(part)
            gram += self.rows.take(part).gram(weight)
        return gram

    def sum_of(self, index: Any, alpha: Vector) -> Vector:
        """sum_i alpha_i a_i over these rows."""
        total, start = np.zeros(self.rows.shape[1]), 0
        for part in self._few_at_a_time(index):
            total += self.rows.take(part).tdot(alpha[start : start + len(part)])
            start += len(part)
        return total

    def _few_at_a_time(self, index: Any) -> Iterator[Any]:
        n = self.rows.shape[1]
        many = self.rows.sparse or self.place.fast_reads
        step = len(index) if many else max(n, FEW_ENTRIES // n)
        for start in range(0, len(index), max(1, step)):
            yield index[start : start + step]

    def full(self, outside: Any, index: Any, alpha: Vector) -> Vector:
        """The multipliers of all rows: the cost outside, alpha in the band, zero elsewhere."""
        full: Vector = np.require(self.place.fetch(self.place.where(outside, self.cost)), None, "W")
        full[self.place.fetch(index)] = alpha
        return full
