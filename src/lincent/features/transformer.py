"""Base of the feature maps: a transformer around a pure function of encoded samples.

``fit`` encodes the table (``tables.encoder``), fits the encoded samples and keeps small arrays;
``transform`` encodes and maps, block by block, so that memory beyond the result does not grow with
the number of samples.  An estimator that has encoded its samples already uses ``_fit``,
``_transform`` and ``_scores``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lincent.sources.hashing import row_hashes
from lincent.sources.source import namespace_of
from lincent.tables.encoder import TableEncoder, named_columns
from lincent.tables.weighted import check_weights

BLOCK_ROWS = 1024


@dataclass(frozen=True)
class EncodedSamples:
    """Encoded samples, class codes and frequency weights, and a seed for what is drawn of them."""

    Z: np.ndarray
    codes: Any
    weight: np.ndarray
    seed: int
    hashes: Any
    """Hashes of the samples for the seed."""


class FeatureMap(TransformerMixin, BaseEstimator):
    """Base of transformers that map samples one by one.

    Subclasses have the parameters ``categorical_features`` and ``random_state``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"random_state": ["random_state"]}

    def _fit(self, samples: EncodedSamples) -> Self:
        """Fit to encoded samples."""
        raise NotImplementedError

    def _transform(self, Z: Any) -> Any:
        """Return the features of encoded samples, in the array namespace of ``Z``."""
        raise NotImplementedError

    def _factored(self) -> tuple[Callable[[Any], Any], np.ndarray | None]:
        """Return a cheaper function g and a matrix B, where the features are g(Z) @ B; or None."""
        return self._transform, None

    def _scores(self, Z: Any, coef: np.ndarray) -> Any:
        """Return the decision values of linear models on the features, one for each column."""
        return self._transform(Z) @ namespace_of(Z).send(coef)

    def _names(self, columns: list[str]) -> list[str]:
        """Return the names of the features, given those of the encoded columns."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the feature map.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Missing values and, in a frame, text and categories are accepted.
        y : array-like of shape (n_samples,), default=None
            Class labels, where the feature map needs them.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        table = named_columns(self, X, self.categorical_features, reset=True)
        weight = check_weights(sample_weight, table.shape[0])
        codes = self._codes(y, table.shape[0])
        self._encoder = TableEncoder(scale=False)
        Z = self._encoder.fit_columns(table, weight)
        seed = int(check_random_state(self.random_state).randint(2**31))
        return self._fit(EncodedSamples(Z, codes, weight, seed, row_hashes(Z, seed)))

    def _codes(self, y: Any, n_samples: int) -> np.ndarray | None:
        return None

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            One column per feature.
        """
        check_is_fitted(self)
        table = named_columns(self, X, self._encoder.categorical, reset=False)
        return by_blocks(self._transform, self._encoder.encode(table))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where ``fit`` has not seen any.

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features)
        return np.asarray(self._names(self._encoder.renamed(given)), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def by_blocks(function: Any, Z: np.ndarray, rows: int = BLOCK_ROWS) -> np.ndarray:
    """Apply a pure function of samples in memory to a block at a time."""
    if len(Z) <= rows:
        return np.asarray(function(Z))
    first = function(Z[:rows])
    out = np.empty((len(Z), *first.shape[1:]), dtype=first.dtype)
    out[:rows] = first
    for start in range(rows, len(Z), rows):
        out[start : start + rows] = function(Z[start : start + rows])
    return out
