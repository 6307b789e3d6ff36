"""Calibration of one score, folds for it, and pairwise coupling."""

import numpy as np
from sklearn.isotonic import IsotonicRegression

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
    steps = fit_isotonic(u, positive, np.ones(200), 2.0)
    reference = IsotonicRegression(out_of_bounds="clip").fit(u, positive)
    grid = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(steps.probability(2.0 * grid), reference.predict(grid))


def test_pairwise_coupling_recovers_consistent_pairs():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=50)
    pairs = [p[:, j] / (p[:, i] + p[:, j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(pairwise_coupling(np.stack(pairs, axis=1), 4), p, atol=1e-5)


def test_no_class_wanted_is_even():
    found = combine_probabilities(np.zeros((2, 3)), 3, "ovr")
    np.testing.assert_allclose(found, 1 / 3)
