"""Scores of rows by rules that have not seen them: what every honest figure is made of.

An estimator that cross-validates or calibrates keeps such scores (``out_of_fold_scores_``); they
come from the folds that chose and calibrated, and cost nothing.  For the others, and where rows
belong together and the estimator cannot know it, the whole pipeline, preparation included, is
fitted once for each fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lincent.inspection.curves import line_unit
from lincent.tables.infer import PreparedTable

FOLDS = 5
SHARE = 1 / (1 + FOLDS / (FOLDS - 1))
"""Of rows held out in folds, for intervals: see ``scores``."""
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class HeldOut:
    """Rows with a score from a rule that has not seen them.

    Attributes
    ----------
    rows : ndarray of int
        Their places in the table.
    labels : ndarray
        Their classes.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        As in ``decision_function``.
    chances : ndarray of shape (n_rows, n_classes) or None
        Probabilities, where the classifier has them.
    folds : ndarray of int
        A part for each row, in which a cut may be chosen on the other parts.
    how : str
        Where the scores come from, in words.
    share : float
        As many times fewer rows have the interval of a figure, where several rules were judged.
    """

    rows: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    chances: np.ndarray | None
    folds: np.ndarray
    how: str
    share: float = 1.0

    def in_units(self, unit: float) -> HeldOut:
        """The same with scores divided by a unit."""
        return replace(self, scores=self.scores / unit)


def held_out(pipeline: Any, known: PreparedTable, seed: int, report: Report) -> HeldOut | None:
    """Held-out scores of a fitted pipeline; None where a class has a single row."""
    kept = None
    if known.groups is None or "cv" in pipeline[-1].get_params(deep=False):
        kept = _kept_by(pipeline[-1], known, seed)
    if kept is not None:
        return kept
    splits = make_splits(known, seed)
    if not splits:
        return None
    return _cross_fitted(pipeline, known, splits, report)


def make_splits(known: PreparedTable, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds, by group where rows belong together; none where a class is too small."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    counts = np.unique(known.labels, return_counts=True)[1]
    if counts.min() < 2:
        return []
    least = int(counts.min())
    if known.groups is not None:
        least = min(least, *(len(np.unique(known.groups[known.labels == c]))
                             for c in np.unique(known.labels)))  # fmt: skip
    kind = StratifiedKFold if known.groups is None else StratifiedGroupKFold
    folds = kind(max(2, min(FOLDS, least)), shuffle=True, random_state=seed)
    found = list(folds.split(known.frame, known.labels, known.groups))
    classes = len(counts)
    whole = [len(np.unique(known.labels[train])) == classes for train, _ in found]
    return found if all(whole) else []


def _kept_by(classifier: Any, known: PreparedTable, seed: int) -> HeldOut | None:
    scores = getattr(classifier, "out_of_fold_scores_", None)
    if scores is None:
        return None
    scores = np.asarray(scores)
    there = np.flatnonzero(np.isfinite(scores.reshape(len(scores), -1)).all(axis=1))
    if len(np.unique(known.labels[there])) < len(classifier.classes_):
        return None  # a class with a single kind of row
    chances = getattr(classifier, "out_of_fold_probabilities_", None)
    parts = np.random.default_rng(seed).permutation(len(there)) % FOLDS
    return HeldOut(
        there,
        known.labels[there],
        scores[there],
        None if chances is None else np.asarray(chances)[there],
        parts,
        f"{len(there)} rows, each scored by rules that had not seen it",
        SHARE,
    )


def _unit(pipeline: Any, frame: Any, codes: np.ndarray) -> float:
    scores = np.asarray(pipeline.decision_function(frame))
    return line_unit(scores, codes) if scores.ndim == 1 else 1.0


def _cross_fitted(pipeline: Any, known: PreparedTable, splits: Any, report: Report) -> HeldOut:
    rows, codes = len(known.labels), np.unique(known.labels, return_inverse=True)[1]
    unit = _unit(pipeline, known.frame, codes)
    parts = np.zeros(rows, dtype=np.intp)
    scores: Any = None
    chances: Any = None
    for fold, (train, test) in enumerate(splits):
        report(fold, len(splits))
        made = clone(pipeline).fit(known.frame.iloc[train], known.labels[train])
        found = np.asarray(made.decision_function(known.frame.iloc[test]), dtype=np.float64)
        if found.ndim == 1:
            # A fold's line may be longer or shorter than another's: all are given one length.
            found = found * (unit / _unit(made, known.frame.iloc[train], codes[train]))
        scores = np.zeros((rows, *found.shape[1:])) if scores is None else scores
        scores[test], parts[test] = found, fold
        if hasattr(made[-1], "predict_proba"):
            given = made.predict_proba(known.frame.iloc[test])
            chances = np.zeros((rows, given.shape[1])) if chances is None else chances
            chances[test] = given
    report(len(splits), len(splits))
    by = "" if known.groups is None else ", groups kept together"
    how = f"{rows} rows in {len(splits)} folds{by}"
    return HeldOut(np.arange(rows), known.labels, scores, chances, parts, how, SHARE)
