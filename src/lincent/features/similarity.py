"""Gaussian kernel similarity to points, whitened: features of local centers and landmarks.

With points c_1 .. c_q, v the total variance of the samples (the number of features, if these are
standardized) and a width g,

    k(x)_j = exp(-g |x - c_j|^2 / v),     G_jl = exp(-g |c_j - c_l|^2 / v)
    psi(x) = sqrt(v) G^(-1/2) k(x)                       (eigenvalues of G floored at 1e-6)

so that psi is, like x, of total variance about v, and uncorrelated in the geometry of the points.
Any root of G^-1 gives the same inner products and so the same L2-regularized models; where there
are many points the triangular one is used, with 1e-6 added to G: a tenth of the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular

from lincent.sources.array_namespace import HOST
from lincent.sources.source import Kind, kind_of, namespace_of

FLOOR = 1e-6
BLOCK_ROWS, DEVICE_ENTRIES = 2048, 2**27
"""Samples that are scored at a time, and on a device entries of them (a gigabyte)."""
CACHED_ENTRIES = 2**17
"""A megabyte of distances at a time (5,000 x 5,000: a third of the time of one large part)."""


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
    step = max(1, CACHED_ENTRIES // max(1, len(points)))
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


def total_variance(X: Any, weight: np.ndarray) -> float:
    """Return the sum of the variances of the features; 1 if there is none."""
    share = weight / weight.sum()
    if kind_of(X) is Kind.SPARSE:
        mean = np.asarray(share @ X)
        variance = float(np.sum(share @ X.multiply(X))) - float(mean @ mean)
        return variance if variance > 0 else 1.0
    variance = 0.0
    for column in X.T:  # no second array of the size of X
        difference = column - share @ column
        variance += float(share @ (difference * difference))
    return variance if variance > 0 else 1.0


def entry_variance(X: Any, weight: np.ndarray) -> float:
    """Return the variance over all entries, samples weighted."""
    share = weight / (weight.sum() * X.shape[1])
    if kind_of(X) is Kind.SPARSE:
        mean = float(np.sum(share @ X))
        return float(np.sum(share @ X.multiply(X))) - mean**2
    mean = float(sum(share @ column for column in X.T))
    # Column by column: no second array of the size of X.
    double = np.float64
    return float(sum(share @ np.square(np.subtract(c, mean, dtype=double)) for c in X.T))


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
    step = BLOCK_ROWS if place is HOST else DEVICE_ENTRIES // (X.shape[1] + 2 * len(centers))
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
