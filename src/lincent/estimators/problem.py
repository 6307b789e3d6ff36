"""The training data of a fit, wherever it lives: checked, and cut into two-class problems.

This is the one place that asks for the type of X in ``fit``:

    in memory       scikit-learn's validation, NumPy vectors
    Dask            a survey in one read; labels and weights stay with the rows
    torch, CuPy     checked and labeled on the device

Each kind knows the weight of every class and gives, for a task, what ``_fit_task`` takes: X (or a
pass on it), signs, weights and costs.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lincent.estimators.multiclass import Task
from lincent.estimators.validation import (
    check_classes,
    check_device_rows,
    check_training_data,
    check_weights,
)
from lincent.passes.source import Kind, kind_of
from lincent.solvers.solution import silent

Problem = tuple[Any, Any, Any, Any]
"""X, sign, weight and cost of a two-class problem."""


class TrainingData(Protocol):
    """Checked data with labels."""

    totals: np.ndarray

    def prepare(self, estimator: Any, factor: np.ndarray) -> None:
        """Take the cost of a row of each class per unit of weight."""

    def problem(self, task: Task) -> Problem:
        """What ``_fit_task`` takes for this task."""


def training_data(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """Check the data where it lives; sets ``classes_`` and the names of the features."""
    kind_of_data = kind_of(X)
    if kind_of_data not in (Kind.DASK, Kind.DEVICE):
        return HostData(estimator, X, y, sample_weight)
    estimator._check_elsewhere(X)
    kind = DaskData if kind_of_data is Kind.DASK else DeviceData
    return kind(estimator, X, y, sample_weight)


class HostData:
    """Data in the memory of this process."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        X, codes = check_training_data(
            estimator,
            X,
            y,
            accept_sparse=estimator._accept_sparse,
            finite=not getattr(estimator, "_finite_by_centers", False),
        )
        # What is as long as the data is kept short: with few columns it is much of the memory.
        self.codes = codes.astype(np.min_scalar_type(len(estimator.classes_)), copy=False)
        if sample_weight is None:
            self.weight = np.broadcast_to(1.0, X.shape[0])
        else:
            self.weight = check_weights(sample_weight, X.shape[0])
        self.totals = np.bincount(self.codes, weights=self.weight)
        self.X = X

    def prepare(self, estimator: Any, factor: np.ndarray) -> None:
        self.cost = self.weight if np.all(factor == 1) else self.weight * factor[self.codes]
        self.X = estimator._open(self.X, self.weight)

    def problem(self, task: Task) -> Problem:
        if task.whole:
            return self.X, task.sign(self.codes), self.weight, self.cost
        rows = task.rows(self.codes)
        return self.X[rows], task.sign(self.codes[rows]), self.weight[rows], self.cost[rows]


class DaskData:
    """Data in the blocks of a Dask collection."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        from lincent.passes.dask.table import open_table

        check_dask_columns(estimator, X, reset=True)
        if y is None:
            raise ValueError("y is None; give one label per row.")
        tell = print if getattr(estimator, "verbose", 0) else silent
        self.table = open_table(X, y, sample_weight, estimator.n_features_in_, tell)
        classes = self.table.survey.classes
        check_classification_targets(classes)
        check_classes(estimator, classes)
        self.totals = self.table.totals

    def prepare(self, estimator: Any, factor: np.ndarray) -> None:
        self.factor = factor
        self.table = estimator._open_blocks(self.table)

    def problem(self, task: Task) -> Problem:
        side = np.zeros(len(self.factor))
        side[list(task.negative)], side[list(task.positive)] = -1, 1
        source = self.table.problem(side, self.factor)
        return source, source.sign, source.weight, source.costs


def check_dask_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Names and number of the columns, from what is known without reading."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); give rows by columns.")
    known = X._meta if hasattr(X, "columns") else np.empty((0, int(X.shape[1])))
    validate_data(estimator, known, reset=reset, skip_check_array=True)


class DeviceData:
    """Data in a torch or CuPy array."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        from lincent.passes.device import Device, to_host

        self.X = check_device_rows(estimator, X, reset=True)
        self.device = Device(self.X)
        m = int(self.X.shape[0])
        classes, self.codes = self._labeled(y, m)
        check_classification_targets(classes)
        check_classes(estimator, classes)
        if sample_weight is None:
            self.weight = np.broadcast_to(1.0, m)
        else:
            self.weight = check_weights(to_host(sample_weight), m)
        xp = self.device.xp
        if sample_weight is None:
            counts = [int(xp.count_nonzero(self.codes == k)) for k in range(len(classes))]
            self.totals = np.array(counts, dtype=np.float64)
        else:
            self.totals = np.bincount(to_host(self.codes), weights=self.weight).astype(float)

    def prepare(self, estimator: Any, factor: np.ndarray) -> None:
        from lincent.passes.device import to_host

        if np.all(factor == 1):
            self.cost = self.weight
        else:
            self.cost = self.weight * factor[to_host(self.codes)]

    def problem(self, task: Task) -> Problem:
        from lincent.passes.device import DeviceSource, to_host

        xp, codes, X = self.device.xp, self.codes, self.X
        weight, cost = self.weight, self.cost
        if not task.whole:
            rows = xp.nonzero(_among(codes, task.negative + task.positive))[0]
            host = to_host(rows)
            X, codes, weight, cost = X[rows], codes[rows], weight[host], cost[host]
        sign = xp.astype(_among(codes, task.positive), xp.float64)
        sign *= 2
        sign -= 1
        return DeviceSource(X), sign, weight, cost

    def _labeled(self, y: Any, m: int) -> tuple[np.ndarray, Any]:
        """The classes, and the class index of each row on the device."""
        from lincent.passes.device import to_host

        if tuple(np.shape(y)) != (m,):
            raise ValueError(
                f"X has {m} rows and y has shape {tuple(np.shape(y))}: give one label per row."
            )
        xp = self.device.xp
        if kind_of(y) is not Kind.DEVICE:
            classes, codes = np.unique(np.asarray(y), return_inverse=True)
            return classes, self.device.send(codes.astype(np.int8 if len(classes) < 128 else int))
        low, high = xp.min(y), xp.max(y)
        upper = y == high
        if bool(xp.all(upper | (y == low))) and bool(low != high):  # two classes: no sorting
            return np.array([to_host(low)[()], to_host(high)[()]]), xp.astype(upper, xp.int8)
        there, codes = xp.unique_inverse(y)
        return np.asarray(to_host(there)), codes


def _among(codes: Any, wanted: tuple[int, ...]) -> Any:
    mask = codes == wanted[0]
    for k in wanted[1:]:
        mask = mask | (codes == k)
    return mask
