"""Input checks shared by all estimators, each with a sentence that says what to do."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

Floats = np.ndarray


def check_positive(name: str, value: Any, *, infinite: bool = False) -> float:
    """A real number above zero (optionally infinite), or a sentence naming the parameter."""
    ok = isinstance(value, numbers.Real) and not isinstance(value, bool) and value > 0
    if not ok or (np.isinf(value) and not infinite):
        allowed = "above 0 (np.inf is the hard margin)" if infinite else "above 0 and finite"
        raise ValueError(f"{name}={value!r} is not usable: give a number {allowed}.")
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        words = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name}={value!r} is not known: choose one of {words}.")
    return str(value)


def check_count(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    ok = isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= 1
    if not ok:
        raise ValueError(f"{name}={value!r} is not usable: give a whole number of at least 1.")
    return int(value)


def check_training_data(
    estimator: Any, X: Any, y: Any, *, accept_sparse: Any = "csr"
) -> tuple[Any, np.ndarray]:
    """X and y for ``fit``; sets ``classes_`` and returns X and the class index of each row."""
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse=accept_sparse,
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
    )
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class ({classes[0]!r}); a classifier needs rows of at least two classes."
        )
    estimator.classes_ = classes
    return X, codes


def check_rows(estimator: Any, X: Any, *, accept_sparse: Any = "csr") -> Any:
    """X for prediction: the same columns as in ``fit``."""
    return validate_data(
        estimator, X, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], reset=False
    )


def check_weights(sample_weight: Any, n_samples: int) -> np.ndarray:
    """One finite, nonnegative weight per row, not all zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n_samples, sample_weight, dtype=np.float64)
    weight = np.array(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; give one weight for each of the {n_samples} rows."
        )
    if not np.all(np.isfinite(weight)):
        row = int(np.flatnonzero(~np.isfinite(weight))[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]}; weights must be finite numbers.")
    if np.any(weight < 0):
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(
            f"sample_weight[{row}] is {weight[row]}, below zero; a weight counts repetitions of a row, "
            "so give zero or a positive number."
        )
    if not np.any(weight > 0):
        raise ValueError(
            "All sample weights are zero, so no row counts; give some row a positive weight."
        )
    return weight


def check_class_totals(estimator: Any, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The total weight of each class; every class must count."""
    totals = np.bincount(codes, weights=weight, minlength=len(estimator.classes_))
    if np.any(totals <= 0):
        empty = estimator.classes_[int(np.flatnonzero(totals <= 0)[0])]
        raise ValueError(
            f"All rows of class {empty!r} have weight zero; give the class a positive weight or "
            "leave its rows out."
        )
    return totals


def check_class_weight(
    estimator: Any, class_weight: Any, codes: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(cost factor, importance) of each class.

    The cost factor multiplies the costs of a class's rows.  The importance moves the cut: None and
    "balanced" ask that the classes count the same, which is what the midpoint does already, so both
    give equal importance; a dictionary states the importances.
    """
    classes = estimator.classes_
    totals = check_class_totals(estimator, codes, weight)
    ones = np.ones(len(classes))
    if class_weight is None:
        return ones, ones
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ("balanced",))
        return totals.sum() / (len(classes) * totals), ones
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight={class_weight!r} is not known: give None, 'balanced' or a dictionary "
            "{class label: weight}."
        )
    unknown = [label for label in class_weight if label not in set(classes.tolist())]
    if unknown:
        raise ValueError(
            f"class_weight names the class {unknown[0]!r}, which y does not have; its classes are "
            f"{classes.tolist()!r}."
        )
    factors = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=float)
    if not np.all(np.isfinite(factors)) or np.any(factors <= 0):
        raise ValueError(f"class_weight={class_weight!r}: every class weight must be above 0 and finite.")
    return factors, factors
