"""Out-of-fold predictions, the basis of all reported metrics.

Estimators that cross-validate or calibrate keep theirs (``out_of_fold_scores_``), which cost
nothing.  For the others, and where rows are grouped and the estimator does not know it, the whole
pipeline, encoder included, is fitted once for each fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from lincent._console import Progress
from lincent.inspection.evaluation import HeldOut, class_distance
from lincent.tables.infer import PreparedTable

N_SPLITS = 5
EFFECTIVE = 1 / (1 + N_SPLITS / (N_SPLITS - 1))
"""Fraction of out-of-fold rows that intervals are computed for (see ``inspection.evaluation``)."""


def make_splits(table: PreparedTable, random_state: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return stratified folds, grouped where the rows are; none where a class is too small."""
    classes, counts = np.unique(table.labels, return_counts=True)
    least = int(counts.min())
    if least < 2:
        return []
    if table.groups is not None:
        by_class = (table.groups[table.labels == label] for label in classes)
        least = min(least, *(len(np.unique(groups)) for groups in by_class))
    splitter = StratifiedKFold if table.groups is None else StratifiedGroupKFold
    folds = splitter(max(2, min(N_SPLITS, least)), shuffle=True, random_state=random_state)
    splits = list(folds.split(table.frame, table.labels, table.groups))
    complete = (len(np.unique(table.labels[train])) == len(classes) for train, _ in splits)
    return splits if all(complete) else []


def out_of_fold(
    pipeline: Any, table: PreparedTable, random_state: int, progress: Progress
) -> HeldOut | None:
    """Return out-of-fold predictions of a fitted pipeline; None where a class is too small."""
    classifier = pipeline[-1]
    scores = getattr(classifier, "out_of_fold_scores_", None)
    knows_groups = table.groups is None or "cv" in classifier.get_params(deep=False)
    if scores is not None and knows_groups:
        scores = np.asarray(scores)
        rows = np.flatnonzero(np.isfinite(scores.reshape(len(scores), -1)).all(axis=1))
        if len(np.unique(table.labels[rows])) == len(classifier.classes_):
            probabilities = getattr(classifier, "out_of_fold_probabilities_", None)
            return HeldOut(
                rows,
                table.labels[rows],
                scores[rows],
                None if probabilities is None else np.asarray(probabilities)[rows],
                np.random.default_rng(random_state).permutation(len(rows)) % N_SPLITS,
                f"{len(rows)} rows, each scored by models fitted without it",
                EFFECTIVE,
            )
    splits = make_splits(table, random_state)
    return _cross_fitted(pipeline, table, splits, progress) if splits else None


def _cross_fitted(
    pipeline: Any,
    table: PreparedTable,
    splits: list[tuple[np.ndarray, np.ndarray]],
    progress: Progress,
) -> HeldOut:
    n_rows, codes = len(table.labels), np.unique(table.labels, return_inverse=True)[1]
    scale = _score_scale(pipeline, table.frame, codes)
    folds = np.zeros(n_rows, dtype=np.intp)
    scores: Any = None
    probabilities: Any = None
    for fold, (train, test) in enumerate(splits):
        progress("held-out fold", fold, len(splits))
        model = clone(pipeline).fit(table.frame.iloc[train], table.labels[train])
        rows = table.frame.iloc[test]
        values = np.asarray(model.decision_function(rows), dtype=np.float64)
        if values.ndim == 1:  # models of different folds may differ in scale
            values = values * (scale / _score_scale(model, table.frame.iloc[train], codes[train]))
        scores = np.zeros((n_rows, *values.shape[1:])) if scores is None else scores
        scores[test], folds[test] = values, fold
        if hasattr(model[-1], "predict_proba"):
            values = model.predict_proba(rows)
            if probabilities is None:
                probabilities = np.zeros((n_rows, values.shape[1]))
            probabilities[test] = values
    progress("held-out fold", len(splits), len(splits))
    grouped = "" if table.groups is None else ", groups kept together"
    how = f"{n_rows} rows in {len(splits)} folds{grouped}"
    return HeldOut(np.arange(n_rows), table.labels, scores, probabilities, folds, how, EFFECTIVE)


def _score_scale(pipeline: Any, frame: Any, codes: np.ndarray) -> float:
    scores = np.asarray(pipeline.decision_function(frame))
    return class_distance(scores, codes) if scores.ndim == 1 else 1.0
