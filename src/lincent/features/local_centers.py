"""LocalCenters: similarity to the local centers of the classes, as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.features.clusters import find_local_centers
from lincent.features.near_points import NearPoints
from lincent.features.transformer import check_least, class_numbers


class LocalCenters(NearPoints):
    """How near each row is to the local centers of the classes, found by k-means in each.

    Parameters
    ----------
    n_centers : int, default=30
        Local centers per class, at most a quarter of the weight of the class.
    gamma : float, default=1.0
        Width of the similarity exp(-gamma * r^2 / v), r the distance of row and center, v the
        total variance of the columns.
    include_columns : bool, default=True
        Whether the columns themselves come first.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    random_state : int, RandomState instance or None, default=0
        Starts k-means.

    Attributes
    ----------
    centers_ : ndarray of shape (n_local, n_encoded)
    center_classes_ : ndarray of shape (n_local,)
        The number of the class of each, in the order of the sorted labels.
    sizes_ : ndarray of shape (n_local,)
        The weight of the rows nearest to it, within its class.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    Distances compare columns: standardize them first.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent.features import LocalCenters
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> LocalCenters(n_centers=5).fit_transform(X, y).shape
    (200, 12)
    """

    kind = "center"

    def __init__(
        self,
        n_centers: int = 30,
        gamma: float = 1.0,
        *,
        include_columns: bool = True,
        categorical_features: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_centers = n_centers
        self.gamma = gamma
        self.include_columns = include_columns
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_least("n_centers", self.n_centers, 1)

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        return class_numbers(self, y, n_samples)

    def learn(
        self, Z: np.ndarray, codes: np.ndarray | None, weight: np.ndarray, seed: int
    ) -> LocalCenters:
        groups = np.zeros(len(Z), dtype=np.intp) if codes is None else codes
        found = find_local_centers(Z, groups, weight, self.n_centers, seed)
        self.centers_, self.center_classes_, self.sizes_ = found.centers, found.classes, found.sizes
        self.variance_ = found.variance
        self.whitening_ = found.whitening(self.gamma)
        return self

    def _points(self) -> np.ndarray:
        return self.centers_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
