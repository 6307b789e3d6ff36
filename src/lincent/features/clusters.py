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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lincent.features.similarity import squared_distances, total_variance, whitening
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

    def distances(self, X: np.ndarray) -> np.ndarray:
        """Return |x - c_j|^2 / v for all samples and centers."""
        return squared_distances(X, self.centers) / self.variance

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
    local = []
    for code in range(int(codes.max()) + 1):
        rows = np.flatnonzero((codes == code) & (weight > 0))
        if not rows.size:
            continue
        centers, sizes = _cluster(X, hashes, weight, rows, n_centers, seed)
        local.append((centers, np.full(len(centers), code), sizes))
    centers, classes, sizes = (np.concatenate(part) for part in zip(*local, strict=True))
    return CenterSet(centers, classes, sizes, total_variance(X, weight))


def _cluster(
    X: np.ndarray,
    hashes: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
    n_centers: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    _, first, kind = np.unique(hashes[rows], return_index=True, return_inverse=True)
    counts = np.bincount(kind.reshape(-1), weights=weight[rows])
    k = max(1, min(n_centers, int(counts.sum() / ROWS_PER_CENTER), len(first)))
    points = X[rows[first]]  # a copy of these samples, sparse where X is
    if kind_of(X) is not Kind.SPARSE:
        points = np.ascontiguousarray(points)
    elif points.shape[0] * points.shape[1] <= FULL_ENTRIES:
        points = points.toarray()  # k-means uses other algorithms on sparse data
    points = points.astype(np.float64, copy=False)
    return _with_sizes(points, counts, k, seed)


def _with_sizes(
    points: np.ndarray, counts: np.ndarray, k: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    centers, labels = _means(points, counts, k, seed)
    return centers, np.bincount(labels, weights=counts, minlength=k)


def centers_of_sample(
    points: Sequence[np.ndarray],
    counts: Sequence[np.ndarray],
    totals: np.ndarray,
    variance: float,
    n_centers: int,
    seed: int,
) -> CenterSet:
    """Return the same from unique samples of each class in the order of their hashes.

    ``counts`` are their weights, ``totals`` the weights of the classes they are drawn from.
    """
    found = []
    for code, (rows, count) in enumerate(zip(points, counts, strict=True)):
        if len(rows):
            k = max(1, min(n_centers, int(totals[code] / ROWS_PER_CENTER), len(rows)))
            centers, sizes = _with_sizes(np.ascontiguousarray(rows, np.float64), count, k, seed)
            sizes = sizes * (totals[code] / count.sum())
            found.append((centers, np.full(len(centers), code), sizes))
    centers, classes, sizes = (np.concatenate(part) for part in zip(*found, strict=True))
    return CenterSet(centers, classes, sizes, variance if variance > 0 else 1.0)


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
