"""Held-out predictions, and the decision thresholds of binary models.

A threshold applies to the probability of the positive class.  It is given, or chosen by a metric or
by the costs of errors on rows of either class, on out-of-fold predictions; to evaluate it without
bias, each fold is predicted with the threshold that the other folds choose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lincent._errors import AppError, listed
from lincent.estimators.validation import plain
from lincent.model_selection.metrics import confusion_matrix, label_score

METRICS = ("balanced_accuracy", "accuracy", "f1", "mcc")
"""Metrics that a threshold can be chosen by."""
MAX_CANDIDATES = 400


@dataclass(frozen=True)
class HeldOut:
    """Predictions for rows by models that were fitted without them.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the rows in the table.
    codes : ndarray of int
        True classes, as positions in ``classes``.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Decision values.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Probabilities, where the classifier has them.
    folds : ndarray of int
        Fold of each row; a threshold is chosen on the other folds.
    how : str
        Where the predictions come from, in words.
    effective : float
        Fraction of the rows that intervals are computed for, less than 1 for out-of-fold rows.
    weight : ndarray of shape (n_rows,)
        Weights that give the rows the class frequencies of the table, where they are a sample with
        more of a rare class; all 1 if not given.
    """

    rows: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    folds: np.ndarray
    how: str
    effective: float = 1.0
    weight: Any = None

    def __post_init__(self) -> None:
        if self.weight is None:
            object.__setattr__(self, "weight", np.ones(len(self.codes)))

    def confusion(self, predicted: np.ndarray) -> np.ndarray:
        """Return the confusion matrix of predicted class codes."""
        return confusion_matrix(self.codes, predicted, len(self.classes), self.weight)


@dataclass(frozen=True)
class DecisionThreshold:
    """The positive class, and the probability from which on it is predicted."""

    positive: Any
    at: float
    by: str
    """The option that set it."""

    def predict(self, classes: np.ndarray, probabilities: Any) -> np.ndarray:
        """Return class codes."""
        side = positive_code(classes, self.positive)
        return np.where(np.asarray(probabilities)[:, side] >= self.at, side, 1 - side)

    def on_score(self, held: HeldOut) -> float:
        """Return its position on the score, halfway between the rows on its two sides."""
        second = self.predict(held.classes, held.probabilities) == 1
        low = held.scores[~second].max(initial=held.scores.min())
        high = held.scores[second].min(initial=held.scores.max())
        return float(low + high) / 2


def own_margin(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how far each row is on the side of its own class, above the best other one."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    rows, others = np.arange(len(codes)), scores.copy()
    others[rows, codes] = -np.inf
    return np.asarray(scores[rows, codes] - others.max(axis=1))


def positive_code(classes: np.ndarray, positive: Any) -> int:
    """Return the code of the positive class; the second one unless another is given."""
    if positive is None:
        return 1
    names = [str(plain(label)) for label in classes]
    if str(positive) not in names:
        raise AppError(f"There is no class {positive!r} (--positive); there are {listed(names)}.")
    return names.index(str(positive))


def check_threshold(
    metric: str | None,
    threshold: float | None,
    classes: np.ndarray | None = None,
    positive: Any = None,
    costs: Mapping[str, float] | None = None,
) -> None:
    """Raise an error for options that no threshold can satisfy, as soon as that is known."""
    options = {"--metric": metric, "--threshold": threshold, "--costs": costs}
    given = [option for option, value in options.items() if value is not None]
    if len(given) > 1:
        raise AppError(f"{given[0]} and {given[1]} exclude each other: each sets the threshold.")
    if metric is not None and metric not in METRICS:
        raise AppError(f"--metric {metric}: the threshold is chosen by {', '.join(METRICS)}.")
    if threshold is not None and not 0 < threshold < 1:
        raise AppError(f"--threshold {threshold:g} is no probability between 0 and 1.")
    if classes is None:
        return
    positive_code(classes, positive)
    if given and len(classes) != 2:
        raise AppError(
            f"{given[0]} moves the threshold of two classes; the target has {len(classes)}."
        )
    if costs is not None:
        names = [str(plain(label)) for label in classes]
        if {*costs} != {*names} or not all(0 < cost < np.inf for cost in costs.values()):
            raise AppError(
                "--costs gives each class the positive cost of an error on a row of it, such as "
                f"{names[0]}=1,{names[1]}=5; got {cost_text(costs)}."
            )


def given_threshold(
    threshold: float, classes: np.ndarray, positive: Any, *, has_probabilities: bool
) -> DecisionThreshold:
    """Return the threshold of ``--threshold``, on the probability."""
    if not has_probabilities:
        raise AppError("--threshold needs probabilities: fit with a method that has them.")
    side = positive_code(classes, positive)
    return DecisionThreshold(plain(classes[side]), float(threshold), "--threshold")


def cost_text(costs: Mapping[str, float]) -> str:
    """Return costs as on the command line."""
    return ",".join(f"{name}={cost:g}" for name, cost in costs.items())


def cost_per_row(confusion: np.ndarray, costs: Any) -> float:
    """Return the mean cost, where an error on a row of class k costs ``costs[k]``."""
    wrong = confusion.sum(axis=1) - np.diag(confusion)
    return float(wrong @ np.asarray(costs, dtype=float) / confusion.sum())


def choose_threshold(
    metric: str | Mapping[str, float], held: HeldOut, positive: Any = None
) -> tuple[DecisionThreshold, np.ndarray]:
    """Return the best threshold, and class codes by the thresholds of other folds.

    ``metric`` is a name, or the cost of an error on a row of each class.
    """
    classes, side = held.classes, positive_code(held.classes, positive)
    score: Callable[[np.ndarray], float]
    if isinstance(metric, str):
        by, score = f"--metric {metric}", partial(label_score, metric)
    else:
        prices = [-metric[str(plain(classes[code]))] for code in (1 - side, side)]
        by, score = f"--costs {cost_text(metric)}", partial(cost_per_row, costs=prices)
    if held.probabilities is None:
        raise AppError(f"{by} needs probabilities: fit with a method that has them.")
    values = held.probabilities[:, side]
    is_positive = (held.codes == side).astype(np.intp)
    predicted = np.zeros(len(values), dtype=np.intp)
    for fold in np.unique(held.folds):
        own, rest = held.folds == fold, held.folds != fold
        best = _best(score, values[rest], is_positive[rest], held.weight[rest])
        predicted[own] = values[own] >= best
    best = _best(score, values, is_positive, held.weight)
    threshold = DecisionThreshold(plain(classes[side]), best, by)
    return threshold, np.where(predicted == 1, side, 1 - side)


def _best(
    score: Callable[[np.ndarray], float],
    values: np.ndarray,
    is_positive: np.ndarray,
    weight: np.ndarray,
) -> float:
    """Return the threshold with the largest score; between two values, where no sample lies."""
    distinct = np.unique(values)
    if len(distinct) > MAX_CANDIDATES:
        distinct = np.unique(np.quantile(values, np.linspace(0, 1, MAX_CANDIDATES)))
    candidates = (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct
    predictions = ((values >= at).astype(np.intp) for at in candidates)
    scores = [score(confusion_matrix(is_positive, called, 2, weight)) for called in predictions]
    # The middle of those that are equally good.
    best = np.flatnonzero(np.isclose(scores, max(scores), rtol=0, atol=1e-12))
    return float(candidates[best[len(best) // 2]])
