"""Whether a part of a model holds what it should: checked before anything is computed with it.

values      every parameter is one that the class accepts; every attribute is a finite number, text,
            an array of them, or a known part; nothing hides a method of its class
shapes      arrays that belong together have the sizes that their names promise

How the parts go together is the matter of ``rehearsal``.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from lincent.estimators.multiclass import STRATEGIES
from lincent.estimators.problem import tasks
from lincent.export.archive import Unacceptable
from lincent.export.parts import known_classes
from lincent.export.stored import (
    Cut,
    JointCalibration,
    Nearest,
    SeparateCalibration,
    Sigmoid,
    Softmax,
    Steps,
)

LONGEST_TEXT = 10_000
MOST_CLASSES = 1_000
REPORTS = {
    "best_score_", "cv_results_", "dual_objective_", "duality_gap_", "objective_",
    "objective_history_", "scores_",
}  # fmt: skip
"""Attributes that tell how a fit went and are not computed with: they may be infinite or NaN."""
SHAPES = {
    "_line_centers": "tasks 2", "_rules": "tasks", "_calibrators": "tasks", "classes_": "classes",
    "dual_coef_": "tasks support", "intercept_": "outputs", "plane_intercept_": "tasks 2",
    "local_centers_": "local features", "local_classes_": "local", "local_sizes_": "local",
    "mean_": "features", "plane_coef_": "tasks 2 features",
    "priors_": "classes", "pulls_": "tasks ...",
    "support_": "support", "support_vectors_": "support features",
    "statistics_": "features", "var_": "features",
}  # fmt: skip
"""The axes of attributes; an axis has one length in all of them; ``...`` is whatever follows."""

KINDS: dict[str, str | tuple[type, ...]] = {
    "_rules": (Cut, Nearest),
    "_calibrators": (Sigmoid, Steps, type(None)),
    "classes_": "biufUO",
    "local_classes_": "biufUO",
}
"""What these attributes are, where they are not arrays of numbers."""


def check_part(part: Any) -> None:
    """One estimator, transformer or smaller part, with all that is in it."""
    kind = type(part)
    if kind not in known_classes().values():
        raise Unacceptable(f"has a part of type {kind.__name__}, which no lincent model has")
    if isinstance(part, (Cut, Nearest, Sigmoid, Steps, Softmax)):
        _check_rule(part)
        return
    if isinstance(part, (JointCalibration, SeparateCalibration)):
        _check_calibration(part)
        return
    settings = set(kind._get_param_names()) if hasattr(kind, "_get_param_names") else set()
    missing = settings - vars(part).keys()
    if missing:
        raise Unacceptable(f"is damaged: its {kind.__name__} lacks {min(missing)}")
    for name, value in vars(part).items():
        if name not in settings and hasattr(kind, name) and callable(getattr(kind, name)):
            raise Unacceptable(f"is damaged: its {kind.__name__} replaces the method {name[:100]}")
        package = kind.__module__.partition(".")[0]
        free = name in settings or name in REPORTS
        _check_value(value, f"{package}.{kind.__name__}.{name}", may_be_infinite=free)
    _check_settings(part)
    _check_shapes(part)


def _check_value(value: Any, name: str, *, may_be_infinite: bool) -> None:
    """Plain data, or parts that are checked in turn."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return
    if isinstance(value, (slice, type, np.dtype)) and not name.startswith("lincent."):
        return
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise Unacceptable(f"is damaged: {name} has {len(value)} letters")
        return
    if isinstance(value, (int, float, np.number)):
        if not may_be_infinite and not math.isfinite(value):
            raise Unacceptable(f"is damaged: {name} is {value}, not a finite number")
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not may_be_infinite and not np.isfinite(value).all():
            raise Unacceptable(f"is damaged: {name} has an entry that is not finite")
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for entry in value:
            _check_value(entry, name, may_be_infinite=may_be_infinite)
        return
    check_part(value)


def _check_rule(rule: Any) -> None:
    """The rules on the line and the probabilities: few numbers, each with its meaning."""
    kind = type(rule).__name__
    numbers = {}
    for field in dataclasses.fields(rule):
        value = vars(rule).get(field.name)
        array = np.asarray(value if isinstance(value, (float, int, np.ndarray)) else np.nan)
        wanted = 1 if "ndarray" in str(field.type) else 0
        if array.ndim != wanted or array.dtype.kind not in "if" or not np.isfinite(array).all():
            raise Unacceptable(f"is damaged: {kind}.{field.name} is not finite numbers")
        numbers[field.name] = array
    if set(vars(rule)) != set(numbers):
        raise Unacceptable(f"is damaged: {kind} has attributes that it should not have")
    rising = [numbers[name] for name in ("negative", "positive", "at") if name in numbers]
    if any(a.ndim and (not a.size or np.any(np.diff(a) < 0)) for a in rising):
        raise Unacceptable(f"is damaged: the numbers of {kind} are not in order")
    if isinstance(rule, Steps):
        heights = numbers["height"]
        if heights.shape != numbers["at"].shape or np.any((heights < 0) | (heights > 1)):
            raise Unacceptable("is damaged: the heights of Steps are no probabilities")
    if "unit" in numbers and not numbers["unit"] > 0:
        raise Unacceptable(f"is damaged: the unit of {kind} is not positive")


