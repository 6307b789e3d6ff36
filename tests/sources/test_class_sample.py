"""What all rows say of columns, from parts."""

import numpy as np

from lincent.sources.rows import ColumnStatistics


def spread(X, mean):
    return ColumnStatistics(mean, ((X - mean) ** 2).sum(axis=0), X.min(axis=0), X.max(axis=0))


def test_parts_add_up():
    X = np.random.default_rng(0).standard_normal((50, 3))
    mean = X.mean(axis=0)
    found = ColumnStatistics.joined([spread(X[:20], mean), spread(X[20:], mean)])
    for name, value in vars(spread(X, mean)).items():
        np.testing.assert_allclose(getattr(found, name), value, err_msg=name)
