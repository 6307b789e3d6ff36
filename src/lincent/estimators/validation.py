"""Validation of parameters and data, shared by all estimators.

The constraints are those of scikit-learn's ``_parameter_constraints``: a class combines the tables
below with its own.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from sklearn import get_config
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from lincent.estimators.threshold import DISCRIMINATORS
from lincent.solvers.lp.dispatch import SOLVERS
from lincent.sources.source import Kind, in_memory, kind_of, package_of, to_numpy
from lincent.tables.encoder import is_missing, one_number_per_cell

Strategy: TypeAlias = Literal["ovr", "ovo"]
Calibrated: TypeAlias = Literal["sigmoid"] | None
SolverName: TypeAlias = Literal["auto", "interior-point", "highs"]
Rule: TypeAlias = Literal["distance", "nearest", "svm"]


class Number(Interval):
    """An interval of numbers; True and False are none."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether the value is in the interval."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


POSITIVE = Number(numbers.Real, 0, np.inf, closed="neither")
NONNEGATIVE = Number(numbers.Real, 0, np.inf, closed="left")
COUNT = Number(numbers.Integral, 1, None, closed="left")
COMMON_CONSTRAINTS: dict[str, Any] = {
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "cv": ["cv_object", HasMethods("split")],
    "multi_class": [StrOptions({"ovr", "ovo"})],
    "probability": [StrOptions({"sigmoid"}), None],
    "tol": [POSITIVE],
    "max_iter": [COUNT],
    "time_limit": [POSITIVE, None],
    "n_jobs": [numbers.Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}
PAPER_CONSTRAINTS: dict[str, Any] = {
    **COMMON_CONSTRAINTS,
    "C": [Number(numbers.Real, 0, None, closed="right")],  # np.inf is the hard margin
    "margin": [POSITIVE],
    "discriminator": [StrOptions(set(DISCRIMINATORS))],
    "solver": [StrOptions(set(SOLVERS))],
}


def check_hinge_range(margin_range: Any) -> tuple[float, float]:
    """Return a range of margins over which a hinge can be averaged, as Newton's method needs."""
    try:
        low, high = (float(value) for value in margin_range)
    except (TypeError, ValueError):
        raise ValueError(
            f"margin_range={margin_range!r} is not usable: give two numbers (low, high)."
        ) from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high and high > 0):
        raise ValueError(
            f"margin_range={margin_range!r} is not usable: give finite numbers low < high with "
            "high above 0."
        )
    return low, high


def plain(label: Any) -> Any:
    """Return a class label as a user writes it: 0, not np.int64(0)."""
    return label.item() if isinstance(label, np.generic) else label


def check_training_data(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return X, the classes and the class index of each sample, for ``fit``.

    ``_finite_by_centers`` leaves it to the class centers to find entries that are not finite
    (``check_finite``).
    """
    check_convertible(y)
    with one_number_per_cell():
        X, y = validate_data(
            estimator,
            in_memory(X),
            y,
            accept_sparse=estimator._accept_sparse,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite=not getattr(estimator, "_finite_by_centers", False),
        )
    classes, codes = label_codes(y)
    check_classes(classes)
    return X, classes, codes


def check_convertible(y: Any, name: str = "y") -> None:
    """Raise an error for labels that are missing, or that end in a byte NumPy would drop."""
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"{name} has masked entries: leave these rows out.")
    listed = isinstance(y, list | tuple | np.ndarray) or package_of(y) in ("pandas", "polars")
    if listed and getattr(getattr(y, "dtype", None), "kind", "O") == "O":
        values = np.asarray(y, dtype=object).ravel().tolist()
        missing = [row for row, label in enumerate(values) if is_missing(label)]
        if missing:
            raise ValueError(
                f"Input {name} contains NaN: {len(missing)} of {len(values)} are missing, the "
                f"first in row {missing[0]} (from 0). Leave these rows out."
            )
    if isinstance(y, np.ndarray):
        return
    converted = isinstance(y, list | tuple) or package_of(y) == "polars"
    if converted and any(isinstance(label, str) and label.endswith("\0") for label in y):
        raise ValueError(f"{name} has a label that ends in the byte 0, which NumPy drops.")


def check_finite(X: Any, centers: np.ndarray, name: str) -> None:
    """Raise scikit-learn's error where X is not finite, which the class centers show.

    They are sums over all entries; this saves a pass over X.
    """
    if not np.isfinite(centers).all():
        with one_number_per_cell():
            assert_all_finite(X, input_name="X", estimator_name=name)


def label_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and the class index of each sample, without sorting y."""
    if y.dtype.kind in "biu":
        low, high = y.min(), y.max()
        upper = y == high
        if low != high and (upper | (y == low)).all():
            return np.array([low, high]), upper.astype(np.intp)
    elif y.dtype.kind not in "US":
        # Integers and strings are always classes; other labels may be a regression target.
        check_classification_targets(y)
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def read_labels(name: str, y: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of y, at least two, and the class index of each sample."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    check_convertible(y)
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    if len(y) != n_samples:
        raise ValueError(f"X has {n_samples} rows and y has {len(y)}: give one label per row.")
    classes, codes = label_codes(y)
    check_classes(classes)
    return classes, codes


def check_labels(y: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the class index of each sample, for labels of known classes."""
    y = np.asarray(to_numpy(y))
    if y.shape != (n_samples,):
        raise ValueError(f"y has shape {y.shape}; give one label for each of the {n_samples} rows.")
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    strange = classes[codes] != y
    if np.any(strange):
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"y[{row}] is {plain(y[row])!r}, a class unknown to this model; it knows "
            f"{classes.tolist()!r}."
        )
    return codes


def refuse_backend(estimator: Any, X: Any) -> NoReturn:
    """Raise an error for data that this estimator reads in memory only."""
    raise TypeError(
        f"{type(estimator).__name__} reads arrays in memory only, not {type(X).__module__} "
        f"{type(X).__name__}: convert X first (compute() or cpu()), or use LCC."
    )


def check_classes(classes: np.ndarray) -> None:
    """Raise an error for less than two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class ({plain(classes[0])!r}); a classifier needs rows of at least "
            "two classes."
        )


def check_rows(estimator: Any, X: Any) -> Any:
    """Return X for prediction, with the features of ``fit``."""
    if kind_of(X) is Kind.DEVICE:
        return check_device_rows(estimator, X, reset=False)
    with one_number_per_cell():
        return validate_data(
            estimator,
            in_memory(X),
            accept_sparse=estimator._accept_sparse,
            dtype=[np.float64, np.float32],
            reset=False,
        )


def check_device_rows(estimator: Any, X: Any, *, reset: bool, finite: bool = True) -> Any:
    """Return a device array of two dimensions with the right features and finite numbers."""
    from lincent.sources.device import check_finite_on_device, numbers_on_device

    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); give rows by columns.")
    if min(X.shape) == 0:
        raise ValueError(f"X has shape {tuple(X.shape)}; give at least one row and one column.")
    if "sparse" in str(getattr(X, "layout", "")):
        raise ValueError("X is a sparse tensor; give a dense one, or a SciPy sparse matrix.")
    if "complex" in str(X.dtype):
        raise ValueError("X has complex numbers; give real ones.")
    validate_data(estimator, np.empty((0, int(X.shape[1]))), reset=reset, skip_check_array=True)
    X = numbers_on_device(X)
    if finite and not get_config()["assume_finite"]:
        check_finite_on_device(X)
    return X


def check_device_labels(y: Any, m: int, device: Any) -> tuple[np.ndarray, Any]:
    """Return the classes of m samples, and the class index of each sample on the device."""
    if tuple(np.shape(y)) != (m,):
        raise ValueError(
            f"X has {m} rows and y has shape {tuple(np.shape(y))}: give one label per row."
        )
    xp = device.xp
    if kind_of(y) is not Kind.DEVICE:
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        codes = device.send(codes)
    else:
        values, codes = xp.unique_inverse(y)
        classes = np.asarray(device.fetch(values))
    codes = xp.astype(codes, xp.int8 if len(classes) < 128 else xp.int64)
    check_classification_targets(classes)
    check_classes(classes)
    return classes, codes


def check_dask_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Check names and number of the columns of a Dask collection, without a pass over it."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); give rows by columns.")
    if getattr(getattr(X, "dtype", None), "kind", "f") == "c":
        raise ValueError("X has complex numbers; give real ones.")
    if not hasattr(X, "columns") and X.shape[0] == 0:
        raise ValueError(f"X has shape {tuple(X.shape)}; give at least one row.")
    empty = X._meta if hasattr(X, "columns") else np.empty((0, int(X.shape[1])))
    validate_data(estimator, empty, reset=reset, skip_check_array=True)


