"""A Dask table seen through a map: what the map is made of, and the mapped rows.

Landmarks are the different rows with the smallest keys (see ``keys``), so each block offers its
own smallest and the smallest of these are those of the whole: the same rows as in memory, however
the data is cut.  The mapped rows are never stored: a read maps a slice, uses it and forgets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Index, Vector
from lincent.sources.class_sample import ClassSample, Spread
from lincent.sources.dask.block import apart, open_rows, sliced, stacked, tidy
from lincent.sources.dask.table import AnySchedule, DaskTable
from lincent.sources.landmarks import Mapped, RowMapping
from lincent.sources.row_hash import row_keys

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
    keys = row_keys(X, seed)[allowed]
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
    keys = row_keys(X, seed)
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
