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
from sklearn.utils.multiclass import check_classification_targets

from lincent.estimators.problem import ArrayTraining, BinaryProblem, BinaryTask, HostTraining
from lincent.estimators.validation import (
    ClassCosts,
    check_batch_columns,
    check_classes,
    check_convertible,
    check_dask_columns,
    check_device_labels,
    check_device_rows,
)
from lincent.features.similarity import CenterSet, centers_of_samples, find_local_centers
from lincent.solvers.solution import silent
from lincent.sources.array_namespace import DeviceNamespace
from lincent.sources.device import DeviceSource
from lincent.sources.gradients import JointReader, LossStructure
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.landmarks import RowMapping
from lincent.sources.rows import ClassSample, Drawn
from lincent.sources.shared_reads import run_concurrently
from lincent.sources.source import Kind, kind_of, open_source
from lincent.tables.weighted import SAMPLE_ROWS, check_weights


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
        brought = [
            Drawn(keys[index[:k]], index[:k], self._to_host(index[:k]), weight[:k])
            for (index, weight), k in zip(found, few, strict=True)
        ]
        return ClassSample(brought, DeviceSource(self.X).spread(self.weight), cut)

    def joint_reader(self, mapping: RowMapping, structure: LossStructure) -> JointReader:
        weight = self.device.doubles(self.weight)
        return partial(self.mapped(mapping).X.joint_sums, self.codes, weight, structure)

    def feature_means(self, mapping: RowMapping) -> np.ndarray:
        found = self.mapped(mapping).X.local_combine(self.device.doubles(self.weight))
        return np.asarray(found / float(self.totals.sum()))

    def variance(self) -> float:
        return DeviceSource(self.X).spread(self.weight).variance(float(self.totals.sum()))

    def _to_host(self, index: np.ndarray) -> np.ndarray:
        """Return some samples as a NumPy array."""
        return np.asarray(self.device.fetch(self.device.doubles(self.rows(index))))


RemoteTraining = DaskTraining | DeviceTraining
Training = HostTraining | RemoteTraining


def local_centers(training: Training, n_centers: int, seed: int, hashes: Any = None) -> CenterSet:
    """Return the centroids of k-means in each class, or on a random sample of remote ones.

    ``hashes`` are those of samples in memory, where they are computed already.
    """
    if isinstance(training, HostTraining):
        given = training.X, training.codes, training.weight
        return find_local_centers(*given, n_centers, seed, hashes)
    sample = training.sample_classes(SAMPLE_ROWS, seed)
    samples = [
        (np.ascontiguousarray(open_source(drawn.rows).array(), np.float64), drawn.weights, total)
        for drawn, total in zip(sample.classes, training.totals.tolist(), strict=True)
    ]
    variance = float(sample.spread.squares.sum() / training.totals.sum()) or 1.0
    return centers_of_samples(samples, variance, n_centers, seed)