def check_batch_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Check names and number of the columns of batches by the first of them."""
    columns = len(X.names) if X.names is not None else int(np.shape(X.first())[1])
    if not reset and X.names is not None and hasattr(estimator, "feature_names_in_"):
        expected = estimator.feature_names_in_.tolist()
        if X.names != expected:
            raise ValueError(f"X has the columns {X.names!r}, and fit had {expected!r}.")
        return
    validate_data(estimator, np.empty((0, columns)), reset=reset, skip_check_array=True)
    if reset and X.names is not None:
        estimator.feature_names_in_ = np.array(X.names, dtype=object)


def check_class_totals(classes: np.ndarray, totals: np.ndarray) -> None:
    """Raise an error for a class of weight zero."""
    if (totals <= 0).any():
        empty = classes[int(np.flatnonzero(totals <= 0)[0])]
        raise ValueError(
            f"All rows of class {plain(empty)!r} have weight zero; give the class a positive "
            "weight or leave its rows out."
        )


@dataclass(frozen=True)
class ClassCosts:
    """The cost of a sample per unit of weight and the importance, for each class."""

    factor: np.ndarray
    importance: np.ndarray

    def of(self, sides: Sequence[Sequence[int]], totals: np.ndarray) -> tuple[float, float]:
        """Return the importance of each side: the mean of its classes, by their weight."""
        if len(self.importance) == 2:
            return float(self.importance[sides[0][0]]), float(self.importance[sides[1][0]])
        low, high = (
            float(np.average(self.importance[list(s)], weights=totals[list(s)])) for s in sides
        )
        return low, high


def check_class_weight(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> ClassCosts:
    """Return the costs of classes with these total weights.

    The cost factor multiplies the costs of the samples of a class.  The importance moves the
    threshold: None and "balanced" ask that the classes count the same, which the midpoint does, so
    both give equal importance; a dictionary states the importances.
    """
    check_class_totals(classes, totals)
    ones = np.ones(len(classes))
    if class_weight is None:
        return ClassCosts(ones, ones)
    if isinstance(class_weight, str):
        return ClassCosts(totals.sum() / (len(classes) * totals), ones)
    unknown = [label for label in class_weight if label not in set(classes.tolist())]
    if unknown:
        raise ValueError(
            f"class_weight names the class {unknown[0]!r}, which y does not have; its classes are "
            f"{classes.tolist()!r}."
        )
    factors = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=float)
    if not np.all(np.isfinite(factors)) or np.any(factors <= 0):
        raise ValueError(
            f"class_weight={class_weight!r}: every class weight must be above 0 and finite."
        )
    return ClassCosts(factors, factors)
