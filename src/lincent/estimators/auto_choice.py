"""What AutoLCC decides from out-of-fold scores: members, cut, and an honest estimate of itself.

Members are the settings (map, C) with the best measure; the score is the mean of theirs, each
divided by its standard deviation over unseen rows.  Scores of rows are (rows, rules): one rule for
two classes, one for each class of more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from lincent.estimators.softmax import Softmax, balanced_likelihood, fit_softmax
from lincent.model_selection.metrics import weighted_auc
from lincent.tables.weighted import quantiles

SHIFTS = 99
"""Places among which the cut is chosen, for a measure of hard labels."""


@dataclass(frozen=True)
class Rows:
    """Labels of the rows by which settings are judged."""

    codes: np.ndarray
    weight: np.ndarray
    n_classes: int

    def __getitem__(self, index: np.ndarray) -> Rows:
        return Rows(self.codes[index], self.weight[index], self.n_classes)


Measure = Callable[[np.ndarray, Rows], float]
"""From scores (rows, rules) to a number, the larger the better."""


def measure_of(scoring: Any, classes: np.ndarray) -> Measure:
    """The measure that ``scoring`` names; None is the area under the ROC curve or, for more than
    two classes, the mean log-probability of the right class, all classes counting the same.
    """
    if scoring is None or (isinstance(scoring, str) and scoring == "roc_auc" and len(classes) == 2):
        return ranking if len(classes) == 2 else likelihood
    from sklearn.metrics import check_scoring  # late: slow to import

    scorer = check_scoring(_Given(classes), scoring=scoring)

    def value(scores: np.ndarray, rows: Rows) -> float:
        given = _Given(classes).fit(scores, rows)
        named = {}
        if not np.all(rows.weight == rows.weight[0]):
            # A scorer of the user's own may not know weights; it is asked to only where they matter
            named = {"sample_weight": rows.weight}
        return float(scorer(given, scores, classes[rows.codes], **named))

    return value


def ranking(scores: np.ndarray, rows: Rows) -> float:
    """The area under the ROC curve."""
    positive = rows.codes == 1
    if not positive.any() or positive.all():
        return 0.5
    return weighted_auc(positive, scores[:, 0], rows.weight)


def likelihood(scores: np.ndarray, rows: Rows) -> float:
    """The balanced log-likelihood."""
    return balanced_likelihood(scores, rows.codes, rows.weight, rows.n_classes)


def hard_labels(scores: np.ndarray) -> np.ndarray:
    """The class number of each row."""
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)


def judges_labels(scoring: Any, classes: np.ndarray) -> bool:
    """Whether a scorer asks for predicted classes, so that the cut matters to it."""
    if scoring is None:
        return False
    from sklearn.metrics import check_scoring

    asked = getattr(check_scoring(_Given(classes), scoring=scoring), "_response_method", "predict")
    return bool(asked == "predict")


class _Given(ClassifierMixin, BaseEstimator):
    """Scores that are already there, in the form that a scorer asks for."""

    def __init__(self, classes: Any = None) -> None:
        self.classes = classes

    def fit(self, X: Any, y: Any = None) -> _Given:
        self.classes_, self.rows_, self.scores_ = self.classes, y, X
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X if X.shape[1] > 1 else X[:, 0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.classes_[hard_labels(X)])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return fit_probability(X, self.rows_).probability(X)


def fit_probability(scores: np.ndarray, rows: Rows) -> Softmax:
    """The calibrator of scores of unseen rows."""
    return fit_softmax(scores, rows.codes, rows.weight)


@dataclass(frozen=True)
class Setting:
    """One C of one map, with its scores of unseen rows."""

    map: str
    C: float
    scores: np.ndarray
    deviation: float
    """The unit of its scores."""


def deviation(scores: np.ndarray, weight: np.ndarray) -> float:
    """The standard deviation of scores, over all rules; 1 if there is none."""
    share = weight / weight.sum()
    spread = float(np.sqrt(np.mean(share @ (scores - share @ scores) ** 2)))
    return spread if spread > 1e-12 else 1.0


def best(values: np.ndarray, count: int) -> list[int]:
    """The places of the best settings, the simpler one first where they are level."""
    return [int(k) for k in np.argsort(-values, kind="stable")[:count]]


def blend(settings: Sequence[Setting], places: Sequence[int]) -> np.ndarray:
    """The mean of their scores in units of their deviation."""
    return np.mean([settings[k].scores / settings[k].deviation for k in places], axis=0)


def choose_shift(
    scores: np.ndarray, rows: Rows, folds: Sequence[np.ndarray], measure: Measure
) -> np.ndarray:
    """What to add to the scores before hard labels are read off them.

    Zero, the cut that the rules were trained with, unless the measure is higher elsewhere in the
    mean over folds by more than the standard error of the gain.
    """
    shifts = _shifts(scores, rows)
    parts = [(scores[fold], rows[fold]) for fold in folds if len(fold)]
    values = np.array([[measure(s + shift, r) for s, r in parts] for shift in shifts])
    gain = values - values[0]
    mean = gain.mean(axis=1)
    error = gain.std(axis=1, ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else np.inf
    clear = np.where(mean > error, mean, 0.0)
    return np.asarray(shifts[int(clear.argmax())])


def _shifts(scores: np.ndarray, rows: Rows) -> np.ndarray:
    """Zero first; then cuts at quantiles, or amounts of the classes' log shares."""
    if rows.n_classes == 2:
        cuts = quantiles(scores[:, 0], rows.weight, np.linspace(0.01, 0.99, SHIFTS))
        return np.concatenate([np.zeros((1, 1)), -cuts[:, None]])
    share = np.bincount(rows.codes, rows.weight, rows.n_classes) / rows.weight.sum()
    amounts = np.linspace(-1.0, 2.0, 13) / max(fit_probability(scores, rows).slope, 1e-6)
    log_share = np.log(np.maximum(share, 1e-12))
    return np.concatenate([np.zeros((1, len(share))), amounts[:, None] * log_share])


def honest_score(
    settings: Sequence[Setting],
    rows: Rows,
    folds: Sequence[np.ndarray],
    measure: Measure,
    count: int,
    shift: bool,
) -> float:
    """The measure where members and cut of each fold are chosen by the other folds alone."""
    scores = np.full((len(rows.codes), settings[0].scores.shape[1]), np.nan)
    for number, held in enumerate(folds):
        rest = [fold for k, fold in enumerate(folds) if k != number and len(fold)]
        if not rest or not len(held):
            continue
        others = np.concatenate(rest)
        weight = rows.weight[others]
        seen = [
            Setting(s.map, s.C, s.scores[others], deviation(s.scores[others], weight))
            for s in settings
        ]
        values = np.array([measure(s.scores, rows[others]) for s in seen])
        places = best(values, count)
        mixed = np.mean([settings[k].scores[held] / seen[k].deviation for k in places], axis=0)
        if shift:
            local = np.cumsum([0] + [len(fold) for fold in rest])
            parts = [np.arange(a, b) for a, b in itertools.pairwise(local)]
            mixed = mixed + choose_shift(blend(seen, places), rows[others], parts, measure)
        scores[held] = mixed
    there = np.flatnonzero(~np.isnan(scores[:, 0]))
    return measure(scores[there], rows[there]) if len(there) else float("nan")
