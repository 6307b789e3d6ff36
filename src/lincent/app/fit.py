"""From a table to a model: ``lincent fit``."""

from __future__ import annotations

import datetime
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version as version_of
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line, need
from lincent.app.model import Model
from lincent.app.schema import Schema, infer_schema, read_labels, to_frame
from lincent.app.summary import describe_line, largest_impacts, scores_of
from lincent.app.tables import read_table
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV

Tell = Callable[[str], None]


def silent(line: str) -> None:
    """Say nothing."""


def fit_table(
    data: Any,
    target: str,
    *,
    tune: bool = False,
    C: float = 2.0,
    margin: float | None = None,
    discriminator: str = "distance",
    balanced: bool = False,
    multi_class: str = "ovr",
    probability: str | None = "sigmoid",
    drop: Iterable[str] = (),
    ids: Iterable[str] = (),
    format: str | None = None,
    tell: Tell = silent,
) -> Model:
    """Fit a classifier, preprocessing included, to a table.

    Parameters
    ----------
    data : path, "-" or frame
        CSV or Parquet, standard input, or a frame of pandas, polars or Arrow.
    target : str
        The column to predict.
    tune : bool, default=False
        Choose margin and rule by cross-validation (LCCCV).
    C, discriminator, multi_class, probability
        As in :class:`lincent.LCC`; probabilities are on by default here.
    margin : float, default=None
        As in LCC; None is LCC's default. Not with ``tune``, which chooses it.
    balanced : bool, default=False
        Give the classes equal total cost.
    drop, ids : list of str
        Columns to ignore; columns that identify a row, kept for ``predict``.
    format : {"csv", "parquet"}, default=None
        By the name of the file where None.
    tell : callable, default=silent
        Is given a line at each stage.

    Returns
    -------
    Model
    """
    need("pandas", "app", "Fitting a table")
    started = time.perf_counter()
    table = read_table(data, format)
    if table.num_rows == 0:
        raise AppError("The table has no rows to learn from.")
    tell(f"read {table.num_rows} rows, {table.num_columns} columns")
    schema = infer_schema(table, target, list(drop), list(ids))
    labels = read_labels(table, target)
    _check_classes(labels, target)
    frame = to_frame(schema, table.combine_chunks())
    for name in schema.numeric:
        if frame[name].isna().all():
            raise AppError(f"The column {name!r} has no values: leave it out with --drop.")
    classifier = _classifier(tune, C, margin, discriminator, balanced, multi_class, probability)
    pipeline = _pipeline(schema, classifier)
    tell("solving" if not tune else "tuning")
    caught = _fit(pipeline, frame, labels)
    summary = {
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "rows": int(table.num_rows),
        "seconds": round(time.perf_counter() - started, 3),
        "warnings": caught,
        **_training_summary(pipeline, frame, labels, table, schema),
    }
    return Model(pipeline, schema, summary, version_of("lincent"))


def _check_classes(labels: np.ndarray, target: str) -> None:
    classes = np.unique(labels)
    if len(classes) < 2:
        raise AppError(
            f"The target {target!r} has one class only ({classes[0]!s}): a classifier needs rows "
            "of at least two."
        )
    if len(classes) > 100:
        raise AppError(
            f"The target {target!r} has {len(classes)} different values; lincent predicts classes, "
            "at most 100 of them."
        )


def _classifier(
    tune: bool,
    C: float,
    margin: float | None,
    discriminator: str,
    balanced: bool,
    multi_class: str,
    probability: str | None,
) -> Any:
    shared: dict[str, Any] = {
        "class_weight": "balanced" if balanced else None,
        "multi_class": multi_class,
        "probability": probability,
        "random_state": 0,
    }
    if not tune:
        chosen: dict[str, Any] = {} if margin is None else {"margin": margin}
        return LCC(C=C, discriminator=discriminator, **chosen, **shared)
    if margin is not None:
        raise AppError("--margin and --tune exclude each other: tuning chooses the margin.")
    return LCCCV(Cs=(C,), discriminators=(discriminator,), **shared)


def _pipeline(schema: Schema, classifier: Any) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    parts = []
    if schema.numeric:
        numbers = Pipeline(
            [("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())]
        )
        parts.append(("numbers", numbers, schema.numeric))
    if schema.categorical:
        categories = [
            np.array(column.categories, dtype=object)
            for column in schema.columns
            if column.name in schema.categorical
        ]
        encoder = OneHotEncoder(categories=categories, handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", encoder, schema.categorical))
    columns = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("columns", columns), ("classifier", classifier)])


def _fit(pipeline: Any, frame: Any, labels: np.ndarray) -> list[str]:
    """Fit, and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pipeline.fit(frame, labels)
        except ValueError as error:
            raise AppError(first_line(error, 400)) from error
    return sorted({first_line(warning.message, 400) for warning in caught})


def _training_summary(
    pipeline: Any, frame: Any, labels: np.ndarray, table: Any, schema: Schema
) -> dict[str, Any]:
    classifier = pipeline[-1]
    rows = pipeline[:-1].transform(frame)
    classes, counts = np.unique(labels, return_counts=True)
    ids = [table.column(name).to_pylist() for name in schema.ids]
    relative = np.max(
        np.atleast_1d(classifier.duality_gap_)
        / np.maximum(1.0, np.abs(np.atleast_1d(classifier.objective_)))
    )
    summary: dict[str, Any] = {
        "estimator": type(classifier).__name__,
        "settings": {
            name: value
            for name, value in classifier.get_params().items()
            if isinstance(value, (str, int, float, bool, type(None)))
        },
        "classes": {str(label): int(n) for label, n in zip(classes, counts, strict=True)},
        "features": int(classifier.n_features_in_),
        "certificate": {
            "objective": np.atleast_1d(classifier.objective_).tolist(),
            "duality_gap": np.atleast_1d(classifier.duality_gap_).tolist(),
            "relative_gap": float(relative),
            "certified": bool(relative <= classifier.tol),
        },
        "training": scores_of(classifier, rows, labels),
        "line": describe_line(classifier, rows, labels),
        "impact": largest_impacts(classifier, rows, labels, ids, schema.ids),
    }
    if hasattr(classifier, "best_score_"):
        summary["tuned"] = {
            "scoring": str(classifier.scoring),
            "mean_test_score": float(classifier.best_score_),
            "relative_margin": np.atleast_1d(classifier.relative_margin_).tolist(),
            "margin": np.atleast_1d(classifier.margin_).tolist(),
            "folds": int(classifier.n_splits_),
        }
    return summary
