"""Kernel similarities as transformers: KernelLandmarks (Nystroem) and LocalCenters."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrmm

from lincent.features.clusters import find_local_centers
from lincent.features.similarity import similarity, total_variance, triangular_whitening
from lincent.features.transformer import EncodedSamples, FeatureMap, check_least, class_codes
from lincent.sources.array_namespace import HOST
from lincent.sources.source import namespace_of
from lincent.tables.weighted import sample_by_key


class RBFFeatures(FeatureMap):
    """Base of transformers whose features are Gaussian kernel similarities to some points.

    Subclasses have ``gamma``, ``include_columns``, ``variance_`` and ``whitening_``, and define
    their points.
    """

    point_name: str
    """How a point is called in the names of the features."""

    def _points(self) -> np.ndarray:
        raise NotImplementedError

    def _check_params(self) -> None:
        if not isinstance(self.gamma, numbers.Real) or not 0 < float(self.gamma) < np.inf:
            raise ValueError(f"gamma={self.gamma!r} is not usable: give a finite number above 0.")

    def _transform(self, Z: Any) -> Any:
        features = self._whitened(self._similarity(Z), namespace_of(Z))
        return namespace_of(Z).beside([Z, features]) if self.include_columns else features

    def _factored(self) -> tuple[Callable[[Any], Any], np.ndarray | None]:
        if self.include_columns:
            return super()._factored()
        return self._similarity, self.whitening_

    def _scores(self, Z: Any, coef: np.ndarray) -> Any:
        place, own = namespace_of(Z), Z.shape[1] if self.include_columns else 0
        # A linear model on whitened similarities is one on the similarities: a product less.
        scores = self._similarity(Z) @ place.send(self.whitening_ @ coef[own:])
        return scores + Z[:, :own] @ place.send(coef[:own]) if own else scores

    def _similarity(self, Z: Any) -> Any:
        return similarity(Z, self._points(), self.gamma / self.variance_)

    def _whitened(self, similarities: Any, place: Any) -> Any:
        """Return similarities, which may be overwritten, times the whitening matrix."""
        return similarities @ place.send(self.whitening_)

    def _names(self, columns: list[str]) -> list[str]:
        names = [f"{self.point_name} {j}" for j in range(len(self._points()))]
        return [*columns, *names] if self.include_columns else names


@dataclass(eq=False, repr=False)
class KernelLandmarks(RBFFeatures):
    """Features whose inner products approximate the Gaussian kernel (Williams and Seeger, 2001).

    Parameters
    ----------
    n_landmarks : int, default=300
        How many unique samples are drawn as landmarks.
    gamma : float, default=1.0
        Width of the kernel exp(-gamma * r^2 / v), r a distance and v the total variance of the
        columns.
    max_share : float, default=0.5
        Landmarks are at most this fraction of the unique samples.
    include_columns : bool, default=True
        Whether the columns themselves come first.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    random_state : int, RandomState instance or None, default=0
        Seeds the draw of landmarks.

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

    n_landmarks: int = 300
    gamma: float = 1.0
    _: KW_ONLY
    max_share: float = 0.5
    include_columns: bool = True
    categorical_features: Any = None
    random_state: Any = 0

    point_name = "landmark"

    def _check_params(self) -> None:
        super()._check_params()
        check_least("n_landmarks", self.n_landmarks, 1)
        if not 0 < self.max_share <= 1:
            raise ValueError(
                f"max_share={self.max_share!r} is not usable: give a number above 0, at most 1."
            )

    def _fit(self, samples: EncodedSamples) -> KernelLandmarks:
        rows, counts = sample_by_key(samples.hashes, samples.weight)
        some = samples.Z[rows]
        self.variance_ = total_variance(some, counts)
        self.landmarks_ = some[: max(1, min(self.n_landmarks, int(self.max_share * len(some))))]
        self.whitening_ = triangular_whitening(
            self.landmarks_, self.gamma / self.variance_, self.variance_
        )
        return self

    def _points(self) -> np.ndarray:
        return self.landmarks_

    def _whitened(self, similarities: Any, place: Any) -> Any:
        if place is not HOST:
            return super()._whitened(similarities, place)
        # In place, and half the work: the whitening matrix is triangular.
        return dtrmm(1.0, self.whitening_, similarities.T, trans_a=1, overwrite_b=1).T


@dataclass(eq=False, repr=False)
class LocalCenters(RBFFeatures):
    """Kernel similarities to the local centers of the classes, found by k-means in each class.

    Parameters
    ----------
    n_centers : int, default=30
        Local centers per class, at most a quarter of the weight of the class.
    gamma : float, default=1.0
        Width of the kernel exp(-gamma * r^2 / v), r the distance between sample and center, v the
        total variance of the columns.
    include_columns : bool, default=True
        Whether the columns themselves come first.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    random_state : int, RandomState instance or None, default=0
        Seeds k-means.

    Attributes
    ----------
    centers_ : ndarray of shape (n_local, n_encoded)
    center_classes_ : ndarray of shape (n_local,)
        The class code of each, in the order of the sorted labels.
    sizes_ : ndarray of shape (n_local,)
        The weight of the samples nearest to it, within its class.
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

    n_centers: int = 30
    gamma: float = 1.0
    _: KW_ONLY
    include_columns: bool = True
    categorical_features: Any = None
    random_state: Any = 0

    point_name = "center"

    def _check_params(self) -> None:
        super()._check_params()
        check_least("n_centers", self.n_centers, 1)

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        return class_codes(self, y, n_samples)

    def _fit(self, samples: EncodedSamples) -> LocalCenters:
        given = samples.Z, samples.codes, samples.weight, self.n_centers, samples.seed
        local = find_local_centers(*given, samples.hashes)
        self.centers_, self.center_classes_, self.sizes_ = local.centers, local.classes, local.sizes
        self.variance_ = local.variance
        self.whitening_ = local.whitening(self.gamma)
        return self

    def _points(self) -> np.ndarray:
        return self.centers_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
