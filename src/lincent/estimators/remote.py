"""Training data that is read in place: Dask collections, batches and device arrays.

Batches are opened as blocks of a Dask collection that come one after the other.  Labels and weights
of blocks stay with them and are summed up in one pass over the data; a device array is checked and
labeled on its device.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from lincent.estimators.problem import BinaryProblem, BinaryTask
from lincent.estimators.validation import (
    ClassCosts,
    check_batch_columns,
    check_classes,
    check_dask_columns,
    check_device_labels,
    check_device_rows,
    check_targets,
)
from lincent.features.clusters import CenterSet, centers_of_sample
from lincent.solvers.solution import silent
from lincent.sources.gradients import JointPoint, JointSums, LossStructure
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.landmarks import RowMapping
from lincent.sources.rows import ClassSample
from lincent.sources.shared_reads import run_concurrently
from lincent.sources.source import Kind, kind_of, open_source
from lincent.tables.weighted import SAMPLE_ROWS, check_weights

JointReader = Callable[[list[JointPoint]], list[JointSums]]
"""A pass over all samples that evaluates the joint problem at some points."""
MOST_JOBS, MOST_INNER_JOBS = 16, 4
"""Jobs on blocks that run at once, and jobs within each: a problem holds some of its samples."""


def open_remote(estimator: Any, X: Any, y: Any, sample_weight: Any) -> RemoteTraining:
    """Check X, y and weights where they are."""
    if kind_of(X) is Kind.DEVICE:
        from lincent.sources.array_namespace import DeviceNamespace

        X = check_device_rows(estimator, X, reset=True)
        device, m = DeviceNamespace(X), int(X.shape[0])
        classes, codes = check_device_labels(y, m, device)
        one = sample_weight is None
        weight = np.broadcast_to(1.0, m) if one else check_weights(device.fetch(sample_weight), m)
        return DeviceTraining(X, codes, weight, classes, device)

    from lincent.sources.batches import BatchSchedule
    from lincent.sources.dask.table import DaskTable, open_table

    log = print if getattr(estimator, "verbose", 0) else silent
    if kind_of(X) is Kind.DASK:
        check_dask_columns(estimator, X, reset=True)
        if y is None:
            raise ValueError("y is None; give one label per row.")
        table = open_table(X, y, sample_weight, estimator.n_features_in_, log)
    else:
        if y is not X.target or sample_weight is not None:
            raise ValueError(
                "Labels and weights of batches come with their rows: give X.target as y, and the "
                "weights to lincent.batches."
            )
        check_batch_columns(estimator, X, reset=True)
        table = DaskTable(BatchSchedule(X, log), estimator.n_features_in_)
    check_targets(table.survey.classes)
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

    def missing(self) -> np.ndarray:
        return np.flatnonzero(self.table.survey.counts.sum(axis=0) == 0)

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
        from lincent.sources.dask.table import mapped_table

        return self.with_features(mapped_table(self.table, mapping))

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """Run all jobs at once unless ``n_jobs`` differs; passes over the data are shared."""
        threads = len(jobs) if n_jobs is None or n_jobs < 0 else n_jobs
        return run_concurrently(jobs, min(threads, MOST_JOBS))

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_concurrently(jobs, MOST_INNER_JOBS)

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        from lincent.sources.dask.table import sample_classes

        return sample_classes(self.table, count, seed, most)

    def joint_reader(self, mapping: RowMapping, structure: LossStructure) -> JointReader:
        from lincent.sources.dask.table import joint_sums_of_blocks, mapped_blocks

        blocks = mapped_blocks(self.table, mapping)
        return partial(joint_sums_of_blocks, blocks, mapping.width, self.classes, structure)

    def feature_means(self, mapping: RowMapping) -> np.ndarray:
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


@dataclass(frozen=True)
class DeviceTraining:
    """Data in a torch or CuPy array."""

    X: Any
    codes: Any
    weight: np.ndarray
    classes: np.ndarray
    device: Any
    began: float = field(default_factory=time.monotonic)

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
        # One job keeps the device busy.
        return [job() for job in jobs]

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        return [job() for job in jobs]

    @cached_property
    def host_codes(self) -> np.ndarray:
        return np.asarray(self.device.fetch(self.codes))

    def rows(self, index: np.ndarray) -> Any:
        """Return some samples of X."""
        return self.X[self.device.send(index)]

    def fold(self, rows: np.ndarray) -> DeviceTraining:
        """Return the training data of some samples."""
        index = self.device.send(rows)
        weight = self.weight[rows] if self.weighted else np.broadcast_to(1.0, len(rows))
        return replace(self, X=self.X[index], codes=self.codes[index], weight=weight)

    def with_features(self, X: Any) -> DeviceTraining:
        """Return the same samples with other features."""
        return replace(self, X=X)

    def mapped(self, mapping: RowMapping) -> DeviceTraining:
        from lincent.sources.device import DeviceSource

        return self.with_features(DeviceSource(self.X, mapping=mapping))

    def sample_classes(
        self, count: int, seed: int, most: Sequence[int] | None = None
    ) -> ClassSample:
        from lincent.sources.device import DeviceSource

        keys, found = row_hashes(self.X, seed), []
        for code in range(len(self.classes)):
            rows = np.flatnonzero((self.host_codes == code) & (self.weight > 0))
            first, weight = smallest_distinct(keys[rows], self.weight[rows], count)
            found.append((rows[first], weight))
        cut = sum(len(index) for index, _ in found) > count
        few = most if cut and most is not None else [count] * len(found)
        brought = [
            (keys[index[:k]], self._to_host(index[:k]), weight[:k])
            for (index, weight), k in zip(found, few, strict=True)
        ]
        return ClassSample.of(brought, DeviceSource(self.X).spread(self.weight), cut)

    def joint_reader(self, mapping: RowMapping, structure: LossStructure) -> JointReader:
        weight = self.device.doubles(self.weight)
        return partial(self.mapped(mapping).X.joint_sums, self.codes, weight, structure)

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

    def _to_host(self, index: np.ndarray) -> np.ndarray:
        """Return some samples as a NumPy array."""
        return np.asarray(self.device.fetch(self.device.doubles(self.rows(index))))

    def task(self, task: BinaryTask, costs: ClassCosts, within: str = "") -> BinaryProblem:
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
        return BinaryProblem(X, sign, weight, cost, sides, labels, within, totals, self.began)


RemoteTraining = DaskTraining | DeviceTraining


def sampled_centers(training: RemoteTraining, n_centers: int, seed: int) -> CenterSet:
    """Return the centroids of k-means on a random sample of each class."""
    sample = training.sample_classes(SAMPLE_ROWS, seed)
    rows = [open_source(part).array() for part in sample.rows]
    variance = float(sample.spread.squares.sum() / training.totals.sum())
    return centers_of_sample(rows, sample.weights, training.totals, variance, n_centers, seed)


def _among(codes: Any, wanted: Sequence[int]) -> Any:
    mask = codes == wanted[0]
    for k in wanted[1:]:
        mask = mask | (codes == k)
    return mask
