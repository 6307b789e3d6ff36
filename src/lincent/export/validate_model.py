"""Check that the parts of a model hold what they should, before anything is computed with them.

classes     every object is of a class that models of this package have (``model_classes``)
values      every parameter is valid for its class; every attribute is a finite number, text, an
            array of them, or another part; nothing replaces a method of its class
shapes      arrays that belong together have matching sizes
encoder     the encoded columns are those of the schema
smoke test  rows with numbers, missing values and unknown categories get a finite score and a class
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from lincent.estimators.additive_problem import Terms
from lincent.estimators.calibration import (
    IsotonicCurve,
    JointCalibration,
    SeparateCalibration,
    Softmax,
)
from lincent.estimators.problem import STRATEGIES, binary_tasks
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class
from lincent.estimators.threshold import Nearest, Threshold
from lincent.export.contributions import is_linear, linear_scores
from lincent.export.model import Model
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures
from lincent.features.splines import ColumnCurve, IncreasingCurve
from lincent.tables.encoder import MOST_CATEGORIES, EncodedColumn, TableEncoder
from lincent.tables.read import UserTable
from lincent.tables.schema import CATEGORY, DATE, FLAG, NUMBER, TEXT, Column

LONGEST_TEXT = 10_000
MOST_CLASSES = 1_000
REPORTS = {
    "best_score_", "cv_results_", "dual_objective_", "duality_gap_", "objective_",
    "objective_history_", "scores_",
}  # fmt: skip
"""Attributes that report on the fit and are not used to predict: they may be infinite or NaN."""
SHAPES = {
    "_intercept": "outputs", "_line_centers": "tasks 2", "_rules": "tasks", "classes_": "classes",
    "dual_coef_": "tasks support", "feature_importances_": "features",
    "intercept_": "outputs", "plane_intercept_": "tasks 2",
    "local_centers_": "local features", "local_classes_": "local", "local_sizes_": "local",
    "mean_": "features", "plane_coef_": "tasks 2 features",
    "priors_": "classes", "local_coef_": "tasks ...",
    "support_": "support", "support_vectors_": "support features",
    "statistics_": "features", "var_": "features",
}  # fmt: skip
"""The axes of attributes; an axis has one length in all of them; ``...`` is whatever follows."""

KINDS: dict[str, str | tuple[type, ...]] = {
    "_rules": (Threshold, Nearest),
    "classes_": "biufUO",
    "local_classes_": "biufUO",
}
"""What these attributes are, where they are not arrays of numbers."""
PARTS = (
    Threshold, EncodedColumn, ColumnCurve, IncreasingCurve, JointCalibration, KernelLandmarks,
    LocalCenters, Nearest, Pipeline, SeparateCalibration, Softmax, SplineFeatures, IsotonicCurve,
    TableEncoder, Terms,
)  # fmt: skip
"""Classes of a model beside the classifiers."""


@cache
def model_classes() -> dict[str, type]:
    """Return every class that a model file may name, by its name in the file."""
    classifiers = [estimator_class(name) for name in (*ESTIMATORS, *BASELINES)]
    classes: list[type] = [*classifiers, *PARTS]
    return {f"{kind.__module__}.{kind.__name__}": kind for kind in classes}


TRUSTED_TYPES = (
    *sorted(path for path in model_classes() if path.startswith("lincent.")), "numpy.dtype",
)  # fmt: skip
"""Types of this package in a model, for users of skops: ``skops.io.load(file, TRUSTED_TYPES)``."""


class InvalidModelFile(ValueError):
    """The reason why a file is no model: the end of a message that begins with its name."""


def check_model(model: Model) -> None:
    """Raise InvalidModelFile unless all parts fit and rows can be scored."""
    pipeline = model.pipeline
    if type(pipeline).__name__ != "Pipeline" or not hasattr(pipeline, "steps"):
        raise InvalidModelFile(f"holds a {type(pipeline).__name__}, not a fitted lincent pipeline")
    check_part(pipeline)
    classifier = pipeline.steps[-1][1]
    if not hasattr(classifier, "classes_") or not hasattr(classifier, "decision_function"):
        raise InvalidModelFile(
            f"holds a {type(classifier).__name__}, not a fitted lincent pipeline"
        )
    check_columns(model)
    smoke_test(model)


def check_columns(model: Model) -> None:
    """Check that the encoder is fitted to the columns of the schema."""
    steps, schema = model.pipeline.steps, model.schema
    encoder = steps[0][1]
    if len(steps) != 2 or not _is_encoder(encoder):
        raise InvalidModelFile("is damaged: its columns are not prepared as lincent does")
    wanted = {name: column for column in schema.columns for name in column.inputs}
    if [code.name for code in encoder.columns_] != list(wanted):
        raise InvalidModelFile("is damaged: its columns are not prepared in the order of lincent")
    if list(getattr(encoder, "feature_names_in_", ())) != list(wanted) or not all(
        _fits(code, wanted[code.name]) for code in encoder.columns_
    ):
        raise InvalidModelFile("is damaged: its columns are not prepared as its description says")
    width = len(encoder.sources)
    for name in ("center_", "scale_"):
        numbers = getattr(encoder, name, None)
        if not isinstance(numbers, np.ndarray) or numbers.shape != (width,):
            raise InvalidModelFile(f"is damaged: its columns have no {name} for each")
    if not np.all(encoder.scale_ > 0):
        raise InvalidModelFile("is damaged: the unit of a column is not positive")
    if width != model.classifier.n_features_in_:
        raise InvalidModelFile(
            f"is damaged: its columns become {width} numbers, and its classifier takes "
            f"{model.classifier.n_features_in_}"
        )


def _is_encoder(encoder: Any) -> bool:
    return (
        isinstance(encoder, TableEncoder)
        and type(vars(encoder).get("missing_")) is str
        and type(vars(encoder).get("columns_")) is list
        and all(type(code) is EncodedColumn for code in encoder.columns_)
        and all(set(vars(code)) == set(EncodedColumn.__annotations__) for code in encoder.columns_)
    )


def _fits(code: Any, column: Column) -> bool:
    """Return whether a column is encoded by its kind; rare ones of many categories are left out."""
    if type(code.fill) is not float or type(code.indicator) is not bool:
        return False
    if column.kind != CATEGORY:
        return code.categories is None
    found = code.categories
    return (
        isinstance(found, tuple)
        and all(isinstance(category, str) for category in found)
        and len(set(found)) == len(found) > 0
        and set(found) <= set(column.categories)
        and len(found) >= min(len(column.categories), MOST_CATEGORIES)
        and not code.indicator
    )


def smoke_test(model: Model) -> None:
    """Score rows of every kind, so that errors occur here and not with the data of the user."""
    import pyarrow as pa

    some = {
        NUMBER: pa.array([0.0, None, 1.0]),
        FLAG: pa.array([False, None, True]),
        CATEGORY: pa.array(["", None, "?"]),
        TEXT: pa.array(["", None, "two words"]),
        DATE: pa.array([0, None, 10**6], pa.timestamp("s")),
    }
    batch = UserTable(pa.record_batch({c.name: some[c.kind] for c in model.schema.columns}))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = model.score_batch(batch)
            if is_linear(model.classifier):
                linear_scores(model)
    except Exception as error:
        text = ascii(" ".join(str(error).split()))[1:-1]
        raise InvalidModelFile(
            f"cannot score a row ({type(error).__name__}, {text[:200]})"
        ) from error
    for name, column in found.items():
        if np.shape(column) != (3,):
            raise InvalidModelFile(f"gives {np.shape(column)} answers to three rows")
        if name != "class" and not np.isfinite(column).all():
            raise InvalidModelFile("gives a score that is not a finite number")


# The parts.


def check_part(part: Any) -> None:
    """Check an estimator, transformer or smaller part, with all that it holds."""
    kind = type(part)
    if kind not in model_classes().values():
        raise InvalidModelFile(f"has a part of type {kind.__name__}, which no lincent model has")
    if isinstance(part, (Threshold, Nearest, IsotonicCurve, Softmax)):
        _check_rule(part)
        return
    if isinstance(part, (JointCalibration, SeparateCalibration)):
        _check_calibration(part)
        return
    settings = set(kind._get_param_names()) if hasattr(kind, "_get_param_names") else set()
    missing = settings - vars(part).keys()
    if missing:
        raise InvalidModelFile(f"is damaged: its {kind.__name__} lacks {min(missing)}")
    for name, value in vars(part).items():
        if name not in settings and hasattr(kind, name) and callable(getattr(kind, name)):
            raise InvalidModelFile(
                f"is damaged: its {kind.__name__} replaces the method {name[:100]}"
            )
        package = kind.__module__.partition(".")[0]
        free = name in settings or name in REPORTS
        _check_value(value, f"{package}.{kind.__name__}.{name}", may_be_infinite=free)
    _check_settings(part)
    _check_shapes(part)


def _check_value(value: Any, name: str, *, may_be_infinite: bool) -> None:
    """Check plain data, or the parts that it holds."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return
    if isinstance(value, (slice, type, np.dtype)) and not name.startswith("lincent."):
        return
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise InvalidModelFile(f"is damaged: {name} has {len(value)} letters")
        return
    if isinstance(value, (int, float, np.number)):
        if not may_be_infinite and not math.isfinite(value):
            raise InvalidModelFile(f"is damaged: {name} is {value}, not a finite number")
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not may_be_infinite and not np.isfinite(value).all():
            raise InvalidModelFile(f"is damaged: {name} has an entry that is not finite")
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for entry in value:
            _check_value(entry, name, may_be_infinite=may_be_infinite)
        return
    check_part(value)


