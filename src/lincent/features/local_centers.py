"""Local centers: the structure within the classes, as features.

In each class k-means finds k = min(K, weight of the class / 4) local centers c_1 .. c_q (q over all
classes).  With v the total variance of X (the number of columns, if they are standardized),

    k(x)_j = exp(-g |x - c_j|^2 / v),     G_jl = exp(-g |c_j - c_l|^2 / v)
    psi(x) = [ x ;  sqrt(v) G^(-1/2) k(x) ]              (eigenvalues of G floored at 1e-6)

so that the similarity features are, like x, of total variance about v, and uncorrelated in the
geometry of the centers.  A linear rule on psi is x.beta + k(x).p - cut with pulls
p = sqrt(v) G^(-1/2) times its second part: each local center pulls the rows near it to one side.

k-means runs on the distinct rows in the order of their keys, with their total weights: repetition
and weight are the same, and the order of the rows does not matter.  In a class with more than
``SAMPLE_ROWS`` distinct rows it runs on that many, the first by key, which is a random sample, and
mini-batch k-means over all rows goes on from there.  (Begun there it ends lower than from a start
of its own, and lower than the sample alone; its cost is linear in the number of rows.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.passes.row_hash import row_keys

FLOOR = 1e-6
SAMPLE_ROWS = 10_000
BATCH_ROWS = 4_096
BATCH_ROUNDS = 3
"""Mini-batch k-means reads the rows at most so often."""
ROWS_PER_CENTER = 4
BLOCK_ROWS = 2048


@dataclass(frozen=True)
class LocalCenters:
    """Local centers of all classes, and the unit of distance."""

    centers: np.ndarray
    classes: np.ndarray
    sizes: np.ndarray
    variance: float

    def distances(self, X: np.ndarray) -> np.ndarray:
        """|x - c_j|^2 / v for all rows and centers."""
        return squared_distances(X, self.centers) / self.variance

    def whitening(self, gamma: float) -> np.ndarray:
        """sqrt(v) G^(-1/2)."""
        G = np.exp(-gamma * self.distances(self.centers))
        values, vectors = np.linalg.eigh((G + G.T) / 2)
        scale = np.sqrt(self.variance) / np.sqrt(np.maximum(values, FLOOR))
        return (vectors * scale) @ vectors.T


def squared_distances(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """|x - c_j|^2, from centered data so that little is lost to rounding."""
    origin = centers.mean(axis=0)
    rows, points = X - origin, centers - origin
    distances = rows @ (-2.0 * points.T)
    distances += np.einsum("ij,ij->i", rows, rows)[:, None]
    distances += np.einsum("ij,ij->i", points, points)
    return np.maximum(distances, 0.0, out=distances)


def find_local_centers(
    X: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_centers: int, seed: int
) -> LocalCenters:
    """k-means in each class."""
    keys = row_keys(X, seed)
    found = []
    for code in range(int(codes.max()) + 1):
        rows = np.flatnonzero((codes == code) & (weight > 0))
        if not rows.size:
            continue
        centers, sizes = _cluster(X, keys, weight, rows, n_centers, seed)
        found.append((centers, np.full(len(centers), code), sizes))
    centers, classes, sizes = (np.concatenate(part) for part in zip(*found, strict=True))
    return LocalCenters(centers, classes, sizes, total_variance(X, weight))


def _cluster(
    X: np.ndarray,
    keys: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
    n_centers: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    _, first, kind = np.unique(keys[rows], return_index=True, return_inverse=True)
    counts = np.bincount(kind.reshape(-1), weights=weight[rows])
    k = max(1, min(n_centers, int(counts.sum() / ROWS_PER_CENTER), len(first)))
    points = np.ascontiguousarray(X[rows[first]], dtype=np.float64)
    centers, labels = _means(points, counts, k, seed)
    return centers, np.bincount(labels, weights=counts, minlength=k)


def _means(
    points: np.ndarray, counts: np.ndarray, k: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The centers of k-means, and the one nearest to each point."""
    from sklearn.cluster import KMeans, MiniBatchKMeans  # late: as long to import as lincent

    some = slice(SAMPLE_ROWS)
    means = KMeans(k, n_init=1, random_state=seed).fit(points[some], sample_weight=counts[some])
    if len(points) > SAMPLE_ROWS:
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


def total_variance(X: np.ndarray, weight: np.ndarray) -> float:
    """The sum of the columns' variances; 1 if there is none."""
    share = weight / weight.sum()
    mean = share @ X
    spread = X - mean
    spread *= spread
    variance = float((share @ spread).sum())
    return variance if variance > 0 else 1.0


def extended(X: np.ndarray, similarity: np.ndarray, whitening: np.ndarray) -> np.ndarray:
    """psi(x) from x and exp(-g distances)."""
    m, n = X.shape
    psi = np.empty((m, n + whitening.shape[1]))
    psi[:, :n] = X
    np.matmul(similarity, whitening, out=psi[:, n:])
    return psi


def local_scores(
    X: np.ndarray,
    linear: np.ndarray,
    intercept: np.ndarray,
    centers: np.ndarray,
    scales: np.ndarray,
    pulls: np.ndarray,
) -> np.ndarray:
    """x.linear + intercept + sum over widths and centers of pull * exp(-scale |x - c|^2).

    ``linear`` is (tasks, columns), ``scales`` (widths, centers), ``pulls`` tasks by both.
    Rows are taken in blocks, so that memory beyond the result does not grow with their number.
    """
    scores = np.empty((X.shape[0], len(linear)))
    for start in range(0, X.shape[0], BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        rows = np.asarray(X[part], dtype=np.float64)
        block = rows @ linear.T + intercept
        distances = squared_distances(rows, centers)
        for width, scale in enumerate(scales):
            block += np.exp(-scale * distances) @ pulls[:, width].T
        scores[part] = block
    return scores
