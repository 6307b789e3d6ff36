"""Data made by formula: noisy classes for benchmarks, the worked example of the paper, circles."""

from numbers import Integral, Real

import numpy as np
from scipy.linalg import polar
from sklearn.utils import check_scalar

# "A visual overview through an example": group -1 and group 1, as printed.
PAPER_MEANS = np.array([[4.0, 5.0], [-7.0, -1.0]])
PAPER_MATRICES = np.array([[[0.94, 0.34], [-0.34, 3.76]], [[-2.57, -0.77], [0.767, -0.64]]])

_BLOCK_ROWS = 65_536


def make_noisy_classes(
    n_samples: int = 1000,
    n_features: int = 20,
    *,
    noise: float = 0.05,
    separation: float = 3.0,
    dtype: type | str | np.dtype = np.float64,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make two Gaussian classes, give some rows the wrong label, and standardize the columns.

    Both classes have unit covariance; their centers are ``separation`` apart along a random
    direction. Then ``round(noise * n_samples)`` labels, chosen at random, are swapped. Time and
    memory are those of the result: no second array of its size is made.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the result. Half of the rows (one more if odd) belong to class 0 before the noise.
    noise : float
        Share of wrong labels, from 0 to below 0.5.
    separation : float
        Distance of the class centers in standard deviations, not negative.
    dtype : float32 or float64
        Type of the values.
    random_state : int, Generator or None
        Source of randomness; an integer gives the same data each time.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Columns of mean 0 and standard deviation 1 (a single row or value stays 0).
    y : ndarray of shape (n_samples,)
        Labels 0 and 1.

    Examples
    --------
    >>> from lincent.paper.datasets import make_noisy_classes
    >>> X, y = make_noisy_classes(100, 5, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 5), [0, 1])
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=2)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    check_scalar(noise, "noise", Real, min_val=0, max_val=0.5, include_boundaries="left")
    check_scalar(separation, "separation", Real, min_val=0)
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype is float32 or float64, got {dtype}.")
    rng = np.random.default_rng(random_state)
    direction = rng.standard_normal(n_features)
    direction *= separation / np.linalg.norm(direction)
    y = rng.permutation(np.arange(n_samples) % 2)
    X = rng.standard_normal((n_samples, n_features), dtype=dtype)
    shift = np.outer([-0.5, 0.5], direction).astype(dtype)
    for start in range(0, n_samples, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        X[rows] += shift[y[rows]]
    _standardize(X)
    wrong = rng.choice(n_samples, round(noise * n_samples), replace=False)
    y[wrong] = 1 - y[wrong]
    return X, y


def _standardize(X: np.ndarray) -> None:
    """Shift and scale the columns in place, block by block, with sums in float64."""
    blocks = [slice(start, start + _BLOCK_ROWS) for start in range(0, len(X), _BLOCK_ROWS)]
    mean = sum(X[rows].sum(axis=0, dtype=np.float64) for rows in blocks) / len(X)
    for rows in blocks:
        X[rows] -= mean.astype(X.dtype)
    square = sum(np.square(X[rows], dtype=np.float64).sum(axis=0) for rows in blocks) / len(X)
    scale = np.sqrt(square).astype(X.dtype)
    scale[scale == 0] = 1
    for rows in blocks:
        X[rows] /= scale


def paper_covariances() -> np.ndarray:
    """Return the two covariances taken for the worked example of the paper.

    The paper prints, as covariances, A₋₁ = [[0.94, 0.34], [-0.34, 3.76]] and
    A₁ = [[-2.57, -0.77], [0.767, -0.64]]. Neither is symmetric, and the symmetric part of A₁ is
    negative definite: the covariance nearest to it (Frobenius norm) is zero, a single point. So
    "the nearest" is of no use, and the matrices must be read. Their entries are those of rotations
    by 20° and 130° (cos 20° = 0.94, sin 20° = 0.34, cos 130° = -0.64, sin 130° = 0.766) with one
    diagonal entry times four: clouds of variance about 1 and 4, turned.

    Taken is the symmetric polar factor H = (AᵀA)^½ of A = QH. It is a covariance for any A, it is A
    itself where A is one already, it keeps the printed sizes (the singular values), and it is what
    a sampler that factors by singular values draws from when handed A, as
    ``numpy.random.multivariate_normal`` does. This gives [[0.98, -0.20], [-0.20, 3.77]] and
    [[2.65, 0.42], [0.42, 0.91]].

    Returns
    -------
    ndarray of shape (2, 2, 2)
        One matrix per group.
    """
    return np.array([polar(matrix)[1] for matrix in PAPER_MATRICES])


def make_paper_example(
    n_samples: int = 200,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the two Gaussian groups of the paper's worked example.

    The means are the printed ones, <4, 5> for group -1 and <-7, -1> for group 1. The printed
    matrices are not covariances; `paper_covariances` says which are taken instead, and why. The
    paper gives neither sizes nor a seed.

    Parameters
    ----------
    n_samples : int
        Number of points; half of them (one more if odd) belong to group -1.
    random_state : int, Generator or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Rows and labels.
    y : ndarray of shape (n_samples,)
        -1 and 1, group -1 first.

    Examples
    --------
    >>> from lincent.paper.datasets import make_paper_example
    >>> X, y = make_paper_example(6)
    >>> y.tolist()
    [-1, -1, -1, 1, 1, 1]
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=2)
    rng = np.random.default_rng(random_state)
    sizes = (n_samples - n_samples // 2, n_samples // 2)
    groups = [
        rng.standard_normal((size, 2)) @ np.linalg.cholesky(covariance).T + mean
        for size, mean, covariance in zip(sizes, PAPER_MEANS, paper_covariances(), strict=True)
    ]
    return np.vstack(groups), np.repeat([-1, 1], sizes)


def generate(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return values and class names of a synthetic entry of the registry."""
    if name == "circles":
        from sklearn.datasets import make_circles  # late: nothing else here needs it

        X, y = make_circles(n_samples=400, factor=0.4, noise=0.05, random_state=0)
        return X, np.array(["outer", "inner"])[y]
    X, y = make_paper_example()
    return X, y.astype(str)
