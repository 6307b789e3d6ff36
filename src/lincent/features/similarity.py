"""Gaussian kernel similarity to points: landmarks, and local centers found by k-means.

With points c_1 .. c_q, v the total variance of the samples (the number of features, if these are
standardized) and a width g,

    k(x)_j = exp(-g |x - c_j|^2 / v),     G_jl = exp(-g |c_j - c_l|^2 / v)
    psi(x) = sqrt(v) G^(-1/2) k(x)                       (eigenvalues of G floored at 1e-6)

so that psi is, like x, of total variance about v, and uncorrelated in the geometry of the points.
Any root of G^-1 gives the same inner products and so the same L2-regularized models; where there
are many points the triangular one is used, with 1e-6 added to G: a tenth of the work.

Local centers: in each class k-means finds k = min(K, weight of the class / 4) of them.  A linear
model on [x ; psi(x)] is x.beta + k(x).p - t with coefficients p = sqrt(v) G^(-1/2) times its second
part: each local center moves the decision values of the samples around it.

k-means runs on the unique samples in the order of their hashes, with total weights: weights are
frequencies, and the order of the samples does not matter.  In a class with more than
``SAMPLE_ROWS`` unique samples it runs on that many, the first by hash, which is a random sample,
and mini-batch k-means over all samples continues from there.  (This ends lower than from a start of
its own, and lower than the sample alone; its cost is linear in the number of samples.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.blas import dtrmm
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from lincent.features.transformer import EncodedSamples, FeatureMap
from lincent.sources.array_namespace import HOST
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.source import Kind, kind_of, namespace_of
from lincent.tables.weighted import SAMPLE_ROWS

FLOOR = 1e-6
BLOCK_ROWS = 2048
"""Samples that are scored at a time."""


def squared_distances(X: Any, points: np.ndarray) -> Any:
    """Return |x - c_j|^2, from centered data so that little is lost to rounding."""
    if kind_of(X) is Kind.SPARSE:
        distances = np.asarray(X @ (-2.0 * points.T))
        distances += np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
        distances += np.einsum("ij,ij->i", points, points)
        return np.maximum(distances, 0.0, out=distances)
    place, origin = namespace_of(X), points.mean(axis=0)
    rows, points = X - place.send(origin), points - origin
    distances = rows @ place.send(-2.0 * points.T)
    distances += place.xp.sum(rows * rows, axis=1)[:, None]
    distances += place.send(np.einsum("ij,ij->i", points, points))
    return distances.clip(0.0, None)


def similarity(X: Any, points: np.ndarray, scale: float) -> Any:
    """Return k(x), with scale = g / v, in the array namespace of ``X``.

    In memory in parts that stay in the cache from product to exponential.
    """
    if kind_of(X) is Kind.DEVICE:
        return namespace_of(X).xp.exp(-scale * squared_distances(X, points))
    kernel = np.empty((X.shape[0], len(points)))
    # A megabyte at a time (5,000 x 5,000: a third of the time of one large part).
    step = max(1, 2**17 // max(1, len(points)))
    if kind_of(X) is Kind.SPARSE:
        for start in range(0, X.shape[0], step):
            part = squared_distances(X[start : start + step], points)
            part *= -scale
            np.exp(part, out=kernel[start : start + step])
        return kernel
    # -scale |x - c|^2 is the product of (x, |x|^2, 1) and (2 scale c, -scale, -scale |c|^2).
    origin, n = points.mean(axis=0), points.shape[1]
    left, right = np.ones((X.shape[0], n + 2)), np.full((len(points), n + 2), -scale)
    np.subtract(X, origin, out=left[:, :n])
    centered = points - origin
    np.multiply(centered, 2.0 * scale, out=right[:, :n])
    np.einsum("ij,ij->i", left[:, :n], left[:, :n], out=left[:, n])
    right[:, n + 1] *= np.einsum("ij,ij->i", centered, centered)
    for start in range(0, X.shape[0], step):
        part = kernel[start : start + step]
        np.dot(left[start : start + step], right.T, out=part)
        np.minimum(part, 0.0, out=part)
        np.exp(part, out=part)
    return kernel


def whitening(points: np.ndarray, scale: float, variance: float) -> np.ndarray:
    """Return sqrt(v) G^(-1/2)."""
    G = similarity(points, points, scale)
    values, vectors = np.linalg.eigh((G + G.T) / 2)
    size = np.sqrt(variance) / np.sqrt(np.maximum(values, FLOOR))
    return (vectors * size) @ vectors.T


def triangular_whitening(points: np.ndarray, scale: float, variance: float) -> np.ndarray:
    """Return sqrt(v) L'^-1 with G + 1e-6 I = L L'."""
    G = similarity(points, points, scale)
    G.flat[:: len(G) + 1] += FLOOR
    factor = cholesky(G, lower=True, check_finite=False)
    inverse = solve_triangular(factor, np.eye(len(G)), lower=True, check_finite=False)
    return np.asarray(np.sqrt(variance) * inverse.T)


def column_moments(X: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean and variance of each feature."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X)
    if kind_of(X) is Kind.SPARSE:
        return mean, np.asarray(share @ X.multiply(X)) - mean**2
    # Column by column: no second array of the size of X.
    columns = zip(X.T, mean, strict=True)
    return mean, np.array([share @ np.square(column - center) for column, center in columns])


def total_variance(X: Any, weight: np.ndarray) -> float:
    """Return the sum of the variances of the features; 1 if there is none."""
    variance = float(column_moments(X, weight)[1].sum())
    return variance if variance > 0 else 1.0


@dataclass(frozen=True)
class Extension:
    """The mapping psi(x) = [x ; sqrt(v) G^(-1/2) k(x)], in the array namespace of x."""

    points: np.ndarray
    scale: float
    whitening: np.ndarray

    @property
    def columns(self) -> int:
        return int(self.points.shape[1])

    @property
    def width(self) -> int:
        return self.columns + int(self.whitening.shape[1])

    def __call__(self, X: Any) -> Any:
        place = namespace_of(X)
        X = X if place is not HOST else X.astype(np.float64, copy=False)
        kernel = similarity(X, self.points, self.scale)
        if kind_of(X) is Kind.SPARSE:
            return sp.csr_array(sp.hstack([X, sp.csr_array(kernel @ self.whitening)], format="csr"))
        if place is not HOST:
            return place.beside([X, kernel @ place.send(self.whitening)])
        psi = np.empty((X.shape[0], self.width))
        psi[:, : self.columns] = X
        np.matmul(kernel, self.whitening, out=psi[:, self.columns :])
        return psi


def local_scores(
    X: Any,
    linear: np.ndarray,
    intercept: np.ndarray,
    centers: np.ndarray,
    scales: np.ndarray,
    local: np.ndarray,
) -> np.ndarray:
    """Return x.linear + intercept + sum over widths and centers of coef * exp(-scale |x - c|^2).

    ``linear`` is (problems, features), ``scales`` (widths, centers), ``local`` problems by both.
    Computed in blocks, so that memory beyond the result does not grow with the number of samples.
    """
    place, scores = namespace_of(X), np.empty((X.shape[0], len(linear)))
    # On a device a gigabyte of entries at a time.
    step = BLOCK_ROWS if place is HOST else 2**27 // (X.shape[1] + 2 * len(centers))
    for start in range(0, X.shape[0], max(step, 1)):
        part = slice(start, start + max(step, 1))
        rows = X[part].astype(np.float64, copy=False) if place is HOST else place.doubles(X[part])
        block = rows @ place.send(linear.T) + place.send(intercept)
        distances = squared_distances(rows, centers)
        for width, scale in enumerate(scales):
            kernel = place.xp.exp(place.send(-scale) * distances)
            block += kernel @ place.send(local[:, width].T)
        scores[part] = place.fetch(block)
    return scores


def local_importances(
    linear: np.ndarray, centers: np.ndarray, scales: np.ndarray, local: np.ndarray
) -> np.ndarray:
    """Return the importance of each feature in ``local_scores``, of sum one.

    The mean absolute derivative of the decision values at the centers, times the standard deviation
    of the feature over the centers.
    """
    distances = squared_distances(centers, centers)
    slope = np.zeros((len(linear), centers.shape[1]))
    for k, own in enumerate(linear):
        kernel = sum(local[k, w] * s * np.exp(-s * distances) for w, s in enumerate(scales))
        gradient = own - 2.0 * (kernel.sum(axis=1)[:, None] * centers - kernel @ centers)
        slope[k] = np.abs(gradient).mean(axis=0)
    importance = slope.mean(axis=0) * centers.std(axis=0)
    total = float(importance.sum())
    return importance / total if total > 0 else np.full(len(importance), 1 / len(importance))


# Local centers.


@dataclass(frozen=True)
class CenterSet:
    """Local centers of all classes, and the total variance that normalizes distances."""

    centers: np.ndarray
    classes: np.ndarray
    sizes: np.ndarray
    variance: float

    def extension(self, gamma: float) -> Extension:
        """Return the feature map of a width."""
        scale = gamma / self.variance
        return Extension(self.centers, scale, whitening(self.centers, scale, self.variance))


def find_local_centers(
    X: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    n_centers: int,
    seed: int,
    hashes: np.ndarray | None = None,
) -> CenterSet:
    """Return the centroids of k-means in each class."""
    hashes = row_hashes(X, seed) if hashes is None else hashes
    classes = range(int(codes.max()) + 1)
    samples = (_unique_samples(X, hashes, np.where(codes == k, weight, 0.0)) for k in classes)
    return centers_of_samples(samples, total_variance(X, weight), n_centers, seed)


def _unique_samples(
    X: np.ndarray, hashes: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    rows, counts = smallest_distinct(hashes, weight, len(weight))
    points: Any = X[rows]  # a copy of these samples, sparse where X is
    if kind_of(X) is not Kind.SPARSE:
        points = np.ascontiguousarray(points)
    elif points.shape[0] * points.shape[1] <= 2**24:
        points = points.toarray()  # k-means uses other algorithms on sparse data
    return points.astype(np.float64, copy=False), counts, float(counts.sum())


def centers_of_samples(
    samples: Iterable[tuple[np.ndarray, np.ndarray, float]],
    variance: float,
    n_centers: int,
    seed: int,
) -> CenterSet:
    """Return the centroids of k-means on samples of each class.

    These are unique samples in the order of their hashes, their weights, and the weight of the
    class that they are drawn from.
    """
    local = []
    for code, (points, counts, total) in enumerate(samples):
        if len(counts):
            k = max(1, min(n_centers, int(total / 4), len(counts)))
            centers, labels = _means(points, counts, k, seed)
            sizes = np.bincount(labels, weights=counts, minlength=k) * (total / counts.sum())
            local.append((centers, np.full(len(centers), code), sizes))
    centers, classes, sizes = (np.concatenate(part) for part in zip(*local, strict=True))
    return CenterSet(centers, classes, sizes, variance)


def _means(
    points: np.ndarray, counts: np.ndarray, k: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centers of k-means, and the nearest center of each point."""
    from sklearn.cluster import KMeans, MiniBatchKMeans  # late: as long to import as lincent

    some = slice(SAMPLE_ROWS)
    means = KMeans(k, n_init=1, random_state=seed).fit(points[some], sample_weight=counts[some])
    if points.shape[0] > SAMPLE_ROWS:
        means = MiniBatchKMeans(
            k,
            init=means.cluster_centers_,
            n_init=1,
            batch_size=4096,
            max_iter=3,
            reassignment_ratio=0.0,
            random_state=seed,
        ).fit(points, sample_weight=counts)
    return means.cluster_centers_, means.labels_


