"""RegularizedLCCCV: the ensemble, its candidates, its folds."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from lincent import RegularizedLCC, RegularizedLCCCV
from support.labeled import two_classes


def test_weights_are_frequencies_under_cross_validation():
    X, y = two_classes(80)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = RegularizedLCCCV().fit(X, y, sample_weight=weight)
    repeated = RegularizedLCCCV().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"], atol=1e-9
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_ensemble_is_the_weighted_mean_of_the_fold_models():
    X, y = two_classes(100)
    halves = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    Cs = [0.01, 0.1]
    model = RegularizedLCCCV(Cs, cv=halves, tol=1e-12).fit(X, y)
    pooled, models = np.zeros((2, 100)), {}
    for j, C in enumerate(Cs):
        for k, (train, held) in enumerate(halves):
            rule = RegularizedLCC(C, tol=1e-12).fit(X[train], y[train])
            half = (rule.centers_[1] - rule.centers_[0]) @ rule.coef_[0] / 2
            models[j, k] = rule.coef_[0] / half, rule.intercept_[0] / half
            pooled[j, held] = rule.decision_function(X[held]) / half
    scores = np.array([roc_auc_score(y, score) for score in pooled])
    weights = np.exp(400 * (scores - scores.max()))
    weights /= weights.sum()
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], scores, atol=1e-12)
    np.testing.assert_allclose(model.cv_results_["weight"], weights, atol=1e-9)
    expected = sum(weights[j] * models[j, k][0] / 2 for j, k in models)
    np.testing.assert_allclose(model.coef_[0], expected, atol=1e-5)
    assert model.intercept_[0] == pytest.approx(
        sum(weights[j] * models[j, k][1] / 2 for j, k in models), abs=1e-5
    )


def test_default_grid_is_a_total_cost():
    X, y = two_classes(80)
    model = RegularizedLCCCV().fit(X, y)
    np.testing.assert_allclose(model.Cs_ * 80, 10 ** np.arange(-1.5, 3.6, 0.5))


def test_order_of_the_samples_does_not_matter():
    X, y = two_classes(90)
    order = np.random.default_rng(0).permutation(90)
    first, second = (
        RegularizedLCCCV(tol=1e-12).fit(*pair) for pair in ((X, y), (X[order], y[order]))
    )
    np.testing.assert_allclose(
        first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"], atol=1e-9
    )
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-4)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "average_precision"])
def test_any_scorer_can_be_given(scoring):
    X, y = two_classes(90)
    model = RegularizedLCCCV(scoring=scoring).fit(X, y)
    scores = model.cv_results_["mean_test_score"]
    assert np.all((scores >= 0) & (scores <= 1))


def test_every_model_of_the_ensemble_is_certified():
    X, y = load_breast_cancer(return_X_y=True)
    assert RegularizedLCCCV().fit(scale(X), y).duality_gap_ <= 1e-9


def test_a_class_of_one_sample_is_refused():
    X, y = two_classes(40)
    y[:] = 0
    y[3] = 1
    with pytest.raises(ValueError, match="fewer than 2 different rows"):
        RegularizedLCCCV().fit(X, y)
