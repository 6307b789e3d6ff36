"""From a table to a model: ``lincent fit``, with the methods of ``--method`` by name.

    auto         model selection                     AutoLCC
    linear       a linear classifier, tuned          RegularizedLCCCV
    additive     a shape function per column, tuned  AdditiveLCCCV
    structured   linear and local centers, tuned     StructuredLCCCV
    kernel       an RBF kernel                       KernelLCC
    lcc          the paper's method                  LCC
    quick        a linear classifier, not tuned      RegularizedLCC

The names of the classes and of the paper's methods (``lincent compare`` prints them) work as well.
"""

from __future__ import annotations

import datetime
import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from lincent import _console, _versions
from lincent._console import Progress, silent
from lincent._errors import AppError, first_line, nearest, printable
from lincent.estimators.problem import predicted_codes
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class
from lincent.estimators.validation import plain
from lincent.export.model import Model
from lincent.inspection.attribution import background_of
from lincent.inspection.evaluation import evaluation_warnings, score_scale
from lincent.inspection.permutation_importance import column_importances
from lincent.inspection.thresholds import (
    DecisionThreshold,
    HeldOut,
    check_threshold,
    choose_threshold,
    cost_per_row,
    given_threshold,
)
from lincent.tables.encoder import TableEncoder
from lincent.tables.infer import ColumnOptions, PreparedTable, infer_schema
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_table
from lincent.workflow.check import pack_hashes, reference
from lincent.workflow.large_file import find_large
from lincent.workflow.out_of_fold import check_by, evaluate_rows, make_splits, out_of_fold

CLASSES = {
    "auto": "AutoLCC",
    "linear": "RegularizedLCCCV",
    "additive": "AdditiveLCCCV",
    "structured": "StructuredLCCCV",
    "kernel": "KernelLCC",
    "lcc": "LCC",
    "quick": "RegularizedLCC",
    **{name: name for name in (*ESTIMATORS, *BASELINES) if name != "LCC"},
}
OF_THE_PAPER = ("LDA", "SVM", "DLS", "SMP", "WSV", "TSV", "DEL")
METHODS = (*CLASSES, "LCC-1NN", "LCC-1SV", "KernelLCC-box", *OF_THE_PAPER)