def _check_rule(rule: Any) -> None:
    """Check thresholds and calibrators, which hold few numbers."""
    kind = type(rule).__name__
    numbers = {}
    for field in dataclasses.fields(rule):
        value = vars(rule).get(field.name)
        array = np.asarray(value if isinstance(value, (float, int, np.ndarray)) else np.nan)
        wanted = 1 if "ndarray" in str(field.type) else 0
        if array.ndim != wanted or array.dtype.kind not in "if" or not np.isfinite(array).all():
            raise InvalidModelFile(f"is damaged: {kind}.{field.name} is not finite numbers")
        numbers[field.name] = array
    if set(vars(rule)) != set(numbers):
        raise InvalidModelFile(f"is damaged: {kind} has attributes that it should not have")
    rising = [numbers[name] for name in ("negative", "positive", "at") if name in numbers]
    if any(a.ndim and (not a.size or np.any(np.diff(a) < 0)) for a in rising):
        raise InvalidModelFile(f"is damaged: the numbers of {kind} are not in order")
    if isinstance(rule, IsotonicCurve):
        heights = numbers["height"]
        if heights.shape != numbers["at"].shape or np.any((heights < 0) | (heights > 1)):
            raise InvalidModelFile("is damaged: the heights of IsotonicCurve are no probabilities")
    if "scale" in numbers and not numbers["scale"] > 0:
        raise InvalidModelFile(f"is damaged: the scale of {kind} is not positive")


