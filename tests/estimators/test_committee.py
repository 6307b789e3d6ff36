"""The mean of rules."""

import numpy as np
import pytest

from lincent.estimators.committee import Tally, mean_rule
from lincent.estimators.direction import Direction
from lincent.estimators.discriminators import Cut


def rule(beta, at, width):
    return Direction(np.array(beta), np.zeros((2, 2)), 0.0, width, Cut(at), None)


def test_the_mean_rule_is_in_units_of_half_the_distance_of_the_centers():
    one, two = rule([2.0, 0.0], 1.0, 4.0), rule([0.0, 6.0], -3.0, 2.0)
    tally = Tally([[[one, two]]], np.zeros((2, 1)), np.arange(1), np.zeros(1, int), np.ones(1))
    direction, intercept = mean_rule(tally, np.array([0.25, 0.75]), 0, 0)
    np.testing.assert_allclose(direction, 0.25 * np.array([1.0, 0.0]) + 0.75 * np.array([0.0, 6.0]))
    assert intercept == pytest.approx(0.25 * -0.5 + 0.75 * 3.0)


def test_settings_that_were_not_tried_take_no_part():
    tried = rule([2.0, 0.0], 1.0, 4.0)
    pooled = np.array([[np.nan, np.nan], [1.0, 2.0]])
    tally = Tally([[[None, tried]]], pooled, np.arange(2), np.zeros(2, int), np.ones(2))
    weights = np.array([0.0, 1.0])
    np.testing.assert_allclose(mean_rule(tally, weights, 0, 0)[0], [1.0, 0.0])
    np.testing.assert_allclose(tally.blended(weights), [1.0, 2.0])
