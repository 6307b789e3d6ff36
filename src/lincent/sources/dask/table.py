"""Rows in the blocks of a Dask array or dataframe, on threads or on a cluster.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent.problems.arrays import Index, Matrix, Rows, Vector, root_mean
from lincent.sources.band import one_cost
from lincent.sources.batches import BatchSchedule
from lincent.sources.dask import block_work, survey
from lincent.sources.dask.band import BlocksAtOnce
from lincent.sources.dask.block import OwnColumn, Partition, Setting, Sides, Taken, add, chained
from lincent.sources.dask.run import Schedule
from lincent.sources.dask.survey import Survey
from lincent.sources.multipliers import Deferred
from lincent.sources.protocol import Sample, Source
from lincent.sources.pulls import PullPoint, Pulls
from lincent.sources.source import Kind, kind_of
from lincent.sources.together import Tell

COLLECT_BYTES = 2**30
"""Rows up to this size are brought to the client where a solver needs them whole."""


AnySchedule = Schedule | BatchSchedule


class DaskTable:
    """X, y and weights in blocks, surveyed."""

    def __init__(self, schedule: AnySchedule, n: int) -> None:
        self.schedule = schedule
        self.n = n
        self.survey: Survey = schedule.run("survey", survey.survey, merge=Survey.joined, n=n)

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


class DaskSource(Source):
    """The rows of one two-class problem in blocks; signs and weights stay with them."""

    far = True

    def __init__(self, table: DaskTable, sides: Sides) -> None:
        self.table, self.sides = table, sides
        self.part = sides.side != 0
        self.lengths = table.survey.counts[:, self.part].sum(axis=1)
        self.shape = (int(self.lengths.sum()), table.n)
        origin = table.survey.origin
        self.origin = origin if origin.any() else None

    @property
    def sign(self) -> Deferred:
        return Deferred((self.shape[0],), lambda: self._per_row(1.0)[0])

    @property
    def weight(self) -> Deferred:
        return Deferred((self.shape[0],), lambda: self._per_row(None)[1])

    @property
    def costs(self) -> Any:
        """The costs: one number repeated where all are the same, else left with the rows."""
        survey, factors = self.table.survey, self.sides.factor[self.part]
        least, most = survey.least * factors.min(), survey.most * factors.max()
        if least == most:
            return np.broadcast_to(most, self.shape[0])
        per_block = survey.totals[:, self.part] @ factors
        return DaskCosts(self, 1.0, per_block, least, most)

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        """The weighted means of the two sides, negative first: known from the survey."""
        survey = self.table.survey
        totals, centers = self.table.totals, []
        for side in (-1, 1):
            these = self.sides.side == side
            centers.append(survey.sums[these].sum(axis=0) / totals[these].sum())
        return np.array(centers)

    def project(self, v: Vector) -> Vector:
        parts = self.run("project", block_work.project, merge=chained, v=v)
        return np.concatenate(parts)

    def combine(self, w: Vector) -> Vector:
        return np.asarray(self.run("combine", block_work.combine, each=self._cut(w), merge=add))

    def gram(self, w: Vector) -> Matrix:
        return np.asarray(self.run("gram", block_work.gram, each=self._cut(w), merge=add))

    def take(self, index: Index, sign: Any, center: Vector) -> Rows:
        """The rows in the order of the index, which may repeat; the blocks know their signs."""
        if len(index) == self.shape[0] and np.array_equal(index, np.arange(len(index))):
            return self._everything().signed(center)
        bounds = np.concatenate([[0], np.cumsum(self.lengths)])
        order = np.argsort(index, kind="stable")
        cuts = np.searchsorted(index[order], bounds)
        each = [
            (index[order[low:high]] - begin,)
            for low, high, begin in zip(cuts, cuts[1:], bounds, strict=False)
        ]
        taken: Taken = self.run(
            "take", block_work.sample, setting=self.setting(1.0), each=each, merge=Taken.joined
        )
        return taken.signed(center).take(np.searchsorted(np.unique(index), index))

    def columns(self, index: Index, sign: Any, center: Vector) -> Rows:
        return self._everything().signed(center).columns(index)

    def array(self) -> Matrix:
        taken = self._everything()
        return np.asarray(taken.signed(np.zeros(self.shape[1])).dense() * taken.sign[:, None])

    def _everything(self) -> Taken:
        m, n = self.shape
        if m * n * 8 > COLLECT_BYTES:
            raise MemoryError(
                f"This solver needs all {m} x {n} rows in this process "
                f"({m * n * 8 / 2**30:.1f} GiB as float64): "
                'use solver="auto", which reads them in place.'
            )
        setting = self.setting(1.0)
        taken: Taken = self.run("collect", block_work.collect, setting=setting, merge=Taken.joined)
        return taken

    def column_scale(self, center: Vector) -> Vector:
        setting = replace(self.setting(1.0), center=center)
        total = self.run("scale", block_work.squares, setting=setting, merge=add)
        return root_mean(np.asarray(total), self.shape[0])

    def unchanging(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
        ends = np.array(self.run("extent", block_work.extent, merge=chained, index=index))
        return np.asarray(ends[:, 0].min(axis=0) == ends[:, 1].max(axis=0))

    def all_rows(self, rows: Any, costs: Any, margin: float) -> BlocksAtOnce:
        setting = replace(self._costing(costs), center=rows.center, margin=margin)
        if isinstance(costs, DaskCosts):
            per_block = costs.scale * costs.per_block
        else:
            per_block = setting.cost * self.lengths
        return BlocksAtOnce(self.run, self.lengths, setting, per_block)

    def pulls(self, rows: Any, costs: Any, points: Sequence[PullPoint]) -> list[Pulls]:
        setting = replace(self._costing(costs), center=rows.center)
        pulls: list[Pulls] = self.run(
            "pulls", block_work.pulls, setting=setting, merge=Pulls.joined_each, points=points
        )
        return pulls

    def draw(self, rows: Any, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        m = self.shape[0]
        places = np.arange(m) if k >= m else np.sort(rng.integers(0, m, k))
        begin = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        cuts = np.searchsorted(places, begin[1:])
        each = [(part - low,) for part, low in zip(np.split(places, cuts), begin, strict=True)]
        setting = self._costing(costs)
        taken: Taken = self.run(
            "draw", block_work.draw, setting=setting, each=each, merge=Taken.joined
        )
        sign = taken.sign.astype(np.float64)
        return taken.signed(rows.center), sign, taken.costs * (m / len(places))

    def cost_means(self, rows: Any, costs: Any) -> tuple[tuple[float, float], Matrix]:
        """Known from the survey."""
        survey, side = self.table.survey, self.sides.side
        if isinstance(costs, DaskCosts):
            price = costs.sides.factor
        else:  # all rows cost the same, so all of them weigh the same
            price = np.full(len(side), float(np.max(costs)) / survey.most)
        amounts, means = [], []
        for one in (-1, 1):
            share = np.where(side == one, price, 0.0)
            amounts.append(float(share @ self.table.totals))
            means.append(one * (share @ survey.sums / amounts[-1] - rows.center))
        return (amounts[0], amounts[1]), np.array(means)

    def priced(self, low: float, high: float) -> DaskSource:
        """The same rows, a unit of weight costing this much on each side."""
        factor = np.where(self.sides.side > 0, high, low)
        return DaskSource(self.table, replace(self.sides, factor=factor))

    def _costing(self, costs: Any) -> Setting:
        """The setting in which rows have these costs."""
        if isinstance(costs, DaskCosts):
            return self.setting(None, costs.sides)
        shared = one_cost(costs)
        if shared is None:
            raise TypeError("Costs of rows in blocks are one number or stay with the rows.")
        return self.setting(shared)

    def setting(self, cost: float | None = None, sides: Sides | None = None) -> Setting:
        """What a block needs to know to open its rows."""
        sides = self.sides if sides is None else sides
        return Setting(sides, np.zeros(self.shape[1]), 0.0, cost, self.origin)

    def run(self, verb: str, function: Any, *, setting: Setting | None = None, **how: Any) -> Any:
        setting = self.setting() if setting is None else setting
        return self.table.schedule.run(verb, function, setting=setting, **how)

    def _cut(self, w: Vector) -> list[tuple[Vector]]:
        """The part of a vector that belongs to each block."""
        return [(part,) for part in np.split(w, np.cumsum(self.lengths)[:-1])]

    def _per_row(self, cost: float | None) -> tuple[Vector, Vector]:
        """Signs and costs (weights, where every class has the factor 1) of all rows."""
        plain = replace(self.sides, factor=np.ones_like(self.sides.factor))
        pairs = self.run(
            "labels",
            block_work.labels_and_weights,
            setting=self.setting(cost, plain),
            merge=chained,
        )
        signs, weights = zip(*pairs, strict=True)
        return np.concatenate(signs).astype(np.float64), np.concatenate(weights)


@dataclass(frozen=True)
class DaskCosts:
    """One cost per row, left with the rows: scale times factor of the class times weight."""

    source: DaskSource
    scale: float
    per_block: Vector
    least: float
    most: float

    @property
    def shape(self) -> tuple[int]:
        return (self.source.shape[0],)

    def scaled(self, scale: float) -> Any:
        if np.isinf(scale):  # rows without weight are left out, so every cost is infinite
            return np.broadcast_to(np.inf, self.shape)
        return replace(self, scale=self.scale * scale)

    def __truediv__(self, unit: float) -> Any:
        return self.scaled(1.0 / unit)

    def min(self) -> float:
        return self.scale * self.least

    def max(self, initial: float = 0.0) -> float:
        return max(self.scale * self.most, initial)

    def sum(self) -> float:
        return self.scale * float(self.per_block.sum())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        setting = self.source.setting(None, self.sides)
        pairs = self.source.run(
            "labels", block_work.labels_and_weights, setting=setting, merge=chained
        )
        return np.concatenate([costs for _, costs in pairs]).astype(dtype or np.float64)

    @property
    def sides(self) -> Sides:
        sides = self.source.sides
        return replace(sides, factor=sides.factor * self.scale)


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
        sizes = lengths.run("length", survey.length, merge=chained)
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
