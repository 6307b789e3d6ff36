"""KernelLandmarks: similarity to rows drawn from the data (Nyström), as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dtrmm

from lincent.features.near_points import NearPoints
from lincent.features.similarity import total_variance, triangular_whitening
from lincent.features.transformer import check_least
from lincent.sources.array_namespace import HOST
from lincent.sources.hashing import row_hashes
from lincent.tables.weighted import sample_by_key


class KernelLandmarks(NearPoints):
    """Features whose inner products approximate the Gaussian kernel (Williams and Seeger, 2001).

    Parameters
    ----------
    n_landmarks : int, default=300
        How many different rows are drawn as landmarks.
    gamma : float, default=1.0
        Width of the kernel exp(-gamma * r^2 / v), r a distance and v the total variance of the
        columns.
    max_share : float, default=0.5
        Landmarks are at most this share of the different rows.
    include_columns : bool, default=True
        Whether the columns themselves come first.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    random_state : int, RandomState instance or None, default=0
        Draws the landmarks.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_drawn, n_encoded)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    Distances compare columns: standardize them first. The features have a total variance of about
    that of the columns.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent.features import KernelLandmarks
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> KernelLandmarks(50).fit_transform(X).shape
    (200, 52)
    """

    kind = "landmark"

    def __init__(
        self,
        n_landmarks: int = 300,
        gamma: float = 1.0,
        *,
        max_share: float = 0.5,
        include_columns: bool = True,
        categorical_features: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.max_share = max_share
        self.include_columns = include_columns
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_least("n_landmarks", self.n_landmarks, 1)
        if not 0 < self.max_share <= 1:
            raise ValueError(
                f"max_share={self.max_share!r} is not usable: give a number above 0, at most 1."
            )

    def learn(
        self, Z: np.ndarray, codes: np.ndarray | None, weight: np.ndarray, seed: int
    ) -> KernelLandmarks:
        rows, counts = sample_by_key(row_hashes(Z, seed), weight)
        some = Z[rows]
        self.variance_ = total_variance(some, counts)
        self.landmarks_ = some[: max(1, min(self.n_landmarks, int(self.max_share * len(some))))]
        self.whitening_ = triangular_whitening(
            self.landmarks_, self.gamma / self.variance_, self.variance_
        )
        return self

    def _points(self) -> np.ndarray:
        return self.landmarks_

    def _whitened(self, near: Any, place: Any) -> Any:
        if place is not HOST:
            return super()._whitened(near, place)
        # In place, and half the work: the root is triangular.
        return dtrmm(1.0, self.whitening_, near.T, trans_a=1, overwrite_b=1).T
