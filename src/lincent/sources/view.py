"""All rows of a program in one place, seen from one point, and split there.

A look at the rows is one read.  Where more will be asked, and the source can make a second product
while a row is still in the cache (``swept``), the same read sums up the rows below the kink,

    tangent = sum of c_i a_i over z_i < 0

and whatever else a solver asks of this point is then a correction by the rows around the kink:

    the smoothed gradient         tangent - sum_band (c_i [z_i < 0] - alpha_i) a_i
    the sum beyond a band         tangent - sum_band c_i [z_i < 0] a_i
    the same after rows joined    less those among them that were outside

so that one read answers for a Newton step, for a split and for every round.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np

from lincent.problems.arrays import Checked, Matrix, Rows, Vector
from lincent.sources.multipliers import Multipliers

Whole = Any
"""``band.RowsAtOnce``, which makes these views and so cannot be imported here."""
TIED = 1e-5
"""The least width, as a share of the mean |z|: tied rows (whole numbers, repetitions) can fill the
band at a width of zero, which would leave a trust region without room."""
FEW = 2**16
"""Rows from which a quantile, or a count of many, is read off."""
MOST_CORRECTED = 0.25
"""Share of the rows that may be taken one by one: for more of them a read of all is faster."""


class ViewAtOnce:
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
        place, cost, below = self.whole.place, self.whole.cost, self.distance < 0
        if isinstance(cost, float):
            return float(cost * place.count(below))
        return float(place.where(below, cost).sum())

    @property
    def away(self) -> Any:
        """How far each row is from the kink, in its own size."""
        return self._away(slice(None))

    def _away(self, part: slice) -> Any:
        away = self.whole.place.xp.abs(self.distance[part])
        if not isinstance(self.whole.size, float):
            away /= self.whole.size[part]
        return away

    def along(self, other: ViewAtOnce, lengths: Vector) -> Vector:
        """The loss at beta + length (other.beta - beta)."""
        losses = np.zeros(len(lengths))
        for part in self.whole.parts():
            step = other.distance[part] - self.distance[part]
            for k, length in enumerate(lengths):
                there = step * float(length)
                there += self.distance[part]
                losses[k] += self.whole.loss_in(part, there)
        return losses

    def between(self, other: ViewAtOnce, length: float, loss: float) -> ViewAtOnce:
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
            turned = whole.place.nonzero((self.distance < 0) != (other.distance < 0))
            if len(turned) <= MOST_CORRECTED * len(self.distance):
                below = whole.place.fetch(other.distance[turned] < 0)
                costs = whole.costs_at(turned) * np.where(below, 1.0, -1.0)
                other.tangent = self.tangent + whole.sum_of(turned, costs)
        return other

    def crossed(self, other: ViewAtOnce, width: float) -> float:
        """How many rows beyond the band are on the other side from there; by some, of many."""
        stride = max(1, len(self.distance) // FEW)
        here, there = self.distance[::stride], other.distance[::stride]
        size = self.whole.size if isinstance(self.whole.size, float) else self.whole.size[::stride]
        beyond = self.whole.place.xp.abs(here) > width * size
        return float(stride * self.whole.place.count(beyond & ((here < 0) != (there < 0))))

    def width(self, k: int) -> float:
        """The k-th smallest distance, counted from zero.

        Of many a systematic sample says where to cut; only those below are sorted.
        """
        m, xp = len(self.distance), self.whole.place.xp
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
        whole, place = self.whole, self.whole.place
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

    def split(self, width: float) -> SplitAtOnce:
        return self.split_at(self.sides(width)[0])

    def split_at(self, band: Any) -> SplitAtOnce:
        """These rows as the band, the others on the sides where they are seen from here."""
        below = self.distance < 0
        split = SplitAtOnce(self.whole, band, ~band & below)
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


class SplitAtOnce:
    """The band, and what the rows beyond it add up to."""

    summed: Vector
    summed_cost: float

    def __init__(self, whole: Whole, band: Any, outside: Any) -> None:
        self.whole, self.band, self.outside = whole, band, outside
        self.index = whole.place.nonzero(band)
        self.costs = whole.costs_at(self.index)

    @cached_property
    def rows(self) -> Rows:
        return cast(Rows, self.whole.rows.take(self.index))

    def _let_go(self) -> None:
        """The rows go before those of a larger band come: a band can be a tenth of the data."""
        self.__dict__.pop("rows", None)

    def sum_up(self) -> None:
        """The rows outside, in one read."""
        alpha = self.whole.place.where(self.outside, self.whole.cost)
        self.summed, self.summed_cost = self.whole.rows.gather(alpha), float(alpha.sum())

    def check(self, beta: Vector) -> Checked:
        """One look from the new point: rows outside the band that changed sides are misplaced."""
        view = self.whole.look(beta)
        wrong = ~self.band & ((view.distance < 0) != self.outside)
        return Checked(view.loss, self.whole.place.count(wrong), wrong, view)

    def grow(self, checked: Checked) -> SplitAtOnce:
        if not checked.misplaced:
            return self
        self._let_go()
        wrong, place = checked.found, self.whole.place
        grown = SplitAtOnce(self.whole, self.band | wrong, self.outside & ~wrong)
        left = place.nonzero(wrong & self.outside)
        if len(left) > MOST_CORRECTED * self.whole.rows.shape[0]:
            grown.sum_up()
            return grown
        costs = self.whole.costs_at(left)
        grown.summed = self.summed - self.whole.sum_of(left, costs)
        grown.summed_cost = self.summed_cost - float(costs.sum())
        return grown

    def wider(self, view: ViewAtOnce, width: float) -> SplitAtOnce:
        self._let_go()
        return view.split_at(self.band | view.sides(width)[0])

    def multipliers(self, alpha: Vector, combined: Vector) -> Any:
        whole = self.whole
        if whole.here:
            return whole.full(self.outside, self.index, alpha)
        return Multipliers(
            (whole.rows.shape[0],),
            lambda: whole.full(self.outside, self.index, alpha),
            combined,
            self.summed_cost + float(alpha.sum()),
        )
