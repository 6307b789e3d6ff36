"""The training data of a fit and its binary subproblems.

One-vs-rest has one subproblem per class, over all samples; one-vs-one has one per pair of classes,
over the samples of that pair; with two classes both are the same single subproblem.  The joint
multiclass problem (see ``regularized``) has one linear classifier per class, combined as those of
one-vs-rest.

``BinaryTask``      which classes are on which side of a subproblem
``BinaryProblem``   the samples, signs, weights and costs of a subproblem: everything that
                    ``_fit_task`` of an estimator needs, whatever the kind of X
``HostTraining``    checked X, labels and weights in memory
``DaskTraining``    those of Dask collections and batches, read in place: batches are opened as
                    blocks of a Dask collection that come one after the other; labels and weights
                    of blocks stay with them and are summed up in one pass over the data
``DeviceTraining``  those of a torch or CuPy array, checked and labeled on its device
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed

from lincent import _threads
from lincent.estimators.validation import (
    ClassCosts,
    check_batch_columns,
    check_classes,
    check_convertible,
    check_dask_columns,
    check_device_labels,
    check_device_rows,
    check_training_data,
    plain,
)
from lincent.features.similarity import (
    CenterSet,
    centers_of_samples,
    column_moments,
    find_local_centers,
)
from lincent.problems.arrays import Rows
from lincent.problems.centralization import Program, difference_of, lcc_program
from lincent.problems.rounding import CertificateData, SparseCertificateData
from lincent.solvers.solution import silent
from lincent.sources.array_namespace import DeviceNamespace
from lincent.sources.device import DeviceSource
from lincent.sources.gradients import JointReader, LossStructure, SideCosts
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.landmarks import RowMapping, mapped_rows
from lincent.sources.rows import ClassSample, Drawn, SignedRows, Source
from lincent.sources.shared_reads import run_concurrently
from lincent.sources.source import Kind, kind_of, open_source, to_numpy
from lincent.tables.weighted import SAMPLE_ROWS, check_weights

SAME = 1e-10
"""Class means of a feature with a smaller relative difference may be those of a constant."""
STRATEGIES = ("ovr", "ovo")


@dataclass(frozen=True)
class BinaryTask:
    """The classes on both sides of a binary subproblem."""

    negative: tuple[int, ...]
    positive: tuple[int, ...]
    whole: bool

    def rows(self, codes: np.ndarray) -> np.ndarray:
        """Return the indices of the samples that take part."""
        return np.flatnonzero(np.isin(codes, self.negative + self.positive))

    def sign(self, codes: np.ndarray) -> np.ndarray:
        """Return 1 for samples of the positive side and -1 for the others."""
        return np.where(codes == self.positive[0], 1.0, -1.0)

    @property
    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.negative, self.positive

    def weights(self, totals: np.ndarray) -> tuple[float, float]:
        """Return the weight of each side, given that of each class."""
        low, high = (float(totals[list(side)].sum()) for side in self.sides)
        return low, high

    def labels(self, classes: np.ndarray) -> tuple[Any, ...]:
        """Return the class of each side that has only one."""
        return tuple(classes[side[0]] for side in self.sides if len(side) == 1)


def binary_tasks(n_classes: int, strategy: str) -> list[BinaryTask]:
    """Return the binary subproblems for this number of classes."""
    if n_classes == 2:
        return [BinaryTask((0,), (1,), whole=True)]
    codes = range(n_classes)
    if strategy == "ovr":
        return [BinaryTask(tuple(j for j in codes if j != k), (k,), whole=True) for k in codes]
    return [BinaryTask((i,), (j,), whole=False) for i, j in combinations(codes, 2)]


def combine_scores(scores: np.ndarray, n_classes: int, strategy: str) -> np.ndarray:
    """Return ``decision_function`` from the scores of the subproblems, one column each."""
    if n_classes == 2:
        return scores[:, 0]
    if strategy == "ovr":
        return scores
    # Votes decide; the summed scores, squeezed below half a vote, break ties.
    votes = np.zeros((scores.shape[0], n_classes))
    sums = np.zeros_like(votes)
    scores = np.clip(scores, -1e300, 1e300)  # sums of scores must not overflow
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        score = scores[:, column]
        votes[:, j] += score > 0
        votes[:, i] += score <= 0
        sums[:, j] += score
        sums[:, i] -= score
    return votes + sums / (3 * (np.abs(sums) + 1))


def predicted_codes(scores: np.ndarray) -> np.ndarray:
    """Return the class index of each sample from the result of ``decision_function``."""
    if scores.ndim == 1:
        return (scores > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


@dataclass(frozen=True)
class BinaryProblem:
    """Two classes of samples, the weight and cost of each sample, and the class importances.

    ``sign`` is -1 or 1 and is stored with the samples; ``weight`` counts repetitions; ``cost`` is
    weight times the cost factor of the class.  Samples are seen from an origin that takes large
    offsets out of them (see ``sources.dense``): ``means`` are the class centers relative to it.
    """

    X: Any
    sign: Any
    weight: Any
    cost: Any
    importance: tuple[float, float] = (1.0, 1.0)
    labels: tuple[Any, ...] = (-1, 1)
    """The class of each side; a single one is that of the positive side, one-vs-rest."""
    within: str = ""
    totals: tuple[float, float] | None = None
    """The weight of each side, if known."""
    began: float = field(default_factory=time.monotonic)
    """When the fit began; all its subproblems share ``time_limit``."""

    @property
    def name(self) -> str:
        """The name of the subproblem in messages."""
        *others, own = (repr(plain(label)) for label in self.labels)
        if others:
            name = f"class {others[0]} against class {own}"
        else:
            name = f"class {own} against the rest"
        return f"{name}, {self.within}" if self.within else name

    @cached_property
    def source(self) -> Source:
        return open_source(self.X, centered=True, weight=self.weight)

    @cached_property
    def means(self) -> np.ndarray:
        return self.source.class_means(self.sign, self.weight)

    @cached_property
    def difference(self) -> np.ndarray:
        return difference_of(self.means, self.source.sampled_range)

    @property
    def offset(self) -> Any:
        """The offset of X relative to the samples as they are seen: zero, or the origin."""
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
        """Whether samples and vectors are NumPy arrays in this process."""
        return isinstance(self.sign, np.ndarray)

    def costs(self, C: float) -> Any:
        """Return C times the cost of each sample; an infinite C is a hard margin."""
        cost, place = self.cost, self.source.namespace
        if isinstance(cost, SideCosts):
            cost = np.asarray(place.fetch(cost.on(place, self.sign)))
        return scaled_costs(cost, C)

    def balanced(self) -> BinaryProblem:
        """Return the problem with costs that give both sides half of the total weight."""
        totals = self.totals or [float(self.weight @ (k * self.sign > 0)) for k in (-1, 1)]
        low, high = (sum(totals) / 2 / total for total in totals)
        if self.in_memory:
            cost = np.where(self.sign > 0, high, low)
            cost *= self.weight
            return replace(self, cost=cost)
        if self.source.is_remote:
            source: Any = self.source
            source = source.priced(low, high)
            return replace(self, X=source, cost=source.costs)
        return replace(self, cost=SideCosts(self.weight, low, high))

    def program(self, costs: Any, margin: float) -> Program:
        """Return equation LCC of the paper."""
        return lcc_program(self.rows, self.difference, costs, margin)

    def certificate_data(self) -> CertificateData | None:
        """Return X unshifted, for a certificate that includes the class centers.

        None where X is not an array in memory.
        """
        kind = kind_of(self.X)
        if kind not in (Kind.DENSE, Kind.SPARSE):
            return None

        def read(part: slice | np.ndarray) -> Any:
            return self.X[part].astype(np.float64, copy=False)

        given = read, self.sign, np.asarray(self.weight), self.X.shape
        if kind is Kind.SPARSE:
            return SparseCertificateData(*given, int(self.X.nnz))
        return CertificateData(*given)

    def direction(self, beta: np.ndarray) -> np.ndarray:
        """Return the coefficients with zeros for constant features, which only rounding sets."""
        constant = self._constant
        return beta if not constant.any() else np.where(constant, 0.0, beta)

    @cached_property
    def _constant(self) -> np.ndarray:
        """Whether each feature is constant; most are excluded by their class means."""
        suspect = np.abs(self.difference) <= SAME * np.abs(self.means).max(axis=0)
        if suspect.any():  # seldom, so that X is seldom read for this
            suspect[suspect] = self.source.constant_columns(np.flatnonzero(suspect))
        return suspect

    def line(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the projected samples, relative to the origin, their signs and weights."""
        sign = np.asarray(self.source.namespace.fetch(self.sign))
        return self.source.project(beta), sign, np.asarray(self.weight)

    def drop_zero_weight(self) -> BinaryProblem:
        """Return the problem without the samples of weight zero, for samples in memory."""
        if np.all(self.weight > 0):
            return self
        kept = np.flatnonzero(self.weight > 0)
        some = {name: getattr(self, name)[kept] for name in ("X", "sign", "weight", "cost")}
        return replace(self, **some, totals=None)


