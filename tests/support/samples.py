"""Small generated data sets for tests of estimators."""

import numpy as np


def two_classes(m=200, n=4, seed=0, noise=1.0):
    """Overlapping classes 0 and 1, about equally many."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    score = X @ np.linspace(1.0, 0.2, n) + noise * rng.standard_normal(m)
    return X, (score > np.median(score)).astype(int)


def apart(m=60, n=3, seed=0, distance=4.0):
    """Separable classes 0 and 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    return rng.uniform(-1, 1, (m, n)) + distance * y[:, None], y


def three_classes(m=180, n=3, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 3
    centers = 3.0 * np.eye(3, n)
    return centers[y] + spread * rng.standard_normal((m, n)), y


def along_a_line(m, n, seed=0, classes=2):
    """Classes that a noisy linear score puts in order, equally many rows in each."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) + 0.5
    score = X @ rng.standard_normal(n)
    score += score.std() * rng.standard_normal(m)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def weights(m, seed=1):
    return np.random.default_rng(seed).exponential(size=m)