def _check_calibration(part: JointCalibration | SeparateCalibration) -> None:
    """Check the calibration of all problems: its parts and how they are combined."""
    found, kind = vars(part), type(part).__name__
    if set(found) != {field.name for field in dataclasses.fields(part)}:
        raise InvalidModelFile(f"is damaged: {kind} has not the attributes that it should have")
    if isinstance(part, JointCalibration):
        inner: Any = [part.softmax]
        wanted = type(part.scale) is float and 0 < part.scale < math.inf
    else:
        whole = type(part.n_classes) is int and type(part.parts) is list
        inner = part.parts
        wanted = whole and 2 <= part.n_classes <= MOST_CLASSES
    kinds = (Softmax,) if isinstance(part, JointCalibration) else (IsotonicCurve,)
    if not wanted or part.strategy not in STRATEGIES or not _is_kind(inner, kinds):
        raise InvalidModelFile(f"is damaged: {kind} is not what it should be")
    for entry in inner:
        _check_rule(entry)


def _check_settings(part: Any) -> None:
    """Check every parameter as ``fit`` does."""
    try:
        if hasattr(part, "_check_params"):
            if hasattr(part, "_parameter_constraints"):
                part._validate_params()
            part._check_params()
            strategy = getattr(part, "multi_class", "ovr")
            if type(strategy) is not str or strategy not in STRATEGIES:
                raise ValueError(f"multi_class must be one of {', '.join(STRATEGIES)}")
        elif hasattr(part, "_validate_params"):
            part._validate_params()
    except Exception as error:
        text = " ".join(str(error).split())[:300].rstrip(".")
        raise InvalidModelFile(f"has a setting that is not one: {ascii(text)[1:-1]}") from error


