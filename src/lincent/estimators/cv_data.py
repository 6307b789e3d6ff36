"""The data of a search by cross-validation: parts to train on, and held-out rows that score.

In memory a part is some rows of X, and a scorer is asked as scikit-learn asks it.  Rows in Dask
blocks stay where they are: a fold is a number per row (see ``passes.dealing``), and held-out rows
answer in one read for all models of a fold.  Scores that depend on classes alone (accuracy, F1 and
their like) follow from the counts of who is taken for whom.  A score of another kind is computed
here from one number per held-out row, model and problem.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.parallel import Parallel, delayed

from lincent import _threads
from lincent.estimators import multiclass
from lincent.estimators.folds import fold_numbers, stratified_folds
from lincent.estimators.multiclass import Task
from lincent.estimators.path import TwoClassData
from lincent.estimators.problem import DaskData
from lincent.estimators.validation import check_class_weight, check_training_data, check_weights

FROM_COUNTS = ("accuracy", "balanced_accuracy", "f1", "jaccard", "matthews", "precision", "recall")
"""Scores by name that depend on true and predicted classes alone, by how their names begin."""
POLL = 0.1
"""Seconds between two looks at folds that run in parallel."""

Measure = Callable[[Any, Any, Any, dict[str, Any]], float]
"""A score from a model, rows, labels and further arguments."""


class TrainingPart(Protocol):
    """Rows to train on."""

    totals: np.ndarray

    def missing(self) -> np.ndarray:
        """The classes without a row."""

    def data(self, task: Task, factor: np.ndarray) -> TwoClassData:
        """One two-class problem; ``factor`` is the cost of a class per unit of weight."""


class SearchData(Protocol):
    """Training data with folds."""

    n_splits: int

    def whole(self) -> TrainingPart: ...

    def part(self, split: int) -> TrainingPart: ...

    def scores(self, split: int, models: Sequence[Any], measure: Measure) -> list[float]:
        """The score of each model on the rows held out."""

    def each(self, job: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
        """The job for every split, in parallel where that is asked for."""


class HostPart:
    """Some rows in memory."""

    def __init__(self, X: Any, codes: np.ndarray, weight: np.ndarray, n_classes: int) -> None:
        self.X, self.codes, self.weight = X, codes, weight
        self.totals = np.bincount(codes, weights=weight, minlength=n_classes)

    def missing(self) -> np.ndarray:
        return np.setdiff1d(np.arange(len(self.totals)), self.codes)

    def data(self, task: Task, factor: np.ndarray) -> TwoClassData:
        rows = slice(None) if task.whole else task.rows(self.codes)
        return TwoClassData(
            self.X if task.whole else self.X[rows],
            task.sign(self.codes[rows]),
            self.weight[rows],
            (self.weight * factor[self.codes])[rows],
        )


class HostFolds:
    """Data in memory and scikit-learn's splits of it."""

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        # Imported here: model selection takes longer to import than the rest of this package.
        from sklearn.model_selection import PredefinedSplit, check_cv

        self.X, self.codes = check_training_data(model, X, y)
        self.weight = check_weights(sample_weight, self.X.shape[0])
        self.classes = model.classes_
        # All classes must count in the whole, before folds are looked at.
        check_class_weight(model, model.class_weight, self.codes, self.weight)
        self.y = model.classes_[self.codes]
        numbers = fold_numbers(model.cv, self.X.shape[0])
        cv: Any = model.cv if numbers is None else PredefinedSplit(numbers)
        if cv is None:
            cv = stratified_folds(cv, np.bincount(self.codes))
        self.splits = list(check_cv(cv, self.y, classifier=True).split(self.X, self.y))
        self.n_splits = len(self.splits)
        self.weigh = model._weighs_scores(sample_weight)

    def whole(self) -> HostPart:
        return HostPart(self.X, self.codes, self.weight, len(self.classes))

    def part(self, split: int) -> HostPart:
        rows = self.splits[split][0]
        return HostPart(self.X[rows], self.codes[rows], self.weight[rows], len(self.classes))

    def scores(self, split: int, models: Sequence[Any], measure: Measure) -> list[float]:
        rows = self.splits[split][1]
        extra = {"sample_weight": self.weight[rows]} if self.weigh else {}
        X, y = self.X[rows], self.y[rows]
        return [measure(model, X, y, extra) for model in models]

    def each(self, job: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
        with _threads.side_by_side(n_jobs, self.n_splits):
            found = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(job)(split) for split in range(self.n_splits)
            )
        return list(found)


