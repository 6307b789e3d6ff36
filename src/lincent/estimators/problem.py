"""The training data of a fit, wherever it lives, and the two-class problems in it.

``Training`` is X, labels and weights, checked.  Its kinds differ in where the rows are:

    in memory       scikit-learn's validation, NumPy vectors
    Dask            a survey in one read; labels and weights stay with the rows
    torch, CuPy     checked and labeled on the device

A ``Task`` is one two-class problem cut out of a many-class one: one-vs-rest has one per class, over
all rows; one-vs-one has one per pair, over the rows of that pair; with two classes both are the
same single task.  ``task`` gives a two-class problem: everything that ``_fit_task`` of an estimator
needs, whatever the kind.  ``fold`` gives the rows of a part, as training data of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from lincent import _threads
from lincent.estimators.validation import (
    ClassCosts,
    check_batch_columns,
    check_classes,
    check_dask_columns,
    check_device_labels,
    check_device_rows,
    check_targets,
    check_training_data,
    plain,
)
from lincent.features.clusters import CenterSet, centers_of_sample, find_local_centers
from lincent.features.similarity import entry_variance
from lincent.problems.arrays import Rows
from lincent.problems.centralization import Program, difference_of, lcc_program
from lincent.problems.rounding import CertificateData, SparseCertificateData
from lincent.solvers.solution import silent
from lincent.sources.array_namespace import HOST
from lincent.sources.batches import batches_of
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, SideCosts
from lincent.sources.hashing import draw_distinct, row_hashes, smallest_distinct
from lincent.sources.landmarks import RowMapping, mapped_rows
from lincent.sources.rows import ClassSample, SignedRows, Source
from lincent.sources.shared_reads import run_concurrently
from lincent.sources.source import Kind, kind_of, open_source
from lincent.tables.weighted import SAMPLE_ROWS, check_weights

SAME = 1e-10
"""Class means of a column that differ by no more than this share may be those of a constant."""
FEW_ROWS = 2**16
"""Up to so many costs are a vector of their own, with which products are several times faster."""


JointReader = Callable[[list[JointPoint]], list[JointSums]]
"""What all rows pull at some points of the joint program."""
MOST_TOGETHER, MOST_WITHIN = 16, 4
"""Jobs on blocks that run at once, and jobs within each: a problem holds a sample of its rows."""


@dataclass(frozen=True)
class Task:
    """One two-class problem cut out of a many-class one."""

    negative: tuple[int, ...]
    positive: tuple[int, ...]
    whole: bool

    def rows(self, codes: np.ndarray) -> np.ndarray:
        """The rows that take part."""
        return np.flatnonzero(np.isin(codes, self.negative + self.positive))

    def sign(self, codes: np.ndarray) -> np.ndarray:
        """+1 for rows of the positive side, -1 for the others."""
        if len(self.positive) == 1:
            return np.where(codes == self.positive[0], 1.0, -1.0)
        return np.where(np.isin(codes, self.positive), 1.0, -1.0)

    @property
    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.negative, self.positive

    def weights(self, totals: np.ndarray) -> tuple[float, float]:
        """The weight of each side, from that of each class."""
        low, high = (float(totals[list(side)].sum()) for side in self.sides)
        return low, high

    def labels(self, classes: np.ndarray) -> tuple[Any, ...]:
        """The class of each side that has only one."""
        return tuple(classes[side[0]] for side in self.sides if len(side) == 1)


def tasks(n_classes: int, strategy: str) -> list[Task]:
    """The two-class problems for this many classes."""
    if n_classes == 2:
        return [Task((0,), (1,), whole=True)]
    everyone = range(n_classes)
    if strategy != "ovo":  # the native form has a rule for each class, too
        return [Task(tuple(j for j in everyone if j != k), (k,), whole=True) for k in everyone]
    return [Task((i,), (j,), whole=False) for i, j in combinations(everyone, 2)]


@dataclass(frozen=True)
class TwoClass:
    """Two classes of rows, what each row weighs and costs, and how much each class matters.

    ``sign`` is -1 or 1 and lives with the rows; ``weight`` counts repetitions; ``cost`` is weight
    times the class's cost factor; ``name`` says which problem this is, for messages.  Rows are seen
    from an origin that takes large offsets out of them (see ``passes.dense``): ``means`` are the
    class centers from there.
    """

    X: Any
    sign: Any
    weight: Any
    cost: Any
    importance: tuple[float, float] = (1.0, 1.0)
    labels: tuple[Any, ...] = (-1, 1)
    """The class of each side; a single one is that of the positive side, against the rest."""
    within: str = ""
    totals: tuple[float, float] | None = None
    """The weight of each side, where it is known already."""
    began: float = field(default_factory=time.monotonic)
    """When the fit began; all its two-class problems share its time."""

    @property
    def name(self) -> str:
        """Which problem this is, for messages."""
        *others, own = (repr(plain(label)) for label in self.labels)
        if others:
            name = f"class {others[0]} against class {own}"
        else:
            name = f"class {own} against the rest"
        return f"{name}, {self.within}" if self.within else name

    @cached_property
    def source(self) -> Source:
        return open_source(self.X, centered=True)

    @cached_property
    def means(self) -> np.ndarray:
        return self.source.class_means(self.sign, self.weight)

    @cached_property
    def difference(self) -> np.ndarray:
        return difference_of(self.means, self.source.sampled_range)

    @property
    def offset(self) -> Any:
        """What X is above the rows as they are seen: zero, or the origin."""
        return 0.0 if self.source.origin is None else self.source.origin

    @property
    def largest_margin(self) -> float:
        return float(np.abs(self.difference).sum())

    @cached_property
    def rows(self) -> Rows:
        center = (self.means[0] + self.means[1]) / 2
        if self.source.formed:
            return self.source.take_all(self.sign, center)
        return SignedRows(self.source, self.sign, center)

    @property
    def in_memory(self) -> bool:
        """Whether rows and vectors are NumPy's, in this process."""
        return not self.source.is_remote and self.source.namespace is HOST

    def costs(self, C: float) -> Any:
        """C times the cost of each row; an infinite C makes hard rows of those that cost."""
        cost, place = self.cost, self.source.namespace
        if isinstance(cost, SideCosts):
            cost = np.asarray(place.fetch(cost.on(place, self.sign)))
        return scaled_costs(cost, C)

    def balanced(self) -> TwoClass:
        """Costs that give both sides half of the total weight."""
        low, high = self._side_weights()
        half = (low + high) / 2
        return self._priced(half / low, half / high)

    def _side_weights(self) -> tuple[float, float]:
        if self.totals is not None:
            return self.totals
        high = self.sign > 0
        return float(self.weight @ ~high), float(self.weight @ high)

    def _priced(self, low: float, high: float) -> TwoClass:
        """The same rows, a unit of weight costing this much on each side."""
        if self.source.is_remote:
            source: Any = self.source
            source = source.priced(low, high)
            return replace(self, X=source, cost=source.costs)
        if not self.in_memory:
            return replace(self, cost=SideCosts(self.weight, low, high))
        cost = np.where(self.sign > 0, high, low)
        cost *= self.weight
        return replace(self, cost=cost)

    def program(self, costs: Any, margin: float) -> Program:
        """Equation LCC of the paper."""
        return lcc_program(self.rows, self.difference, costs, margin)

    def labeled(self) -> CertificateData | None:
        """X as it is, for a proof that includes the class centers; None where X is not at hand."""
        kind = kind_of(self.X)
        if kind not in (Kind.DENSE, Kind.SPARSE):
            return None

        sparse = kind is Kind.SPARSE

        def read(part: slice | np.ndarray) -> Any:
            rows = self.X[part]
            return rows.astype(np.float64) if sparse else np.asarray(rows, dtype=np.float64)

        given = read, self.sign, np.asarray(self.weight), self.X.shape
        return SparseCertificateData(*given, int(self.X.nnz)) if sparse else CertificateData(*given)

    def direction(self, beta: np.ndarray) -> np.ndarray:
        """The coefficients, without those of constant columns: nothing but rounding chose them."""
        constant = self._constant
        return beta if not constant.any() else np.where(constant, 0.0, beta)

    @cached_property
    def _constant(self) -> np.ndarray:
        """Which columns are one number; the class means tell most of those that are not."""
        suspect = np.abs(self.difference) <= SAME * np.abs(self.means).max(axis=0)
        if suspect.any():  # seldom, so that this is seldom a read
            suspect[suspect] = self.source.constant_columns(np.flatnonzero(suspect))
        return suspect

    def line(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows on the line seen from the origin, their signs and their weights: one read."""
        sign = np.asarray(self.source.namespace.fetch(self.sign))
        return self.source.project(beta), sign, np.asarray(self.weight)

    def among(self, kept: np.ndarray) -> TwoClass:
        """The same problem for part of the rows, which are in memory."""
        some = (self.X[kept], self.sign[kept], self.weight[kept], self.cost[kept])
        return replace(self, X=some[0], sign=some[1], weight=some[2], cost=some[3], totals=None)

    def counted(self) -> TwoClass:
        """Without the rows of weight zero, for rows in memory."""
        return self if np.all(self.weight > 0) else self.among(np.flatnonzero(self.weight > 0))


def scaled_costs(costs: Any, scale: float) -> Any:
    """scale times the costs; an infinite scale makes every cost above zero infinite."""
    if not isinstance(costs, np.ndarray):
        return costs.scaled(scale)
    if costs.strides == (0,):  # one number, repeated without memory: stays so where that matters
        one = scale * costs[0]
        few = len(costs) <= FEW_ROWS
        return np.full(len(costs), one) if few else np.broadcast_to(one, costs.shape)
    return scale * costs if np.isfinite(scale) else np.where(costs > 0, np.inf, 0.0)


class Training(Protocol):
    """Checked rows with labels and weights."""

    @property
    def classes(self) -> np.ndarray: ...

    @property
    def totals(self) -> np.ndarray:
        """The weight of each class."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def began(self) -> float:
        """When the fit began."""

    @property
    def weighted(self) -> bool:
        """Whether some row counts for more than another."""

    def task(self, task: Task, costs: ClassCosts, within: str = "") -> TwoClass:
        """One two-class problem; ``within`` (a fold, say) is added to its name."""

    def missing(self) -> np.ndarray:
        """The classes without a row."""

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """What jobs on these rows return, side by side where that is asked for or pays."""

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        """The same within a job: side by side only where it saves reads."""

    def mapped(self, mapping: RowMapping) -> Training:
        """The same rows seen through a map."""

    def local_centers(self, n_centers: int, seed: int) -> CenterSet:
        """k-means in each class."""

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        """At most so many different rows that count, and their places in the data."""

    def variance(self) -> float:
        """The variance over all entries of X, rows counted by weight."""


def in_blocks(X: Any) -> bool:
    """Whether rows are read in place: in blocks, in batches or on a device."""
    return kind_of(X) in (Kind.DASK, Kind.BATCHES, Kind.DEVICE)


def in_parts(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Sparse rows, where these are taken, as parts in turn; all else is left as it is.

    For estimators that make features of all columns.
    """
    if kind_of(X) is not Kind.SPARSE or not estimator._accept_sparse:
        return X, y, sample_weight
    X = validate_data(estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32])
    codes = estimator._codes(y, X.shape[0])
    weight = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
    batches = batches_of(X, estimator.classes_[codes], weight)
    return batches, batches.target, None


def open_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Check the data where it lives; sets ``classes_`` and the names of the features."""
    kind = kind_of(X)
    if kind in (Kind.DASK, Kind.DEVICE, Kind.BATCHES):
        estimator._check_elsewhere(kind, X)
    kinds: dict[Kind, Any] = {
        Kind.DASK: DaskTraining, Kind.BATCHES: BatchTraining, Kind.DEVICE: DeviceTraining,
    }  # fmt: skip
    training: Training = kinds.get(kind, HostTraining).open(estimator, X, y, sample_weight)
    estimator.classes_ = training.classes
    return training


@dataclass(frozen=True)
class HostTraining:
    """Data in the memory of this process; ``X`` is anything that can be indexed by rows."""

    X: Any
    codes: np.ndarray
    weight: np.ndarray
    classes: np.ndarray
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> HostTraining:
        X, classes, codes = check_training_data(
            estimator,
            X,
            y,
            accept_sparse=estimator._accept_sparse,
            finite=not getattr(estimator, "_finite_by_centers", False),
        )
        # What is as long as the data is kept short: with few columns it is much of the memory.
        codes = codes.astype(np.min_scalar_type(len(classes)), copy=False)
        m = X.shape[0]
        one = sample_weight is None
        weight = np.broadcast_to(1.0, m) if one else check_weights(sample_weight, m)
        return cls(X, codes, weight, classes)

    @cached_property
    def totals(self) -> np.ndarray:
        return np.bincount(self.codes, weights=self.weight, minlength=len(self.classes))

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def weighted(self) -> bool:
        return self.weight.strides != (0,)

    def missing(self) -> np.ndarray:
        return np.setdiff1d(np.arange(len(self.classes)), self.codes)

    def task(self, task: Task, costs: ClassCosts, within: str = "") -> TwoClass:
        sides, labels = costs.of(task.sides, self.totals), task.labels(self.classes)
        part = self if task.whole else self.fold(task.rows(self.codes))
        weight, sign = part.weight, task.sign(part.codes)
        cost = weight if (costs.factor == 1).all() else weight * costs.factor[part.codes]
        totals = task.weights(self.totals)
        return TwoClass(part.X, sign, weight, cost, sides, labels, within, totals, self.began)

    def fold(self, rows: np.ndarray) -> HostTraining:
        """The rows of a part."""
        return replace(self, X=self.X[rows], codes=self.codes[rows], weight=self.weight[rows])

    @property
    def codes_here(self) -> np.ndarray:
        return self.codes

    def rows(self, index: np.ndarray) -> Any:
        """Some rows of X."""
        return self.X[index]

    def seen_as(self, X: Any) -> HostTraining:
        """The same rows in another form."""
        return replace(self, X=X)

    def mapped(self, mapping: RowMapping) -> HostTraining:
        return self.seen_as(mapped_rows(self.X, mapping))

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        return _on_threads(jobs, n_jobs)

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        return [job() for job in jobs]

    def local_centers(self, n_centers: int, seed: int) -> CenterSet:
        return find_local_centers(self.X, self.codes, self.weight, n_centers, seed)

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        index = draw_distinct(self.X, self.weight > 0, count, seed)
        return index, self.X[index]

    def variance(self) -> float:
        return entry_variance(self.X, self.weight)


@dataclass(frozen=True)
class DaskTraining:
    """Data in the blocks of a Dask collection."""

    table: Any
    classes: np.ndarray
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> DaskTraining:
        from lincent.sources.dask.table import open_table

        check_dask_columns(estimator, X, reset=True)
        if y is None:
            raise ValueError("y is None; give one label per row.")
        tell = print if getattr(estimator, "verbose", 0) else silent
        table = open_table(X, y, sample_weight, estimator.n_features_in_, tell)
        check_targets(table.survey.classes)
        check_classes(table.survey.classes)
        return cls(table, table.survey.classes)

    @property
    def totals(self) -> np.ndarray:
        return np.asarray(self.table.totals)

    @property
    def shape(self) -> tuple[int, int]:
        shape: tuple[int, int] = self.table.shape
        return shape

    @property
    def weighted(self) -> bool:
        survey = self.table.survey
        return bool(survey.least != survey.most or survey.counts.sum() < self.shape[0])

    def missing(self) -> np.ndarray:
        return np.flatnonzero(self.table.survey.counts.sum(axis=0) == 0)

    def task(self, task: Task, costs: ClassCosts, within: str = "") -> TwoClass:
        side = np.zeros(len(self.classes))
        side[list(task.negative)], side[list(task.positive)] = -1, 1
        source = self.table.problem(side, costs.factor)
        sides, labels = costs.of(task.sides, self.totals), task.labels(self.classes)
        parts = (source, source.sign, source.weight, source.costs)
        totals = task.weights(self.totals)
        return TwoClass(*parts, sides, labels, within, totals, self.began)

    def seen_as(self, table: Any) -> DaskTraining:
        """The same rows in another form, or other rows of the same classes."""
        return replace(self, table=table)

    def mapped(self, mapping: RowMapping) -> DaskTraining:
        from lincent.sources.dask.table import mapped_table

        return self.seen_as(mapped_table(self.table, mapping))

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """All at once unless ``n_jobs`` differs, and with one read for all that run."""
        threads = len(jobs) if n_jobs is None or n_jobs < 0 else n_jobs
        return run_concurrently(jobs, min(threads, MOST_TOGETHER))

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_concurrently(jobs, MOST_WITHIN)

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        """A read."""
        from lincent.sources.dask.table import sample_classes

        return sample_classes(self.table, count, seed, most)

    def joint_reader(self, mapping: RowMapping, faces: LossStructure) -> JointReader:
        from lincent.sources.dask.table import joint_sums_of_blocks, mapped_blocks

        blocks = mapped_blocks(self.table, mapping)
        return partial(joint_sums_of_blocks, blocks, mapping.width, self.classes, faces)

    def feature_means(self, mapping: RowMapping) -> np.ndarray:
        """A read."""
        survey = self.mapped(mapping).table.survey
        return np.asarray(survey.sums.sum(axis=0) / self.totals.sum() + survey.origin)

    def local_centers(self, n_centers: int, seed: int) -> CenterSet:
        return sampled_centers(self, n_centers, seed)

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        from lincent.sources.dask.table import draw_landmarks

        drawn = draw_landmarks(self.table, count, seed)
        return drawn.index, drawn.rows

    def variance(self) -> float:
        from lincent.sources.dask.table import variance

        return variance(self.table)


class BatchTraining:
    """Data in batches: opened as blocks that come one after the other."""

    @staticmethod
    def open(estimator: Any, X: Any, y: Any, sample_weight: Any) -> DaskTraining:
        from lincent.sources.batches import BatchSchedule
        from lincent.sources.dask.table import DaskTable

        if y is not X.target or sample_weight is not None:
            raise ValueError(
                "Labels and weights of batches come with their rows: give X.target as y, and the "
                "weights to lincent.batches."
            )
        check_batch_columns(estimator, X, reset=True)
        tell = print if getattr(estimator, "verbose", 0) else silent
        table = DaskTable(BatchSchedule(X, tell), estimator.n_features_in_)
        check_targets(table.survey.classes)
        check_classes(table.survey.classes)
        return DaskTraining(table, table.survey.classes)


@dataclass(frozen=True)
class DeviceTraining:
    """Data in a torch or CuPy array."""

    X: Any
    codes: Any
    weight: np.ndarray
    classes: np.ndarray
    device: Any
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> DeviceTraining:
        from lincent.sources.array_namespace import DeviceNamespace

        X = check_device_rows(estimator, X, reset=True)
        device, m = DeviceNamespace(X), int(X.shape[0])
        classes, codes = check_device_labels(y, m, device)
        one = sample_weight is None
        weight = np.broadcast_to(1.0, m) if one else check_weights(device.fetch(sample_weight), m)
        return cls(X, codes, weight, classes, device)

    @cached_property
    def totals(self) -> np.ndarray:
        if self.weight.strides == (0,):
            each = range(len(self.classes))
            return np.array([float(self.device.count(self.codes == k)) for k in each])
        return np.bincount(self.device.fetch(self.codes), weights=self.weight).astype(float)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def weighted(self) -> bool:
        return self.weight.strides != (0,)

    def missing(self) -> np.ndarray:
        return np.flatnonzero(self.totals == 0)

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """One after the other: what one job asks keeps the device busy."""
        return [job() for job in jobs]

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        return [job() for job in jobs]

    @cached_property
    def codes_here(self) -> np.ndarray:
        return np.asarray(self.device.fetch(self.codes))

    def rows(self, index: np.ndarray) -> Any:
        """Some rows of X."""
        return self.X[self.device.send(index)]

    def fold(self, rows: np.ndarray) -> DeviceTraining:
        """The rows of a part."""
        there = self.device.send(rows)
        weight = self.weight[rows] if self.weighted else np.broadcast_to(1.0, len(rows))
        return replace(self, X=self.X[there], codes=self.codes[there], weight=weight)

    def seen_as(self, X: Any) -> DeviceTraining:
        """The same rows in another form."""
        return replace(self, X=X)

    def mapped(self, mapping: RowMapping) -> DeviceTraining:
        from lincent.sources.device import DeviceSource

        return self.seen_as(DeviceSource(self.X, mapping=mapping))

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        from lincent.sources.device import DeviceSource

        keys, found = row_hashes(self.X, seed), []
        for code in range(len(self.classes)):
            rows = np.flatnonzero((self.codes_here == code) & (self.weight > 0))
            first, weight = smallest_distinct(keys[rows], self.weight[rows], count)
            found.append((rows[first], weight))
        cut = sum(len(index) for index, _ in found) > count
        few = most if cut and most is not None else [count] * len(found)
        brought = [
            (keys[index[:k]], self._brought(index[:k]), weight[:k])
            for (index, weight), k in zip(found, few, strict=True)
        ]
        return ClassSample.of(brought, DeviceSource(self.X).spread(self.weight), cut)

    def joint_reader(self, mapping: RowMapping, faces: LossStructure) -> JointReader:
        weight = self.device.doubles(self.weight)
        return partial(self.mapped(mapping).X.joint_sums, self.codes, weight, faces)

    def feature_means(self, mapping: RowMapping) -> np.ndarray:
        found = self.mapped(mapping).X.local_combine(self.device.doubles(self.weight))
        return np.asarray(found / float(self.totals.sum()))

    def local_centers(self, n_centers: int, seed: int) -> CenterSet:
        return sampled_centers(self, n_centers, seed)

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        counted = np.flatnonzero(self.weight > 0)
        first, _ = smallest_distinct(row_hashes(self.X, seed)[counted], self.weight[counted], count)
        index = counted[first]
        return index, self.device.fetch(self.rows(index))

    def variance(self) -> float:
        from lincent.sources.device import DeviceSource

        spread = DeviceSource(self.X).spread(self.weight)
        within = float(spread.squares.mean() / self.totals.sum())
        return within + float(np.var(spread.mean))

    def _brought(self, index: np.ndarray) -> np.ndarray:
        """Some rows, here."""
        return np.asarray(self.device.fetch(self.device.doubles(self.rows(index))))

    def task(self, task: Task, costs: ClassCosts, within: str = "") -> TwoClass:
        xp, X, codes, weight = self.device.xp, self.X, self.codes, self.weight
        cost = weight
        if np.any(costs.factor != 1):
            cost = weight * costs.factor[self.device.fetch(codes)]
        if not task.whole:
            rows = self.device.nonzero(_among(codes, task.negative + task.positive))
            here = self.device.fetch(rows)
            X, codes, weight, cost = X[rows], codes[rows], weight[here], cost[here]
        sign = xp.astype(_among(codes, task.positive), xp.float64)
        sign *= 2
        sign -= 1
        sides, labels = costs.of(task.sides, self.totals), task.labels(self.classes)
        totals = task.weights(self.totals)
        return TwoClass(X, sign, weight, cost, sides, labels, within, totals, self.began)


BlockTraining = DaskTraining | DeviceTraining
"""Data that is read in place."""


def sampled_centers(training: BlockTraining, n_centers: int, seed: int) -> CenterSet:
    """Local centers from a sample of each class."""
    sample = training.sample_classes(SAMPLE_ROWS, seed)
    rows = [open_source(part).array() for part in sample.rows]
    variance = float(sample.spread.squares.sum() / training.totals.sum())
    return centers_of_sample(rows, sample.weights, training.totals, variance, n_centers, seed)


def _on_threads(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    if len(jobs) == 1 or _threads.parallel_jobs(n_jobs) == 1:
        return [job() for job in jobs]
    with _threads.share_cores(n_jobs, len(jobs)):
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(job)() for job in jobs))


def _among(codes: Any, wanted: Sequence[int]) -> Any:
    mask = codes == wanted[0]
    for k in wanted[1:]:
        mask = mask | (codes == k)
    return mask