def fit_table(
    data: Any,
    target: str | None = None,
    *,
    method: str = "auto",
    params: Mapping[str, Any] | None = None,
    metric: str | None = None,
    threshold: float | None = None,
    costs: Mapping[str, float] | None = None,
    positive: Any = None,
    by: str | None = None,
    drop: Iterable[str] = (),
    ids: Iterable[str] = (),
    keep: Iterable[str] = (),
    roles: Mapping[str, str] | None = None,
    group: str | None = None,
    strict: bool = False,
    reading: ReadOptions = DEFAULT_READ,
    rows: bool = True,
    n_jobs: int | None = None,
    random_state: int = 0,
    log: Callable[[str], None] = silent,
    progress: Progress = silent,
) -> Model:
    """Fit a classifier, encoder included, to a table, and evaluate it on held-out rows.

    Parameters
    ----------
    data : path, "-" or frame
        CSV, Parquet, Feather, Excel or JSON lines, standard input, or a frame of pandas, polars or
        Arrow.
    target : str, default=None
        The column to predict; the last one if None.
    method : str, default="auto"
        "auto", "linear", "additive", "structured", "kernel", "lcc", "quick", the name of a class of
        this package or a method of the paper.
    params : dict, default=None
        Parameters of the estimator by name. ``probability`` is "sigmoid" unless given.
    metric : {"balanced_accuracy", "accuracy", "f1", "mcc"}, default=None
        Choose the threshold of two classes that maximizes this metric on held-out rows.
    threshold : float, default=None
        Predict the positive class from this probability on.
    costs : dict, default=None
        The cost of an error on a row of each class, such as ``{"yes": 5, "no": 1}``: choose the
        threshold of two classes with the least mean cost on held-out rows.
    positive : label, default=None
        The class that threshold, probability and F1 refer to; the second one in sorted order if
        None.
    by : str, default=None
        Also report the errors on held-out rows for each value of this column.
    drop, ids : list of str, default=()
        Columns to ignore; columns that identify a row, kept for ``predict``.
    keep : list of str, default=()
        Columns to use whatever they look like.
    roles : dict, default=None
        ``{column: role}``, one of number, category, date. Columns are used by their inferred type
        otherwise.
    group : str, default=None
        Rows with equal values in this column are kept on one side of every split.
    strict : bool, default=False
        Rows without a class are an error; they are left out and counted otherwise.
    reading : ReadOptions
        Format, separator, encoding and so on, where they are not to be inferred.
    rows : bool, default=True
        Keep some training rows for the report: those that are probably mislabeled, and examples.
    n_jobs : int, default=None
        Parallel folds, where the method has them.
    random_state : int, default=0
        Seed for the splits.
    log : callable, default=silent
        Is given a message about what was done to the table.
    progress : callable, default=silent
        Is given the stage, steps done, steps in all, and the current step.

    Returns
    -------
    Model
        With the metrics of held-out rows in ``summary["held_out"]``.
    """
    name = method_name(method)
    classifier = make_classifier(name, params or {}, random_state=random_state, n_jobs=n_jobs)
    check_threshold(metric, threshold, costs=costs)
    for option, names in (("drop", drop), ("ids", ids), ("keep", keep)):
        if isinstance(names, str):
            raise ValueError(f"{option}={names!r} is one name: give a list, [{names!r}].")
    options = ColumnOptions(tuple(drop), tuple(ids), tuple(keep), dict(roles or {}), group)
    started = time.perf_counter()
    large = find_large(data, reading, options, random_state, log)
    user_table = read_table(data, reading) if large is None else large.first
    if large is None:
        log(f"read {user_table.data.num_rows} rows, {user_table.data.num_columns} columns")
    if target is None:
        target = str(user_table.data.schema.names[-1])
        log(f"the target is {target!r}, the last column (--target names another).")
    sample = user_table if large is None else large.sample()
    table = infer_schema(sample, target, options, strict=strict)
    for warning in table.warnings:
        log(warning)
    check_threshold(metric, threshold, np.unique(table.labels), positive, costs)
    check_by(table, by)
    if table.groups is not None and "cv" in classifier.get_params(deep=False):
        classifier.set_params(cv=make_splits(table, random_state))
    # Estimators that encode tables themselves also standardize.
    encodes = "categorical_features" in classifier.get_params(deep=False)
    pipeline = Pipeline([("columns", TableEncoder(not encodes)), ("classifier", classifier)])
    n_rows, n_columns = table.frame.shape
    which = f"{n_rows} rows" if large is None else "all rows"
    progress(f"fitting {type(classifier).__name__} on {which}, {n_columns} columns", 0, 0)
    with warnings.catch_warnings(record=True) as caught, _console.listening(progress):
        warnings.simplefilter("always")
        try:
            if large is not None:
                held = large.fit(pipeline, table, strict)
                encoded = pipeline[:-1].transform(table.frame)
            else:
                encoded = pipeline[0].fit_transform(table.frame, table.labels)
                classifier.fit(encoded, table.labels)
                held = out_of_fold(pipeline, table, random_state)
        except ValueError as error:  # data that cannot be fitted
            raise AppError(first_line(error, 400)) from error
    # Predictions of single training rows are no part of a model to hand on.
    for attribute in ("out_of_fold_scores_", "out_of_fold_probabilities_"):
        vars(classifier).pop(attribute, None)
    classes, scale = classifier.classes_, 1.0
    # Votes of pairs have a scale of their own; else it is the distance between the classes.
    if len(classes) == 2 or getattr(classifier, "multi_class", "ovr") != "ovo":
        if held is None:
            scores = np.asarray(classifier.decision_function(encoded))
            scale = score_scale(scores, np.searchsorted(classes, table.labels))
        else:
            scale = score_scale(held.scores, held.codes)
    if held is not None:
        held = replace(held, scores=held.scores / scale)
    summary: dict[str, Any] = {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": name,
        **training_summary(pipeline, table),
        **(large.summary() if large is not None else {}),
        **_evaluation_summary(classifier, table, held, metric, threshold, costs, positive, by),
        "reference": reference(table, held, classes),
        "score_scale": scale,
        **column_importances(pipeline, table.frame, encoded, table.schema, scale, random_state),
        "background": background_of(encoded, pipeline[0].sources, random_state),
    }
    if not rows:
        summary |= {"suspected_label_errors": [], "examples": []}
    messages = (first_line(warning.message, 400) for warning in caught)
    summary["warnings"] = sorted({*messages, *summary["warnings"]})
    summary["seconds"] = round(time.perf_counter() - started, 3)
    return Model(pipeline, table.schema, summary, summary["versions"]["lincent"])


def _evaluation_summary(
    classifier: Any,
    table: PreparedTable,
    held: HeldOut | None,
    metric: str | None,
    threshold: float | None,
    costs: Mapping[str, float] | None,
    positive: Any,
    by: str | None,
) -> dict[str, Any]:
    """Return the evaluation of held-out rows and the decision threshold."""
    classes = classifier.classes_
    chosen: DecisionThreshold | None = None
    if threshold is not None:
        chosen = given_threshold(
            threshold, classes, positive, has_probabilities=hasattr(classifier, "predict_proba")
        )
    if held is None:
        if metric is not None or costs is not None:
            option = "--metric" if costs is None else "--costs"
            raise AppError(f"{option} needs held-out rows, and a class has one row only.")
        why = "There is no held-out score: a class has too few rows to be held out."
        nothing: dict[str, Any] = {"held_out": None, "suspected_label_errors": [], "examples": []}
        return nothing | {"threshold": chosen and asdict(chosen), "warnings": [why]}
    predicted, criterion = predicted_codes(held.scores), metric or costs
    if chosen is not None:
        predicted = chosen.predict(classes, held.probabilities)
    elif criterion is not None:
        chosen, predicted = choose_threshold(criterion, held, positive)
    first = metric or "balanced_accuracy"
    result = evaluate_rows(table, held, predicted, positive, first, chosen, by)
    evaluation = result["held_out"]
    if costs is not None:
        evaluation["costs"] = _costs(costs, held, predicted)
    messages = evaluation_warnings(held, evaluation, chosen)
    return result | {"threshold": chosen and asdict(chosen), "warnings": messages}