# Transformers.


class RBFFeatures(FeatureMap):
    """Base of transformers whose features are Gaussian kernel similarities to some points.

    Subclasses have ``gamma``, ``include_columns``, ``variance_``, ``whitening_`` and the points.
    """

    point_name: str
    """How a point is called in the names of the features; with "s_" the attribute of all."""
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureMap._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, np.inf, closed="neither")],
        "max_share": [Interval(Real, 0, 1, closed="right")],
        "include_columns": ["boolean"],
    }

    def _points(self) -> np.ndarray:
        return np.asarray(getattr(self, f"{self.point_name}s_"))

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
        Inverse width of the kernel exp(-gamma * r^2 / v), r a distance and v the total variance of
        the columns.
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

    def _fit(self, samples: EncodedSamples) -> KernelLandmarks:
        rows, counts = smallest_distinct(samples.hashes, samples.weight, SAMPLE_ROWS)
        some = samples.Z[rows]
        self.variance_ = total_variance(some, counts)
        self.landmarks_ = some[: max(1, min(self.n_landmarks, int(self.max_share * len(some))))]
        self.whitening_ = triangular_whitening(
            self.landmarks_, self.gamma / self.variance_, self.variance_
        )
        return self

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
        Inverse width of the kernel exp(-gamma * r^2 / v), r the distance between sample and center,
        v the total variance of the columns.
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

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        """Return the class code of each sample."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: it fits "
                "the centers of each class."
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != n_samples:
            raise ValueError(f"X has {n_samples} rows and y has {len(y)}: give one label per row.")
        return np.asarray(np.unique(y, return_inverse=True)[1])

    def _fit(self, samples: EncodedSamples) -> LocalCenters:
        given = samples.Z, samples.codes, samples.weight, self.n_centers, samples.seed
        local = find_local_centers(*given, samples.hashes)
        self.centers_, self.center_classes_, self.sizes_ = local.centers, local.classes, local.sizes
        self.variance_ = local.variance
        self.whitening_ = local.extension(self.gamma).whitening
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
