"""What the baselines share: multiclass base class, warnings, and coordinates of the row space.

All methods here but the discriminant analysis see X through inner products only, so the weights
they find lie in the span of the samples.  With more features than samples the problem is therefore
solved in coordinates of that span, m numbers per sample instead of n, and the answer is mapped
back:

    X' = QR,   X w = R' (Q'w),   w = Q v,   |w| = |v|.

A sparse X is not made dense for it: the coordinates come from X X' = U diag(e) U', and
w = X' U diag(e)^(-1/2) v.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import open_training
from lincent.estimators.fit_callbacks import CallbackSupportMixin
from lincent.estimators.problem import HostTraining, predicted_codes
from lincent.estimators.validation import check_class_totals, check_rows, refuse_backend
from lincent.problems.arrays import Rows
from lincent.sources.dense import DenseRows
from lincent.sources.rows import SignedRows
from lincent.sources.source import Kind, kind_of
from lincent.sources.sparse import SparseSource

LARGEST = 1e140
"""Products of two numbers up to here can be added up over any number of rows."""


class RowSpace:
    """Coordinates of the rows, at most as many as there are rows."""

    def __init__(self, X: Any) -> None:
        m, n = X.shape
        self._basis: np.ndarray | None = None
        self._rows: Any = None
        self.coordinates: Any = X
        if n <= m:
            return
        if kind_of(X) is Kind.SPARSE:
            values, vectors = np.linalg.eigh(SparseSource(X).outer(np.ones(n)))
            kept = values > m * np.finfo(float).eps * max(values[-1], 0.0)
            roots = np.sqrt(values[kept])
            self.coordinates = vectors[:, kept] * roots
            self._basis, self._rows = vectors[:, kept] / roots, X
        else:
            self._basis, triangle = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
            self.coordinates = np.ascontiguousarray(triangle.T)

    def lift(self, v: np.ndarray) -> np.ndarray:
        """Weights of the columns from weights of the coordinates."""
        if self._basis is None:
            return v
        w = self._basis @ v
        return w if self._rows is None else np.asarray(self._rows.T @ w)


def as_float(X: Any) -> Any:
    """Return X in float64, copied only if needed; raise where squares overflow or underflow."""
    X = X.astype(np.float64, copy=False)
    values = X.data if kind_of(X) is Kind.SPARSE else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > LARGEST:
        raise ValueError(
            f"X has values up to {largest:.2g}, and sums of products of them overflow: scale X "
            f"(below {LARGEST:g})."
        )
    if 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"X has values up to {largest:.2g} only, and products of them vanish: scale X "
            f"(above {1 / LARGEST:g})."
        )
    return X


def with_ones(X: Any) -> Any:
    """(X, 1): a last column of ones for the intercept."""
    if kind_of(X) is Kind.SPARSE:
        return sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))], format="csr"))
    return np.hstack([X, np.ones((X.shape[0], 1))])


def signed_rows(X: Any, sign: np.ndarray) -> Rows:
    """The operator with rows sign_i x_i."""
    if kind_of(X) is Kind.SPARSE:
        return SignedRows(SparseSource(X), sign, np.zeros(X.shape[1]))
    return DenseRows(X * sign[:, None])


def one_or_all(values: list[float]) -> Any:
    """A number for a single two-class problem, an array for several."""
    return values[0] if len(values) == 1 else np.array(values)


def warn_unfinished(gap: float, relative: float, tol: float, max_iter: int, name: str) -> None:
    """Warn that the relative duality gap is above ``tol``."""
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
        """Raise ValueError for any invalid parameter."""
        raise NotImplementedError

    def _check_input_backend(self, kind: Kind, X: Any) -> None:
        refuse_backend(self, X)

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
        return np.asarray(self.classes_[predicted_codes(scores)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags
