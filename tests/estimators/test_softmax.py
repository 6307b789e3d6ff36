"""Two numbers make probabilities of scores."""

import numpy as np
import pytest

from lincent.estimators.calibration import Softmax, by_class, fit_softmax


def test_a_single_rule_is_the_logistic_function():
    scores = np.linspace(-3, 3, 7)[:, None]
    found = Softmax(2.0, np.zeros(2), -9.0, 9.0).probability(scores)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-2 * scores[:, 0])))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(by_class(np.ones((2, 3))), np.ones((2, 3)))


def test_the_slope_that_made_the_labels_is_found():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 1))
    y = (rng.random(20_000) < 1 / (1 + np.exp(-1.7 * scores[:, 0]))).astype(int)
    found = fit_softmax(scores, y, np.ones(len(y)))
    assert found.slope == pytest.approx(1.7, abs=0.1)


def test_the_gradient_is_zero_where_it_ends():
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    scores[np.arange(300), y] += 1.0
    weight = rng.uniform(0.5, 2, 300)
    p = fit_softmax(scores, y, weight).probability(scores)
    own = scores[np.arange(300), y]
    assert weight @ ((p * scores).sum(axis=1) - own) == pytest.approx(0, abs=1e-2)


def test_separated_scores_have_a_finite_slope():
    scores = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    found = fit_softmax(scores, np.array([0, 0, 1, 1]), np.ones(4))
    assert 1 < found.slope < 100


def test_weights_are_repetitions():
    rng = np.random.default_rng(2)
    scores, y, w = rng.normal(size=(40, 1)), np.arange(40) % 2, rng.integers(1, 4, 40)
    weighted = fit_softmax(scores, y, w.astype(float))
    repeated = fit_softmax(np.repeat(scores, w, axis=0), np.repeat(y, w), np.ones(w.sum()))
    assert weighted.slope == pytest.approx(repeated.slope, rel=1e-6)
    np.testing.assert_allclose(weighted.offset, repeated.offset, rtol=1e-6)


def test_frequent_classes_are_more_probable_where_scores_say_nothing():
    y = np.array([0] * 30 + [1] * 10)
    p = fit_softmax(np.zeros((40, 1)), y, np.ones(40)).probability(np.zeros((1, 1)))
    assert p[0, 0] == pytest.approx(0.75, abs=1e-3)
