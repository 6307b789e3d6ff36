"""Out-of-fold predictions, the basis of all reported metrics.

Estimators that cross-validate or calibrate keep theirs (``out_of_fold_scores_``, computed in
``estimators.calibration`` and by the searches), which cost nothing.  For the others, and where rows
are grouped and the estimator does not know it, the whole pipeline, encoder included, is fitted once
for each fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from lincent import _console
from lincent._errors import AppError, nearest
from lincent.inspection.evaluation import errors_by_group, evaluate, notable_rows, score_scale
from lincent.inspection.thresholds import DecisionThreshold, HeldOut
from lincent.model_selection.folds import make_folds
from lincent.tables.formats import pa
from lincent.tables.infer import PreparedTable, independent_fraction
from lincent.tables.schema import is_text, plain_array, text_to_numbers, with_nulls
from lincent.tables.weighted import poststratified

N_SPLITS = 5
EFFECTIVE = 1 / (1 + N_SPLITS / (N_SPLITS - 1))
"""Fraction of out-of-fold rows that intervals are computed for (see ``inspection.evaluation``),
where no row is a copy of another."""


def make_splits(table: PreparedTable, random_state: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return stratified folds; groups and copies of a row stay together.

    There are none where a class is too small.
    """
    classes, codes = np.unique(table.labels, return_inverse=True)
    groups, copies = table.groups, independent_fraction(table.frame, table.hashes) < 1
    if groups is not None:
        together = groups
    else:
        together = table.hashes if copies else np.arange(len(codes))
    least = min(len(np.unique(together[codes == code])) for code in range(len(classes)))
    if least < 2:
        return []
    n_splits = min(N_SPLITS, least)
    if groups is None and copies:
        weight = np.ones(len(codes))
        return make_folds(n_splits, None, codes, weight, seed=random_state, hashes=together)
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = splitter(n_splits, shuffle=True, random_state=random_state)
    splits = list(folds.split(table.frame, table.labels, groups))
    complete = (len(np.unique(table.labels[train])) == len(classes) for train, _ in splits)
    return splits if all(complete) else []


def out_of_fold(pipeline: Any, table: PreparedTable, random_state: int) -> HeldOut | None:
    """Return out-of-fold predictions of a fitted pipeline; None where a class is too small."""
    classifier, classes = pipeline[-1], pipeline[-1].classes_
    codes = np.searchsorted(classes, table.labels)
    scores: Any = getattr(classifier, "out_of_fold_scores_", None)
    knows_groups = table.groups is None or "cv" in classifier.get_params(deep=False)
    effective = EFFECTIVE * independent_fraction(table.frame, table.hashes)
    if scores is not None and knows_groups:
        scores = np.asarray(scores)
        rows = np.flatnonzero(np.isfinite(scores.reshape(len(scores), -1)).all(axis=1))
        if len(np.unique(codes[rows])) == len(classes):
            own = getattr(classifier, "out_of_fold_probabilities_", None)
            own = None if own is None else np.asarray(own)[rows]
            folds = table.hashes[rows] % np.uint64(N_SPLITS)
            count, weight = f"{len(rows)}", None
            if len(rows) < len(codes):  # a sample with more of a rare class
                count += f" of {len(codes)}"
                weight = poststratified(codes[rows], np.ones(len(rows)), np.bincount(codes))
            how = f"{count} rows, each scored by models fitted without it"
            sample = rows, codes[rows], classes, scores[rows], own, folds, how, effective, weight
            return HeldOut(*sample)
    splits = make_splits(table, random_state)
    if not splits:
        return None
    n_rows = len(codes)
    scale = score_scale(pipeline.decision_function(table.frame), codes)
    folds, scores, probabilities = np.zeros(n_rows, dtype=np.intp), [], []
    for fold, (train, test) in enumerate(splits):
        _console.step("held-out fold", fold, len(splits))
        trained, held_out = table.frame.iloc[train], table.frame.iloc[test]
        model = clone(pipeline).fit(trained, table.labels[train])
        values = np.asarray(model.decision_function(held_out), dtype=np.float64)
        if values.ndim == 1:  # models of different folds may differ in scale
            values *= scale / score_scale(model.decision_function(trained), codes[train])
        scores.append(values)
        folds[test] = fold
        if hasattr(model[-1], "predict_proba"):
            probabilities.append(model.predict_proba(held_out))
    _console.step("held-out fold", len(splits), len(splits))
    grouped = "" if table.groups is None else ", groups kept together"
    how = f"{n_rows} rows in {len(splits)} folds{grouped}"
    order = np.argsort(np.concatenate([test for _, test in splits]))
    scores = np.concatenate(scores)[order]
    chances = np.concatenate(probabilities)[order] if probabilities else None
    return HeldOut(np.arange(n_rows), codes, classes, scores, chances, folds, how, effective)


def check_by(table: PreparedTable, by: str | None) -> None:
    """Raise an error for a column of ``--by`` that the table does not have."""
    names = table.table.data.column_names
    if by is not None and by not in names:
        raise AppError(f"The table has no column {by!r} (--by): {nearest(by, names)}")


def evaluate_rows(
    table: PreparedTable,
    held: HeldOut,
    predicted: np.ndarray,
    positive: Any,
    metric: str = "balanced_accuracy",
    threshold: DecisionThreshold | None = None,
    by: str | None = None,
) -> dict[str, Any]:
    """Return the evaluation of predicted rows, suspected label errors and examples among them."""
    evaluation = evaluate(held, predicted, positive, metric, threshold)
    if by is not None:
        values = plain_array(table.table.data.column(by)).take(pa.array(held.rows))
        if is_text(values.type):  # also the numbers of a text file
            numbers, bad = text_to_numbers(values, table.table.decimal)
            values = with_nulls(values) if bad.any() else pa.array(numbers, from_pandas=True)
        errors = errors_by_group(values.to_pandas(), held, predicted, positive)
        evaluation["by"] = {"column": by, "groups": errors}
    return {"held_out": evaluation, **notable_rows(held, table)}
