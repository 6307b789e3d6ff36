"""Check that the parts of a model hold what they should, before anything is computed with them.

classes     every object is of a class that models of this package have (``MODULES``)
values      every parameter is valid for its class; every attribute is a finite number, text, an
            array of them, or another part; nothing replaces a method of its class
shapes      arrays that belong together have matching sizes
encoder     the encoded columns are those of the schema
smoke test  rows with numbers, missing values and unknown categories get a finite score and a class
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from lincent._errors import first_line
from lincent.estimators.additive import Terms
from lincent.estimators.calibration import (
    IsotonicCurve,
    JointCalibration,
    SeparateCalibration,
    Softmax,
)
from lincent.estimators.problem import STRATEGIES, binary_tasks
from lincent.estimators.registry import BASELINES, ESTIMATORS
from lincent.estimators.threshold import Nearest, Threshold
from lincent.export.model import Model, linear_scores
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures, TreeLeaves
from lincent.features.splines import ColumnCurve, IncreasingCurve
from lincent.features.tree_leaves import Trees
from lincent.tables.encoder import MOST_CATEGORIES, EncodedColumn, TableEncoder
from lincent.tables.infer import LONGEST_CLASS
from lincent.tables.read import UserTable
from lincent.tables.schema import CATEGORY, DATE, FLAG, NUMBER, Column

LONGEST_TEXT = 10_000
MOST_CLASSES = 1_000
REPORTS = {
    "best_score_", "cv_results_", "dual_objective_", "duality_gap_", "objective_",
    "objective_history_",
}  # fmt: skip
"""Attributes that report on the fit and are not used to predict: they may be infinite or NaN."""
SHAPES = {
    "_intercept": "outputs", "_rules": "tasks", "classes_": "classes",
    "dual_coef_": "tasks support", "feature_importances_": "features",
    "intercept_": "outputs", "plane_intercept_": "tasks 2",
    "local_centers_": "local features", "local_classes_": "local", "local_sizes_": "local",
    "plane_coef_": "tasks 2 features",
    "priors_": "classes", "local_coef_": "tasks ...",
    "support_": "support", "support_vectors_": "support features",
}  # fmt: skip
"""The axes of attributes; an axis has one length in all of them; ``...`` is whatever follows."""

KINDS: dict[str, Any] = {
    "_rules": (Threshold, Nearest),
    "classes_": "biufUO",
    "local_classes_": "biufUO",
}
"""What these attributes are, where they are not arrays of numbers."""
FIELDS: dict[type, dict[str, Any]] = {
    Threshold: {"at": "number"},
    Nearest: {"negative": "rising", "positive": "rising", "shift": "number"},
    Softmax: {"slope": "number", "offset": "numbers", "low": "number", "high": "number"},
    IsotonicCurve: {"at": "rising", "height": "shares", "scale": "positive"},
    JointCalibration: {"softmax": Softmax, "scale": "positive", "strategy": "strategy"},
    SeparateCalibration: {"parts": [IsotonicCurve], "n_classes": "classes", "strategy": "strategy"},
    EncodedColumn: {"name": "text", "categories": "texts", "fill": "number", "indicator": "flag"},
}
"""The attributes of small parts: a name of CHECKS, a part, or a list of parts."""
PARTS = (
    Threshold, EncodedColumn, ColumnCurve, IncreasingCurve, JointCalibration, KernelLandmarks,
    LocalCenters, Nearest, Pipeline, SeparateCalibration, Softmax, SplineFeatures,
    IsotonicCurve, TableEncoder, Terms, TreeLeaves, Trees,
)  # fmt: skip
MODULES = {**ESTIMATORS, **BASELINES, **{kind.__name__: kind.__module__ for kind in PARTS}}
"""Every class that a model file may name, with its module."""
TRUSTED_TYPES = (
    *sorted(f"{module}.{name}" for name, module in MODULES.items() if "lincent" in module),
    "numpy.dtype",
)
"""Types of this package in a model, for users of skops: skops.io.load(file, TRUSTED_TYPES)."""


def model_class(path: str) -> type | None:
    """Return the class of this name, if a model may have it; others are not imported."""
    module, _, name = path.rpartition(".")
    if MODULES.get(name) != module:
        return None
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


class InvalidModelFile(ValueError):
    """The reason why a file is no model: the end of a message that begins with its name."""


def refuse_if(condition: Any, message: str) -> None:
    """Raise InvalidModelFile with a message if a condition holds."""
    if condition:
        raise InvalidModelFile(message)


def require(condition: Any, message: str) -> None:
    """Raise InvalidModelFile about a damaged file unless a condition holds."""
    refuse_if(not condition, f"is damaged: {message}")


def in_words(error: BaseException) -> str:
    """Return the type and the message of an error of any origin, in ASCII on one line."""
    return ascii(f"{type(error).__name__}, {first_line(error)}")[1:-1].rstrip("., ")


def check_model(model: Model) -> None:
    """Raise InvalidModelFile unless all parts fit and rows can be scored."""
    pipeline = model.pipeline
    last: Any = pipeline
    if type(pipeline).__name__ == "Pipeline" and hasattr(pipeline, "steps"):
        check_part(pipeline)
        last = pipeline.steps[-1][1]
    fitted = hasattr(last, "classes_") and hasattr(last, "decision_function")
    refuse_if(not fitted, f"holds a {type(last).__name__}, not a fitted lincent pipeline")
    check_columns(model)
    smoke_test(model)


def check_columns(model: Model) -> None:
    """Check that the encoder is fitted to the columns of the schema."""
    steps, wanted = model.pipeline.steps, {n: c for c in model.schema.columns for n in c.inputs}
    encoder, width = steps[0][1], model.classifier.n_features_in_
    require(len(steps) == 2 and isinstance(encoder, TableEncoder), "its columns are not encoded")
    codes = vars(encoder).get("columns_")
    require(_is_kind(codes, (EncodedColumn,)), "its columns are not encoded")
    require([code.name for code in codes] == list(wanted), "its encoder has other columns")
    named = list(getattr(encoder, "feature_names_in_", ())) == list(wanted)
    fits = named and all(_fits(code, wanted[code.name]) for code in codes)
    require(fits and type(vars(encoder).get("missing_")) is str, "its encoder has other columns")
    for name in ("center_", "scale_"):
        numbers = getattr(encoder, name, None)
        fits = isinstance(numbers, np.ndarray) and numbers.shape == (len(encoder.sources),)
        require(fits, f"its columns have no {name} for each")
    require(np.all(encoder.scale_ > 0), "the scale of a column is not positive")
    require(len(encoder.sources) == width, f"its classifier does not take {len(encoder.sources)}")


def _fits(code: EncodedColumn, column: Column) -> bool:
    """Return whether a column is encoded by its kind; rare ones of many categories are left out."""
    if column.kind != CATEGORY or code.categories is None:
        return code.categories is None and column.kind != CATEGORY
    known, given = set(code.categories), column.categories
    least = max(1, min(len(given), MOST_CATEGORIES))
    return least <= len(known) == len(code.categories) and known <= {*given} and not code.indicator


def smoke_test(model: Model) -> None:
    """Score rows of every kind, so that errors occur here and not with the data of the user."""
    import pyarrow as pa

    some = {
        NUMBER: pa.array([0.0, None, 1.0]),
        FLAG: pa.array([False, None, True]),
        CATEGORY: pa.array(["", None, "?"]),
        DATE: pa.array([0, None, 10**6], pa.timestamp("s")),
    }
    batch = UserTable(pa.record_batch({c.name: some[c.kind] for c in model.schema.columns}))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answers = model.score_batch(batch)
            linear_scores(model)
    except Exception as error:
        raise InvalidModelFile(f"cannot score a row ({in_words(error)})") from error
    for name, column in answers.items():
        require(np.shape(column) == (3,), f"it gives {np.shape(column)} answers to three rows")
        finite = name == "class" or np.isfinite(column).all()
        require(finite, "it gives a score that is not a finite number")


# The parts.


def check_part(part: Any) -> None:
    """Check an estimator, transformer or smaller part, with all that it holds."""
    kind = type(part)
    foreign = model_class(f"{kind.__module__}.{kind.__name__}") is not kind
    refuse_if(foreign, f"has a part of type {kind.__name__}, which no lincent model has")
    if kind in FIELDS:
        _check_fields(part, FIELDS[kind])
        return
    if isinstance(part, Trees):
        _check_trees(part)
    settings = set(kind._get_param_names()) if hasattr(kind, "_get_param_names") else set()
    missing = settings - vars(part).keys()
    require(not missing, f"its {kind.__name__} lacks {min(missing, default='')}")
    for name, value in vars(part).items():
        method = name not in settings and callable(getattr(kind, name, None))
        require(not method, f"its {kind.__name__} replaces the method {name[:100]}")
        free = name in settings or name in REPORTS
        _check_value(value, f"{kind.__name__}.{name}", may_be_infinite=free)
    _check_settings(part)
    _check_shapes(part)


def _check_value(value: Any, name: str, *, may_be_infinite: bool) -> None:
    """Check plain data, or the parts that it holds."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return
    if isinstance(value, str):
        require(len(value) <= LONGEST_TEXT, f"{name} has {len(value)} letters")
    elif isinstance(value, (int, float, np.number)):
        require(may_be_infinite or math.isfinite(value), f"{name} is {value}, no finite number")
    elif isinstance(value, np.ndarray):
        finite = value.dtype.kind != "f" or may_be_infinite or np.isfinite(value).all()
        require(finite, f"{name} has an entry that is not finite")
    elif isinstance(value, (dict, list, tuple)):
        for entry in value.values() if isinstance(value, dict) else value:
            _check_value(entry, name, may_be_infinite=may_be_infinite)
    else:
        check_part(value)


