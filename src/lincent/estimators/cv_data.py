"""The data of a search by cross-validation: parts to train on, and held-out rows that score.

In memory a part is some rows of X, and a scorer is asked as scikit-learn asks it.  Rows in Dask
blocks stay where they are: a fold is a number per row (see ``passes.dask.folds``), and held-out
rows answer in one read for all models of a fold.  Scores that depend on classes alone (accuracy,
F1 and their like) follow from the counts of who is taken for whom.  A score of another kind is
computed here from one number per held-out row, model and problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from lincent.estimators import multiclass
from lincent.estimators.cv_table import Candidate
from lincent.estimators.direction import Direction
from lincent.estimators.probabilities import Calibration, FoldFit
from lincent.estimators.problem import DaskTraining, DeviceTraining, HostTraining, Training
from lincent.model_selection.folds import fold_numbers, stratified_folds

FROM_COUNTS = ("accuracy", "balanced_accuracy", "f1", "jaccard", "matthews", "precision", "recall")
"""Scores by name that depend on true and predicted classes alone, by how their names begin."""

Measure = Callable[[Any, Any, Any, dict[str, Any]], float]
"""A score from a model, rows, labels and further arguments."""


class SearchFolds(Protocol):
    """Training data with folds."""

    n_splits: int

    def part(self, split: int) -> Training:
        """The rows to train on."""

    def scores(self, split: int, models: Sequence[Any], measure: Measure) -> list[float]:
        """The score of each model on the rows held out."""

    def each(self, job: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
        """The job for every split, in parallel where that is asked for."""

    def each_row_once(self, models: Sequence[Any]) -> Sequence[FoldFit]:
        """The models of the splits with their rows, if each row is held out by one of them."""


def open_folds(training: Training, cv: Any, weigh: bool, scoring: Any) -> SearchFolds:
    """The folds that ``cv`` deals; ``weigh`` says whether weights enter the scores."""
    if isinstance(training, DaskTraining):
        return BlockFolds(training, cv, weigh, scoring)
    assert isinstance(training, HostTraining | DeviceTraining)
    return HostFolds(training, cv, weigh)


class HostFolds:
    """Data in memory or on a device, and scikit-learn's splits of it."""

    def __init__(self, training: HostTraining | DeviceTraining, cv: Any, weigh: bool) -> None:
        # Imported here: model selection takes longer to import than the rest of this package.
        from sklearn.model_selection import PredefinedSplit, check_cv

        self.training, self.weigh = training, weigh
        codes = training.codes_here
        self.y = training.classes[codes]
        numbers = fold_numbers(cv, training.shape[0])
        cv = cv if numbers is None else PredefinedSplit(numbers)
        if cv is None:
            cv = stratified_folds(cv, np.bincount(codes))
        self.splits = _dealt(cv, codes)
        if not self.splits:
            self.splits = list(check_cv(cv, self.y, classifier=True).split(training.X, self.y))
        self.n_splits = len(self.splits)

    def part(self, split: int) -> HostTraining | DeviceTraining:
        return self.training.fold(self.splits[split][0])

    def scores(self, split: int, models: Sequence[Any], measure: Measure) -> list[float]:
        rows = self.splits[split][1]
        extra = {"sample_weight": self.training.weight[rows]} if self.weigh else {}
        X, y = self.training.rows(rows), self.y[rows]
        return [measure(model, X, y, extra) for model in models]

    def each(self, job: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
        return self.training.each([partial(job, k) for k in range(self.n_splits)], n_jobs)

    def each_row_once(self, models: Sequence[Any]) -> Sequence[FoldFit]:
        if len(models) < self.n_splits:
            return ()
        asked = np.concatenate([held_out for _, held_out in self.splits])
        if np.any(np.bincount(asked, minlength=self.training.shape[0]) != 1):
            return ()
        return [(model, *split) for model, split in zip(models, self.splits, strict=True)]


def _dealt(cv: Any, codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The splits of scikit-learn's ``StratifiedKFold``, without checks that take as long as a fit.

    None where ``cv`` is no number of folds, or one that it would complain about.
    """
    counts = np.bincount(codes)
    if type(cv) is not int or not 2 <= cv <= counts[counts > 0].min():
        return []
    # Classes in the order in which they come, so that the first rows are in the first folds.
    first = np.unique(codes, return_index=True)[1]
    rank = np.argsort(np.argsort(first))[codes]
    ordered = np.sort(rank)
    share = np.array([np.bincount(ordered[k::cv], minlength=len(first)) for k in range(cv)])
    fold = np.empty(len(codes), dtype=int)
    for k in range(len(first)):
        fold[rank == k] = np.repeat(np.arange(cv), share[:, k])
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(cv)]


class BlockFolds:
    """Data in Dask blocks, with a fold number for every row."""

    def __init__(self, training: DaskTraining, cv: Any, weigh: bool, scoring: Any) -> None:
        from lincent.sources.dask.folds import TableFolds

        self.training, self.weigh = training, weigh
        table, self.classes = training.table, training.classes
        numbers = fold_numbers(cv, table.shape[0])
        if numbers is not None:
            self.folds = TableFolds.given(table, numbers)
        else:
            count = stratified_folds(cv, table.survey.present.sum(axis=0))
            self.folds = TableFolds.stratified(table, count)
        self.n_splits = len(self.folds.folds)
        if not self.n_splits:
            raise ValueError("cv gives no folds: every row has the fold number -1.")
        self.counted = isinstance(scoring, str) and scoring.startswith(FROM_COUNTS)

    def part(self, split: int) -> DaskTraining:
        return self.training.seen_as(self.folds.without(self.folds.folds[split]))

    def scores(self, split: int, models: Sequence[Any], measure: Measure) -> list[float]:
        fold = self.folds.folds[split]
        decide = [model.decision_function for model in models]
        if not models:
            return []
        if self.counted:
            tables = self.folds.confusion(fold, decide, multiclass.pick, not self.weigh)
            return [self._from_counts(table, measure) for table in tables]
        codes, weight, lines = self.folds.lines(fold, decide, not self.weigh)
        extra = {"sample_weight": weight} if self.weigh else {}
        return [
            measure(
                Answered(self.classes, line), RowsElsewhere(len(codes)), self.classes[codes], extra
            )
            for line in lines
        ]

    def each_row_once(self, models: Sequence[Any]) -> Sequence[FoldFit]:
        return ()  # probabilities are for rows in memory

    def _from_counts(self, table: np.ndarray, measure: Measure) -> float:
        """A score of true and predicted classes: each pair once, weighted by how often it is."""
        true, taken = np.nonzero(table)
        model = Answered(self.classes, np.eye(len(self.classes))[taken], taken)
        extra = {"sample_weight": table[true, taken]}
        return measure(model, RowsElsewhere(len(true)), self.classes[true], extra)

    def each(self, job: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
        return self.training.each([partial(job, k) for k in range(self.n_splits)], n_jobs)


class RowsElsewhere:
    """Rows that are not here: a scorer hands them to a model and must not look at them."""

    def __init__(self, rows: int) -> None:
        self.shape = (rows,)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            "scoring looks at X itself, but the rows held out stay in their Dask partitions: use a "
            "scorer of predictions or scores (a name, or make_scorer)."
        )

    def __getitem__(self, key: Any) -> Any:
        return self.__array__()


class Answered(ClassifierMixin, BaseEstimator):
    """A fitted model whose answers for some rows are known."""

    def __init__(self, classes: np.ndarray, scores: np.ndarray, codes: Any = None) -> None:
        self.classes, self.scores, self.codes = classes, scores, codes
        self.classes_ = classes

    def decision_function(self, X: Any) -> np.ndarray:
        return self.scores

    def predict(self, X: Any) -> np.ndarray:
        codes = multiclass.pick(self.scores) if self.codes is None else self.codes
        return np.asarray(self.classes_[codes])


class FittedLines(ClassifierMixin, BaseEstimator):
    """A point of the grid as a fitted classifier, for a scorer to ask."""

    def __init__(
        self,
        point: Candidate,
        directions: Sequence[Direction],
        classes: np.ndarray,
        strategy: str,
    ) -> None:
        # Without the solutions: on a cluster this travels, and their multipliers stay.
        self.directions = [replace(part, solution=None) for part in directions]
        self.point = point
        self.classes, self.strategy = classes, strategy
        self.C, self.margin, self.discriminator = point.C, point.margin, point.discriminator
        self.classes_ = classes
        self.coef_ = np.array([part.beta for part in directions])
        self.intercept_ = np.array([part.intercept for part in directions])
        self.n_features_in_ = self.coef_.shape[1]
        self.calibration: Calibration | None = None

    def _task_scores(self, X: Any) -> np.ndarray:
        return np.stack([part.score(X) for part in self.directions], axis=1)

    def decision_function(self, X: Any) -> np.ndarray:
        return multiclass.combine_scores(self._task_scores(X), len(self.classes), self.strategy)

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.classes[multiclass.pick(self.decision_function(X))])

    @available_if(lambda self: self.calibration is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        assert self.calibration is not None
        return self.calibration.probability(self._task_scores(X))
