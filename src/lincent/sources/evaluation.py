"""All rows of a problem evaluated at a point, and split into active rows and a sum.

A problem with many rows is never given to an exact solver as one.  The active-set solver
evaluates it at a point beta, with z_i = a_i.beta - s for every row, and uses

    loss             sum_i c_i (-z_i)_+
    along(other)     the loss at points between this one and another
    width(k)         the k-th smallest |z_i| / size_i
    smoothed(w)      sum_i alpha_i a_i and sum_band c_i / (2 w size_i) a_i a_i'  (lp.smoothing)
    split(w)         the rows with |z_i| <= w size_i, the band, and sum c_i a_i over those below it
    sample(k)        k rows, drawn in proportion to their costs, half of them also to their sizes

A row's size is |a_i G| for a matrix G with a few columns: how far the row moves where beta moves by
its uncertainty.  Without G every row has the size 1.

Every result is short: a number, something as wide as the rows, or a few rows.  Vectors as long as
the data (the z_i, the masks, the costs) stay inside the objects of this file, on a device or in the
blocks of a cluster (``sources.dask``, where each block is an ``InMemoryRows``).

An evaluation is one pass over the rows.  Where the source can make a second product while a row is
still in the cache (``swept``), the same pass sums the rows that violate the margin,

    tangent = sum of c_i a_i over z_i < 0

and further results at this point are corrections by the rows near the margin:

    the smoothed gradient         tangent - sum_band (c_i [z_i < 0] - alpha_i) a_i
    the sum beyond a band         tangent - sum_band c_i [z_i < 0] a_i
    the same after rows joined    less those among them that were outside

so that one pass serves a Newton step, a split and every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from lincent.problems.arrays import Checked, Index, Matrix, Rows, Vector

TAKEN_ENTRIES = 2**18
"""Entries of rows that are taken at a time for a sum over some rows."""
PART = 2**15
"""Rows whose distances, with the vectors derived from them, stay in the cache."""
TINY = 1e-9
"""The least size of a row, where a typical one is 1: a row at the midpoint does not move."""
TIED = 1e-5
"""The least width, relative to the mean |z|: tied rows (whole numbers, repetitions) can fill the
band at a width of zero, which would leave a trust region of no size."""
FEW = 2**16
"""Rows from which a quantile, or a count of many, is estimated."""
MOST_CORRECTED = 0.25
"""Fraction of the rows that may be taken one by one: for more a pass over all is faster."""


@dataclass(frozen=True)
class Deferred:
    """One number per row that is transferred only when an array is needed."""

    shape: tuple[int]
    fetch: Callable[[], Vector]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        return np.asarray(self.fetch(), dtype=dtype)


@dataclass(frozen=True)
class Multipliers(Deferred):
    """One multiplier per row, left with the rows, and their sums."""

    combined: Vector  # sum_i alpha_i a_i
    total: float  # sum_i alpha_i


def one_cost(costs: Vector) -> float | None:
    """Return the cost that all rows share, or None where they differ."""
    if len(costs) == 0:
        return 0.0
    if costs.strides == (0,) or costs.min() == costs.max():
        return float(costs[0])
    return None


def drawn(cumulative: Vector, points: Vector) -> Index:
    """Return the index of each point among the cumulative costs."""
    index = np.searchsorted(cumulative, points, side="right")
    return np.minimum(index, len(cumulative) - 1)


class InMemoryRows:
    """All rows of a problem in one array namespace; ``rows`` is a ``sources.rows.RowsBase``."""

    most_sampled = 2**62
    """Rows of a sample that fit into memory."""
    sampled_by_size = True

    def __init__(self, rows: Any, costs: Any, margin: float) -> None:
        self.rows, self.margin, self.namespace = rows, margin, rows.namespace
        self.costs = np.asarray(costs)
        shared = one_cost(self.costs)
        self.cost: Any = self.namespace.send(self.costs) if shared is None else shared
        # Rows that an exact solve may take although fewer would do: its work grows like n^2 per
        # row, that of a pass like n, and below this the pass is the larger part.
        self.spare_rows = 0 if self.namespace.fast_reads else rows.shape[0] // (4 * rows.shape[1])
        self.on_host = not self.namespace.fast_reads
        self.size: Any = 1.0

    def sized(self, ruler: Matrix | None) -> InMemoryRows:
        """Return the same rows with the sizes |a_i ruler|: one pass."""
        if ruler is None:
            return self
        other = copy(self)
        size = self.rows.local_sizes(ruler)
        size += TINY
        # Sizes are estimates: on the host, where memory counts, half of the digits suffice.
        other.size = size.astype(np.float32) if self.on_host else size
        return other

    def look(self, beta: Vector, band: int = 0) -> RowEvaluation:
        """Evaluate all rows at beta; ``band``: whether rows near the margin will be needed."""
        return RowEvaluation(self, beta, swept=band > 0 and self.rows.swept)

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        """Draw k rows, and the costs with which they represent all."""
        m = self.rows.shape[0]
        if isinstance(self.size, float) and isinstance(self.cost, float):
            index, count = self.namespace.distinct(rng.integers(0, m, k))
            return self.rows.take(index), count * (self.cost * m / k)
        # Half in proportion to cost alone, half to cost times size: few rows are large, and the
        # optimum depends on them.  The cost of a row is divided by its probability.
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
        """Yield all rows: on the host in parts that stay in the cache, on a device at once."""
        m = self.rows.shape[0]
        step = PART if self.on_host else max(m, 1)
        for start in range(0, m, step):
            yield slice(start, min(start + step, m))

    def loss_in(self, part: slice, distance: Any) -> float:
        """Return sum_i c_i (-z_i)_+ of the rows of a part, at these distances."""
        short = distance.clip(None, 0.0)
        if isinstance(self.cost, float):
            return -self.cost * float(short.sum())
        return -float(self.cost[part] @ short)

    def costs_at(self, index: Any) -> Vector:
        """Return the costs of these rows."""
        if isinstance(self.cost, float):
            return np.full(len(index), self.cost)
        return np.asarray(self.costs[self.namespace.fetch(index)])

    def sizes_at(self, index: Any) -> Any:
        """Return the sizes of these rows, or the one size of all."""
        if isinstance(self.size, float):
            return self.size
        return np.asarray(self.namespace.fetch(self.size[index]), dtype=np.float64)

    def gram_of(self, index: Any, scale: float) -> Matrix:
        """Return scale * sum_i c_i / size_i a_i a_i' over these rows."""
        n = self.rows.shape[1]
        gram = np.zeros((n, n))
        for part in self._few_at_a_time(index):
            weight = self.costs_at(part) * scale / self.sizes_at(part)
            gram += self.rows.take(part).gram(weight)
        return gram

    def sum_of(self, index: Any, alpha: Vector) -> Vector:
        """Return sum_i alpha_i a_i over these rows."""
        total, start = np.zeros(self.rows.shape[1]), 0
        for part in self._few_at_a_time(index):
            total += self.rows.take(part).tdot(alpha[start : start + len(part)])
            start += len(part)
        return total

    def _few_at_a_time(self, index: Any) -> Iterator[Any]:
        n = self.rows.shape[1]
        many = self.rows.sparse or self.namespace.fast_reads
        step = len(index) if many else max(n, TAKEN_ENTRIES // n)
        for start in range(0, len(index), max(1, step)):
            yield index[start : start + step]

    def full(self, outside: Any, index: Any, alpha: Vector) -> Vector:
        """Return the multipliers of all rows: the cost outside, alpha in the band, else zero."""
        costs = self.namespace.fetch(self.namespace.where(outside, self.cost))
        full: Vector = np.require(costs, None, "W")
        full[self.namespace.fetch(index)] = alpha
        return full


class RowEvaluation:
    """All rows, evaluated at one point."""

    def __init__(self, whole: InMemoryRows, beta: Vector, *, swept: bool) -> None:
        self.whole, self.beta = whole, beta
        self.tangent: Vector | None = None
        if swept:
            self.distance, self.tangent = whole.rows.sweep(beta, self._violated_costs)
        else:
            self.distance = whole.rows.local_dot(beta)
        self.distance -= whole.margin
        self.loss = sum(whole.loss_in(part, self.distance[part]) for part in whole.parts())

    def _violated_costs(self, part: slice, projected: Vector) -> Vector:
        """Return the costs of rows that violate the margin, else zero."""
        cost = self.whole.cost
        below = projected < self.whole.margin
        return np.asarray(below * (cost if isinstance(cost, float) else cost[part]))

    @property
    def below(self) -> float:
        """The total cost of the rows that violate the margin."""
        namespace, cost, below = self.whole.namespace, self.whole.cost, self.distance < 0
        if isinstance(cost, float):
            return float(cost * namespace.count(below))
        return float(namespace.where(below, cost).sum())

    def away(self, part: slice = slice(None)) -> Any:
        """Return the distance of each row of a part from the margin, in its own size."""
        away = self.whole.namespace.xp.abs(self.distance[part])
        if not isinstance(self.whole.size, float):
            away /= self.whole.size[part]
        return away

    def along(self, other: RowEvaluation, lengths: Vector) -> Vector:
        """Return the loss at beta + length (other.beta - beta)."""
        losses = np.zeros(len(lengths))
        for part in self.whole.parts():
            step = other.distance[part] - self.distance[part]
            for k, length in enumerate(lengths):
                distance = step * float(length)
                distance += self.distance[part]
                losses[k] += self.whole.loss_in(part, distance)
        return losses

    def between(self, other: RowEvaluation, length: float, loss: float) -> RowEvaluation:
        """Move the other evaluation to beta + length (other.beta - beta), given its loss: no pass.

        Its distances are changed in place.  Of two swept evaluations the result is swept as well,
        unless too many rows change sides.
        """
        other.beta = self.beta + length * (other.beta - self.beta)
        other.distance -= self.distance
        other.distance *= length
        other.distance += self.distance
        swept, other.loss, other.tangent = other.tangent is not None, loss, None
        if swept and self.tangent is not None:
            whole = self.whole
            changed = whole.namespace.nonzero((self.distance < 0) != (other.distance < 0))
            if len(changed) <= MOST_CORRECTED * len(self.distance):
                below = whole.namespace.fetch(other.distance[changed] < 0)
                costs = whole.costs_at(changed) * np.where(below, 1.0, -1.0)
                other.tangent = self.tangent + whole.sum_of(changed, costs)
        return other

    def crossed(self, other: RowEvaluation, width: float) -> float:
        """Estimate, from a sample of many, how many rows beyond the band change sides."""
        stride = max(1, len(self.distance) // FEW)
        z, other_z = self.distance[::stride], other.distance[::stride]
        size = self.whole.size if isinstance(self.whole.size, float) else self.whole.size[::stride]
        beyond = self.whole.namespace.xp.abs(z) > width * size
        return float(stride * self.whole.namespace.count(beyond & ((z < 0) != (other_z < 0))))

    def width(self, k: int) -> float:
        """Return the k-th smallest distance, counted from zero.

        Of many rows a systematic sample bounds it; only those below are sorted.
        """
        m, xp = len(self.distance), self.whole.namespace.xp
        k = min(k, m - 1)
        step = m // FEW if m > 4 * FEW else 1
        away = self.away(slice(None, None, step))
        least, rank = TIED * float(away.mean()), k // step
        if step > 1:
            away = xp.sort(away)
            bound = away[min(rank + 4 * int(rank**0.5) + 8, len(away) - 1)]
            parts = [part[part <= bound] for part in map(self.away, self.whole.parts())]
            kept = np.concatenate(parts) if xp is np else parts[0]
            away = kept if len(kept) > k else self.away()
        nearest = np.partition(away, k)[k] if xp is np else xp.sort(away)[k]
        return max(float(nearest), least)

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """Return gradient and Hessian of the smoothed problem, the latter of ``most`` rows."""
        whole, namespace = self.whole, self.whole.namespace
        band = namespace.nonzero(self.away() <= width)
        if self.tangent is None or len(band) > MOST_CORRECTED * len(self.distance):
            alpha = _smoothed_step(self.distance, whole.size, width)
            alpha *= whole.cost
            combined: Vector = whole.rows.local_tdot(alpha)
            del alpha
        else:
            z = self.distance[band]
            excess = (z < 0) - _smoothed_step(z, whole.sizes_at(band), width)
            combined = self.tangent - whole.sum_of(band, whole.costs_at(band) * excess)
        scale = 0.5 / width
        if len(band) > 2 * most:
            scale *= len(band) / most
            band = band[namespace.send(np.sort(rng.choice(len(band), most, replace=False)))]
        return combined, whole.gram_of(band, scale)

    def split(self, width: float) -> InMemorySplit:
        """Return the rows within this width of the margin, and the others as a sum."""
        return self.split_at(self.sides(width)[0])

    def split_at(self, band: Any) -> InMemorySplit:
        """Return a split with these rows as the band."""
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
        """Return which rows are in the band, and which violate the margin beyond it."""
        band = self.away() <= width
        return band, ~band & (self.distance < 0)


def _smoothed_step(distance: Any, size: Any, width: float) -> Any:
    """Return the multiplier of a row relative to its cost, for the smoothed hinge."""
    step = distance * (-0.5 / width)
    step /= size
    step += 0.5
    return step.clip(0.0, 1.0)


class InMemorySplit:
    """The band, and the sum of the rows beyond it that violate the margin."""

    summed: Vector
    summed_cost: float

    def __init__(self, whole: InMemoryRows, band: Any, outside: Any) -> None:
        self.whole, self.band, self.outside = whole, band, outside
        self.index = whole.namespace.nonzero(band)
        self.costs = whole.costs_at(self.index)

    @cached_property
    def rows(self) -> Rows:
        """The rows of the band."""
        return cast(Rows, self.whole.rows.take(self.index))

    def _free_rows(self) -> None:
        """Free the rows before those of a larger band: a band can be a tenth of the data."""
        self.__dict__.pop("rows", None)

    def sum_up(self) -> None:
        """Sum the rows outside, in one pass."""
        alpha = self.whole.namespace.where(self.outside, self.whole.cost)
        self.summed, self.summed_cost = self.whole.rows.local_tdot(alpha), float(alpha.sum())

    def check(self, beta: Vector) -> Checked:
        """Evaluate a new point: rows outside the band that changed sides are misplaced."""
        view = self.whole.look(beta)
        wrong = ~self.band & ((view.distance < 0) != self.outside)
        return Checked(view.loss, self.whole.namespace.count(wrong), wrong, view)

    def grow(self, checked: Checked) -> InMemorySplit:
        """Add the misplaced rows to the band."""
        if not checked.misplaced:
            return self
        self._free_rows()
        wrong, whole = checked.found, self.whole
        grown = InMemorySplit(whole, self.band | wrong, self.outside & ~wrong)
        left = whole.namespace.nonzero(wrong & self.outside)
        if len(left) > MOST_CORRECTED * whole.rows.shape[0]:
            grown.sum_up()
            return grown
        costs = whole.costs_at(left)
        grown.summed = self.summed - whole.sum_of(left, costs)
        grown.summed_cost = self.summed_cost - float(costs.sum())
        return grown

    def wider(self, view: RowEvaluation, width: float) -> InMemorySplit:
        """Add the rows within this width of an evaluation to the band."""
        self._free_rows()
        return view.split_at(self.band | view.sides(width)[0])

    def multipliers(self, alpha: Vector, combined: Vector) -> Any:
        """Return the multipliers of all rows, on a device deferred."""
        whole = self.whole
        if whole.on_host:
            return whole.full(self.outside, self.index, alpha)
        return Multipliers(
            (whole.rows.shape[0],),
            lambda: whole.full(self.outside, self.index, alpha),
            combined,
            self.summed_cost + float(alpha.sum()),
        )