def _is_numbers(value: Any) -> bool:
    return _is_kind(value, "if") and value.ndim == 1 and bool(np.isfinite(value).all())


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


CHECKS: dict[str, Callable[[Any], bool]] = {
    "number": _is_number,
    "positive": lambda value: _is_number(value) and value > 0,
    "numbers": _is_numbers,
    "rising": lambda v: _is_numbers(v) and v.size > 0 and not np.any(np.diff(v) < 0),
    "shares": lambda v: _is_numbers(v) and not np.any((v < 0) | (v > 1)),
    "classes": lambda value: type(value) is int and 2 <= value <= MOST_CLASSES,
    "strategy": lambda value: type(value) is str and value in STRATEGIES,
    "flag": lambda value: type(value) is bool,
    "text": lambda value: type(value) is str,
    "texts": lambda value: (
        value is None or (isinstance(value, tuple) and all(type(entry) is str for entry in value))
    ),
}


def _check_trees(part: Trees) -> None:
    """Check that every way down a tree ends at a leaf."""
    found: Any = {field.name: vars(part).get(field.name) for field in fields(part)}
    roots, left, column = (found[name] for name in ("roots", "left", "column"))
    ok = all(_is_kind(value, "bif") and value.ndim == 1 for value in found.values())
    ok = ok and all(_is_kind(found[name], "i") for name in ("roots", "feature", "left", "column"))
    ok = ok and len({len(found[name]) for name in found if name != "roots"}) == 1
    ok = ok and len(roots) > 0 and roots.min() >= 0 and roots.max() < len(left)
    ok = ok and found["feature"].min() >= 0
    down = ok and (left > np.arange(len(left))) & (left + 1 < len(left))
    require(ok and bool(np.all((column >= 0) | down)), "its trees are no trees")


