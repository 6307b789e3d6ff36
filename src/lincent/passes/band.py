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

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lincent.passes.place import Place
from lincent.programs.arrays import Checked, Index, Matrix, Rows, Vector

TIED = 1e-5
"""The least width, as a share of the mean |z|: tied rows (whole numbers, repetitions) can fill the
band at a width of zero, which would leave a trust region without room."""
FEW = 2**16
FEW_ENTRIES = 2**18
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


class HeldRows(Protocol):
    """Signed rows in one place: their vectors as long as the data stay there."""

    shape: tuple[int, int]
    sparse: bool

    place: Place

    def measure(self, beta: Vector) -> Any: ...

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
        other.size = size + TINY
        return other

    def look(self, beta: Vector, band: int = 0) -> ViewAtOnce:
        return ViewAtOnce(self, beta)

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        m = self.rows.shape[0]
        if isinstance(self.size, float) and isinstance(self.cost, float):
            index, count = self.place.distinct(rng.integers(0, m, k))
            return self.rows.take(index), count * (self.cost * m / k)
        share = np.broadcast_to(self.costs, m) / float(np.sum(self.costs))
        if not isinstance(self.size, float):
            # Half in proportion to cost alone, half to cost times size: it is few rows that are
            # large, and the optimum hangs on them.  What a row costs then stands for its share.
            large = share * np.asarray(self.place.fetch(self.size))
            share = (share + large / float(large.sum())) / 2
        cumulative = np.cumsum(share)
        chosen = drawn(cumulative, rng.random(k) * float(cumulative[-1]))
        index, count = self.place.distinct(chosen)
        here = self.place.fetch(index)
        return self.rows.take(index), count * self.costs_at(index) / (k * share[here])

    def total(self, amount: Any) -> float:
        """sum_i c_i amount_i"""
        if isinstance(self.cost, float):
            return self.cost * float(amount.sum())
        return float(self.cost @ amount)

    def costs_at(self, index: Any) -> Vector:
        if isinstance(self.cost, float):
            return np.full(len(index), self.cost)
        return np.asarray(self.costs[self.place.fetch(index)])

    def sizes_at(self, index: Any) -> Any:
        """The sizes of these rows, or the one size of all."""
        if isinstance(self.size, float):
            return self.size
        return np.asarray(self.place.fetch(self.size[index]))

    def gram_of(self, index: Any, scale: float) -> Matrix:
        """scale * sum_i c_i / size_i a_i a_i' over these rows, a few of them at a time."""
        n = self.rows.shape[1]
        many = self.rows.sparse or self.place.fast_reads
        step = len(index) if many else max(n, FEW_ENTRIES // n)
        gram = np.zeros((n, n))
        for start in range(0, len(index), max(1, step)):
            part = index[start : start + step]
            weight = self.costs_at(part) * scale / self.sizes_at(part)
            gram += self.rows.take(part).gram(weight)
        return gram

    def full(self, outside: Any, index: Any, alpha: Vector) -> Vector:
        """The multipliers of all rows: the cost outside, alpha in the band, zero elsewhere."""
        full = np.array(self.place.fetch(self.place.where(outside, self.cost)))
        full[self.place.fetch(index)] = alpha
        return full


class ViewAtOnce:
    """All rows, seen from one point."""

    def __init__(self, whole: RowsAtOnce, beta: Vector) -> None:
        self.whole, self.beta = whole, beta
        self.distance = whole.rows.measure(beta)
        self.distance -= whole.margin
        self.loss = -whole.total(self.distance.clip(None, 0.0))

    @property
    def away(self) -> Any:
        """How far each row is from the kink, in its own size."""
        return self.whole.place.xp.abs(self.distance) / self.whole.size

    def along(self, other: ViewAtOnce, lengths: Vector) -> Vector:
        """The loss at beta + length (other.beta - beta)."""
        step = other.distance - self.distance
        return np.array(
            [
                -self.whole.total((self.distance + float(length) * step).clip(None, 0.0))
                for length in lengths
            ]
        )

    def width(self, k: int) -> float:
        xp, away = self.whole.place.xp, self.away
        nearest = kth_smallest(away, min(k, len(away) - 1), xp)
        return max(nearest, TIED * float(away.mean()))

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """The multipliers of the smoothed program combined, and its Hessian from ``most`` rows."""
        whole, place = self.whole, self.whole.place
        alpha = self.distance * (-0.5 / width)
        alpha /= whole.size
        alpha += 0.5
        alpha = alpha.clip(0.0, 1.0)
        alpha *= whole.cost
        combined = whole.rows.gather(alpha)
        del alpha
        band = place.nonzero(self.away <= width)
        scale = 0.5 / width
        if len(band) > 2 * most:
            scale *= len(band) / most
            band = band[place.send(np.sort(rng.choice(len(band), most, replace=False)))]
        return combined, whole.gram_of(band, scale)

    def split(self, width: float) -> SplitAtOnce:
        return SplitAtOnce(self.whole, *self.sides(width))

    def sides(self, width: float) -> tuple[Any, Any]:
        """Which rows are in the band, and which are beyond it on the side that costs."""
        band = self.away <= width
        return band, ~band & (self.distance < 0)


class SplitAtOnce:
    """The band, and what the rows beyond it add up to."""

    def __init__(self, whole: RowsAtOnce, band: Any, outside: Any) -> None:
        self.whole, self.band, self.outside = whole, band, outside
        self.index = whole.place.nonzero(band)
        self.rows = whole.rows.take(self.index)
        self.costs = whole.costs_at(self.index)
        alpha = whole.place.where(outside, whole.cost)
        self.summed = whole.rows.gather(alpha)
        self.summed_cost = float(alpha.sum())

    def check(self, beta: Vector) -> Checked:
        """One look from the new point: rows outside the band that changed sides are misplaced."""
        view = self.whole.look(beta)
        wrong = ~self.band & ((view.distance < 0) != self.outside)
        return Checked(view.loss, self.whole.place.count(wrong), wrong)

    def grow(self, checked: Checked) -> SplitAtOnce:
        if not checked.misplaced:
            return self
        wrong = checked.found
        return SplitAtOnce(self.whole, self.band | wrong, self.outside & ~wrong)

    def wider(self, view: ViewAtOnce, width: float) -> SplitAtOnce:
        band = self.band | view.sides(width)[0]
        return SplitAtOnce(self.whole, band, ~band & (view.distance < 0))

    def multipliers(self, alpha: Vector) -> Any:
        whole = self.whole
        if whole.here:
            return whole.full(self.outside, self.index, alpha)
        return Multipliers(
            (whole.rows.shape[0],),
            lambda: whole.full(self.outside, self.index, alpha),
            self.summed + self.rows.tdot(alpha),
            self.summed_cost + float(alpha.sum()),
        )


def kth_smallest(values: Any, k: int, xp: Any) -> float:
    """The k-th smallest value, counted from zero.

    Of many values a systematic sample says where to cut; only those below are sorted.
    """
    m = len(values)
    if m > 4 * FEW:
        step = m // FEW
        rank = k // step
        guess = xp.sort(values[::step])
        kept = values[values <= guess[min(rank + 4 * int(rank**0.5) + 8, len(guess) - 1)]]
        if len(kept) > k:
            values = kept
    if xp is np:
        return float(np.partition(values, k)[k])
    return float(xp.sort(values)[k])
