"""The first read of a data set in blocks: checks, labels, weights, and the sums by class.

What must be known before a program can be stated, in one read: the classes, the weight of each,
whether costs differ, and the weighted sums from which the centers follow.


---

Rows in the blocks of a Dask array or dataframe, on threads or on a cluster.

A read is one graph: every block is opened where Dask puts it, answers in a few numbers, and is
forgotten.  Nothing as long as the data comes to the client, and nothing that was read is kept on
the workers: what travels is the points (as wide as the data), the sample and the band.

    survey      classes, weights, sums by class, from which the centers follow
    sample      about 2 (m^2 n)^(1/3) rows, from which a point near the optimum follows
    look        the loss there, the spread of the rows around the kink and, for a width guessed
                from the sample, a Newton step; at its end again the loss, the rows of the band
                and the sum of those beyond
    check       after the exact solve: the loss at its solution, and misplaced rows

That is five reads, one more for each further Newton step or round, whatever the number of rows.


---

A Dask table seen through a map: what the map is made of, and the mapped rows.

Landmarks are the different rows with the smallest keys (see ``keys``), so each block offers its
own smallest and the smallest of these are those of the whole: the same rows as in memory, however
the data is cut.  The mapped rows are never stored: a read maps a slice, uses it and forgets it.


---

Several rules on a table in blocks: the sums of the joint program, and a sample by keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.sources.batches import BatchSchedule
from lincent.sources.dask.blocks import (
    OwnColumn,
    Partition,
    Sides,
    apart,
    chained,
    class_codes,
    open_rows,
    sliced,
    stacked,
    tidy,
)
from lincent.sources.dask.schedule import Schedule
from lincent.sources.dask.source import DaskSource
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, joint_sums
from lincent.sources.hashing import row_hashes
from lincent.sources.landmarks import Mapped, MappedRows, RowMapping
from lincent.sources.rows import ClassSample, Spread
from lincent.sources.shared_reads import BlockError, Tell
from lincent.sources.source import Kind, kind_of

CLASSES_AT_ONCE = 8


@dataclass(frozen=True)
class Survey:
    """Labels, weights and sums of one block, or of several."""

    lengths: list[int]
    classes: np.ndarray[Any, Any]
    present: np.ndarray[Any, Any]  # rows, blocks by classes
    first: np.ndarray[Any, Any]  # the number of the first row of each class
    counts: np.ndarray[Any, Any]  # rows of positive weight, blocks by classes
    totals: Matrix  # weight, blocks by classes
    origin: Vector  # what is taken off every row (see passes.dense)
    sums: Matrix  # weighted sums of the rows around it, classes by columns
    least: float  # least and largest positive weight
    most: float

    @classmethod
    def joined(cls, parts: list[Survey]) -> Survey:
        known = [part.classes for part in parts if len(part.classes)]
        classes = np.unique(np.concatenate(known)) if known else parts[0].classes
        lengths = [length for part in parts for length in part.lengths]
        present = np.zeros((len(lengths), len(classes)), dtype=np.int64)
        first = np.full(len(classes), sum(lengths), dtype=np.int64)
        counts = np.zeros_like(present)
        totals = np.zeros((len(lengths), len(classes)))
        origin = max(parts, key=lambda part: sum(part.lengths)).origin
        sums = np.zeros((len(classes), len(origin)))
        begin = passed = 0
        for part in parts:
            place = np.searchsorted(classes, part.classes)
            rows = slice(begin, begin + len(part.lengths))
            present[rows, place] = part.present
            first[place] = np.minimum(first[place], passed + part.first)
            counts[rows, place] = part.counts
            totals[rows, place] = part.totals
            # Two origins differ by about a spread: nothing is lost in going from one to the other.
            sums[place] += part.sums + np.outer(part.totals.sum(axis=0), part.origin - origin)
            begin, passed = rows.stop, passed + sum(part.lengths)
        least, most = min(part.least for part in parts), max(part.most for part in parts)
        return cls(lengths, classes, present, first, counts, totals, origin, sums, least, most)

    def as_one(self) -> Survey:
        """The same, as if of one block."""
        return replace(
            self,
            lengths=[sum(self.lengths)],
            present=self.present.sum(axis=0)[None],
            counts=self.counts.sum(axis=0)[None],
            totals=self.totals.sum(axis=0)[None],
        )


def survey(x: Any, y: Any, weight: Any, *, n: int) -> Survey:
    """Check a block and sum its rows by class."""
    x, y, weight = apart(x, y, weight)
    X = tidy(x, n)
    labels = np.asarray(y)
    if labels.ndim > 1 and labels.shape[1:] != (1,):
        raise BlockError(f"y has shape {labels.shape}; give one label per row.")
    labels = labels.reshape(-1)
    if len(labels) != X.shape[0]:
        raise BlockError(f"X has {X.shape[0]} rows, y has {len(labels)}.")
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is named below
        found: Survey = _survey(X, labels, _weights(weight, X.shape[0]))
    if labels.dtype.kind == "f" and not np.all(np.isfinite(found.classes)):
        raise BlockError("y has missing or infinite labels.")
    if not np.all(np.isfinite(found.sums)):
        if isinstance(X, MappedRows):
            raise BlockError("the kernel has values that are not finite; scale X, or use another.")
        _check_finite(X)
    return found


@sliced(lambda parts: Survey.joined(parts).as_one())
def _survey(X: Any, labels: Any, weights: Any) -> Survey:
    classes, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    k = len(classes)
    sums = np.zeros((k, X.shape[1]))
    origin = _origin(X)
    source = open_rows(X, origin)
    for begin in range(0, k, CLASSES_AT_ONCE):
        some = np.arange(begin, min(begin + CLASSES_AT_ONCE, k))
        sums[some] = source.combine(np.where(codes[:, None] == some, weights[:, None], 0.0)).T
    positive = weights > 0
    used = weights[positive]
    return Survey(
        lengths=[X.shape[0]],
        classes=classes,
        present=np.bincount(codes, minlength=k)[None],
        first=first,
        counts=np.bincount(codes[positive], minlength=k)[None],
        totals=np.bincount(codes, weights=weights, minlength=k).astype(np.float64)[None],
        origin=np.zeros(X.shape[1]) if origin is None else origin,
        sums=sums,
        least=float(used.min(initial=np.inf)),
        most=float(used.max(initial=0.0)),
    )


def _origin(X: Any) -> Vector | None:
    if isinstance(X, MappedRows) or kind_of(X) is Kind.SPARSE:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        return origin_of(X[some_rows(X.shape[0])])


def _weights(weight: Any, m: int) -> Vector:
    if weight is None:
        return np.broadcast_to(1.0, m)
    weights = np.asarray(weight, dtype=np.float64).reshape(-1)
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
    if sparse:
        row, column = values.row[bad[0][0]], values.col[bad[0][0]]
    else:
        row, column = bad[0]
    raise BlockError(
        f"X has NaN or an infinite value (row {row} of the partition, column {column}); fill or "
        "drop such rows first."
    )


def length(x: Any, y: Any, weight: Any) -> list[int]:
    """The number of rows of a block."""
    return [x.shape[0]]


"""Rows up to this size are brought to the client where a solver needs them whole."""


AnySchedule = Schedule | BatchSchedule


class DaskTable:
    """X, y and weights in blocks, surveyed."""

    def __init__(self, schedule: AnySchedule, n: int) -> None:
        self.schedule = schedule
        self.n = n
        self.survey: Survey = schedule.run("survey", survey, merge=Survey.joined, n=n)

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.survey.lengths), self.n

    def sent(self, value: Any) -> Any:
        """A value that goes with blocks: to each worker once."""
        if isinstance(self.schedule, BatchSchedule):
            return value
        from dask import delayed

        return delayed(value, pure=False, traverse=False)

    @property
    def totals(self) -> Vector:
        """The weight of each class."""
        return np.asarray(self.survey.totals.sum(axis=0))

    def problem(self, side: np.ndarray[Any, Any], factor: Vector) -> DaskSource:
        """The rows of the classes with a side, costing ``factor`` of their class per weight."""
        return DaskSource(self, Sides(self.survey.classes, side.astype(np.int8), factor))


# Opening what users have.


def open_table(X: Any, y: Any, weight: Any, n: int, tell: Tell) -> DaskTable:
    """The blocks of X with the matching pieces of y and weight (Dask or plain), surveyed."""
    joined = _one_frame(X, y, weight)
    if joined is not None:
        return DaskTable(Schedule(joined, tell), n)
    rows = row_blocks(X)
    sizes = _known_sizes(X)
    if sizes is None and any(v is not None and kind_of(v) is not Kind.DASK for v in (y, weight)):
        lengths = Schedule([(block, None, None) for block in rows], tell)
        sizes = lengths.run("length", length, merge=chained)
    if hasattr(X, "columns"):
        rows = [Partition(block, tuple(X.columns)) for block in rows]
    y_parts = pieces("y", y, len(rows), sizes)
    w_parts = pieces("sample_weight", weight, len(rows), sizes)
    return DaskTable(Schedule(list(zip(rows, y_parts, w_parts, strict=True)), tell), n)


def _one_frame(X: Any, y: Any, weight: Any) -> list[tuple[Any, Any, Any]] | None:
    """Partitions of one frame that holds X, y and weight, where all three are of one frame.

    Columns that come from the same files are then read once, and stay in the same partitions: on
    its own Dask may join partitions of a narrow column.
    """
    columns = [column for column in (y, weight) if column is not None]
    if not all(hasattr(part, "to_frame") for part in columns) or not hasattr(X, "assign"):
        return None
    names = [OwnColumn(f"lincent {k}") for k in range(len(columns))]
    try:
        frame = X.assign(**{name.label: part for name, part in zip(names, columns, strict=True)})
    except (ValueError, NotImplementedError):  # of different origin
        return None
    weights = names[1] if len(names) > 1 else None
    expected = tuple(frame.columns)
    return [(Partition(part, expected), names[0], weights) for part in frame.to_delayed()]


def row_blocks(X: Any) -> list[Any]:
    """The blocks of rows of a Dask array or dataframe, as delayed objects."""
    if hasattr(X, "rechunk") and X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(np.asarray(X.to_delayed(), dtype=object)))


def _known_sizes(X: Any) -> list[int] | None:
    """The rows of each block, where the collection knows them."""
    if not hasattr(X, "chunks") or np.isnan(X.chunks[0]).any():
        return None
    return [int(size) for size in X.chunks[0]]


def pieces(name: str, values: Any, count: int, sizes: Sequence[int] | None) -> list[Any]:
    """The part of y or of the weights that belongs to each block of X."""
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


SQUARE_ROWS = 8192


@dataclass(frozen=True)
class Drawn:
    """Different rows in the order of their keys, and their places in the data."""

    keys: NDArray[np.uint64]
    index: Index
    rows: Any

    @classmethod
    def joined(cls, parts: list[Drawn], count: int) -> Drawn:
        """The first of all; of equal rows the one that comes first in the data."""
        keys = np.concatenate([part.keys for part in parts])
        index = np.concatenate([part.index for part in parts])
        order = np.lexsort((index, keys))
        _, first = np.unique(keys[order], return_index=True)
        chosen = order[first[:count]]
        rows = stacked([part.rows for part in parts])
        return cls(keys[chosen], index[chosen], rows[chosen])


def draw_landmarks(table: DaskTable, count: int, seed: int) -> Drawn:
    """At most ``count`` different rows of positive weight: one read."""
    begin = np.concatenate([[0], np.cumsum(table.survey.lengths)[:-1]])
    drawn: Drawn = table.schedule.run(
        "landmarks",
        draw,
        each=[(int(place),) for place in begin],
        merge=partial(Drawn.joined, count=count),
        n=table.n,
        count=count,
        seed=seed,
    )
    return drawn


def draw(x: Any, y: Any, weight: Any, begin: int, *, n: int, count: int, seed: int) -> Drawn:
    """The different rows of a block with the smallest keys."""
    x, y, weight = apart(x, y, weight)
    X = tidy(x, n)
    everyone = np.ones(X.shape[0]) if weight is None else np.asarray(weight).reshape(-1)
    allowed = np.flatnonzero(everyone > 0)
    keys = row_hashes(X, seed)[allowed]
    _, first = np.unique(keys, return_index=True)
    first = first[:count]
    index = allowed[first]
    return Drawn(keys[first], begin + index, X[index])


def _joined(parts: list[ClassSample], count: int, most: Sequence[int]) -> ClassSample:
    """The first of each class over all parts; a key that is kept is complete in each part."""
    keys = [[part.keys[k] for part in parts] for k in range(len(most))]
    kinds = sum(len(np.unique(np.concatenate(every))) for every in keys)
    cut = kinds > count or any(part.cut for part in parts)
    merged = [
        _first_by_key(
            keys[k],
            [part.rows[k] for part in parts],
            [part.weights[k] for part in parts],
            most[k] if cut else count,
        )
        for k in range(len(most))
    ]
    return ClassSample.of(merged, Spread.joined([part.spread for part in parts]), cut)


def _first_by_key(keys: Any, rows: Any, weights: Any, count: int) -> tuple[Any, Any, Vector]:
    every = np.concatenate(keys)
    _, first, kind = np.unique(every, return_index=True, return_inverse=True)
    weight = np.bincount(kind.reshape(-1), weights=np.concatenate(weights), minlength=len(first))
    first = first[:count]
    return every[first], stacked(list(rows))[first], weight[:count].astype(np.float64)


def sample_classes(
    table: DaskTable, count: int, seed: int, most: Sequence[int] | None = None
) -> ClassSample:
    """At most ``count`` different rows of each class, and the total variance: one read.

    ``most``: of each class, where all have more than ``count`` together.  No more are held.
    """
    survey = table.survey
    mean = survey.sums.sum(axis=0) / table.totals.sum() + survey.origin
    most = [count] * len(survey.classes) if most is None else most
    sample: ClassSample = table.schedule.run(
        "sample", _class_sample, merge=partial(_joined, count=count, most=most),
        n=table.n, classes=survey.classes, count=count, seed=seed, mean=mean,
    )  # fmt: skip
    return sample


def _class_sample(
    x: Any, y: Any, weight: Any, *, n: int, classes: Any, count: int, seed: int, mean: Vector
) -> ClassSample:
    x, y, weight = apart(x, y, weight)
    X = tidy(x, n)
    labels = np.asarray(y).reshape(-1)
    given = np.ones(len(labels)) if weight is None else np.asarray(weight, float).reshape(-1)
    keys = row_hashes(X, seed)
    found = []
    for label in classes:
        rows = np.flatnonzero((labels == label) & (given > 0))
        found.append(_first_by_key([keys[rows]], [X[rows]], [given[rows]], count))
    return ClassSample.of(found, _spread(X, given, mean))


def _spread(X: Any, weight: Vector, mean: Vector) -> Spread:
    """Over the rows that count, a few at a time."""
    nothing = np.full(len(mean), np.inf)
    parts = [Spread(mean, np.zeros(len(mean)), nothing, -nothing)]
    for begin in range(0, len(weight), SQUARE_ROWS):
        part = slice(begin, begin + SQUARE_ROWS)
        counted = np.flatnonzero(weight[part] > 0)
        if not len(counted):
            continue
        rows = open_rows(X[begin + counted]).array()
        squares = np.einsum("i,ij,ij->j", weight[begin + counted], rows - mean, rows - mean)
        parts.append(Spread(mean, squares, rows.min(axis=0), rows.max(axis=0)))
    return Spread.joined(parts)


def variance(table: DaskTable) -> float:
    """The variance over all entries of X, rows counted by weight: one read."""
    total = float(table.totals.sum()) * table.n
    survey = table.survey
    mean = float(survey.sums.sum() + table.totals.sum() * survey.origin.sum()) / total
    parts: Vector = table.schedule.run("spread", spread, merge=np.sum, n=table.n, mean=mean)
    return float(parts) / total


@sliced(np.sum)
def spread(x: Any, y: Any, weight: Any, *, n: int, mean: float) -> Any:
    """sum_i w_i sum_j (x_ij - mean)^2."""
    rows = open_rows(tidy(x, n)).array()
    squares = np.einsum("ij,ij->i", rows - mean, rows - mean)
    return float(squares.sum() if weight is None else np.asarray(weight).reshape(-1) @ squares)


def mapped_table(table: DaskTable, mapping: RowMapping) -> DaskTable:
    """The rows through the map, surveyed: one read."""
    return DaskTable(mapped_blocks(table, mapping), mapping.width)


def mapped_blocks(table: DaskTable, mapping: RowMapping) -> AnySchedule:
    """The blocks through the map, which travels once to each worker."""
    there = table.sent(mapping)

    def mapped(x: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
        return Mapped(x, there), y, weight

    return table.schedule.altered(mapped)


def joint_sums_of_blocks(
    schedule: AnySchedule,
    n: int,
    classes: NDArray[Any],
    faces: LossStructure,
    points: list[JointPoint],
) -> list[JointSums]:
    """What all rows, of ``n`` features, pull at some points: one read."""
    found: list[JointSums] = schedule.run(
        "pulls", _pulls, merge=JointSums.joined_each,
        n=n, classes=classes, faces=faces, points=points,
    )  # fmt: skip
    return found


@sliced(JointSums.joined_each)
def _pulls(
    x: Any,
    y: Any,
    weight: Any,
    *,
    n: int,
    classes: NDArray[Any],
    faces: LossStructure,
    points: list[JointPoint],
) -> list[JointSums]:
    x, y, weight = apart(x, y, weight)
    X, codes = tidy(x, n), class_codes(classes, y)
    weights = np.ones(len(codes)) if weight is None else np.asarray(weight, float).reshape(-1)
    if not np.all(weights > 0):
        kept = np.flatnonzero(weights > 0)
        X, codes, weights = X[kept], codes[kept], weights[kept]
    rows = open_rows(X).array()
    return [joint_sums(rows, codes, weights, faces, point) for point in points]
