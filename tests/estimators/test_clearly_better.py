"""Means over classes and the standard errors of differences."""

import numpy as np
import pytest

from lincent.estimators.clearly_better import is_better, mean_and_error, not_behind


def sample(counts=(200, 50), seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    return rng.normal(size=(3, len(codes))) + codes, codes, np.ones(len(codes))


def test_classes_count_the_same_whatever_their_size():
    values, codes, weight = sample()
    mean, error = mean_and_error(values, codes, weight)
    parts = [values[:, codes == k] for k in (0, 1)]
    np.testing.assert_allclose(mean, np.mean([part.mean(axis=1) for part in parts], axis=0))
    squares = [part.var(axis=1, ddof=1) / part.shape[1] for part in parts]
    np.testing.assert_allclose(error, np.sqrt(np.sum(squares, axis=0)) / 2)


def test_the_error_is_the_spread_of_the_mean_over_other_rows():
    drawn = [mean_and_error(*sample((40, 10), seed)) for seed in range(400)]
    means, errors = (np.array(part) for part in zip(*drawn, strict=True))
    assert errors.mean() == pytest.approx(means.std(), rel=0.1)


def test_a_weight_of_two_is_a_repeated_row():
    values, codes, weight = sample((20, 10))
    weight[::3] = 2.0
    index = np.repeat(np.arange(len(codes)), weight.astype(int))
    repeated = mean_and_error(values[:, index], codes[index], np.ones(len(index)))
    np.testing.assert_allclose(mean_and_error(values, codes, weight), repeated)


def test_nothing_is_clear_where_a_class_has_one_row():
    values, codes, weight = sample((50, 1))
    values[0] += 100.0
    assert not_behind(values, codes, weight).all()
    assert not is_better(values[0], values[1], codes, weight)


def test_a_setting_is_not_better_than_itself():
    values, codes, weight = sample()
    assert not is_better(values[0], values[0], codes, weight)
    assert is_better(values[0] + 0.1, values[0], codes, weight)
