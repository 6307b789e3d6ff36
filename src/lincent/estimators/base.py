"""What every classifier of the package does the same way.

A subclass says how to fit one two-class problem (``_fit_task``) and how its fitted parts score rows
(``_task_scores``); validation, weights, many classes, parallel fits and prediction are here, once.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from lincent import _threads
from lincent.estimators import multiclass
from lincent.estimators.answers import where_rows_live
from lincent.estimators.multiclass import Task
from lincent.estimators.problem import training_data
from lincent.estimators.validation import (
    check_choice,
    check_class_weight,
    check_rows,
    plain,
    refuse_elsewhere,
)


class TwoClassReduction(ClassifierMixin, BaseEstimator):
    """A classifier made of two-class problems.

    Subclasses have the parameters ``multi_class`` and ``n_jobs`` and, if they offer it,
    ``class_weight``.
    """

    _accept_sparse: Any = "csr"

    def _check_params(self) -> None:
        """Raise a sentence for any unusable parameter."""

    def _fit_task(
        self,
        X: Any,
        sign: np.ndarray,
        weight: np.ndarray,
        cost: np.ndarray,
        importance: Any,
        name: str,
    ) -> Any:
        """Fit one two-class problem.

        weight counts repetitions; cost = weight times the class's cost factor; ``name`` says which
        problem this is, for messages.
        """
        raise NotImplementedError

    def _check_elsewhere(self, X: Any) -> None:
        """Raise a sentence where this estimator cannot read a Dask or device array."""
        refuse_elsewhere(self, X)

    def _open(self, X: Any, weight: np.ndarray) -> Any:
        """What the tasks are given as X: anything that can be indexed by rows."""
        return X

    def _open_blocks(self, table: Any) -> Any:
        """The same for rows in Dask blocks."""
        return table

    def _store(self, parts: list[Any]) -> None:
        """Set the fitted attributes from the fitted tasks, in order."""
        raise NotImplementedError

    def _task_scores(self, X: Any) -> np.ndarray:
        """Signed scores, one column per task."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Fit as a whole or not at all.

        An error leaves the estimator as it was: a model fitted earlier is not lost to bad input.
        An interrupt leaves it unfitted, since the fit that was asked for did not happen.
        """
        before = dict(vars(self))
        self._began = time.monotonic()
        try:
            with _threads.for_data(X):
                return self._fit_tasks(X, y, sample_weight)
        except Exception:
            self.__dict__ = before
            raise
        except BaseException:
            # A clone has the parameters and the settings of the output, and nothing fitted.
            for name in vars(self).keys() - vars(clone(self)).keys():
                delattr(self, name)
            raise
        finally:
            self.__dict__.pop("_began", None)

    def _ends_at(self, time_limit: float | None) -> float:
        """When a fit with this limit ends; all its two-class problems share the time."""
        if time_limit is None:
            return float("inf")
        began: float = getattr(self, "_began", time.monotonic())
        return began + time_limit

    def _fit_tasks(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._check_params()
        strategy = check_choice("multi_class", self.multi_class, multiclass.STRATEGIES)
        data = training_data(self, X, y, sample_weight)
        factor, importance = check_class_weight(
            self, getattr(self, "class_weight", None), np.arange(len(data.totals)), data.totals
        )
        data.prepare(self, factor)

        def fit_one(task: Task) -> Any:
            return self._fit_task(
                *data.problem(task),
                task.importance(importance, data.totals),
                self._task_name(task),
            )

        todo = multiclass.tasks(len(self.classes_), strategy)
        if len(todo) == 1:
            parts = [fit_one(todo[0])]
        else:
            with _threads.side_by_side(self.n_jobs, len(todo)):
                parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    delayed(fit_one)(task) for task in todo
                )
        self._store(parts)
        return self

    def _task_name(self, task: Task) -> str:
        positive = plain(self.classes_[task.positive[0]])
        if len(task.negative) > 1:
            return f"class {positive!r} against the rest"
        return f"class {plain(self.classes_[task.negative[0]])!r} against class {positive!r}"

    @where_rows_live
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed scores: positive means ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = check_rows(self, X, accept_sparse=self._accept_sparse)
        return self._decisions(X)

    def _decisions(self, X: Any) -> np.ndarray:
        return multiclass.combine_scores(self._task_scores(X), len(self.classes_), self.multi_class)

    @where_rows_live
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        scores = self._decisions(check_rows(self, X, accept_sparse=self._accept_sparse))
        return np.asarray(self.classes_[multiclass.pick(scores)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags
