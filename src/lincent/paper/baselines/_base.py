"""What the rivals share beyond the contract of the core.

``Hyperplanes``  two-class problems whose answers are hyperplanes: LinearSVM, minimax machines.
``ManyClasses``  methods that treat all classes at once: the regressions, LDA.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.multiclass import pick
from lincent.estimators.problem import HostTraining, open_training
from lincent.estimators.validation import check_class_totals, check_rows, refuse_elsewhere
from lincent.estimators.watching import CallbackSupportMixin
from lincent.paper.baselines._rows import as_float
from lincent.sources.source import Kind


def one_or_all(values: list[float]) -> Any:
    """A number for a single two-class problem, an array for several."""
    return values[0] if len(values) == 1 else np.array(values)


def warn_unfinished(gap: float, relative: float, tol: float, max_iter: int, name: str) -> None:
    """The honest sentence for an optimum that is not certified."""
    warnings.warn(
        f"The optimum is not certified ({name}): the duality gap is {gap:.3g} (relative "
        f"{relative:.1e}, tol {tol:g}) after at most {max_iter} iterations. The model is usable; "
        "raise max_iter, or scale the features.",
        ConvergenceWarning,
        stacklevel=2,
    )


class Hyperplanes:
    """Parts with a ``coef`` and an ``intercept``, beside ``Classifier``; the score is linear."""

    def _store(self, parts: list[Any]) -> None:
        self.coef_ = np.array([part.coef for part in parts])
        self.intercept_ = np.array([part.intercept for part in parts])
        self._store_more(parts)

    def _store_more(self, parts: list[Any]) -> None:
        """Set the attributes beyond the hyperplane."""
        raise NotImplementedError

    def _task_scores(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.T + self.intercept_)


class ManyClasses(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier that handles any number of classes in one problem."""

    _accept_sparse: Any = False

    def _check_params(self) -> None:
        """Raise a sentence for any unusable parameter."""
        raise NotImplementedError

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        refuse_elsewhere(self, X)

    def _scores(self, X: Any) -> np.ndarray:
        """One column per class; with two classes one signed number per row."""
        raise NotImplementedError

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """X in float64, class index and weight of each row; rows of weight zero are left out."""
        self._check_params()
        training = open_training(self, X, y, sample_weight)
        check_class_totals(training.classes, training.totals)
        assert isinstance(training, HostTraining)
        X, codes, weight = as_float(training.X), training.codes, training.weight
        counted = weight > 0
        if not counted.all():
            X, codes, weight = X[counted], codes[counted], weight[counted]
        return X, codes, weight

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed scores: positive means ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores; with more than two classes one column per class.
        """
        check_is_fitted(self)
        return self._scores(check_rows(self, X, accept_sparse=self._accept_sparse))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The class of each row.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[pick(scores)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags
