"""Input checks shared by all estimators, each with a sentence that says what to do."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from sklearn import get_config
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from lincent.estimators.discriminators import DISCRIMINATORS
from lincent.estimators.dispatch import refuse_namespace
from lincent.solvers.lp.dispatch import SOLVERS
from lincent.sources.source import Kind, kind_of, to_numpy


def plain(label: Any) -> Any:
    """A class label as a user writes it: 0, not np.int64(0)."""
    return label.item() if isinstance(label, np.generic) else label


def _is_number(value: Any, kind: type = numbers.Real) -> bool:
    """Whether the value is a number of this kind; True and False are not."""
    return isinstance(value, kind) and not isinstance(value, bool)


def check_positive(name: str, value: Any, *, infinite: bool = False) -> float:
    """A real number above zero (optionally infinite), or a sentence naming the parameter."""
    ok = _is_number(value) and value > 0
    if not ok or (np.isinf(value) and not infinite):
        allowed = "above 0 (np.inf is the hard margin)" if infinite else "above 0 and finite"
        raise ValueError(f"{name}={value!r} is not usable: give a number {allowed}.")
    return float(value)


def check_nonnegative(name: str, value: Any) -> float:
    """A finite real number of at least zero."""
    ok = _is_number(value) and value >= 0
    if not ok or np.isinf(value):
        raise ValueError(f"{name}={value!r} is not usable: give a finite number of at least 0.")
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        words = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name}={value!r} is not known: choose one of {words}.")
    return str(value)


def check_count(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    ok = _is_number(value, numbers.Integral) and value >= 1
    if not ok:
        raise ValueError(f"{name}={value!r} is not usable: give a whole number of at least 1.")
    return int(value)


def check_solve_params(model: Any) -> None:
    """The parameters of a solve."""
    check_positive("tol", model.tol)
    check_count("max_iter", model.max_iter)
    check_choice("solver", model.solver, SOLVERS)
    if model.time_limit is not None:
        check_positive("time_limit", model.time_limit)


def check_line_params(model: Any) -> None:
    """The parameters of a line with one margin, and those of its solve."""
    check_positive("C", model.C, infinite=True)
    check_positive("margin", model.margin)
    check_choice("discriminator", model.discriminator, DISCRIMINATORS)
    check_solve_params(model)


def check_training_data(
    estimator: Any, X: Any, y: Any, *, accept_sparse: Any = "csr", finite: bool = True
) -> tuple[Any, np.ndarray, np.ndarray]:
    """X and y for ``fit``: X, the classes, and the class index of each row.

    ``finite=False`` leaves it to the class centers to find entries that are not (``check_finite``).
    """
    if _usable_as_given(X, y) and (not finite or _surely_finite(X)):
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)  # of an earlier fit to a frame
    else:
        refuse_namespace(estimator, X)
        X, y = validate_data(
            estimator,
            X,
            y,
            accept_sparse=accept_sparse,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite=finite,
        )
    classes, codes = label_codes(y)
    check_classes(classes)
    return X, classes, codes


def _usable_as_given(X: Any, y: Any) -> bool:
    """Whether scikit-learn's validation would return X and y as they are, but for what is in them.

    It takes a fifth of a fit to a few hundred rows to find that out.  Whatever is in doubt goes
    through it, and gets its sentences.
    """
    return (
        type(X) is type(y) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and y.dtype.kind in "biu"
        and X.ndim == 2
        and y.ndim == 1
        and len(X) == len(y) >= 2
        and X.shape[1] >= 1
    )


@np.errstate(all="ignore")
def _surely_finite(X: np.ndarray) -> bool:
    """Whether the sum of all entries is finite, and so is each of them."""
    return bool(np.isfinite(np.add.reduce(X, axis=None)))


def check_finite(X: Any, centers: np.ndarray, name: str) -> None:
    """Centers are sums over all entries, so that one which is not finite shows in them.

    This saves the read of X that scikit-learn's check would take.
    """
    if not np.isfinite(centers).all():
        assert_all_finite(X, input_name="X", estimator_name=name)


def label_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the class index of each row; no sorting of all rows."""
    if y.dtype.kind in "biu":
        low, high = y.min(), y.max()
        upper = y == high
        if low != high and (upper | (y == low)).all():
            return np.array([low, high]), upper.astype(np.intp)
    elif y.dtype.kind not in "US":
        # Whole numbers and words are always classes; other labels may be numbers to predict.
        check_targets(y)
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def read_labels(name: str, y: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes of a column of labels, at least two, and the class number of each row."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    if len(y) != n_samples:
        raise ValueError(f"X has {n_samples} rows and y has {len(y)}: give one label per row.")
    classes, codes = label_codes(y)
    check_classes(classes)
    return classes, codes


def check_labels(y: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """The class index of each row, for labels of known classes."""
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


def check_targets(y: np.ndarray) -> None:
    """Labels that are classes, or scikit-learn's sentence about what they are instead."""
    check_classification_targets(y)


def refuse_elsewhere(estimator: Any, X: Any) -> NoReturn:
    """Say that this estimator would have to bring all of X into memory."""
    raise TypeError(
        f"{type(estimator).__name__} reads arrays in memory only, not {type(X).__module__} "
        f"{type(X).__name__}: convert X first (compute() or cpu()), or use LCC."
    )


def check_classes(classes: np.ndarray) -> None:
    """At least two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class ({plain(classes[0])!r}); a classifier needs rows of at least "
            "two classes."
        )


def check_rows(estimator: Any, X: Any, *, accept_sparse: Any = "csr") -> Any:
    """X for prediction: the same columns as in ``fit``."""
    if kind_of(X) is Kind.DEVICE:
        return check_device_rows(estimator, X, reset=False)
    refuse_namespace(estimator, X)
    return validate_data(
        estimator, X, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], reset=False
    )


def check_device_rows(estimator: Any, X: Any, *, reset: bool, finite: bool = True) -> Any:
    """X on a device: two dimensions, the right columns, numbers, finite; it does not move."""
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
    """The classes of m rows on a device, and the class index of each row, there."""
    if tuple(np.shape(y)) != (m,):
        raise ValueError(
            f"X has {m} rows and y has shape {tuple(np.shape(y))}: give one label per row."
        )
    xp = device.xp
    if kind_of(y) is not Kind.DEVICE:
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        codes = device.send(codes.astype(np.int8 if len(classes) < 128 else int))
    else:
        low, high = xp.min(y), xp.max(y)
        upper = y == high
        if device.count(upper | (y == low)) == m and bool(low != high):  # two classes: no sorting
            classes = np.array([device.fetch(low)[()], device.fetch(high)[()]])
            codes = xp.astype(upper, xp.int8)
        else:
            there, codes = xp.unique_inverse(y)
            classes = np.asarray(device.fetch(there))
    check_targets(classes)
    check_classes(classes)
    return classes, codes


def check_dask_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Names and number of the columns of a Dask collection, from what is known without reading."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); give rows by columns.")
    if getattr(getattr(X, "dtype", None), "kind", "f") == "c":
        raise ValueError("X has complex numbers; give real ones.")
    if not hasattr(X, "columns") and X.shape[0] == 0:
        raise ValueError(f"X has shape {tuple(X.shape)}; give at least one row.")
    known = X._meta if hasattr(X, "columns") else np.empty((0, int(X.shape[1])))
    validate_data(estimator, known, reset=reset, skip_check_array=True)


def check_batch_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Names and number of the columns of batches, from the first."""
    columns = len(X.names) if X.names is not None else int(np.shape(X.first())[1])
    known = np.empty((0, columns))
    if not reset and X.names is not None and hasattr(estimator, "feature_names_in_"):
        expected = estimator.feature_names_in_.tolist()
        if X.names != expected:
            raise ValueError(f"X has the columns {X.names!r}, and fit had {expected!r}.")
        return
    validate_data(estimator, known, reset=reset, skip_check_array=True)
    if reset and X.names is not None:
        estimator.feature_names_in_ = np.array(X.names, dtype=object)


def check_class_totals(classes: np.ndarray, totals: np.ndarray) -> None:
    """Every class must count."""
    if (totals <= 0).any():
        empty = classes[int(np.flatnonzero(totals <= 0)[0])]
        raise ValueError(
            f"All rows of class {plain(empty)!r} have weight zero; give the class a positive "
            "weight or leave its rows out."
        )


@dataclass(frozen=True)
class ClassCosts:
    """What a row of each class costs per unit of weight, and how much each class matters."""

    factor: np.ndarray
    importance: np.ndarray

    def of(self, sides: Sequence[Sequence[int]], totals: np.ndarray) -> tuple[float, float]:
        """How much each side of a problem matters: the mean of its classes, by their weight."""
        if len(self.importance) == 2:
            return float(self.importance[sides[0][0]]), float(self.importance[sides[1][0]])
        low, high = (
            float(np.average(self.importance[list(s)], weights=totals[list(s)])) for s in sides
        )
        return low, high


def check_class_weight(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> ClassCosts:
    """The costs of classes with these total weights.

    The cost factor multiplies the costs of a class's rows.  The importance moves the cut: None and
    "balanced" ask that the classes count the same, which is what the midpoint does already, so both
    give equal importance; a dictionary states the importances.
    """
    check_class_totals(classes, totals)
    ones = np.ones(len(classes))
    if class_weight is None:
        return ClassCosts(ones, ones)
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ("balanced",))
        return ClassCosts(totals.sum() / (len(classes) * totals), ones)
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
        raise ValueError(
            f"class_weight={class_weight!r}: every class weight must be above 0 and finite."
        )
    return ClassCosts(factors, factors)
