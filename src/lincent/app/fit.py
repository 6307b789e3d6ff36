"""From a table to a model: ``lincent fit``."""

from __future__ import annotations

import datetime
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import version as version_of
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line
from lincent.app.model import Model
from lincent.app.summary import describe_line, largest_impacts, scores_of
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV
from lincent.tables import (
    AS_FOUND,
    NO_WISHES,
    Reading,
    Understood,
    Wishes,
    read_table,
    understand,
    with_preparation,
)

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
    wishes: Wishes = NO_WISHES,
    drop: Iterable[str] = (),
    ids: Iterable[str] = (),
    reading: Reading = AS_FOUND,
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
    C : float, default=2.0
        As in :class:`lincent.LCC`; probabilities are on by default here.
    margin : float, default=None
        As in LCC; None is LCC's default. Not with ``tune``, which chooses it.
    discriminator : str, default='distance'
        As in :class:`lincent.LCC`; probabilities are on by default here.
    balanced : bool, default=False
        Give the classes equal total cost.
    multi_class : str, default='ovr'
        As in :class:`lincent.LCC`; probabilities are on by default here.
    probability : str, default='sigmoid'
        As in :class:`lincent.LCC`; probabilities are on by default here.
    wishes : Wishes
        What is known of the columns; without it they are judged by what they hold.
    drop : list of str, default=()
        Columns to ignore. Added to the wishes.
    ids : list of str, default=()
        Columns that identify a row, kept for ``predict``. Added to the wishes.
    reading : Reading
        How the file is written, where that is not to be found out.
    tell : callable, default=silent
        Is given a line at each stage.

    Returns
    -------
    Model
        The fitted model, with the decisions about its columns.
    """
    started = time.perf_counter()
    table = read_table(data, reading)
    tell(f"read {table.data.num_rows} rows, {table.data.num_columns} columns")
    wishes = replace(wishes, drop=(*wishes.drop, *drop), ids=(*wishes.ids, *ids))
    known = understand(table, target, wishes)
    for remark in known.remarks:
        tell(remark)
    classifier = _classifier(tune, C, margin, discriminator, balanced, multi_class, probability)
    pipeline = with_preparation(known.schema, classifier)
    tell("solving" if not tune else "tuning")
    caught = _fit(pipeline, known.frame, known.labels)
    summary = {
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "rows": len(known.labels),
        "seconds": round(time.perf_counter() - started, 3),
        "warnings": caught,
        **_training_summary(pipeline, known),
    }
    return Model(pipeline, known.schema, summary, version_of("lincent"))


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


def _fit(pipeline: Any, frame: Any, labels: np.ndarray) -> list[str]:
    """Fit, and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pipeline.fit(frame, labels)
        except ValueError as error:
            raise AppError(first_line(error, 400)) from error
    return sorted({first_line(warning.message, 400) for warning in caught})


def _training_summary(pipeline: Any, known: Understood) -> dict[str, Any]:
    classifier, labels = pipeline[-1], known.labels
    rows = pipeline[:-1].transform(known.frame)
    classes, counts = np.unique(labels, return_counts=True)
    ids = [known.table.data.column(name).to_pylist() for name in known.schema.ids]
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
        "impact": largest_impacts(classifier, rows, labels, ids, known.schema.ids),
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