class DaskPart:
    """Some rows of a Dask collection."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.totals = table.totals

    def missing(self) -> np.ndarray:
        return np.flatnonzero(self.table.survey.counts.sum(axis=0) == 0)

    def data(self, task: Task, factor: np.ndarray) -> TwoClassData:
        side = np.zeros(len(factor))
        side[list(task.negative)], side[list(task.positive)] = -1, 1
        source: Any = self.table.problem(side, factor)
        return TwoClassData(source, source.sign, source.weight, source.costs)


class DaskFolds:
    """Data in Dask blocks, with a fold number for every row."""

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        from lincent.passes.dask import folds

        model._check_elsewhere(X)
        table = DaskData(model, X, y, sample_weight).table
        self.table, self.classes = table, model.classes_
        check_class_weight(model, model.class_weight, np.arange(len(table.totals)), table.totals)
        numbers = fold_numbers(model.cv, table.shape[0])
        if numbers is not None:
            self.folds = folds.TableFolds.given(table, numbers)
        else:
            count = stratified_folds(model.cv, table.survey.present.sum(axis=0))
            self.folds = folds.TableFolds.stratified(table, count)
        self.n_splits = len(self.folds.folds)
        if not self.n_splits:
            raise ValueError("cv gives no folds: every row has the fold number -1.")
        self.weigh = model._weighs_scores(sample_weight)
        scoring = model.scoring
        self.counted = isinstance(scoring, str) and scoring.startswith(FROM_COUNTS)

    def whole(self) -> DaskPart:
        return DaskPart(self.table)

    def part(self, split: int) -> DaskPart:
        return DaskPart(self.folds.without(self.folds.folds[split]))

    def scores(self, split: int, models: Sequence[Any], measure: Measure) -> list[float]:
        fold = self.folds.folds[split]
        decide = [model._decisions for model in models]
        if not models:
            return []
        if self.counted:
            tables = self.folds.confusion(fold, decide, multiclass.pick, not self.weigh)
            return [self._from_counts(table, measure) for table in tables]
        codes, weight, lines = self.folds.lines(fold, decide, not self.weigh)
        extra = {"sample_weight": weight} if self.weigh else {}
        return [
            measure(Answered(self.classes, line), HeldOut(len(codes)), self.classes[codes], extra)
            for line in lines
        ]

    def _from_counts(self, table: np.ndarray, measure: Measure) -> float:
        """A score of true and predicted classes: each pair once, weighted by how often it is."""
        true, taken = np.nonzero(table)
        model = Answered(self.classes, np.eye(len(self.classes))[taken], taken)
        extra = {"sample_weight": table[true, taken]}
        return measure(model, HeldOut(len(true)), self.classes[true], extra)

    def each(self, job: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
        """On a cluster all folds at once, unless ``n_jobs`` says otherwise."""
        from lincent.passes.dask.run import on_cluster

        threads = (self.n_splits if on_cluster() else 1) if n_jobs is None else n_jobs
        threads = self.n_splits if threads < 0 else min(threads, self.n_splits)
        if threads <= 1:
            return [job(split) for split in range(self.n_splits)]
        with (
            _threads.side_by_side(
                threads, threads
            ),  # each fold solves its bands here: they share the processor
            ThreadPoolExecutor(threads, thread_name_prefix="lincent-fold") as pool,
        ):
            # The client of this thread is that of the folds, too.
            todo = [
                pool.submit(contextvars.copy_context().run, job, split)
                for split in range(self.n_splits)
            ]
            try:
                # A wait with an end: an interrupt does not get through to one without.
                while wait(todo, POLL, return_when=FIRST_EXCEPTION).not_done:
                    if failed := [one for one in todo if one.done() and one.exception()]:
                        failed[0].result()
                return [one.result() for one in todo]
            finally:
                # An error or an interrupt ends what the other folds are still reading.
                self.table.schedule.halt.set()
                for one in todo:
                    one.cancel()
                wait(todo)
                self.table.schedule.halt.clear()


class HeldOut:
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
