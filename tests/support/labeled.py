"""Small data sets with known difficulty, for paths and searches."""

import numpy as np
from sklearn.datasets import make_circles
from sklearn.preprocessing import scale


def noisy(m=400, n=6, seed=0, flip=0.1, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    score = X @ rng.normal(size=n) + 0.5 * rng.normal(size=m)
    codes = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    flipped = rng.random(m) < flip
    codes[flipped] = rng.integers(0, classes, flipped.sum())
    return X, codes


def separable(m=300, n=5, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    w = rng.normal(size=n)
    y = (X @ w > 0).astype(int)
    return X + np.where(y, 0.2, -0.2)[:, None] * w, y


def two_classes(m=150, n=5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = (rng.random(m) < share).astype(int)
    return rng.standard_normal((m, n)) + 0.7 * y[:, None] * rng.standard_normal(n), y


def ring(m=160, seed=0):
    X, y = make_circles(m, factor=0.5, noise=0.1, random_state=seed)
    return scale(X), y


def with_flat_column(flat, seed=0):
    """Two classes of 60 rows whose centers differ in column 0, and by ``flat`` in column 1."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(60, 2))
    half -= half.mean(axis=0)
    X = np.vstack([half, half[::-1] * [1.0, -1.0] + [2.0, flat]])
    return X, np.repeat([0, 1], 60)
