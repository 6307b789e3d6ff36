"""What ``band`` asks of all rows, answered by one block.

Each function gets the rows x, labels y and weights (or None) of a block, opens them as rows in
memory, and returns something short.  They run wherever Dask runs them and keep no state:
which side of a split a row is on is found again from the points at which it was decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.sources.band import RowsAtOnce, drawn
from lincent.sources.dask.block import Opened, Setting, Taken, add, chained, opened, sliced
from lincent.sources.pulls import PullPoint, Pulls, pulls_of
from lincent.sources.signed_rows import SignedRows
from lincent.sources.view import TIED, ViewAtOnce

BIN_SHIFT = np.uint64(46)
"""Of a float's 64 bits, those above make its bin: sign, exponent and 6 bits, so bins 1.6 % wide."""


@dataclass(frozen=True)
class Spread:
    """What a look at some rows tells: the loss, and how the distances to the kink are spread."""

    loss: float
    away: float
    bins: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    ahead: Any = None  # the answer to the question that is expected next

    @classmethod
    def joined(cls, parts: list[Spread]) -> Spread:
        bins, place = np.unique(np.concatenate([p.bins for p in parts]), return_inverse=True)
        counts = np.concatenate([p.counts for p in parts])
        counts = np.bincount(place, weights=counts).astype(np.int64)
        loss, away = sum(p.loss for p in parts), sum(p.away for p in parts)
        return cls(loss, away, bins, counts, _joined_ahead([p.ahead for p in parts]))

    def below(self, width: float) -> int:
        """About how many distances are below the width."""
        last = np.float64(width).view(np.uint64) >> BIN_SHIFT
        return int(self.counts[self.bins <= last].sum())

    def width(self, k: int, m: int) -> float:
        """The upper end of the bin in which the k-th smallest of m distances lies."""
        passed = np.cumsum(self.counts)
        place = min(int(np.searchsorted(passed, k, side="right")), len(self.bins) - 1)
        end = (self.bins[place] + np.uint64(1)) << BIN_SHIFT
        return max(float(end.view(np.float64)), TIED * self.away / m)


def _joined_ahead(parts: list[Any]) -> Any:
    if parts[0] is None:
        return None
    return Part.joined(parts) if isinstance(parts[0], Part) else add(parts)


@sliced(Spread.joined)
def look(
    x: Any,
    y: Any,
    weight: Any,
    *,
    setting: Setting,
    beta: Vector,
    width: float = 0.0,
    small: bool = False,
) -> Spread:
    """The loss at beta and the spread of the distances.

    With a width, also what will be asked for it: the split if the band is small, else its sums.
    """
    rows = opened(x, y, weight, setting)
    view = rows.whole(setting).look(beta)
    away = np.ascontiguousarray(view.away)
    keys = (away.view(np.uint64) >> BIN_SHIFT).astype(np.intp)
    first = int(keys.min(initial=2**20))
    counted = np.bincount(keys - first)
    bins = np.flatnonzero(counted)
    ahead: Any = None
    if width > 0:
        ahead = _split(rows, view, width) if small else _smoothed(view, width)
    bins, counts = (bins + first).astype(np.uint64), counted[bins]
    return Spread(view.loss, float(away.sum()), bins, counts, ahead)


@sliced(add)
def smoothed(
    x: Any, y: Any, weight: Any, *, setting: Setting, beta: Vector, width: float
) -> tuple[Vector, Matrix]:
    """The block's part of the smoothed gradient and of the Hessian, from all rows of the band."""
    return _smoothed(opened(x, y, weight, setting).whole(setting).look(beta), width)


@sliced(add)
def along(
    x: Any, y: Any, weight: Any, *, setting: Setting, ends: list[Vector], lengths: Vector
) -> tuple[Vector]:
    """The block's part of the loss at points between two others."""
    whole = opened(x, y, weight, setting).whole(setting)
    return (whole.look(ends[0]).along(whole.look(ends[1]), lengths),)


def _smoothed(view: ViewAtOnce, width: float) -> tuple[Vector, Matrix]:
    everything = len(view.distance)
    return view.smoothed(width, everything, np.random.default_rng(0))


@dataclass(frozen=True)
class Part:
    """The loss at a point, rows that are wanted, and a change of the sum beyond the band."""

    loss: float
    summed: Vector
    summed_cost: float
    taken: Taken

    @classmethod
    def joined(cls, parts: list[Part]) -> Part:
        return cls(
            sum(part.loss for part in parts),
            np.sum([part.summed for part in parts], axis=0),
            sum(part.summed_cost for part in parts),
            Taken.joined([part.taken for part in parts]),
        )


@sliced(Part.joined)
def split(x: Any, y: Any, weight: Any, *, setting: Setting, beta: Vector, width: float) -> Part:
    """The rows of the band, and the sum of those outside."""
    rows = opened(x, y, weight, setting)
    return _split(rows, rows.whole(setting).look(beta), width)


def _split(rows: Opened, view: ViewAtOnce, width: float) -> Part:
    band, outside = view.sides(width)
    return _part(rows, view, band, outside, 1.0)


@sliced(Part.joined)
def check(
    x: Any, y: Any, weight: Any, *, setting: Setting, points: list[Vector], width: float
) -> Part:
    """The rows found on the wrong side from the last point, and their part of the sum outside."""
    rows = opened(x, y, weight, setting)
    whole = rows.whole(setting)
    view, _, outside, wrong = _sides(whole, points, width)
    return _part(rows, view, wrong, wrong & outside, -1.0)


@sliced(chained)
def multipliers(
    x: Any, y: Any, weight: Any, *, setting: Setting, points: list[Vector], width: float
) -> list[tuple[Vector, np.ndarray[Any, Any]]]:
    """The costs of rows outside the band, else zero; and at which point a row joined the band."""
    whole = opened(x, y, weight, setting).whole(setting)
    joined = np.full(whole.rows.shape[0], -1, dtype=np.int16)
    for last in range(1, len(points) + 1):
        _, band, outside, wrong = _sides(whole, points[:last], width)
        joined[(band if last == 1 else wrong) & (joined < 0)] = last - 1
    return [(whole.place.where(outside & ~wrong, whole.cost), joined)]


def _sides(
    whole: RowsAtOnce, points: list[Vector], width: float
) -> tuple[ViewAtOnce, Any, Any, Any]:
    """The last view, the band and the outside before it, and the rows it finds misplaced."""
    view = whole.look(points[0])
    band, outside = view.sides(width)
    wrong = np.zeros_like(band)
    for beta in points[1:]:
        band, outside = band | wrong, outside & ~wrong
        view = whole.look(beta)
        wrong = ~band & ((view.distance < 0) != outside)
    return view, band, outside, wrong


def _part(rows: Opened, view: ViewAtOnce, wanted: Any, counted: Any, sign: float) -> Part:
    alpha = view.whole.place.where(counted, view.whole.cost)
    summed = sign * view.whole.rows.gather(alpha)
    taken = Taken.of(rows, np.flatnonzero(wanted))
    return Part(view.loss, summed, sign * float(alpha.sum()), taken)


def sample(x: Any, y: Any, weight: Any, points: Vector, *, setting: Setting) -> Taken:
    """Rows at these places: row numbers where all cost the same, else cumulative costs."""
    rows = opened(x, y, weight, setting)
    if not len(points):
        return Taken.of(rows, slice(0, 0))
    if setting.cost is not None:
        index, count = np.unique(points, return_counts=True)
    else:
        chosen = drawn(np.cumsum(rows.costs), points)
        index, count = np.unique(chosen, return_counts=True)
    return Taken(rows.rows(index), rows.sign[index], count.astype(np.float64))


def draw(x: Any, y: Any, weight: Any, places: Any, *, setting: Setting) -> Taken:
    """Rows with these numbers, and their costs; a row drawn again costs again."""
    rows = opened(x, y, weight, setting)
    index, count = np.unique(places, return_counts=True)
    return Taken(rows.rows(index), rows.sign[index], np.asarray(rows.costs[index]) * count)


@sliced(Pulls.joined_each)
def pulls(
    x: Any, y: Any, weight: Any, *, setting: Setting, points: Sequence[PullPoint]
) -> list[Pulls]:
    """The block's part of what all rows pull at each point."""
    rows = opened(x, y, weight, setting)
    signed = SignedRows(rows.source(), rows.sign, setting.center)
    cost = np.asarray(rows.costs)
    return [pulls_of(signed, cost, at) for at in points]


def collect(x: Any, y: Any, weight: Any, *, setting: Setting) -> Taken:
    """All rows that take part."""
    return Taken.of(opened(x, y, weight, setting), slice(None))


@sliced(add)
def squares(x: Any, y: Any, weight: Any, *, setting: Setting) -> Vector:
    """sum_i (x_i - l)^2, by column."""
    centered = opened(x, y, weight, setting).source().array() - setting.center
    total: Vector = np.einsum("ij,ij->j", centered, centered)
    return total


def extent(x: Any, y: Any, weight: Any, *, setting: Setting, index: Index) -> list[Matrix]:
    """The least and the largest value of some columns, if any row takes part."""
    rows = opened(x, y, weight, setting)
    if not len(rows.sign):
        return []
    columns = rows.source().columns(index, np.ones(len(rows.sign)), np.zeros(len(setting.center)))
    return [np.stack([columns.dense().min(axis=0), columns.dense().max(axis=0)])]


@sliced(chained)
def project(x: Any, y: Any, weight: Any, *, setting: Setting, v: Vector) -> list[Vector]:
    """x_i.v for all rows that take part."""
    return [opened(x, y, weight, setting).source().project(v)]


def combine(x: Any, y: Any, weight: Any, w: Vector, *, setting: Setting) -> Vector:
    """sum_i w_i x_i."""
    return opened(x, y, weight, setting).source().combine(w)


def gram(x: Any, y: Any, weight: Any, w: Vector, *, setting: Setting) -> Matrix:
    """sum_i w_i x_i x_i'."""
    return opened(x, y, weight, setting).source().gram(w)


@sliced(chained)
def labels_and_weights(
    x: Any, y: Any, weight: Any, *, setting: Setting
) -> list[tuple[Vector, Vector]]:
    """The signs and costs of all rows that take part."""
    rows = opened(x, y, weight, setting)
    return [(rows.sign, np.asarray(rows.costs))]