def scaled_costs(costs: Any, scale: float) -> Any:
    """Return scale times the costs; an infinite scale makes positive costs infinite."""
    if not isinstance(costs, np.ndarray):
        return costs.scaled(scale)
    # One number, broadcast: a vector makes products faster, but is memory.
    if costs.strides == (0,):
        one = scale * costs[0]
        small = len(costs) <= 2**16
        return np.full(len(costs), one) if small else np.broadcast_to(one, costs.shape)
    return scale * costs if np.isfinite(scale) else np.where(costs > 0, np.inf, 0.0)


# Training data.


@dataclass(frozen=True)
class ArrayTraining:
    """Data in one piece, in memory or on a device; ``X`` can be indexed by samples."""

    X: Any
    codes: Any
    weight: np.ndarray
    classes: np.ndarray
    began: float = field(default_factory=time.monotonic)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def weighted(self) -> bool:
        """Whether the samples have different weights."""
        return self.weight.strides != (0,)

    @cached_property
    def totals(self) -> np.ndarray:
        """The weight of each class."""
        return np.bincount(self.host_codes, self.weight, len(self.classes)).astype(float)

    @property
    def host_codes(self) -> np.ndarray:
        """The codes in memory."""
        return np.asarray(self.codes)

    def _index(self, rows: np.ndarray) -> Any:
        """Return indices in the namespace of X."""
        return rows

    def rows(self, index: np.ndarray) -> Any:
        """Return some samples of X."""
        return self.X[self._index(index)]

    def fold(self, rows: np.ndarray) -> Self:
        """Return the training data of some samples."""
        weight = self.weight[rows] if self.weighted else np.broadcast_to(1.0, len(rows))
        codes = self.codes[self._index(rows)]
        return replace(self, X=self.rows(rows), codes=codes, weight=weight)

    def sign(self, task: BinaryTask) -> Any:
        """Return the side of each sample, in the namespace of X."""
        return task.sign(self.codes)

    def task(self, task: BinaryTask, costs: ClassCosts, within: str = "") -> BinaryProblem:
        """Return a binary subproblem; ``within`` (a fold, say) is added to its name."""
        sides, labels = costs.of(task.sides, self.totals), task.labels(self.classes)
        part = self if task.whole else self.fold(task.rows(self.host_codes))
        weight, sign = part.weight, part.sign(task)
        cost = weight if (costs.factor == 1).all() else weight * costs.factor[part.host_codes]
        totals = task.weights(self.totals)
        return BinaryProblem(part.X, sign, weight, cost, sides, labels, within, totals, self.began)

    def with_features(self, X: Any) -> Self:
        """Return the same samples with other features."""
        return replace(self, X=X)

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run jobs within a job: in parallel only where it saves passes over the data."""
        return [job() for job in jobs]

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        """Return the indices of at most ``count`` distinct samples, and these."""
        index, _ = smallest_distinct(row_hashes(self.X, seed), self.weight, count)
        return index, to_numpy(self.rows(index))


@dataclass(frozen=True)
class HostTraining(ArrayTraining):
    """Data in the memory of this process."""

    @classmethod
    def open(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> HostTraining:
        X, classes, codes = check_training_data(estimator, X, y)
        # The smallest dtype: with few features the codes are much of the memory.
        codes = codes.astype(np.min_scalar_type(len(classes)), copy=False)
        m = X.shape[0]
        one = sample_weight is None
        weight = np.broadcast_to(1.0, m) if one else check_weights(sample_weight, m)
        return cls(X, codes, weight, classes)

    def mapped(self, mapping: RowMapping) -> HostTraining:
        """Return the same samples with mapped features."""
        return self.with_features(mapped_rows(self.X, mapping))

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """Return the results of jobs on these samples, run in parallel where that helps."""
        return run_jobs(jobs, n_jobs)

    def variance(self) -> float:
        """Return the weighted variance over all entries of X."""
        mean, variance = column_moments(self.X, self.weight)
        return float(variance.mean() + np.var(mean))


def run_jobs(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """Return the results of jobs, run in threads where ``n_jobs`` asks for it."""
    if len(jobs) == 1 or effective_n_jobs(n_jobs) == 1:
        return [job() for job in jobs]
    with _threads.share_cores(n_jobs, len(jobs)):
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(job)() for job in jobs))


# Data that is read in place.


def open_remote(estimator: Any, X: Any, y: Any, sample_weight: Any) -> RemoteTraining:
    """Check X, y and weights where they are."""
    check_convertible(y)
    check_convertible(sample_weight, "sample_weight")
    if kind_of(X) is Kind.DEVICE:
        X = check_device_rows(estimator, X, reset=True)
        device, m = DeviceNamespace(X), int(X.shape[0])
        classes, codes = check_device_labels(y, m, device)
        one = sample_weight is None
        weight = np.broadcast_to(1.0, m) if one else check_weights(device.fetch(sample_weight), m)
        return DeviceTraining(X, codes, weight, classes)

    from lincent.sources.batches import BatchSchedule
    from lincent.sources.dask.table import DaskTable, open_dask

    log = print if getattr(estimator, "verbose", 0) else silent
    if kind_of(X) is Kind.DASK:
        check_dask_columns(estimator, X, reset=True)
        if y is None:
            raise ValueError("y is None; give one label per row.")
        table = open_dask(X, y, sample_weight, estimator.n_features_in_, log)
    else:
        if y is not X.target or sample_weight is not None:
            raise ValueError(
                "Labels and weights of batches come with their rows: give X.target as y, and the "
                "weights to lincent.batches."
            )
        check_batch_columns(estimator, X, reset=True)
        table = DaskTable(BatchSchedule(X, log), estimator.n_features_in_)
    check_classification_targets(table.survey.classes)
    check_classes(table.survey.classes)
    return DaskTraining(table, table.survey.classes)


@dataclass(frozen=True)
class DaskTraining:
    """Data in the blocks of a Dask collection, or in batches."""

    table: Any
    classes: np.ndarray
    began: float = field(default_factory=time.monotonic)

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

    def task(self, task: BinaryTask, costs: ClassCosts, within: str = "") -> BinaryProblem:
        side = np.zeros(len(self.classes))
        side[list(task.negative)], side[list(task.positive)] = -1, 1
        source = self.table.problem(side, costs.factor)
        sides, labels = costs.of(task.sides, self.totals), task.labels(self.classes)
        parts = (source, source.sign, source.weight, source.costs)
        totals = task.weights(self.totals)
        return BinaryProblem(*parts, sides, labels, within, totals, self.began)

    def with_features(self, table: Any) -> DaskTraining:
        """Return the training data of another table with the same classes."""
        return replace(self, table=table)

    def mapped(self, mapping: RowMapping) -> DaskTraining:
        return self.with_features(self.table.mapped(mapping))

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """Run all jobs at once unless ``n_jobs`` differs; passes over the data are shared."""
        threads = len(jobs) if n_jobs is None or n_jobs < 0 else n_jobs
        return run_concurrently(jobs, min(threads, 16))  # a problem holds some of its samples

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_concurrently(jobs, 4)

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        sample: ClassSample = self.table.sample_classes(count, seed, most)
        return sample

    def joint_reader(self, mapping: RowMapping, structure: LossStructure) -> JointReader:
        reader: JointReader = self.table.joint_reader(mapping, structure)
        return reader

    def feature_means(self, mapping: RowMapping) -> np.ndarray:
        survey = self.mapped(mapping).table.survey
        return np.asarray(survey.sums.sum(axis=0) / self.totals.sum() + survey.origin)

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        drawn = self.table.draw_distinct(count, seed)
        return drawn.index, drawn.rows

    def variance(self) -> float:
        return self.sample_classes(0, 0).spread.variance(float(self.totals.sum()))


@dataclass(frozen=True)
class DeviceTraining(ArrayTraining):
    """Data in a torch or CuPy array."""

    @cached_property
    def device(self) -> DeviceNamespace:
        """The namespace of the codes, and of X."""
        return DeviceNamespace(self.codes)

    @cached_property
    def totals(self) -> np.ndarray:
        if self.weighted:
            return np.bincount(self.host_codes, self.weight, len(self.classes)).astype(float)
        each = range(len(self.classes))
        return np.array([float(self.device.count(self.codes == k)) for k in each])

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        # One job keeps the device busy.
        return [job() for job in jobs]

    @cached_property
    def host_codes(self) -> np.ndarray:
        return np.asarray(self.device.fetch(self.codes))

    def _index(self, rows: np.ndarray) -> Any:
        return self.device.send(rows)

    def sign(self, task: BinaryTask) -> Any:
        return self.device.where(self.codes == task.positive[0], 2.0) - 1.0

    def mapped(self, mapping: RowMapping) -> DeviceTraining:
        return self.with_features(DeviceSource(self.X, mapping=mapping))

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        keys, found = row_hashes(self.X, seed), []
        for code in range(len(self.classes)):
            own = np.where(self.host_codes == code, self.weight, 0.0)
            found.append(smallest_distinct(keys, own, count))
        cut = sum(len(index) for index, _ in found) > count
        few = most if cut and most is not None else [count] * len(found)
        brought = []
        for (index, weight), k in zip(found, few, strict=True):
            rows = self.device.fetch(self.device.doubles(self.rows(index[:k])))
            brought.append(Drawn(keys[index[:k]], index[:k], np.asarray(rows), weight[:k]))
        return ClassSample(brought, DeviceSource(self.X).spread(self.weight), cut)

    def joint_reader(self, mapping: RowMapping, structure: LossStructure) -> JointReader:
        weight = self.device.doubles(self.weight)
        return partial(self.mapped(mapping).X.joint_sums, self.codes, weight, structure)

    def feature_means(self, mapping: RowMapping) -> np.ndarray:
        found = self.mapped(mapping).X.local_combine(self.device.doubles(self.weight))
        return np.asarray(found / float(self.totals.sum()))

    def variance(self) -> float:
        return DeviceSource(self.X).spread(self.weight).variance(float(self.totals.sum()))


RemoteTraining = DaskTraining | DeviceTraining
Training = HostTraining | RemoteTraining


def local_centers(training: Training, n_centers: int, seed: int) -> CenterSet:
    """Return the centroids of k-means in each class, or on a random sample of remote ones."""
    if isinstance(training, HostTraining):
        given = training.X, training.codes, training.weight
        return find_local_centers(*given, n_centers, seed)
    sample = training.sample_classes(SAMPLE_ROWS, seed)
    samples = [
        (np.ascontiguousarray(open_source(drawn.rows).array(), np.float64), drawn.weights, total)
        for drawn, total in zip(sample.classes, training.totals.tolist(), strict=True)
    ]
    variance = float(sample.spread.squares.sum() / training.totals.sum()) or 1.0
    return centers_of_samples(samples, variance, n_centers, seed)
