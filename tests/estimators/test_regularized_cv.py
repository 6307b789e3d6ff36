"""RegularizedLCCCV: the committee, its grid, its folds."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from lincent import RegularizedLCC, RegularizedLCCCV
from support.labeled import two_classes


def test_weights_are_repetitions_under_cross_validation():
    X, y = two_classes(80)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = RegularizedLCCCV(n_repeats=1).fit(X, y, sample_weight=weight)
    repeated = RegularizedLCCCV(n_repeats=1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_committee_is_the_weighted_mean_of_the_fold_rules():
    X, y = two_classes(100)
    halves = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    Cs = [0.01, 0.1]
    model = RegularizedLCCCV(Cs, cv=halves, tol=1e-12).fit(X, y)
    pooled, rules = np.zeros((2, 100)), {}
    for j, C in enumerate(Cs):
        for k, (train, held) in enumerate(halves):
            rule = RegularizedLCC(C, (0.0, 2.0), tol=1e-12).fit(X[train], y[train])
            half = (rule.centers_[1] - rule.centers_[0]) @ rule.coef_[0] / 2
            rules[j, k] = rule.coef_[0] / half, rule.intercept_[0] / half
            pooled[j, held] = rule.decision_function(X[held]) / half
    measures = np.array([roc_auc_score(y, score) for score in pooled])
    weights = np.exp(400 * (measures - measures.max()))
    weights /= weights.sum()
    np.testing.assert_allclose(model.scores_[0], measures, atol=1e-12)
    np.testing.assert_allclose(model.weights_[0], weights, atol=1e-9)
    expected = sum(weights[j] * rules[j, k][0] / 2 for j, k in rules)
    np.testing.assert_allclose(model.coef_[0], expected, atol=1e-5)
    assert model.intercept_[0] == pytest.approx(
        sum(weights[j] * rules[j, k][1] / 2 for j, k in rules), abs=1e-5
    )


def test_refit_is_regularized_lcc_at_the_best_C():
    X, y = two_classes()
    model = RegularizedLCCCV(combine="refit", n_repeats=1).fit(X, y)
    best = RegularizedLCC(float(model.C_), (0.0, 2.0)).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-6)
    assert model.Cs_[model.scores_[0].argmax()] == model.C_


def test_default_grid_is_a_total_cost():
    X, y = two_classes(80)
    model = RegularizedLCCCV(n_repeats=1).fit(X, y)
    np.testing.assert_allclose(model.Cs_ * 80, 10 ** np.arange(-1.5, 3.6, 0.5))


def test_order_of_the_rows_does_not_matter():
    X, y = two_classes(90)
    order = np.random.default_rng(0).permutation(90)
    first, second = (
        RegularizedLCCCV(n_repeats=1, tol=1e-12).fit(*pair)
        for pair in ((X, y), (X[order], y[order]))
    )
    np.testing.assert_allclose(first.scores_, second.scores_, atol=1e-9)
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-4)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "average_precision"])
def test_any_scorer_will_do(scoring):
    X, y = two_classes(90)
    model = RegularizedLCCCV(scoring=scoring, n_repeats=1).fit(X, y)
    assert np.all((model.scores_ >= 0) & (model.scores_ <= 1))


def test_every_rule_of_the_committee_is_certified():
    X, y = load_breast_cancer(return_X_y=True)
    assert RegularizedLCCCV(n_repeats=1).fit(scale(X), y).duality_gap_ <= 1e-9


def test_a_class_of_one_row_is_refused():
    X, y = two_classes(40)
    y[:] = 0
    y[3] = 1
    with pytest.raises(ValueError, match="fewer than 2 different rows"):
        RegularizedLCCCV().fit(X, y)
