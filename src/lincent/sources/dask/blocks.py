"""One block of a data set that lies in blocks: opened, sliced, and rows taken from it.

A block is worked on in slices that stay in the processor's cache: no vector as long as the block
is ever made, which also spares the memory of a worker.

A row's signed form needs its class's side (-1, +1, or 0 for a class that takes no part) and a cost
per unit of weight.  Rows without part or weight are left out on opening.


---

What ``band`` asks of all rows, answered by one block.

Each function gets the rows x, labels y and weights (or None) of a block, opens them as rows in
memory, and returns something short.  They run wherever Dask runs them and keep no state:
which side of a split a row is on is found again from the points at which it was decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Matrix, Rows, Vector
from lincent.sources.dense import DenseSource
from lincent.sources.evaluation import TIED, Evaluation, InMemoryRows, drawn
from lincent.sources.gradients import LossSums, QueryPoint, loss_sums
from lincent.sources.landmarks import Mapped, MappedRows
from lincent.sources.rows import SignedRows, Source
from lincent.sources.shared_reads import ENCODE, BlockError, TreeReducer
from lincent.sources.source import Kind, kind_of
from lincent.sources.sparse import SparseSource

SLICE_ROWS = 8192
SLICE_ENTRIES = 2**20
"""Of the features of rows that are mapped, which are wider than the rows: eight megabytes."""
LEAST_ROWS = 256


Function = Callable[..., Any]


@dataclass(frozen=True)
class OwnColumn:
    """Labels or weights that are a column of the rows' own data frame."""

    label: str


@dataclass(frozen=True)
class Partition:
    """A partition of a data frame, and the columns that the frame says it has.

    Dask does not look at the columns of a partition: one with the same columns in another order
    would be read wrongly, and no certificate could tell.
    """

    frame: Any
    names: tuple[Any, ...]

    def in_order(self) -> Any:
        found = list(self.frame.columns)
        if found == list(self.names):
            return self.frame
        if len(set(found)) < len(found) or set(found) != set(self.names):
            raise BlockError(
                f"X has the columns {found} here, where {list(self.names)} are expected: give all "
                "partitions the same columns."
            )
        return self.frame[list(self.names)]


class Reweighed:
    """Weights that a block makes from its labels and those it was given."""

    weight: Any

    def among(self, x: Any, labels: Any, weight: Any) -> Vector:
        """The weights of the rows."""
        raise NotImplementedError


