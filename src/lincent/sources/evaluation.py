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


---

All rows of a program in one place, seen from one point, and split there.

A look at the rows is one read.  Where more will be asked, and the source can make a second product
while a row is still in the cache (``swept``), the same read sums up the rows below the kink,

    tangent = sum of c_i a_i over z_i < 0

and whatever else a solver asks of this point is then a correction by the rows around the kink:

    the smoothed gradient         tangent - sum_band (c_i [z_i < 0] - alpha_i) a_i
    the sum beyond a band         tangent - sum_band c_i [z_i < 0] a_i
    the same after rows joined    less those among them that were outside

so that one read answers for a Newton step, for a split and for every round.


---

Multipliers that stay with the rows: their sums are known here, their values only on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from lincent.problems.arrays import Checked, Index, Matrix, Rows, Vector, Weigh
from lincent.sources.array_namespace import ArrayNamespace

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

    namespace: ArrayNamespace
    swept: bool

    def measure(self, beta: Vector) -> Any: ...

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]: ...

    def sizes_there(self, ruler: Matrix) -> Any: ...

    def gather(self, alpha: Any) -> Vector: ...

    def take(self, index: Any) -> Rows: ...


class InMemoryRows:
    """All rows of a program, in one place."""

    most_sampled = 2**62
    """Rows of a sample that can be held."""
    sampled_by_size = True

    def __init__(self, rows: HeldRows, costs: Any, margin: float) -> None:
        self.rows, self.margin, self.namespace = rows, margin, rows.namespace
        self.costs = np.asarray(costs)
        shared = one_cost(self.costs)
        self.cost: Any = self.namespace.send(self.costs) if shared is None else shared
        # Rows that an exact solve may take although fewer would do: its work grows like n^2 per
        # row, that of a read like n, and below this the read is the larger part.
        self.spare_rows = 0 if self.namespace.fast_reads else rows.shape[0] // (4 * rows.shape[1])
        self.on_host = not self.namespace.fast_reads
        self.size: Any = 1.0

    def sized(self, ruler: Matrix | None) -> InMemoryRows:
        """The same rows with the sizes that a ruler gives them: one read."""
        if ruler is None:
            return self
        other = copy(self)
        size = self.rows.sizes_there(ruler)
        size += TINY
        # A size is known to a quarter: here, where memory counts, half of its digits do.
        other.size = size.astype(np.float32) if self.on_host else size
        return other

    def look(self, beta: Vector, band: int = 0) -> Evaluation:
        return Evaluation(self, beta, swept=band > 0 and self.rows.swept)

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        m = self.rows.shape[0]
        if isinstance(self.size, float) and isinstance(self.cost, float):
            index, count = self.namespace.distinct(rng.integers(0, m, k))
            return self.rows.take(index), count * (self.cost * m / k)
        # Half in proportion to cost alone, half to cost times size: it is few rows that are large,
        # and the optimum hangs on them.  What a row costs then stands for its share.
        size = np.broadcast_to(np.asarray(self.namespace.fetch(self.size)), m)
        even, large = 0.5 / float(np.sum(self.costs)), 0.5 / float(self.costs @ size)
        cumulative = np.multiply(size, large, dtype=np.float64)
        cumulative += even
        cumulative *= self.costs
        np.cumsum(cumulative, out=cumulative)
        chosen = drawn(cumulative, rng.random(k) * float(cumulative[-1]))
        index, count = self.namespace.distinct(chosen)
        return self.rows.take(index), count / (k * (even + large * self.sizes_at(index)))

    def parts(self) -> Iterator[slice]:
        """All rows, here in parts whose vectors stay in the cache, on a device at once."""
        m = self.rows.shape[0]
        step = PART if self.on_host else max(m, 1)
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
        return np.asarray(self.costs[self.namespace.fetch(index)])

    def sizes_at(self, index: Any) -> Any:
        """The sizes of these rows, or the one size of all."""
        if isinstance(self.size, float):
            return self.size
        return np.asarray(self.namespace.fetch(self.size[index]), dtype=np.float64)

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
        many = self.rows.sparse or self.namespace.fast_reads
        step = len(index) if many else max(n, FEW_ENTRIES // n)
        for start in range(0, len(index), max(1, step)):
            yield index[start : start + step]

    def full(self, outside: Any, index: Any, alpha: Vector) -> Vector:
        """The multipliers of all rows: the cost outside, alpha in the band, zero elsewhere."""
        full: Vector = np.require(
            self.namespace.fetch(self.namespace.where(outside, self.cost)), None, "W"
        )
        full[self.namespace.fetch(index)] = alpha
        return full


Whole = Any
"""``band.RowsAtOnce``, which makes these views and so cannot be imported here."""
TIED = 1e-5
"""The least width, as a share of the mean |z|: tied rows (whole numbers, repetitions) can fill the
band at a width of zero, which would leave a trust region without room."""
FEW = 2**16
"""Rows from which a quantile, or a count of many, is read off."""
MOST_CORRECTED = 0.25
"""Share of the rows that may be taken one by one: for more of them a read of all is faster."""


class Evaluation:
    """All rows, seen from one point."""

    def __init__(self, whole: Whole, beta: Vector, *, swept: bool) -> None:
        self.whole, self.beta = whole, beta
        self.tangent: Vector | None = None
        if swept:
            self.distance, self.tangent = whole.rows.sweep(beta, self._costs_below)
        else:
            self.distance = whole.rows.measure(beta)
        self.distance -= whole.margin
        self.loss = whole.loss(self.distance)

    def _costs_below(self, part: slice, projected: Vector) -> Vector:
        """The costs of rows below the kink, else zero."""
        cost = self.whole.cost
        below = projected < self.whole.margin
        return np.asarray(below * (cost if isinstance(cost, float) else cost[part]))

    @property
    def below(self) -> float:
        """What the rows below the kink cost."""
        place, cost, below = self.whole.namespace, self.whole.cost, self.distance < 0
        if isinstance(cost, float):
            return float(cost * place.count(below))
        return float(place.where(below, cost).sum())

    @property
    def away(self) -> Any:
        """How far each row is from the kink, in its own size."""
        return self._away(slice(None))

    def _away(self, part: slice) -> Any:
        away = self.whole.namespace.xp.abs(self.distance[part])
        if not isinstance(self.whole.size, float):
            away /= self.whole.size[part]
        return away

    def along(self, other: Evaluation, lengths: Vector) -> Vector:
        """The loss at beta + length (other.beta - beta)."""
        losses = np.zeros(len(lengths))
        for part in self.whole.parts():
            step = other.distance[part] - self.distance[part]
            for k, length in enumerate(lengths):
                there = step * float(length)
                there += self.distance[part]
                losses[k] += self.whole.loss_in(part, there)
        return losses

    def between(self, other: Evaluation, length: float, loss: float) -> Evaluation:
        """The other view from beta + length (other.beta - beta), where the loss is known: no read.

        Its distances are changed in place.  Of two swept views it is swept as well, unless too many
        rows are on another side from there.
        """
        other.beta = self.beta + length * (other.beta - self.beta)
        other.distance -= self.distance
        other.distance *= length
        other.distance += self.distance
        swept, other.loss, other.tangent = other.tangent is not None, loss, None
        if swept and self.tangent is not None:
            whole = self.whole
            turned = whole.namespace.nonzero((self.distance < 0) != (other.distance < 0))
            if len(turned) <= MOST_CORRECTED * len(self.distance):
                below = whole.namespace.fetch(other.distance[turned] < 0)
                costs = whole.costs_at(turned) * np.where(below, 1.0, -1.0)
                other.tangent = self.tangent + whole.sum_of(turned, costs)
        return other

    def crossed(self, other: Evaluation, width: float) -> float:
        """How many rows beyond the band are on the other side from there; by some, of many."""
        stride = max(1, len(self.distance) // FEW)
        here, there = self.distance[::stride], other.distance[::stride]
        size = self.whole.size if isinstance(self.whole.size, float) else self.whole.size[::stride]
        beyond = self.whole.namespace.xp.abs(here) > width * size
        return float(stride * self.whole.namespace.count(beyond & ((here < 0) != (there < 0))))

    def width(self, k: int) -> float:
        """The k-th smallest distance, counted from zero.

        Of many a systematic sample says where to cut; only those below are sorted.
        """
        m, xp = len(self.distance), self.whole.namespace.xp
        k = min(k, m - 1)
        step = m // FEW if m > 4 * FEW else 1
        away = self._away(slice(None, None, step))
        least, rank = TIED * float(away.mean()), k // step
        if step > 1:
            away = xp.sort(away)
            cut = away[min(rank + 4 * int(rank**0.5) + 8, len(away) - 1)]
            parts = [near[near <= cut] for near in map(self._away, self.whole.parts())]
            kept = np.concatenate(parts) if xp is np else parts[0]
            away = kept if len(kept) > k else self.away
        nearest = np.partition(away, k)[k] if xp is np else xp.sort(away)[k]
        return max(float(nearest), least)

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """The multipliers of the smoothed program combined, and its Hessian from ``most`` rows."""
        whole, place = self.whole, self.whole.namespace
        band = place.nonzero(self.away <= width)
        if self.tangent is None or len(band) > MOST_CORRECTED * len(self.distance):
            alpha = self._share(self.distance, whole.size, width)
            alpha *= whole.cost
            combined = whole.rows.gather(alpha)
            del alpha
        else:
            z = self.distance[band]
            excess = (z < 0) - self._share(z, whole.sizes_at(band), width)
            combined = self.tangent - whole.sum_of(band, whole.costs_at(band) * excess)
        scale = 0.5 / width
        if len(band) > 2 * most:
            scale *= len(band) / most
            band = band[place.send(np.sort(rng.choice(len(band), most, replace=False)))]
        return combined, whole.gram_of(band, scale)

    def _share(self, distance: Any, size: Any, width: float) -> Any:
        """What a row's multiplier is of its cost where the kink is smoothed."""
        share = distance * (-0.5 / width)
        share /= size
        share += 0.5
        return share.clip(0.0, 1.0)

    def split(self, width: float) -> InMemorySplit:
        return self.split_at(self.sides(width)[0])

    def split_at(self, band: Any) -> InMemorySplit:
        """These rows as the band, the others on the sides where they are seen from here."""
        below = self.distance < 0
        split = InMemorySplit(self.whole, band, ~band & below)
        if self.tangent is None or len(split.index) > MOST_CORRECTED * len(self.distance):
            split.sum_up()
        else:
            within = split.costs * below[split.index]
            split.summed = self.tangent - split.rows.tdot(within)
            split.summed_cost = self.below - float(within.sum())
        return split

    def sides(self, width: float) -> tuple[Any, Any]:
        """Which rows are in the band, and which are beyond it on the side that costs."""
        band = self.away <= width
        return band, ~band & (self.distance < 0)


class InMemorySplit:
    """The band, and what the rows beyond it add up to."""

    summed: Vector
    summed_cost: float

    def __init__(self, whole: Whole, band: Any, outside: Any) -> None:
        self.whole, self.band, self.outside = whole, band, outside
        self.index = whole.namespace.nonzero(band)
        self.costs = whole.costs_at(self.index)

    @cached_property
    def rows(self) -> Rows:
        return cast(Rows, self.whole.rows.take(self.index))

    def _let_go(self) -> None:
        """The rows go before those of a larger band come: a band can be a tenth of the data."""
        self.__dict__.pop("rows", None)

    def sum_up(self) -> None:
        """The rows outside, in one read."""
        alpha = self.whole.namespace.where(self.outside, self.whole.cost)
        self.summed, self.summed_cost = self.whole.rows.gather(alpha), float(alpha.sum())

    def check(self, beta: Vector) -> Checked:
        """One look from the new point: rows outside the band that changed sides are misplaced."""
        view = self.whole.look(beta)
        wrong = ~self.band & ((view.distance < 0) != self.outside)
        return Checked(view.loss, self.whole.namespace.count(wrong), wrong, view)

    def grow(self, checked: Checked) -> InMemorySplit:
        if not checked.misplaced:
            return self
        self._let_go()
        wrong, place = checked.found, self.whole.namespace
        grown = InMemorySplit(self.whole, self.band | wrong, self.outside & ~wrong)
        left = place.nonzero(wrong & self.outside)
        if len(left) > MOST_CORRECTED * self.whole.rows.shape[0]:
            grown.sum_up()
            return grown
        costs = self.whole.costs_at(left)
        grown.summed = self.summed - self.whole.sum_of(left, costs)
        grown.summed_cost = self.summed_cost - float(costs.sum())
        return grown

    def wider(self, view: Evaluation, width: float) -> InMemorySplit:
        self._let_go()
        return view.split_at(self.band | view.sides(width)[0])

    def multipliers(self, alpha: Vector, combined: Vector) -> Any:
        whole = self.whole
        if whole.on_host:
            return whole.full(self.outside, self.index, alpha)
        return Multipliers(
            (whole.rows.shape[0],),
            lambda: whole.full(self.outside, self.index, alpha),
            combined,
            self.summed_cost + float(alpha.sum()),
        )


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
