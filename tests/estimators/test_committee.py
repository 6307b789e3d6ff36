"""Weights of settings, the area under the curve, and the mean of rules."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lincent.estimators.committee import Tally, area, mean_rule, measure, soft_weights
from lincent.estimators.direction import Direction
from lincent.estimators.discriminators import Cut
from lincent.estimators.problem import tasks

RNG = np.random.default_rng(0)


def rule(beta, at, width):
    return Direction(np.array(beta), np.zeros((2, 2)), 0.0, width, Cut(at), None)


def test_the_area_is_scikit_learn_s_with_ties_and_weights():
    score, positive = RNG.integers(0, 5, 200).astype(float), RNG.random(200) < 0.4
    weight = RNG.uniform(0.1, 2, 200)
    found = area(score, positive, weight)
    assert found == pytest.approx(roc_auc_score(positive, score, sample_weight=weight))


def test_weights_fall_with_the_distance_from_the_best():
    weights = soft_weights(np.array([0.9, 0.89, 0.5]), 100.0)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[1] / weights[0] == pytest.approx(np.exp(-1.0))
    assert weights[2] < 1e-10


def test_the_mean_rule_is_in_units_of_half_the_distance_of_the_centers():
    one, two = rule([2.0, 0.0], 1.0, 4.0), rule([0.0, 6.0], -3.0, 2.0)
    tally = Tally([[[one, two]]], np.zeros((2, 1)), np.arange(1), np.zeros(1, int), np.ones(1))
    direction, intercept = mean_rule(tally, np.array([0.25, 0.75]), 0, 0)
    np.testing.assert_allclose(direction, 0.25 * np.array([1.0, 0.0]) + 0.75 * np.array([0.0, 6.0]))
    assert intercept == pytest.approx(0.25 * -0.5 + 0.75 * 3.0)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "balanced_accuracy"])
def test_settings_are_measured_on_their_pooled_scores(scoring):
    codes = np.arange(60) % 2
    pooled = np.stack([2.0 * codes - 1, RNG.normal(size=60), 1 - 2.0 * codes])
    tally = Tally([[[None] * 3]], pooled, np.arange(60), codes, np.ones(60))
    values = measure(scoring, tally, tasks(2, "ovr")[0])
    assert values[0] == 1.0
    assert values[2] == 0.0
    assert 0.2 < values[1] < 0.8
