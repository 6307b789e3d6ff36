"""Classifiers of tables: what AutoLCC and the additive models share.

They encode tables with missing values, text and categories, and have one linear classifier of
encoded features for two classes and one per class for more.

Remote data (Dask, batches, devices) is numbers without missing values.  A random sample of it is
transferred to the host: knots, centers, landmarks and hyperparameters come from that sample.  The
linear classifiers are then fitted to all samples in place, started from those of the sample
(``fit_remote``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.base import open_training
from lincent.estimators.joint_fit import Costs
from lincent.estimators.remote import RemoteTraining
from lincent.estimators.validation import (
    check_count,
    check_device_rows,
    check_positive,
    read_labels,
    refuse_namespace,
)
from lincent.features.transformer import by_blocks
from lincent.solvers.newton import in_place
from lincent.solvers.newton.joint import JointSolution
from lincent.sources.batches import BATCH_ROWS
from lincent.sources.hashing import row_hashes
from lincent.sources.landmarks import RowMapping
from lincent.sources.source import Kind, kind_of, open_source
from lincent.tables.encoder import TableEncoder, named_columns
from lincent.tables.weighted import Columns, check_weights, shares_of_classes


class Limits(NamedTuple):
    """Stopping criteria of a solve."""

    tol: float
    max_iter: int
    out_of_time: Callable[[], bool]


@dataclass(frozen=True)
class RemoteSample:
    """Some samples, and the statistics of each column over all samples."""

    rows: TrainingRows
    columns: Columns


def sample_of_remote(training: RemoteTraining, seed: int, count: int) -> RemoteSample:
    """Return about ``count`` distinct samples, those of ``TrainingRows.sample``: one pass."""
    totals = training.totals
    most = shares_of_classes([count] * len(totals), totals.tolist(), count)
    sample = training.sample_classes(count, seed, most)
    rows = TrainingRows(
        np.concatenate([open_source(rows).array() for rows in sample.rows]).astype(np.float64),
        np.concatenate(sample.keys),
        np.repeat(np.arange(len(totals)), [len(keys) for keys in sample.keys]),
        np.concatenate(sample.weights),
        None,
    )
    spread = sample.spread
    deviation = np.sqrt(spread.squares / totals.sum())
    flat = deviation <= 1e-12 * np.maximum(np.abs(spread.mean), 1e-300)
    columns = Columns(spread.mean, np.where(flat, 1.0, deviation), spread.low, spread.high)
    return RemoteSample(rows.merged(), columns)


def plain_encoder(model: Any) -> TableEncoder:
    """Return the encoder of remote data, which has numbers and no missing values."""
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return TableEncoder.for_numbers(names)


def fit_remote(
    training: RemoteTraining,
    mapping: RowMapping,
    costs: Costs,
    Cs: Sequence[float],
    starts: Sequence[np.ndarray],
    limits: Limits,
) -> list[JointSolution]:
    """Return the linear classifiers for each C (per sample), fitted to all samples."""
    structure, weight = costs.loss_structure(training.totals), float(training.totals.sum())
    read, scales = training.joint_reader(mapping, structure), [C * weight for C in Cs]
    return in_place.solve_joint_path(read, structure, scales, starts, training.shape[0], *limits)


class TableClassifier(BaseEstimator):
    """A classifier of tables, beside ``Classifier``.

    Subclasses have ``categorical_features``, ``tol``, ``max_iter``, ``time_limit``, ``_fit_rows``
    and ``_block_scores``: from encoded samples to scores, one column per linear classifier.
    """

    _searches_folds = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Missing values and, in a frame, text and categories are accepted. Also a Dask array or
            dataframe of numbers, batches, or a torch or CuPy array, which are read in place, five
            to nine times.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _block_scores(self, Z: Any) -> Any:
        raise NotImplementedError

    def _check_input_backend(self, kind: Kind, X: Any) -> None:
        """Accept any kind of X."""

    def _check_limits(self) -> None:
        """Check the parameters of a solve."""
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    def _open_table(self, X: Any, y: Any, sample_weight: Any, seed: int) -> TrainingRows:
        refuse_namespace(self, X)
        table = named_columns(self, X, self.categorical_features, reset=True)
        codes = self._codes(y, table.shape[0])
        weight = check_weights(sample_weight, table.shape[0])
        self._encoder = TableEncoder(scale=False)
        Z = self._encoder.fit_columns(table, weight)
        return TrainingRows(Z, row_hashes(Z, seed), codes, weight, None)

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        self.classes_, codes = read_labels(type(self).__name__, y, n_samples)
        return codes

    def _open_remote(self, X: Any, y: Any, sample_weight: Any) -> RemoteTraining:
        """Open data that is read in place."""
        if self.categorical_features is not None:
            raise ValueError(
                "categorical_features needs X as a table in memory: encode these columns first, or "
                "compute() X."
            )
        training = open_training(self, X, y, sample_weight)
        assert isinstance(training, RemoteTraining)
        self._encoder = plain_encoder(self)
        return training

    def _rows_scores(self, X: Any) -> np.ndarray:
        """Return the scores (n_samples, n_outputs)."""
        return self._apply_encoded(self._block_scores, X)

    def _apply_encoded(self, function: Callable[[Any], Any], X: Any) -> np.ndarray:
        """Return a function of encoded samples, one row each, as a NumPy array.

        Device arrays of numbers stay on their device; where the model has categories, or a number
        is missing, they are transferred to the host in parts, as sparse matrices are.
        """
        check_is_fitted(self)
        refuse_namespace(self, X)

        def on_host(rows: Any) -> np.ndarray:
            table = named_columns(self, rows, self._encoder.categorical, reset=False)
            return by_blocks(function, self._encoder.encode(table))

        kind = kind_of(X)
        if kind not in (Kind.DEVICE, Kind.SPARSE) or X.ndim != 2 or not X.shape[0]:
            return on_host(X)
        if kind is Kind.DEVICE and self._encoder.plain:
            from lincent.sources.array_namespace import DeviceNamespace
            from lincent.sources.device import not_finite, parts_of

            checked = check_device_rows(self, X, reset=False, finite=False)
            if not_finite(checked) is None:
                device, width = DeviceNamespace(checked), checked.shape[1] + self._n_map_features()
                parts = parts_of((checked.shape[0], width))
                return np.concatenate(
                    [device.fetch(function(device.doubles(checked[part]))) for part in parts]
                )
        X = X.tocsr() if kind is Kind.SPARSE else X
        starts = range(0, X.shape[0], BATCH_ROWS)
        batches = (open_source(X[k : k + BATCH_ROWS]).array() for k in starts)
        return np.concatenate([on_host(batch) for batch in batches])

    def _n_map_features(self) -> int:
        """Return the number of features of a sample, which bounds the size of parts."""
        coef = self._coef
        return sum(map(len, coef.values())) if isinstance(coef, dict) else len(coef)

    def _shifted(self, scores: np.ndarray) -> np.ndarray:
        """Return scores with the threshold of ``predict`` at zero."""
        return scores

    def _decision(self, X: Any) -> np.ndarray:
        return flat(self._shifted(self._rows_scores(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.array_api_support = False
        return tags


def flat(scores: np.ndarray) -> np.ndarray:
    """Return a single column of scores as a vector."""
    return scores[:, 0] if scores.shape[1] == 1 else scores