def _check_calibration(part: JointCalibration | SeparateCalibration) -> None:
    """What turns the scores of all problems into probabilities: its parts and how they combine."""
    found, kind = vars(part), type(part).__name__
    if set(found) != {field.name for field in dataclasses.fields(part)}:
        raise Unacceptable(f"is damaged: {kind} has not the attributes that it should have")
    if isinstance(part, JointCalibration):
        inner: Any = [part.softmax]
        wanted = type(part.unit) is float and 0 < part.unit < math.inf
    else:
        whole = type(part.n_classes) is int and type(part.parts) is list
        inner = part.parts
        wanted = whole and 2 <= part.n_classes <= MOST_CLASSES
    kinds = (Softmax,) if isinstance(part, JointCalibration) else (Sigmoid, Steps)
    if not wanted or part.strategy not in STRATEGIES or not _is_kind(inner, kinds):
        raise Unacceptable(f"is damaged: {kind} is not what it should be")
    for entry in inner:
        _check_rule(entry)


def _check_settings(part: Any) -> None:
    """Every parameter, by the rules that the class has for ``fit``."""
    try:
        if hasattr(part, "_check_params"):
            part._check_params()
            strategy = getattr(part, "multi_class", "ovr")
            if type(strategy) is not str or strategy not in STRATEGIES:
                raise ValueError(f"multi_class must be one of {', '.join(STRATEGIES)}")
        elif hasattr(part, "_validate_params"):
            part._validate_params()
    except Exception as error:
        text = " ".join(str(error).split())[:300].rstrip(".")
        raise Unacceptable(f"has a setting that is not one: {ascii(text)[1:-1]}") from error


def _check_shapes(part: Any) -> None:
    found = vars(part)
    kind = type(part).__name__
    sizes: dict[str, int] = {}
    if "n_features_in_" in found:
        sizes["features"] = _whole(found["n_features_in_"], f"{kind}.n_features_in_")
    if "classes_" in found:
        sizes["classes"] = _count_classes(found["classes_"], kind)
        sizes["tasks"] = len(tasks(sizes["classes"], getattr(part, "multi_class", "ovr")))
    for name in SHAPES.keys() & found.keys():
        value, axes = found[name], SHAPES[name]
        if name in ("coef_", "means_") and ("terms_" in found or isinstance(value, dict)):
            continue  # AdditiveLCC's terms, AutoLCC's blocks: the rehearsal computes with them
        if not _is_kind(value, KINDS.get(name, "bif")):
            raise Unacceptable(f"is damaged: {kind}.{name} is not what it should be")
        shape = np.shape(value) if isinstance(value, np.ndarray) else (len(value),)
        wanted = axes.removesuffix(" ...").split()
        known = [int(a) if a.isdigit() else sizes.setdefault(a, s) for a, s in zip(wanted, shape)]  # noqa: B905
        if known != list(shape[: len(wanted)]) or (len(shape) > len(wanted)) != ("..." in axes):
            raise Unacceptable(f"is damaged: {kind}.{name} has the shape {shape}, which cannot be")
    # A direction and a cut for each two-class problem.
    lines = [np.shape(found.get(name))[:1] for name in ("coef_", "intercept_") if name in found]
    if "_rules" in found and any(shape != (sizes["tasks"],) for shape in lines):
        raise Unacceptable(f"is damaged: {kind} has not one direction for each problem")
    for name in ("var_",):
        if name in found and np.min(found[name], initial=0.0) < 0:
            raise Unacceptable(f"is damaged: {kind}.{name} is negative")
    centers = found.get("centers_")
    pairs = 2 * sizes.get("tasks", 0)
    if (
        centers is not None
        and "tasks" in sizes
        and (not _is_kind(centers, "bif") or centers.size not in (pairs, pairs * sizes["features"]))
    ):
        raise Unacceptable(f"is damaged: {kind}.centers_ is not what it should be")


def _is_kind(value: Any, kinds: str | tuple[type, ...]) -> bool:
    """An array of these kinds of numbers or text, or a list of these parts."""
    if isinstance(kinds, str):
        return isinstance(value, np.ndarray) and value.dtype.kind in kinds
    return isinstance(value, list) and all(isinstance(entry, kinds) for entry in value)


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise Unacceptable(f"is damaged: {name} is not a number of columns")
    return int(value)


def _count_classes(classes: Any, kind: str) -> int:
    array = isinstance(classes, np.ndarray) and classes.ndim == 1
    if not array or not 2 <= len(classes) <= MOST_CLASSES:
        raise Unacceptable(f"is damaged: {kind}.classes_ is no list of classes")
    labels = classes.tolist()
    if classes.dtype.kind not in "biufUO" or len(set(map(str, labels))) < len(labels):
        raise Unacceptable(f"is damaged: {kind}.classes_ is no list of different classes")
    if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
        raise Unacceptable(f"is damaged: {kind}.classes_ mixes text with other things")
    return len(labels)