def _check_fields(part: Any, fields: dict[str, Any]) -> None:
    kind = type(part).__name__
    require(set(vars(part)) == set(fields), f"{kind} has not the attributes that it should have")
    for name, wanted in fields.items():
        value = getattr(part, name)
        if isinstance(wanted, str):
            require(CHECKS[wanted](value), f"{kind}.{name} is not what it should be")
            continue
        parts, kinds = (value, wanted) if isinstance(wanted, list) else ([value], [wanted])
        require(_is_kind(parts, tuple(kinds)), f"{kind}.{name} is not what it should be")
        for entry in parts:
            check_part(entry)


def _check_settings(part: Any) -> None:
    """Check every parameter as ``fit`` does."""
    try:
        if hasattr(part, "_parameter_constraints"):
            part._validate_params()
        if hasattr(part, "_check_params"):
            part._check_params()
    except Exception as error:
        text = ascii(first_line(error, 300).rstrip("."))[1:-1]
        raise InvalidModelFile(f"has a setting that is not one: {text}") from error


def _check_shapes(part: Any) -> None:
    values, kind = vars(part), type(part).__name__
    sizes: dict[str, int] = {}
    if "n_features_in_" in values:
        count = values["n_features_in_"]
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool) and count > 0
        require(whole, f"{kind}.n_features_in_ is not a number of columns")
        sizes["features"] = int(count)
    if "classes_" in values:
        sizes["classes"] = _count_classes(values["classes_"], kind)
        sizes["tasks"] = len(binary_tasks(sizes["classes"], getattr(part, "multi_class", "ovr")))
    for name in SHAPES.keys() & values.keys():
        value, axes = values[name], SHAPES[name]
        require(_is_kind(value, KINDS.get(name, "bif")), f"{kind}.{name} is not what it should be")
        shape = np.shape(value) if isinstance(value, np.ndarray) else (len(value),)
        wanted = axes.removesuffix(" ...").split()
        known = [int(a) if a.isdigit() else sizes.setdefault(a, s) for a, s in zip(wanted, shape)]  # noqa: B905
        fits = known == list(shape[: len(wanted)]) and (len(shape) > len(wanted)) == ("..." in axes)
        require(fits, f"{kind}.{name} has the shape {shape}, which cannot be")
    # A direction and a threshold for each binary problem.
    names = ("coef_", "intercept_", "_coef", "_intercept")
    lines = [values[name] for name in names if name in values]
    if "_rules" in values:
        fits = all(np.shape(line)[:1] == (sizes["tasks"],) for line in lines)
        fits = fits and ("dual_coef_" not in values or "_intercept" in values)
        require(fits, f"{kind} has not one direction for each problem")
    if "centers_" in values and "tasks" in sizes:
        centers, pairs = values["centers_"], 2 * sizes["tasks"]
        fits = _is_kind(centers, "bif") and centers.size in (pairs, pairs * sizes["features"])
        require(fits, f"{kind}.centers_ is not what it should be")


def _is_kind(value: Any, kinds: str | tuple[type, ...]) -> bool:
    """Return whether a value is an array of these types, or a list of these parts."""
    if isinstance(kinds, str):
        return isinstance(value, np.ndarray) and value.dtype.kind in kinds
    return isinstance(value, list) and all(type(entry) in kinds for entry in value)


def _count_classes(classes: Any, kind: str) -> int:
    fits = _is_kind(classes, "biufUO") and classes.ndim == 1
    labels = classes.tolist() if fits else []
    require(2 <= len(labels) <= MOST_CLASSES, f"{kind}.classes_ is no list of classes")
    texts = [str(label) for label in labels]
    require(len({*texts}) == len(texts), f"{kind}.classes_ is no list of different classes")
    require(max(map(len, texts)) <= LONGEST_CLASS, f"{kind} has a long class")
    plain = classes.dtype.kind != "O" or labels == texts
    require(plain, f"{kind}.classes_ mixes text with other things")
    return len(labels)
