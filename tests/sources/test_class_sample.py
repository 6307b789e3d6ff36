"""What all rows say of columns, from parts."""

import numpy as np

from lincent.sources.rows import ClassSample, ColumnStatistics


def spread(X, mean):
    return ColumnStatistics(mean, ((X - mean) ** 2).sum(axis=0), X.min(axis=0), X.max(axis=0))


def test_parts_add_up():
    X = np.random.default_rng(0).standard_normal((50, 3))
    mean = X.mean(axis=0)
    found = ColumnStatistics.joined([spread(X[:20], mean), spread(X[20:], mean)])
    for name, value in vars(spread(X, mean)).items():
        np.testing.assert_allclose(getattr(found, name), value, err_msg=name)


def test_a_sample_from_its_classes():
    keys, rows, weights = (np.arange(4).reshape(2, 2) + 10 * k for k in range(3))
    sample = ClassSample.of(list(zip(keys, rows, weights, strict=True)), spread(rows, rows[0]))
    np.testing.assert_array_equal(sample.keys, keys)
    np.testing.assert_array_equal(sample.rows, rows)
    np.testing.assert_array_equal(sample.weights, weights)
