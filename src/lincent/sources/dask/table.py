"""A table of X, y and weights in blocks: Dask arrays and frames, or batches.

``open_dask`` matches the partitions of what users give.  ``DaskTable`` surveys the blocks in one
pass: it checks them and returns what is needed before a problem can be stated, the classes, the
weight of each, whether costs differ, and the weighted sums from which the centers follow.  Its
methods are one pass each: landmarks, a sample of each class, feature maps, and the sums of the
multiclass problem.

Samples are the distinct rows with the smallest hashes (see ``hashing``): each block returns its own
smallest, and the smallest of these are those of all blocks, the same rows as in memory, whatever
the chunks.  Mapped rows are never stored: a pass maps a slice, uses it and frees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.sources.dask import blocks
from lincent.sources.dask.schedule import Schedule
from lincent.sources.dask.source import DaskSource
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.gradients import JointPoint, JointReader, JointSums, LossStructure, joint_sums
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.landmarks import MappedRows, RowMapping
from lincent.sources.rows import ClassSample, ColumnStatistics, Drawn
from lincent.sources.shared_reads import BaseSchedule, BlockError, Log, merge_results
from lincent.sources.source import Kind, kind_of

CLASSES_AT_ONCE = 8


@dataclass(frozen=True)
class Survey:
    """Labels, weights and sums of one block, or of several."""

    lengths: list[int]
    classes: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]  # rows of positive weight, blocks by classes
    totals: Matrix  # weight, blocks by classes
    origin: Vector  # subtracted from every row (see ``dense``)
    sums: Matrix  # weighted sums of the rows less the origin, classes by columns
    least: float  # least and largest positive weight
    most: float

    @classmethod
    def joined(cls, parts: list[Survey]) -> Survey:
        """Join the surveys of several blocks."""
        known = [part.classes for part in parts if len(part.classes)]
        classes = np.unique(np.concatenate(known)) if known else parts[0].classes
        lengths = merge_results([part.lengths for part in parts])
        shape = len(lengths), len(classes)
        counts, totals = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        origin = max(parts, key=lambda part: sum(part.lengths)).origin
        sums = np.zeros((len(classes), len(origin)))
        begin = 0
        for part in parts:
            index = np.searchsorted(classes, part.classes)
            rows = slice(begin, begin + len(part.lengths))
            counts[rows, index] = part.counts
            totals[rows, index] = part.totals
            # Two origins differ by about a range: no digits are lost from one to the other.
            sums[index] += part.sums + np.outer(part.totals.sum(axis=0), part.origin - origin)
            begin = rows.stop
        least, most = min(part.least for part in parts), max(part.most for part in parts)
        return cls(lengths, classes, counts, totals, origin, sums, least, most)

    def as_one(self) -> Survey:
        """Return the same as if of one block."""
        counts, totals = self.counts.sum(axis=0), self.totals.sum(axis=0)
        return replace(self, lengths=[sum(self.lengths)], counts=counts[None], totals=totals[None])


class DaskTable:
    """X, y and weights in blocks, surveyed."""

    def __init__(self, schedule: BaseSchedule, n: int) -> None:
        self.schedule, self.n = schedule, n
        self.survey = schedule.run("survey", survey, n=n)

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.survey.lengths), self.n

    @property
    def totals(self) -> Vector:
        """The weight of each class."""
        return np.asarray(self.survey.totals.sum(axis=0))

    @property
    def first_rows(self) -> list[tuple[int]]:
        """The number of the first row of each block."""
        return [(int(k),) for k in np.concatenate([[0], np.cumsum(self.survey.lengths)[:-1]])]

    def problem(self, side: np.ndarray[Any, Any], factor: Vector) -> DaskSource:
        """Return the rows of the classes with a side, with ``factor`` as cost per weight."""
        survey = self.survey
        origin = survey.origin if survey.origin.any() else None
        given = survey.classes, side.astype(np.int8), factor, np.zeros(self.n)
        return DaskSource(self, blocks.Setting(*given, origin=origin))

    def mapped(self, mapping: RowMapping) -> DaskTable:
        """Return the rows through the map, surveyed: one pass."""
        return DaskTable(self._mapped_blocks(mapping), mapping.width)

    def _mapped_blocks(self, mapping: RowMapping) -> BaseSchedule:
        sent = self.schedule.sent(mapping)
        return self.schedule.altered(lambda x, y, weight: (MappedRows(x, sent), y, weight))

    def joint_reader(self, mapping: RowMapping, losses: LossStructure) -> JointReader:
        """Return a reader of the sums of the multiclass problem over all mapped rows."""
        run = self._mapped_blocks(mapping).run
        terms: Any = {"n": mapping.width, "classes": self.survey.classes, "losses": losses}
        return lambda points: list(run("sums", _joint_sums, points=points, **terms))

    def draw_distinct(self, count: int, seed: int) -> Drawn:
        """Return at most ``count`` distinct rows of positive weight: one pass."""
        return self.schedule.run(
            "landmarks", _draw, each=self.first_rows, merge=partial(_first_drawn, count=count),
            n=self.n, count=count, seed=seed,
        )  # fmt: skip

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        """Return at most ``count`` distinct rows of each class, and column statistics: one pass.

        ``most``: of each class, where all have more than ``count`` together.  No more are held.
        """
        survey = self.survey
        mean = survey.sums.sum(axis=0) / self.totals.sum() + survey.origin
        most = [count] * len(survey.classes) if most is None else most
        return self.schedule.run(
            "sample", _class_sample, merge=partial(_joined_samples, count=count, most=most),
            n=self.n, classes=survey.classes, count=count, seed=seed, mean=mean,
        )  # fmt: skip


def survey(x: Any, y: Any, weight: Any, *, n: int) -> Survey:
    """Check a block and sum its rows by class."""
    x, y, weight = blocks.apart(x, y, weight)
    X = blocks.tidy(x, n)
    if np.ma.is_masked(y) or np.ma.is_masked(weight):
        raise BlockError("y or sample_weight has masked entries: leave these rows out.")
    labels = np.asarray(y)
    if labels.ndim > 1 and labels.shape[1:] != (1,):
        raise BlockError(f"y has shape {labels.shape}; give one label per row.")
    labels = labels.reshape(-1)
    if len(labels) != X.shape[0]:
        raise BlockError(f"X has {X.shape[0]} rows, y has {len(labels)}.")
    with np.errstate(invalid="ignore", over="ignore"):  # values that are not finite: see below
        weights = _checked_weights(weight, X.shape[0])
        result: Survey = _survey(X, labels, weights).as_one()
    if labels.dtype.kind == "f" and not np.all(np.isfinite(result.classes)):
        raise BlockError("y has missing or infinite labels.")
    if not np.all(np.isfinite(result.sums)):
        if isinstance(X, MappedRows):
            raise BlockError("the kernel has values that are not finite; scale X, or use another.")
        _check_finite(X)
    return result


@blocks.sliced
def _survey(X: Any, labels: Any, weights: Any) -> Survey:
    classes, codes = np.unique(labels, return_inverse=True)
    k = len(classes)
    sums, origin = np.zeros((k, X.shape[1])), None
    if not (isinstance(X, MappedRows) or kind_of(X) is Kind.SPARSE):
        origin = origin_of(X[some_rows(X.shape[0])])
    source = blocks.open_rows(X, origin)
    for begin in range(0, k, CLASSES_AT_ONCE):
        some = np.arange(begin, min(begin + CLASSES_AT_ONCE, k))
        sums[some] = source.combine(np.where(codes[:, None] == some, weights[:, None], 0.0)).T
    positive = weights > 0
    used = weights[positive]
    return Survey(
        lengths=[X.shape[0]],
        classes=classes,
        counts=np.bincount(codes[positive], minlength=k)[None],
        totals=np.bincount(codes, weights=weights, minlength=k).astype(np.float64)[None],
        origin=np.zeros(X.shape[1]) if origin is None else origin,
        sums=sums,
        least=float(used.min(initial=np.inf)),
        most=float(used.max(initial=0.0)),
    )


def _checked_weights(weight: Any, m: int) -> Vector:
    if weight is None:
        return np.broadcast_to(1.0, m)
    weights = blocks.weights_of(weight, m)
    if len(weights) != m:
        raise BlockError(f"X has {m} rows, sample_weight has {len(weights)}.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise BlockError(
            f"the sample weight of row {bad[0]} of the partition is {weights[bad[0]]}; give finite "
            "weights of at least 0."
        )
    return weights


def _check_finite(X: Any) -> None:
    sparse = kind_of(X) is Kind.SPARSE
    values = sp.coo_array(X) if sparse else X
    bad = np.argwhere(~np.isfinite(values.data if sparse else values))
    if not len(bad):
        return
    row, column = (values.row[bad[0][0]], values.col[bad[0][0]]) if sparse else bad[0]
    raise BlockError(
        f"X has NaN or an infinite value (row {row} of the partition, column {column}); fill or "
        "drop such rows first."
    )


# Opening the collections of users.


def open_dask(X: Any, y: Any, weight: Any, n: int, log: Log) -> DaskTable:
    """Survey the blocks of X with the matching pieces of y and weight (Dask or plain)."""
    joined = _one_frame(X, y, weight)
    if joined is not None:
        return DaskTable(Schedule(joined, log), n)
    rows = row_blocks(X)
    sizes = _known_sizes(X)
    if sizes is None and any(v is not None and kind_of(v) is not Kind.DASK for v in (y, weight)):
        lengths = Schedule([(block, None, None) for block in rows], log)
        sizes = lengths.run("length", length)
    if hasattr(X, "columns"):
        rows = [blocks.Partition(block, tuple(X.columns)) for block in rows]
    y_parts = pieces("y", y, len(rows), sizes)
    w_parts = pieces("sample_weight", weight, len(rows), sizes)
    return DaskTable(Schedule(list(zip(rows, y_parts, w_parts, strict=True)), log), n)


def length(x: Any, y: Any, weight: Any) -> list[int]:
    """Return the number of rows of a block."""
    return [x.shape[0]]


def _one_frame(X: Any, y: Any, weight: Any) -> list[tuple[Any, Any, Any]] | None:
    """Return partitions with X, y and weight, where all three are of one frame.

    Columns that come from the same files are then read once, and stay in the same partitions: on
    its own Dask may join partitions of a narrow column.
    """
    columns = [column for column in (y, weight) if column is not None]
    if not all(hasattr(part, "to_frame") for part in columns) or not hasattr(X, "assign"):
        return None
    own = {f"lincent {k}": column for k, column in enumerate(columns)}
    try:
        frame = X.assign(**own)
    except (ValueError, NotImplementedError):  # of different origin
        return None
    expected = tuple(frame.columns)
    return [
        (blocks.Partition(part, expected, tuple(own)), None, None) for part in frame.to_delayed()
    ]


def row_blocks(X: Any) -> list[Any]:
    """Return the blocks of rows of a Dask array or dataframe, as delayed objects."""
    if hasattr(X, "rechunk") and X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(np.asarray(X.to_delayed(), dtype=object)))


def _known_sizes(X: Any) -> list[int] | None:
    """Return the rows of each block, where the collection knows them."""
    if not hasattr(X, "chunks") or np.isnan(X.chunks[0]).any():
        return None
    return [int(size) for size in X.chunks[0]]


def pieces(name: str, values: Any, count: int, sizes: Sequence[int] | None) -> list[Any]:
    """Return the part of y or of the weights that belongs to each block of X."""
    if values is None:
        return [None] * count
    if kind_of(values) is Kind.DASK:
        known = _known_sizes(values)
        if sizes is not None and known is not None and list(sizes) != known:
            _check_length(name, sum(known), sum(sizes))
            values = values.rechunk({0: tuple(sizes)})
        parts = row_blocks(values)
        if len(parts) != count:
            raise ValueError(
                f"X has {count} partitions and {name} has {len(parts)}, of unknown lengths: give "
                "both the same partitions, or compute the chunk sizes first."
            )
        return parts
    if sizes is None:
        raise ValueError(
            f"The partitions of X have unknown lengths: give {name} as a Dask collection."
        )
    plain = np.asarray(values)
    _check_length(name, len(plain), sum(sizes))
    return np.split(plain, np.cumsum(sizes)[:-1])


def _check_length(name: str, length: int, rows: int) -> None:
    if length != rows:
        raise ValueError(f"X has {rows} rows and {name} has {length}: give one value per row.")


def _first_drawn(parts: list[Drawn], count: int) -> Drawn:
    """Return the first of all; of equal rows the one that comes first in the data."""
    keys = np.concatenate([part.keys for part in parts])  # parts are in the order of the data
    index = np.concatenate([part.index for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    rows = blocks.stacked([part.rows for part in parts])
    return _drawn(keys, rows, weights, index, count)


def _drawn(keys: Any, X: Any, weight: Vector, index: Index, count: int) -> Drawn:
    """Return the distinct rows of positive weight with the smallest hashes."""
    first, total = smallest_distinct(keys, weight, count)
    return Drawn(keys[first], index[first], X[first], total)


@blocks.on_table
def _draw(block: blocks.LabeledBlock, begin: int, *, count: int, seed: int) -> Drawn:
    hashes = row_hashes(block.X, seed)
    return _drawn(hashes, block.X, block.weight, begin + np.arange(len(hashes)), count)


@blocks.on_table
def _class_sample(
    block: blocks.LabeledBlock, *, classes: Any, count: int, seed: int, mean: Vector
) -> ClassSample:
    X, weight, hashes = block.X, block.weight, row_hashes(block.X, seed)
    of_classes = [np.where(block.labels == label, weight, 0.0) for label in classes]
    index = np.arange(len(hashes))
    samples = [_drawn(hashes, X, own, index, count) for own in of_classes]
    return ClassSample(samples, blocks.open_rows(X).spread(weight, mean))


def _joined_samples(parts: list[ClassSample], count: int, most: Sequence[int]) -> ClassSample:
    """Return the first of each class over all parts; a hash that is kept is complete in each."""
    classes = [list(same) for same in zip(*(part.classes for part in parts), strict=True)]
    distinct = sum(len(np.unique(np.concatenate([p.keys for p in same]))) for same in classes)
    cut = distinct > count or any(part.cut for part in parts)
    few = most if cut else [count] * len(classes)
    merged = [_first_drawn(same, k) for same, k in zip(classes, few, strict=True)]
    return ClassSample(merged, ColumnStatistics.joined([part.spread for part in parts]), cut)


@blocks.sliced
@blocks.on_table
def _joint_sums(
    block: blocks.LabeledBlock, *, classes: Any, losses: LossStructure, points: list[JointPoint]
) -> tuple[JointSums, ...]:
    X, codes, weight = block.X, block.codes(classes), block.weight
    if not np.all(weight > 0):
        kept = np.flatnonzero(weight > 0)
        X, codes, weight = X[kept], codes[kept], weight[kept]
    rows = blocks.open_rows(X).array()
    return tuple(joint_sums(rows, codes, weight, losses, point) for point in points)
