"""One block of a data set in blocks: opened, sliced, and the functions that a pass runs on it.

A block is worked on in slices that stay in the processor's cache: no vector as long as the block
is ever made, which also saves the memory of a worker.

A row's signed form needs its class's side (-1, +1, or 0 for a class that takes no part) and a cost
per unit of weight.  Rows without part or weight are left out on opening.

The functions get the rows of a block as an ``OpenBlock`` and return something short.  They run
wherever Dask runs them and keep no state: the side of a split on which a row is follows again from
the points at which it was decided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.sources.dense import DenseSource
from lincent.sources.evaluation import TIED, InMemoryRows, RowEvaluation, drawn
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, joint_sums
from lincent.sources.landmarks import MappedRows
from lincent.sources.rows import ColumnStatistics, SignedRows, Source
from lincent.sources.shared_reads import ENCODE, BlockError, TreeReducer, merge_results
from lincent.sources.source import Kind, in_memory, kind_of
from lincent.sources.sparse import SparseSource

SLICE_ROWS = 8192
BIN_SHIFT = np.uint64(46)
"""Of a float's 64 bits, those above make its bin: sign, exponent and 6 bits, so bins 1.6 % wide."""

T = TypeVar("T")


@dataclass(frozen=True)
class Partition:
    """A partition of a data frame, and the columns of the frame.

    Dask does not check the columns of a partition: one with the same columns in another order would
    be read wrongly, and no certificate could show it.
    """

    frame: Any
    names: tuple[Any, ...]
    own: tuple[str, ...] = ()
    """The columns with the labels and the weights, where they are in the same frame."""

    def in_order(self) -> Any:
        """Return the partition with its columns in the order of the frame."""
        columns = list(self.frame.columns)
        if columns == list(self.names):
            return self.frame
        if len(set(columns)) < len(columns) or set(columns) != set(self.names):
            raise BlockError(
                f"X has the columns {columns} here, where {list(self.names)} are expected: give "
                "all partitions the same columns."
            )
        return self.frame[list(self.names)]


