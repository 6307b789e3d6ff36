"""``predict_proba`` of every estimator: from scores of unseen rows to probabilities of classes.

The scores of a model are those of its two-class problems.  What turns them into probabilities is
fitted to scores of rows that the rules had not seen, by one of two methods:

sigmoid    one softmax over the columns of ``decision_function`` (see ``softmax``).  It has one
           slope for all, so the most probable class is the predicted one wherever the classes are
           equally frequent; where they are not, its offsets say how frequent they are.
isotonic   an increasing step function for each two-class problem (see ``calibration``), which are
           normalized (one-vs-rest) or coupled (one-vs-one).

Scores are first divided by a unit, the mean distance between the two sides of a problem: the rules
of different folds may differ in length.

An estimator that cross-validates has such scores already, or the fits that give them
(``already_fitted``).  Any other is fitted again without each fold (``cross_fitted``), where
probabilities are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lincent import _progress
from lincent.estimators import multiclass
from lincent.estimators.answers import where_rows_live
from lincent.estimators.calibration import Calibrator, combine_probabilities, fit_steps
from lincent.estimators.problem import HostTraining, tasks
from lincent.estimators.softmax import Softmax, fit_softmax
from lincent.estimators.validation import check_choice
from lincent.model_selection.folds import calibration_folds

METHODS = ("sigmoid", "isotonic")


FoldFit = tuple[Any, np.ndarray, np.ndarray]
"""A fitted model, the rows that it was fitted to, and the rows that it has not seen."""


class Calibration(Protocol):
    """From the scores of the two-class problems, one column each, to the classes'."""

    def probability(self, scores: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class JointCalibration:
    """One softmax over the scores of all classes."""

    softmax: Softmax
    unit: float
    strategy: str

    def columns(self, scores: np.ndarray) -> np.ndarray:
        """The columns of ``decision_function`` in the unit."""
        found = multiclass.combine_scores(
            scores / self.unit, len(self.softmax.offset), self.strategy
        )
        return found.reshape(len(scores), -1)

    def probability(self, scores: np.ndarray) -> np.ndarray:
        return self.softmax.probability(self.columns(scores))


@dataclass(frozen=True)
class SeparateCalibration:
    """One increasing function for each two-class problem."""

    parts: Sequence[Calibrator]
    n_classes: int
    strategy: str

    def probability(self, scores: np.ndarray) -> np.ndarray:
        columns = [part.probability(scores[:, k]) for k, part in enumerate(self.parts)]
        return combine_probabilities(np.stack(columns, axis=1), self.n_classes, self.strategy)


@dataclass(frozen=True)
class Unseen:
    """Scores (rows, problems) of rows by rules that have not seen them, in units of these rules.

    ``part`` is a number for each row, by which probabilities of unseen rows are found; -1 where a
    row could not be held out.
    """

    scores: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    part: np.ndarray
    n_classes: int
    strategy: str = "ovr"

    def keep(self, model: Any, unit: float) -> None:
        """Set the calibration of a model whose scores have this unit, and what it was made from."""
        method = str(model.probability)
        model._calibration = self.calibration(method, unit)
        raw = np.where((self.part >= 0)[:, None], self.scores, np.nan)
        chances = np.full((len(raw), self.n_classes), np.nan)
        for k in range(self.part.max(initial=-1) + 1):
            own = self.part == k
            rest = np.where(own, 0.0, self.weight)
            others = replace(self, weight=rest) if rest.any() else self
            chances[own] = others.calibration(method, 1.0).probability(raw[own])
        model.out_of_fold_scores_ = multiclass.combine_scores(
            raw * unit, self.n_classes, self.strategy
        )
        model.out_of_fold_probabilities_ = chances

    def calibration(self, method: str, unit: float) -> Calibration:
        """The calibration for a model whose scores have this unit."""
        there = (self.weight > 0) & np.isfinite(self.scores).all(axis=1)
        scores, codes, weight = self.scores[there], self.codes[there], self.weight[there]
        if method == "sigmoid":
            plain = JointCalibration(Softmax(1.0, np.zeros(self.n_classes)), 1.0, self.strategy)
            softmax = fit_softmax(plain.columns(scores), codes, weight, smooth=True)
            return JointCalibration(softmax, unit, self.strategy)
        parts = []
        for k, task in enumerate(tasks(self.n_classes, self.strategy)):
            rows = task.rows(codes)
            positive = task.sign(codes[rows]) > 0
            parts.append(fit_steps(scores[rows, k], positive, weight[rows], unit))
        return SeparateCalibration(parts, self.n_classes, self.strategy)


def unit_of(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int, strategy: str
) -> float:
    """The mean distance between the mean scores of the two sides of a problem."""
    apart = []
    for k, task in enumerate(tasks(n_classes, strategy)):
        sides = [np.isin(codes, side) for side in task.sides]
        low, high = (np.average(scores[s, k], weights=weight[s]) for s in sides)
        apart.append(abs(float(high - low)))
    unit = float(np.mean(apart))
    return unit if unit > 0 else 1.0


def in_units(
    fitted: Any,
    training: HostTraining,
    rows: np.ndarray,
    asked: np.ndarray,
    strategy: str,
    *,
    pairwise: bool = False,
) -> tuple[np.ndarray, float]:
    """Scores of the rows ``asked`` in the unit of those that were fitted, and this unit."""
    X, codes, weight = training.X, training.codes, training.weight
    seen = X[:, rows] if pairwise else X
    own = fitted._task_scores(seen[rows])
    unit = unit_of(own, codes[rows], weight[rows], len(training.classes), strategy)
    return fitted._task_scores(seen[asked]) / unit, unit


def cross_fitted(
    models: Sequence[Any],
    fit: Callable[[HostTraining], Sequence[Any]],
    training: HostTraining,
    strategy: str,
    *,
    pairwise: bool = False,
) -> list[tuple[Unseen, float]]:
    """For each fitted model, scores of unseen rows by its like, and the unit of its own.

    ``fit`` fits the same models to part of the rows; where it has None for one, that part is scored
    by the model itself.  ``pairwise``: columns are rows, as in a kernel matrix.
    """
    codes, weight = training.codes, training.weight
    fold = calibration_folds(training.X, codes, weight)
    everything = np.arange(len(fold))
    score = partial(in_units, training=training, strategy=strategy, pairwise=pairwise)
    found = [score(model, rows=everything, asked=everything) for model in models]
    last = int(fold.max(initial=-1)) + 1
    for k in range(last):
        _progress.step("scores of unseen rows, fold", k, last)
        rows, asked = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        part = training.fold(rows)
        part = part.seen_as(part.X[:, rows]) if pairwise else part
        for (scores, _), fitted in zip(found, fit(part), strict=True):
            if fitted is not None:
                scores[asked] = score(fitted, rows=rows, asked=asked)[0]
    n_classes = len(training.classes)
    return [(Unseen(u, codes, weight, fold, n_classes, strategy), unit) for u, unit in found]


def already_fitted(
    model: Any, folds: Sequence[FoldFit], training: HostTraining, strategy: str
) -> tuple[Unseen, float]:
    """The same from the fits that a search has made, if its folds hold out every row once."""
    everything = np.arange(len(training.codes))
    scores, unit = in_units(model, training, everything, everything, strategy)
    number = np.zeros(len(everything), dtype=int)
    for k, (fitted, rows, asked) in enumerate(folds):
        scores[asked] = in_units(fitted, training, rows, asked, strategy)[0]
        number[asked] = k
    n_classes = len(training.classes)
    return Unseen(scores, training.codes, training.weight, number, n_classes, strategy), unit


def check_probability(model: Any, in_memory: bool) -> None:
    """A sentence for a method that is not known, or that needs rows which are elsewhere."""
    method = getattr(model, "probability", None)
    if method is None:
        return
    check_choice("probability", method, METHODS)
    if not in_memory:
        raise ValueError(
            f"probability={method!r} needs X in memory: give a NumPy array, or fit without it "
            "and calibrate decision_function yourself."
        )


def unfitted_copy(model: Any, classes: np.ndarray) -> Any:
    """A copy to be fitted to part of the rows: without probabilities, and it says nothing."""
    quiet = {"probability": None, "verbose": 0}
    made = clone(model).set_params(**{k: v for k, v in quiet.items() if hasattr(model, k)})
    made.classes_ = classes
    return made


def _offered(model: Any) -> bool:
    if model.probability is None:
        raise AttributeError(
            f"{type(model).__name__} has predict_proba only where it is asked for: give "
            "probability='sigmoid' (or 'isotonic'), or wrap it in CalibratedClassifierCV."
        )
    return True


class Probabilities:
    """``predict_proba`` and ``predict_log_proba``, for estimators with ``probability``.

    They have ``_rows_scores``: from rows to the scores of the two-class problems, a column each.
    """

    probability: str | None
    _calibration: Calibration

    def _chances(self) -> Calibration:
        """What turns scores into probabilities."""
        old = vars(self).get("_calibrators")  # in a model file of version 0.1.0
        if old is None:
            return self._calibration
        model: Any = self
        return SeparateCalibration(old, len(model.classes_), model.multi_class)

    @available_if(_offered)
    @where_rows_live
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Calibrated on rows that the rules had not seen. Probabilities know how frequent the classes
        are and the cut of ``predict`` need not, so where classes differ in size the predicted class
        is not always the most probable one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._probabilities_here(X)

    @available_if(_offered)
    @where_rows_live
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.log(np.maximum(self._probabilities_here(X), np.finfo(np.float64).tiny))

    def _probabilities_here(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        model: Any = self
        return self._chances().probability(model._rows_scores(X))
