"""Random programs with everything that breaks a textbook solver."""

import numpy as np

from lincent.problems.centralization import difference_of, lcc_program
from lincent.sources.dense import DenseSource
from lincent.sources.rows import SignedRows


def program_of(X, sign, weight=None, C=2.0, margin=0.01):
    """Equation LCC for plain arrays."""
    weight = np.ones(len(sign)) if weight is None else np.asarray(weight, dtype=float)
    source = DenseSource(np.asarray(X, dtype=float))
    sign = np.asarray(sign, dtype=float)
    centers = source.class_means(sign, weight)
    rows = SignedRows(source, sign, centers.mean(axis=0)).materialize()
    difference = difference_of(centers, np.ptp(source.X, axis=0))
    return lcc_program(rows, difference, C * weight, margin)


def degenerate_program(seed):
    """A reproducible hard case; None where the drawn centers coincide."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 61)), int(rng.integers(1, 13))
    X = rng.standard_normal((m, n))
    if rng.random() < 0.3:
        X = rng.integers(-2, 3, (m, n)).astype(float)
    sign = np.where(rng.random(m) < rng.choice([0.5, 0.2]), 1.0, -1.0)
    sign[0], sign[-1] = 1.0, -1.0
    if rng.random() < 0.1:
        X, sign = X[:2], np.array([1.0, -1.0])
    if rng.random() < 0.4:  # separable, or nearly
        X = X + np.outer(sign, rng.standard_normal(X.shape[1])) * rng.choice([1.0, 5.0])
    if rng.random() < 0.3:  # repeated and collinear columns
        X = np.column_stack([X, X[:, :1], X @ rng.standard_normal(X.shape[1])])
    if rng.random() < 0.3:  # a constant column
        X = np.column_stack([X, np.full(len(X), rng.standard_normal())])
    if rng.random() < 0.3:  # repeated rows
        again = rng.integers(0, len(X), len(X))
        X, sign = np.vstack([X, X[again]]), np.append(sign, sign[again])
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-8, 8, X.shape[1])
    weight = 10.0 ** rng.uniform(-5, 5, len(X)) if rng.random() < 0.3 else np.ones(len(X))
    C = 10.0 ** rng.uniform(-3, 3) if rng.random() < 0.5 else 2.0
    centers = DenseSource(X).class_means(sign, weight)
    largest = float(np.abs(difference_of(centers, np.ptp(X, axis=0))).sum())
    if largest == 0.0:
        return None
    share = rng.choice([1.0, 0.999999, 0.5, 0.1, 1e-3, 1e-6]) if rng.random() < 0.6 else 1e-2
    return program_of(X, sign, weight, C, share * largest)
