"""Class weights scale the costs; a dictionary of them moves the decision threshold, too."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score

from lincent import LCC
from support.samples import three_classes, two_classes

RULES = ("distance", "nearest", "svm")


def imbalanced():
    return make_classification(400, 5, weights=[0.85], class_sep=0.6, random_state=0)


@pytest.mark.parametrize("rule", RULES)
def test_none_is_all_ones(rule):
    X, y = imbalanced()
    plain = LCC(discriminator=rule).fit(X, y)
    ones = LCC(discriminator=rule, class_weight={0: 1.0, 1: 1.0}).fit(X, y)
    partial = LCC(discriminator=rule, class_weight={1: 1.0}).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), ones.decision_function(X))
    np.testing.assert_array_equal(plain.decision_function(X), partial.decision_function(X))


@pytest.mark.parametrize("rule", RULES)
def test_a_heavier_class_is_found_more_often(rule):
    X, y = imbalanced()
    recalls = [
        recall_score(y, LCC(discriminator=rule, class_weight={1: k}).fit(X, y).predict(X))
        for k in (0.05, 1.0, 20.0)
    ]
    assert recalls[0] < recalls[1] < recalls[2] or recalls[0] < recalls[2] == 1.0
    assert recalls[2] > recalls[0] + 0.2


def test_a_dictionary_moves_the_threshold_as_a_prior_does():
    X, y = imbalanced()
    model = LCC(class_weight={0: 1.0, 1: 5.0}).fit(X, y)
    projected = model.transform(X)[:, 0]
    low, high = model.centers_ @ model.coef_[0]
    within = (np.var(projected[y == 0]) + np.var(projected[y == 1])) / 2
    expected = (low + high) / 2 - within / (high - low) * np.log(5.0)
    assert -model.intercept_[0] == pytest.approx(expected, rel=1e-9)


def test_the_threshold_depends_on_ratios_of_a_dictionary():
    """Doubling both weights doubles C and leaves the threshold unchanged."""
    X, y = imbalanced()
    doubled = LCC(class_weight={0: 2.0, 1: 10.0}).fit(X, y)
    costly = LCC(C=4.0, class_weight={0: 1.0, 1: 5.0}).fit(X, y)
    np.testing.assert_allclose(doubled.decision_function(X), costly.decision_function(X), atol=1e-9)


def test_balanced_equalizes_the_costs_and_keeps_the_midpoint_threshold():
    X, y = imbalanced()
    model = LCC(class_weight="balanced").fit(X, y)
    assert -model.intercept_[0] == pytest.approx(model.centers_.mean(axis=0) @ model.coef_[0])
    sign = np.where(y == 1, 1.0, -1.0)
    costs = 2.0 * len(y) / (2 * np.bincount(y)[y])
    assert costs[y == 0].sum() == pytest.approx(costs[y == 1].sum())
    beta, middle = model.coef_[0], model.centers_.mean(axis=0)
    epsilon = np.maximum(-model.margin, -sign * ((X - middle) @ beta))
    spread = (model.centers_[1] - model.centers_[0]) @ beta
    assert model.objective_ == pytest.approx(costs @ epsilon - spread, rel=1e-9)


def test_balanced_is_not_the_dictionary_of_its_numbers():
    """The direction is the same; only the dictionary says that a class is worth more."""
    X, y = imbalanced()
    factors = dict(enumerate(len(y) / (2 * np.bincount(y))))
    balanced = LCC(class_weight="balanced").fit(X, y)
    stated = LCC(class_weight=factors).fit(X, y)
    assert balanced.objective_ == pytest.approx(stated.objective_, rel=1e-8)
    np.testing.assert_allclose(balanced.coef_, stated.coef_, atol=1e-8)
    assert stated.intercept_[0] > balanced.intercept_[0]


def test_balanced_counts_sample_weights():
    X, y = imbalanced()
    weight = np.where(y == 1, 1.0 / np.sum(y == 1), 1.0 / np.sum(y == 0)) * len(y) / 2
    # These weights balance the classes already: "balanced" has nothing left to do.
    model = LCC(class_weight="balanced").fit(X, y, weight)
    plain = LCC().fit(X, y, weight)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_string_labels_in_the_dictionary():
    X, y = two_classes()
    names = np.array(["no", "yes"])
    model = LCC(class_weight={"yes": 4.0}).fit(X, names[y])
    same = LCC(class_weight={1: 4.0}).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_three_classes(strategy):
    X, y = three_classes(spread=2.0)
    plain = LCC(multi_class=strategy).fit(X, y)
    heavy = LCC(multi_class=strategy, class_weight={2: 20.0}).fit(X, y)
    assert np.sum(heavy.predict(X) == 2) > 1.2 * np.sum(plain.predict(X) == 2)
    assert recall_score(y == 2, heavy.predict(X) == 2) > recall_score(y == 2, plain.predict(X) == 2)
