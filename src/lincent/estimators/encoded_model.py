"""What AutoLCC and the additive models share: from a table to encoded rows, from scores to answers.

They read tables with gaps, text and categories by an encoder, and have one rule for two classes and
one for each of more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin

from lincent.estimators import dispatch
from lincent.estimators.answers import score, where_rows_live
from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.classifier import whole_or_nothing
from lincent.estimators.encoded import of_encoded_rows
from lincent.estimators.joint_blocks import plain_encoder
from lincent.estimators.multiclass import pick
from lincent.estimators.problem import BlockTraining, open_training
from lincent.estimators.validation import check_count, check_positive, read_labels, refuse_namespace
from lincent.estimators.watching import CallbackSupportMixin, with_callbacks
from lincent.sources.hashing import row_hashes
from lincent.sources.source import Kind
from lincent.tables.encoder import TableEncoder, named_columns
from lincent.tables.weighted import check_weights


class EncodedModel(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier of tables.

    Subclasses have ``categorical_features``, ``tol``, ``max_iter``, ``time_limit``, ``_fit_rows``
    and ``_block_scores``: from encoded rows to their scores, one column for each rule.
    """

    _accept_sparse: Any = "csr"
    score = score

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Missing values and, in a frame, text and categories are accepted. Also a Dask array or
            dataframe of numbers, batches, or a torch or CuPy array, which are read where they are,
            five to nine times.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        with whole_or_nothing(self, X, y):
            if get_config()["array_api_dispatch"]:
                return dispatch.fit(self, X, y, sample_weight)
            return self._fit_rows(X, y, sample_weight)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        raise NotImplementedError

    def _block_scores(self, Z: Any) -> Any:
        raise NotImplementedError

    def _check_limits(self) -> None:
        """The parameters of a solve."""
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    def _open_table(self, X: Any, y: Any, sample_weight: Any, seed: int) -> TrainingRows:
        refuse_namespace(self, X)
        table = named_columns(self, X, self.categorical_features, reset=True)
        codes = self._codes(y, table.shape[0])
        weight = check_weights(sample_weight, table.shape[0])
        self.encoder_ = TableEncoder(scale=False)
        Z = self.encoder_.fit_columns(table, weight)
        return TrainingRows(Z, row_hashes(Z, seed), codes, weight, None)

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        self.classes_, codes = read_labels(type(self).__name__, y, n_samples)
        return codes

    def _open_blocks(self, X: Any, y: Any, sample_weight: Any) -> BlockTraining:
        """Rows that are read in place."""
        if self.categorical_features is not None:
            raise ValueError(
                "categorical_features needs X as a table in memory: encode these columns first, or "
                "compute() X."
            )
        training = open_training(self, X, y, sample_weight)
        assert isinstance(training, BlockTraining)
        self.encoder_ = plain_encoder(self)
        return training

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        """Rows are read wherever they are."""

    def _rows_scores(self, X: Any) -> np.ndarray:
        """Scores (rows, rules)."""
        return of_encoded_rows(self, self._block_scores, X)

    def _moved(self, scores: np.ndarray) -> np.ndarray:
        """Scores with the cut of ``predict`` at zero."""
        return scores

    @where_rows_live
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed scores: positive means ``classes_[1]``; with more classes the largest wins.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        return flat(self._moved(self._rows_scores(X)))

    @where_rows_live
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        scores = self._moved(self._rows_scores(X))
        return np.asarray(self.classes_[pick(flat(scores))])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def flat(scores: np.ndarray) -> np.ndarray:
    """The scores of one rule as a vector."""
    return scores[:, 0] if scores.shape[1] == 1 else scores
