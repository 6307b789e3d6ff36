"""What the baselines share: base classes, warnings, and how wide data is solved.

All methods here but the discriminant analysis see X through inner products only, so the weights
they find lie in the span of the samples.  With more features than samples the problem is therefore
solved in coordinates of that span (``Span``), and the answer is mapped back.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lincent.estimators.problem import HostTraining, Training
from lincent.estimators.validation import check_class_totals
from lincent.problems.arrays import Rows
from lincent.sources.dense import DenseRows

LARGEST = 1e140
"""Products of two numbers up to here can be added up over any number of rows."""


def as_float(X: np.ndarray) -> np.ndarray:
    """Return X in float64, copied only if needed; raise where squares overflow or underflow."""
    X = X.astype(np.float64, copy=False)
    largest = float(np.abs(X).max(initial=0.0))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        effect = "sums of products of them overflow" if largest > 1 else "products of them vanish"
        raise ValueError(
            f"X has values up to {largest:.2g}, and {effect}: scale X (between {1 / LARGEST:g} and "
            f"{LARGEST:g})."
        )
    return X


def with_ones(X: np.ndarray) -> np.ndarray:
    """Return (X, 1): a last column of ones for the intercept."""
    return np.hstack([X, np.ones((X.shape[0], 1))])


def signed_rows(X: np.ndarray, sign: np.ndarray) -> Rows:
    """Return the operator with rows sign_i x_i."""
    return DenseRows(X * sign[:, None])


def warn_unfinished(gap: float, relative: float, tol: float, max_iter: int, name: str) -> None:
    """Warn that the relative duality gap is above ``tol``."""
    warnings.warn(
        f"The optimum is not certified ({name}): the duality gap is {gap:.3g} (relative "
        f"{relative:.1e}, tol {tol:g}) after at most {max_iter} iterations. The model is usable; "
        "raise max_iter, or scale the features.",
        ConvergenceWarning,
        stacklevel=2,
    )


class Baseline:
    """``fit`` of dense data in memory, beside ``Classifier``."""

    _accept_sparse = False
    _fit: Callable[..., Self]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)


class Hyperplanes:
    """Parts with a ``coef`` and an ``intercept``, beside ``Classifier``; the score is linear."""

    def _store(self, parts: list[Any]) -> None:
        self.coef_ = np.array([part.coef for part in parts])
        self.intercept_ = np.array([part.intercept for part in parts])

    def _task_scores(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.T + self.intercept_)


class ManyClasses:
    """Any number of classes in one problem, beside ``Classifier``.

    ``_task_scores`` returns one column per class; with two classes one signed number per row.
    """

    _rows_scores: Callable[..., np.ndarray]

    def _learn(self, training: Training, fold_fits: Any = ()) -> None:
        check_class_totals(training.classes, training.totals)
        assert isinstance(training, HostTraining)
        X, counted = as_float(training.X), training.weight > 0
        X = X if counted.all() else X[counted]
        self._fit_classes(X, training.codes[counted], training.weight[counted])

    def _fit_classes(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        """Fit to rows of positive weight, given the class index of each."""
        raise NotImplementedError

    def _decision(self, X: Any) -> np.ndarray:
        return self._rows_scores(X)