def apart(x: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Rows, labels and weights of a block, also where they come in one data frame.

    Rows seen through a map stay unmapped until some of them are asked for; the weights of a fold
    are made here.
    """
    if isinstance(x, Mapped):
        rows, y, weight = apart(x.rows, y, weight)
        return MappedRows(tidy(rows, x.mapping.columns), x.mapping), y, weight
    if isinstance(x, Partition):
        return apart(x.in_order(), y, weight)
    if isinstance(weight, Reweighed):
        made = weight
        x, y, weight = apart(x, y, made.weight)
        return x, y, made.among(x, y, weight)
    if not isinstance(y, OwnColumn):
        return x, y, weight
    extra = [part.label for part in (y, weight) if part is not None]
    weights = None if weight is None else x[weight.label]
    return x.drop(columns=extra), x[y.label], weights


@dataclass(frozen=True)
class Sides:
    """How labels become signs and weights become costs."""

    classes: np.ndarray[Any, Any]
    side: np.ndarray[Any, Any]
    factor: Vector


@dataclass(frozen=True)
class Setting:
    """Everything about a program that a block needs to know."""

    sides: Sides
    center: Vector
    margin: float
    cost: float | None
    """The cost of every row, where it is the same for all."""
    origin: Vector | None = None
    """What is taken off every row."""
    ruler: Matrix | None = None
    """What the sizes of rows are measured with (see ``band``)."""


@dataclass(frozen=True)
class Taken:
    """Some rows as they are in the data, with their signs and costs."""

    rows: Any
    sign: np.ndarray[Any, Any]
    costs: Vector

    @classmethod
    def of(cls, opened: Opened, index: Any) -> Taken:
        return cls(opened.rows(index), opened.sign[index], np.asarray(opened.costs[index]))

    @classmethod
    def joined(cls, parts: list[Taken]) -> Taken:
        filled = [part for part in parts if len(part.sign)] or parts[:1]
        blocks = [part.rows for part in filled]
        rows = stacked(blocks)
        sign = np.concatenate([part.sign for part in filled])
        return cls(rows, sign, np.concatenate([part.costs for part in filled]))

    def signed(self, center: Vector) -> Rows:
        sign = self.sign.astype(np.float64)
        return open_rows(self.rows).take(np.arange(len(sign)), sign, center)


@dataclass(frozen=True)
class Opened:
    """The rows of a block that take part."""

    X: Any
    sign: np.ndarray[Any, Any]
    costs: Vector
    origin: Vector | None

    def source(self) -> Source:
        return open_rows(self.X, self.origin)

    def rows(self, index: Any) -> Any:
        """Some rows, around the origin."""
        return self.X[index] if self.origin is None else self.X[index] - self.origin

    def whole(self, setting: Setting) -> InMemoryRows:
        rows = SignedRows(self.source(), self.sign, setting.center)
        return InMemoryRows(rows, self.costs, setting.margin).sized(setting.ruler)


def open_rows(X: Any, origin: Vector | None = None) -> Source:
    """The rows of a block as a source."""
    if isinstance(X, MappedRows):
        return X.source()
    return SparseSource(X) if kind_of(X) is Kind.SPARSE else DenseSource(X, origin)


def stacked(blocks: list[Any]) -> Any:
    """Rows of several blocks as one array or sparse matrix."""
    if kind_of(blocks[0]) is Kind.SPARSE:
        return sp.vstack(blocks, "csr")
    return np.concatenate(blocks)


def tidy(x: Any, n: int) -> Any:
    """The rows of a block as a numeric array or sparse matrix, or a sentence about why not."""
    if isinstance(x, MappedRows):
        return x
    if kind_of(x) is Kind.SPARSE:
        x = sp.csr_array(x)
    else:
        try:
            x = np.asarray(x)
            x = x if x.dtype in (np.float64, np.float32) else x.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise BlockError(f"{_no_number(x)}; {ENCODE}.") from error
    if x.ndim != 2 or x.shape[1] != n:
        raise BlockError(f"X has shape {x.shape}, where {n} columns are expected.")
    return x


def _no_number(x: Any) -> str:
    """The first column that has something else, and what."""
    for j in range(x.shape[1] if x.ndim == 2 else 0):
        for value in x[:, j]:
            try:
                float(value)
            except (TypeError, ValueError):
                return f"X has {value!r} in column {j} (counted from 0)"
    return "X has values that are not numbers"


def sliced(merge: Callable[[list[Any]], Any]) -> Callable[[Function], Function]:
    """The function done slice by slice, and the answers merged."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def in_slices(x: Any, y: Any, weight: Any, **shared: Any) -> Any:
            x, y, weight = apart(x, y, weight)
            if not isinstance(x, MappedRows):
                x = sp.csr_array(x) if kind_of(x) is Kind.SPARSE else np.asarray(x)
            y, weight = np.asarray(y), None if weight is None else np.asarray(weight)
            pile, aligned, rows = TreeReducer(merge), _Aligned(x), SLICE_ROWS
            if isinstance(x, MappedRows):
                rows = min(rows, max(LEAST_ROWS, SLICE_ENTRIES // x.shape[1]))
            for begin in range(0, max(x.shape[0], 1), rows):
                part = slice(begin, begin + rows)
                some = None if weight is None else weight[part]
                pile.put(function(aligned.rows(part), y[part], some, **shared))
            return pile.answers[0] if len(pile.answers) == 1 else merge(pile.answers)

        return in_slices

    return decorate


class _Aligned:
    """Rows whose numbers begin where numbers do.

    An array that came over a wire begins anywhere in the message, and BLAS does not take it:
    products are then up to thirty times slower.  Slices of such an array are copied, all to the
    same place, which stays in the cache: what a function returns must not be a view of its slice.
    """

    def __init__(self, x: Any) -> None:
        self.x = x
        self.place: Any = None
        if isinstance(x, np.ndarray) and _begins_anywhere(x):
            order: Any = "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
            self.place = np.empty((min(len(x), SLICE_ROWS), *x.shape[1:]), x.dtype, order)

    def rows(self, part: slice) -> Any:
        """A slice, until the next is asked for."""
        some = self.x[part]
        if self.place is None:
            return some
        place = self.place[: len(some)]
        place[...] = some
        return place


def _begins_anywhere(x: np.ndarray[Any, Any]) -> bool:
    return not x.flags.aligned


def add(parts: list[Any]) -> Any:
    """Sums, element by element of a tuple where the parts are tuples."""
    if isinstance(parts[0], tuple):
        return tuple(add(list(elements)) for elements in zip(*parts, strict=True))
    return np.sum(parts, axis=0)


def chained(parts: list[list[Any]]) -> list[Any]:
    """One list of all items."""
    return [item for part in parts for item in part]


def class_codes(classes: NDArray[Any], labels: Any) -> NDArray[np.intp]:
    """The place of each label among the classes, all of which are known."""
    labels = np.asarray(labels).reshape(-1)
    if len(classes) == 2:  # a comparison is several times faster than a search
        return np.asarray(labels == classes[1], dtype=np.intp)
    return np.asarray(np.searchsorted(classes, labels), dtype=np.intp)


def opened(x: Any, y: Any, weight: Any, setting: Setting) -> Opened:
    """The rows that take part, with signs and costs."""
    x, y, weight = apart(x, y, weight)
    sides = setting.sides
    X = tidy(x, len(setting.center))
    codes = class_codes(sides.classes, y)
    sign = sides.side[codes]
    part = sign != 0
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64).reshape(-1)
        part &= weight > 0
    if not part.all():
        X = X.only(part) if isinstance(X, MappedRows) else X[part]
        sign, codes = sign[part], codes[part]
        weight = None if weight is None else weight[part]
    if setting.cost is not None:
        return Opened(X, sign, np.broadcast_to(setting.cost, len(sign)), setting.origin)
    costs = sides.factor[codes]
    return Opened(X, sign, costs if weight is None else costs * weight, setting.origin)


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


def _smoothed(view: Evaluation, width: float) -> tuple[Vector, Matrix]:
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


def _split(rows: Opened, view: Evaluation, width: float) -> Part:
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
    return [(whole.namespace.where(outside & ~wrong, whole.cost), joined)]


def _sides(
    whole: InMemoryRows, points: list[Vector], width: float
) -> tuple[Evaluation, Any, Any, Any]:
    """The last view, the band and the outside before it, and the rows it finds misplaced."""
    view = whole.look(points[0])
    band, outside = view.sides(width)
    wrong = np.zeros_like(band)
    for beta in points[1:]:
        band, outside = band | wrong, outside & ~wrong
        view = whole.look(beta)
        wrong = ~band & ((view.distance < 0) != outside)
    return view, band, outside, wrong


def _part(rows: Opened, view: Evaluation, wanted: Any, counted: Any, sign: float) -> Part:
    alpha = view.whole.namespace.where(counted, view.whole.cost)
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


@sliced(LossSums.joined_each)
def pulls(
    x: Any, y: Any, weight: Any, *, setting: Setting, points: Sequence[QueryPoint]
) -> list[LossSums]:
    """The block's part of what all rows pull at each point."""
    rows = opened(x, y, weight, setting)
    signed = SignedRows(rows.source(), rows.sign, setting.center)
    cost = np.asarray(rows.costs)
    return [loss_sums(signed, cost, at) for at in points]


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