def apart(x: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return rows, labels and weights of a block, also where they come in one data frame.

    Mapped rows stay unmapped until some of them are indexed; the weights of a fold are made here.
    """
    if isinstance(x, MappedRows):
        rows, y, weight = apart(x.X, y, weight)
        return MappedRows(tidy(rows, x.mapping.columns), x.mapping), y, weight
    if hasattr(weight, "among"):  # folds.FoldWeights
        x, y, given = apart(x, y, weight.weight)
        return x, y, weight.among(x, y, given)
    if isinstance(x, Partition):
        frame, own = x.in_order(), list(x.own)
        if not own:
            return frame, y, weight
        return frame.drop(columns=own), frame[own[0]], frame[own[1]] if len(own) > 1 else None
    return x, y, weight


@dataclass(frozen=True)
class Setting:
    """The terms of a problem that a block needs: how labels become signs, weights become costs."""

    classes: np.ndarray[Any, Any]
    side: np.ndarray[Any, Any]
    factor: Vector
    center: Vector
    margin: float = 0.0
    cost: float | None = None
    """The cost of every row, where it is the same for all."""
    origin: Vector | None = None
    """Subtracted from every row."""
    ruler: Matrix | None = None
    """The matrix of the sizes of rows (see ``evaluation``)."""


@dataclass(frozen=True)
class Taken:
    """Some rows as they are in the data, with their signs and costs."""

    rows: Any
    sign: np.ndarray[Any, Any]
    costs: Vector

    @classmethod
    def joined(cls, parts: list[Taken]) -> Taken:
        """Join the rows of several blocks."""
        filled = [part for part in parts if len(part.sign)] or parts[:1]
        return cls(
            stacked([part.rows for part in filled]),
            np.concatenate([part.sign for part in filled]),
            np.concatenate([part.costs for part in filled]),
        )

    def signed(self, center: Vector) -> Rows:
        """Return the signed rows around a center."""
        sign = self.sign.astype(np.float64)
        return open_rows(self.rows).take(np.arange(len(sign)), sign, center)


@dataclass(frozen=True)
class OpenBlock:
    """The rows of a block that take part, with signs and costs."""

    X: Any
    sign: np.ndarray[Any, Any]
    costs: Vector
    setting: Setting

    def source(self) -> Source:
        """Return the rows as a source."""
        return open_rows(self.X, self.setting.origin)

    def taken(self, index: Any, costs: Any = None) -> Taken:
        """Return some rows less the origin, with their signs and costs."""
        rows, origin = self.X[index], self.setting.origin
        costs = np.asarray(self.costs[index]) if costs is None else costs
        return Taken(rows if origin is None else rows - origin, self.sign[index], costs)

    def whole(self) -> InMemoryRows:
        """Return the signed rows for evaluation."""
        signed = SignedRows(self.source(), self.sign, self.setting.center)
        return InMemoryRows(signed, self.costs, self.setting.margin).sized(self.setting.ruler)


def open_rows(X: Any, origin: Vector | None = None) -> Source:
    """Return the rows of a block as a source."""
    if isinstance(X, MappedRows):
        return X.source()
    return SparseSource(X) if kind_of(X) is Kind.SPARSE else DenseSource(X, origin)


def stacked(blocks: list[Any]) -> Any:
    """Return rows of several blocks as one array or sparse matrix."""
    if kind_of(blocks[0]) is Kind.SPARSE:
        return sp.vstack(blocks, "csr")
    return np.concatenate(blocks)


def tidy(x: Any, n: int) -> Any:
    """Return the rows of a block as a numeric array or sparse matrix, or raise an error."""
    if isinstance(x, MappedRows):
        return x
    if kind_of(x) is Kind.SPARSE:
        x = sp.csr_array(x)
    else:
        x = np.asarray(in_memory(x))  # masked entries are missing
        if x.dtype.kind == "c":
            raise BlockError("X has complex numbers; give real ones.")
        try:
            x = x if x.dtype in (np.float64, np.float32) else x.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise BlockError(f"{_first_text(x)}; {ENCODE}.") from error
    if x.ndim != 2 or x.shape[1] != n:
        raise BlockError(f"X has shape {x.shape}, where {n} columns are expected.")
    return x


def _first_text(x: Any) -> str:
    """Describe the first value that is not a number."""
    for j in range(x.shape[1] if x.ndim == 2 else 0):
        for value in x[:, j]:
            try:
                float(value)
            except (TypeError, ValueError):
                return f"X has {value!r} in column {j} (counted from 0)"
    return "X has values that are not numbers"


def class_codes(classes: NDArray[Any], labels: Any) -> NDArray[np.intp]:
    """Return the index of each label among the classes, all of which are known."""
    labels = np.asarray(labels).reshape(-1)
    if len(classes) == 2:  # a comparison is several times faster than a search
        return np.asarray(labels == classes[1], dtype=np.intp)
    return np.asarray(np.searchsorted(classes, labels), dtype=np.intp)


def weights_of(weight: Any, m: int) -> Vector:
    """Return one weight per row; None: ones."""
    return np.ones(m) if weight is None else np.asarray(weight, dtype=np.float64).reshape(-1)


def opened(x: Any, y: Any, weight: Any, setting: Setting) -> OpenBlock:
    """Open a block for a problem."""
    block = labeled(x, y, weight, len(setting.center))
    X, weight, codes = block.X, block.weight, block.codes(setting.classes)
    sign = setting.side[codes]
    part = (sign != 0) & (weight > 0)
    if not part.all():
        X = X.only(part) if isinstance(X, MappedRows) else X[part]
        sign, codes, weight = sign[part], codes[part], weight[part]
    if setting.cost is not None:
        return OpenBlock(X, sign, np.broadcast_to(setting.cost, len(sign)), setting)
    return OpenBlock(X, sign, setting.factor[codes] * weight, setting)


@dataclass(frozen=True)
class LabeledBlock:
    """All rows of a block, with labels and weights."""

    X: Any
    labels: NDArray[Any]
    weight: Vector

    def codes(self, classes: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of each label among the classes."""
        return class_codes(classes, self.labels)


def labeled(x: Any, y: Any, weight: Any, n: int) -> LabeledBlock:
    """Open a block of n columns with all its rows."""
    x, y, weight = apart(x, y, weight)
    X = tidy(x, n)
    return LabeledBlock(X, np.asarray(y).reshape(-1), weights_of(weight, X.shape[0]))


def sliced(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of rows, labels and weights to run slice by slice, results merged."""

    @wraps(function)
    def in_slices(x: Any, y: Any, weight: Any, **shared: Any) -> Any:
        x, y, weight = apart(x, y, weight)
        rows = SLICE_ROWS
        if isinstance(x, MappedRows):
            rows = min(rows, max(256, 2**20 // x.shape[1]))  # eight megabytes of features
        else:
            x = sp.csr_array(x) if kind_of(x) is Kind.SPARSE else np.asarray(x)
        y, weight = np.asarray(y), None if weight is None else np.asarray(weight)
        results = TreeReducer(merge_results)
        for begin in range(0, max(x.shape[0], 1), rows):
            part = slice(begin, begin + rows)
            weights = None if weight is None else weight[part]
            results.put(function(_aligned(x[part]), y[part], weights, **shared))
        return results.answers[0] if len(results.answers) == 1 else merge_results(results.answers)

    return in_slices


def _aligned(rows: Any) -> Any:
    """Return a copy of an array that is not aligned.

    An array that came over a wire begins anywhere in the message, and BLAS does not take it:
    products are then up to thirty times slower.
    """
    is_array = isinstance(rows, np.ndarray)
    return rows.copy(order="K") if is_array and not rows.flags.aligned else rows


def on_table(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of a ``LabeledBlock`` to take rows, labels, weights and columns."""

    @wraps(function)
    def on_block(x: Any, y: Any, weight: Any, *each: Any, n: int, **how: Any) -> T:
        return function(labeled(x, y, weight, n), *each, **how)

    return on_block


def on_rows(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of an ``OpenBlock`` to take rows, labels, weights and setting."""

    @wraps(function)
    def on_block(x: Any, y: Any, weight: Any, *each: Any, setting: Setting, **how: Any) -> T:
        return function(opened(x, y, weight, setting), *each, **how)

    return on_block


def on_slices(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of an ``OpenBlock`` to run slice by slice."""
    return sliced(on_rows(function))


@dataclass(frozen=True)
class DistanceHistogram:
    """The loss at a point, and how the distances to the margin are distributed."""

    loss: float
    away: float
    bins: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    ahead: Any = None  # the result that is expected to be needed next

    @classmethod
    def joined(cls, parts: list[DistanceHistogram]) -> DistanceHistogram:
        """Add the histograms of several blocks."""
        bins, index = np.unique(np.concatenate([p.bins for p in parts]), return_inverse=True)
        counts = np.concatenate([p.counts for p in parts])
        counts = np.bincount(index, weights=counts).astype(np.int64)
        loss, away, ahead = merge_results([(p.loss, p.away, p.ahead) for p in parts])
        return cls(loss, away, bins, counts, ahead)

    def below(self, width: float) -> int:
        """Return about how many distances are below the width."""
        last = np.float64(width).view(np.uint64) >> BIN_SHIFT
        return int(self.counts[self.bins <= last].sum())

    def width(self, k: int, m: int) -> float:
        """Return the upper end of the bin of the k-th smallest of m distances."""
        passed = np.cumsum(self.counts)
        index = min(int(np.searchsorted(passed, k, side="right")), len(self.bins) - 1)
        end = (self.bins[index] + np.uint64(1)) << BIN_SHIFT
        return max(float(end.view(np.float64)), TIED * self.away / m)


@dataclass(frozen=True)
class SplitPart:
    """The loss at a point, some rows, and a change of the sum beyond the band."""

    loss: float
    summed: Vector
    summed_cost: float
    taken: Taken


@on_slices
def look(
    rows: OpenBlock, *, beta: Vector, width: float = 0.0, small: bool = False
) -> DistanceHistogram:
    """Return the loss at beta and the histogram of the distances.

    With a width, also the result that will be needed: the split if the band is small, else the
    smoothed sums.
    """
    view = rows.whole().look(beta)
    away = np.ascontiguousarray(view.away())
    bins = (away.view(np.uint64) >> BIN_SHIFT).astype(np.intp)
    first = int(bins.min(initial=2**20))
    counts = np.bincount(bins - first)
    used = np.flatnonzero(counts)
    ahead: Any = None
    if width > 0:
        part = _split_part(rows, view, *view.sides(width), 1.0) if small else None
        ahead = part or _smoothed(view, width)
    return DistanceHistogram(
        view.loss, float(away.sum()), (used + first).astype(np.uint64), counts[used], ahead
    )


def _smoothed(view: RowEvaluation, width: float) -> tuple[Vector, Matrix]:
    return view.smoothed(width, len(view.distance), np.random.default_rng(0))


@on_slices
def smoothed(rows: OpenBlock, *, beta: Vector, width: float) -> tuple[Vector, Matrix]:
    """Return the smoothed gradient and the Hessian, from all rows of the band."""
    return _smoothed(rows.whole().look(beta), width)


@on_slices
def along(rows: OpenBlock, *, ends: list[Vector], lengths: Vector) -> Vector:
    """Return the loss at points between two others."""
    whole = rows.whole()
    return whole.look(ends[0]).along(whole.look(ends[1]), lengths)


@on_slices
def split(rows: OpenBlock, *, points: list[Vector], width: float) -> SplitPart:
    """Return the rows of the band, and the sum of those outside.

    At further points: the rows on the wrong side at the last, and their part of the sum outside.
    """
    view, band, outside, wrong = _sides(rows.whole(), points, width)
    if len(points) == 1:
        return _split_part(rows, view, band, outside, 1.0)
    return _split_part(rows, view, wrong, wrong & outside, -1.0)


@on_slices
def multipliers(
    rows: OpenBlock, *, points: list[Vector], width: float
) -> list[tuple[Vector, np.ndarray[Any, Any]]]:
    """Return costs of rows outside the band, else zero, and the point where a row joined it."""
    whole = rows.whole()
    joined = np.full(whole.rows.shape[0], -1, dtype=np.int16)
    for last in range(1, len(points) + 1):
        _, band, outside, wrong = _sides(whole, points[:last], width)
        joined[(band if last == 1 else wrong) & (joined < 0)] = last - 1
    return [(whole.namespace.where(outside & ~wrong, whole.cost), joined)]


def _sides(
    whole: InMemoryRows, points: list[Vector], width: float
) -> tuple[RowEvaluation, Any, Any, Any]:
    """Return the last evaluation, band and outside before it, and its misplaced rows."""
    view = whole.look(points[0])
    band, outside = view.sides(width)
    wrong = np.zeros_like(band)
    for beta in points[1:]:
        band, outside = band | wrong, outside & ~wrong
        view = whole.look(beta)
        wrong = ~band & ((view.distance < 0) != outside)
    return view, band, outside, wrong


def _split_part(
    rows: OpenBlock, view: RowEvaluation, wanted: Any, counted: Any, sign: float
) -> SplitPart:
    alpha = view.whole.namespace.where(counted, view.whole.cost)
    summed = sign * view.whole.rows.local_tdot(alpha)
    taken = rows.taken(np.flatnonzero(wanted))
    return SplitPart(view.loss, summed, sign * float(alpha.sum()), taken)


@on_rows
def sample(rows: OpenBlock, points: Vector) -> Taken:
    """Return the rows at these points of the cumulative costs; the costs are how often each is."""
    numbers = drawn(np.cumsum(rows.costs), points) if len(points) else points.astype(np.intp)
    index, count = np.unique(numbers, return_counts=True)
    return rows.taken(index, count.astype(np.float64))


@on_rows
def collect(rows: OpenBlock) -> Taken:
    """Return all rows that take part."""
    return rows.taken(slice(None))


@on_slices
def signed_sums(
    rows: OpenBlock, *, losses: LossStructure, points: list[JointPoint]
) -> tuple[JointSums, ...]:
    """Return the sums of the regularized problem at each point."""
    X, codes, costs, center = rows.source().array(), rows.sign > 0, rows.costs, rows.setting.center
    return tuple(joint_sums(X, codes, costs, losses, at, center=center) for at in points)


@on_rows
def spread(rows: OpenBlock) -> ColumnStatistics:
    """Return the range of each column, and its squares around the center."""
    return rows.source().spread(np.broadcast_to(1.0, len(rows.sign)), rows.setting.center)


@on_slices
def project(rows: OpenBlock, *, v: Vector) -> list[Vector]:
    """Return x_i.v for all rows that take part."""
    return [rows.source().project(v)]


@on_rows
def combine(rows: OpenBlock, w: Vector) -> Vector:
    """Return sum_i w_i x_i."""
    return rows.source().combine(w)


@on_slices
def signs_and_costs(rows: OpenBlock) -> list[tuple[Vector, Vector]]:
    """Return the signs and costs of all rows that take part."""
    return [(rows.sign, np.asarray(rows.costs))]