def _check_shapes(part: Any) -> None:
    found = vars(part)
    kind = type(part).__name__
    sizes: dict[str, int] = {}
    if "n_features_in_" in found:
        sizes["features"] = _whole(found["n_features_in_"], f"{kind}.n_features_in_")
    if "classes_" in found:
        sizes["classes"] = _count_classes(found["classes_"], kind)
        sizes["tasks"] = len(binary_tasks(sizes["classes"], getattr(part, "multi_class", "ovr")))
    for name in SHAPES.keys() & found.keys():
        value, axes = found[name], SHAPES[name]
        if not _is_kind(value, KINDS.get(name, "bif")):
            raise InvalidModelFile(f"is damaged: {kind}.{name} is not what it should be")
        shape = np.shape(value) if isinstance(value, np.ndarray) else (len(value),)
        wanted = axes.removesuffix(" ...").split()
        known = [int(a) if a.isdigit() else sizes.setdefault(a, s) for a, s in zip(wanted, shape)]  # noqa: B905
        if known != list(shape[: len(wanted)]) or (len(shape) > len(wanted)) != ("..." in axes):
            raise InvalidModelFile(
                f"is damaged: {kind}.{name} has the shape {shape}, which cannot be"
            )
    # A direction and a threshold for each binary problem.
    lines = [
        np.shape(found.get(name))[:1]
        for name in ("coef_", "intercept_", "_intercept")
        if name in found
    ]
    if "_rules" in found and any(shape != (sizes["tasks"],) for shape in lines):
        raise InvalidModelFile(f"is damaged: {kind} has not one direction for each problem")
    for name in ("var_",):
        if name in found and np.min(found[name], initial=0.0) < 0:
            raise InvalidModelFile(f"is damaged: {kind}.{name} is negative")
    centers = found.get("centers_")
    pairs = 2 * sizes.get("tasks", 0)
    if (
        centers is not None
        and "tasks" in sizes
        and (not _is_kind(centers, "bif") or centers.size not in (pairs, pairs * sizes["features"]))
    ):
        raise InvalidModelFile(f"is damaged: {kind}.centers_ is not what it should be")


def _is_kind(value: Any, kinds: str | tuple[type, ...]) -> bool:
    """Return whether a value is an array of these types, or a list of these parts."""
    if isinstance(kinds, str):
        return isinstance(value, np.ndarray) and value.dtype.kind in kinds
    return isinstance(value, list) and all(isinstance(entry, kinds) for entry in value)


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise InvalidModelFile(f"is damaged: {name} is not a number of columns")
    return int(value)


def _count_classes(classes: Any, kind: str) -> int:
    array = isinstance(classes, np.ndarray) and classes.ndim == 1
    if not array or not 2 <= len(classes) <= MOST_CLASSES:
        raise InvalidModelFile(f"is damaged: {kind}.classes_ is no list of classes")
    labels = classes.tolist()
    if classes.dtype.kind not in "biufUO" or len(set(map(str, labels))) < len(labels):
        raise InvalidModelFile(f"is damaged: {kind}.classes_ is no list of different classes")
    if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
        raise InvalidModelFile(f"is damaged: {kind}.classes_ mixes text with other things")
    return len(labels)
