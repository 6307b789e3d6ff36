"""Calibration of one score, folds for it, and pairwise coupling."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from lincent import AdditiveLCC
from lincent.estimators.calibration import combine_probabilities, fit_isotonic, pairwise_coupling
from lincent.model_selection.folds import calibration_folds


def test_folds_are_stratified():
    rng = np.random.default_rng(0)
    X, codes, weight = rng.normal(size=(103, 5)), rng.integers(0, 3, 103), np.ones(103)
    weight[:3] = 0.0
    fold = calibration_folds(X, codes, weight)
    np.testing.assert_array_equal(fold >= 0, weight > 0)
    assert fold.max() == 4
    for code in range(3):
        sizes = np.bincount(fold[(codes == code) & (fold >= 0)], minlength=5)
        assert sizes.max() - sizes.min() <= 1


def test_isotonic_is_scikit_learn_s():
    rng = np.random.default_rng(0)
    u = rng.normal(size=200)
    positive = u + rng.normal(size=200) > 0
    steps = fit_isotonic(u, positive, np.full(200, 1e9), 2.0)
    reference = IsotonicRegression(out_of_bounds="clip").fit(u, positive)
    grid = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(steps.probability(2.0 * grid), reference.predict(grid), atol=1e-8)


def test_isotonic_pieces_of_few_samples_are_not_sure():
    u = np.arange(20.0)
    few = fit_isotonic(u, u >= 10, np.ones(20), 1.0)
    np.testing.assert_allclose(few.probability(u), np.where(u < 10, 1 / 12, 11 / 12))
    lone = fit_isotonic(u, u >= 19, np.ones(20), 1.0)  # one sample of its class
    assert lone.probability(np.array([1e9])) == pytest.approx((1 + 0.1) / 3)


def test_pairwise_coupling_recovers_consistent_pairs():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=50)
    pairs = [p[:, j] / (p[:, i] + p[:, j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(pairwise_coupling(np.stack(pairs, axis=1), 4), p, atol=1e-5)


def test_no_class_wanted_is_even():
    found = combine_probabilities(np.zeros((2, 3)), 3, "ovr")
    np.testing.assert_allclose(found, 1 / 3)


def test_too_few_different_rows_are_named():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 15, axis=0)
    with pytest.raises(ValueError, match="at least 2 different rows"):
        AdditiveLCC(probability="sigmoid").fit(X, np.repeat([0, 1], 15))