def _costs(costs: Mapping[str, float], held: HeldOut, predicted: np.ndarray) -> dict[str, Any]:
    """Return the mean cost of a held-out row at the threshold, and of the alternatives."""
    names = [str(plain(label)) for label in held.classes]

    def mean(codes: np.ndarray) -> float:
        return cost_per_row(held.confusion(codes), [costs[name] for name in names])

    return {
        "costs": dict(costs),
        "per_row": mean(predicted),
        "own_threshold": mean(predicted_codes(held.scores)),
        "always": {name: mean(np.full(len(predicted), code)) for code, name in enumerate(names)},
    }


def training_summary(pipeline: Any, table: PreparedTable) -> dict[str, Any]:
    """Return what was fitted to which data."""
    classes, counts = np.unique(table.labels, return_counts=True)
    schema, frame, hashes = table.schema, table.frame, table.hashes
    classifier, token = pipeline[-1], pipeline[0].missing_
    digest = hashlib.sha256("\x1f".join(frame.columns).encode() + np.sort(hashes).tobytes())
    missing = frame[schema.numeric].isna().mean()
    shares = {name: {token: float(share)} for name, share in missing.items() if share}
    for name in schema.categorical:
        frequencies = frame[name].fillna(token).value_counts(normalize=True)
        shares[name] = {str(value): float(share) for value, share in frequencies.items()}
    certificate = None
    # FQCC's gap certifies a local optimum, which bounds no distance to the best.
    if hasattr(classifier, "duality_gap_") and not hasattr(classifier, "objective_history_"):
        gap = float(classifier.duality_gap_)
        certified = gap <= getattr(classifier, "tol", np.inf)
        certificate = {"relative_gap": gap, "certified": certified}
    return {
        "estimator": type(classifier).__name__,
        "params": {
            key: value
            for key, value in classifier.get_params(deep=False).items()
            if isinstance(value, (str, int, float, bool, type(None)))
        },
        "rows": len(table.labels),
        "classes": {str(plain(c)): int(n) for c, n in zip(classes, counts, strict=True)},
        "features": int(classifier.n_features_in_),
        "certificate": certificate,
        "columns": [
            {"column": c.name, "role": c.role, "used_as": c.kind, "reason": c.reason}
            for c in table.columns
        ],
        "notes": list(table.warnings),
        "decimal": table.table.options.decimal,
        "shares": shares,
        "data": {"name": printable(table.table.name), "fingerprint": digest.hexdigest()[:16]},
        "row_hashes": pack_hashes(hashes),
        "versions": _versions.versions(),
    }


def method_name(name: str) -> str:
    """Return the name of a method as it is listed, whatever its case."""
    names = {method.lower(): method for method in METHODS}
    if name.lower() not in names:
        hint = nearest(name, METHODS, "methods")
        raise AppError(f"The method {name!r} (--method) is not known: {hint}")
    return names[name.lower()]


def make_classifier(
    name: str, params: Mapping[str, Any], *, random_state: int = 0, n_jobs: int | None = None
) -> Any:
    """Return the estimator of a method with these parameters, and probabilities by default."""
    if name in CLASSES:
        classifier = estimator_class(CLASSES[name])()
    else:
        from lincent.model_selection.methods import find_method

        classifier = find_method(name).estimator
    accepted = classifier.get_params(deep=False)
    for key in params:
        if key not in accepted:
            hint = " (the costs of errors are --costs CLASS=COST,...)" if key == "C" else ""
            raise AppError(
                f"--method {name} ({type(classifier).__name__}) has no parameter {key!r}{hint}; it "
                f"has {', '.join(sorted(accepted))}."
            )
        if key in ("categorical_features", "keep_columns"):
            raise AppError(
                f"{key} is no parameter of a table's model, whose columns are encoded before: name "
                "categories by `roles` (--role COLUMN=category), columns to keep by `keep`."
            )
    shared = {"random_state": random_state, "n_jobs": n_jobs, "probability": "sigmoid"}
    return classifier.set_params(
        **{key: value for key, value in shared.items() if key in accepted} | dict(params)
    )
