"""Local centers: k-means in each class.

In each class k-means finds k = min(K, weight of the class / 4) local centers c_1 .. c_q (q over all
classes).  As features they are ``features.similarity``; a linear model on psi = [x ; psi(x)] is
x.beta + k(x).p - t with coefficients p = sqrt(v) G^(-1/2) times its second part: each local center
moves the decision values of the samples around it.

k-means runs on the unique samples in the order of their hashes, with total weights: weights are
frequencies, and the order of the samples does not matter.  In a class with more than
``SAMPLE_ROWS`` unique samples it runs on that many, the first by hash, which is a random sample,
and mini-batch k-means over all samples continues from there.  (This ends lower than from a start of
its own, and lower than the sample alone; its cost is linear in the number of samples.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lincent.features.similarity import total_variance, whitening
from lincent.sources.hashing import row_hashes
from lincent.sources.source import Kind, kind_of
from lincent.tables.weighted import SAMPLE_ROWS

BATCH_ROWS = 4_096
BATCH_ROUNDS = 3
"""Passes of mini-batch k-means over the samples, at most."""
ROWS_PER_CENTER = 4
FULL_ENTRIES = 2**24
"""Sparse data up to this size is clustered as dense: the centers are then the same."""


@dataclass(frozen=True)
class CenterSet:
    """Local centers of all classes, and the total variance that normalizes distances."""

    centers: np.ndarray
    classes: np.ndarray
    sizes: np.ndarray
    variance: float

    def whitening(self, gamma: float) -> np.ndarray:
        """Return sqrt(v) G^(-1/2)."""
        return whitening(self.centers, gamma / self.variance, self.variance)


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
    rows = (np.flatnonzero((codes == code) & (weight > 0)) for code in classes)
    samples = (_unique_samples(X, hashes, weight, own) for own in rows)
    return centers_of_samples(samples, total_variance(X, weight), n_centers, seed)


def _unique_samples(
    X: np.ndarray, hashes: np.ndarray, weight: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    _, first, kind = np.unique(hashes[rows], return_index=True, return_inverse=True)
    counts = np.bincount(kind.reshape(-1), weights=weight[rows])
    points = X[rows[first]]  # a copy of these samples, sparse where X is
    if kind_of(X) is not Kind.SPARSE:
        points = np.ascontiguousarray(points)
    elif points.shape[0] * points.shape[1] <= FULL_ENTRIES:
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
            k = max(1, min(n_centers, int(total / ROWS_PER_CENTER), len(counts)))
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
            batch_size=BATCH_ROWS,
            max_iter=BATCH_ROUNDS,
            reassignment_ratio=0.0,
            random_state=seed,
        ).fit(points, sample_weight=counts)
    return means.cluster_centers_, means.labels_
