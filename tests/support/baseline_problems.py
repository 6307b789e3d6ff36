"""Problems for the baselines: five random shapes (one with n > m) and two real sets."""

import numpy as np
import pytest

SHAPES = [(40, 3), (60, 8), (120, 15), (90, 30), (20, 30)]
REAL = ["CG", "GC"]  # packages that the tests install carry them


def random_problem(m, n, seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < m // 3, 1, -1)
    X = rng.normal(size=(m, n)) @ (np.eye(n) + 0.4 * rng.normal(size=(n, n)))
    X[y > 0] += 0.8 * rng.normal(size=n)
    order = rng.permutation(m)
    return X[order], y[order]


def real_problem(code):
    from lincent.paper.datasets import DatasetNotFoundError, load_dataset

    try:
        data = load_dataset(code, download_if_missing=False)
    except DatasetNotFoundError:
        pytest.skip(f"the data set {code} is not on this machine")
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return X, np.where(data.target == data.target_names[1], 1, -1)
