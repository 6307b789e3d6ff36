"""Weights of settings and the area under the curve."""

import numpy as np
import pytest

from lincent.estimators.committee import Tally
from lincent.estimators.committee_weights import Together, measure, soft_weights
from lincent.estimators.problem import tasks

RNG = np.random.default_rng(0)


def test_weights_fall_with_the_distance_from_the_best():
    weights = soft_weights(np.array([0.9, 0.89, 0.5]), 100.0)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[1] / weights[0] == pytest.approx(np.exp(-1.0))
    assert weights[2] < 1e-10


@pytest.mark.parametrize("scoring", [None, "roc_auc", "balanced_accuracy"])
def test_settings_are_measured_on_their_pooled_scores(scoring):
    codes = np.arange(60) % 2
    pooled = np.stack([2.0 * codes - 1, RNG.normal(size=60), 1 - 2.0 * codes])
    tally = Tally([[[None] * 3]], pooled, np.arange(60), codes, np.ones(60))
    values = measure(scoring, tally, tasks(2, "ovr")[0])
    assert values[0] == 1.0
    assert values[2] == 0.0
    assert 0.2 < values[1] < 0.8


def together(strengths, rows=300, tried=None):
    """Settings that tell three classes the better, the larger the strength.

    Each makes the same errors on other rows: two of one strength are level.
    """
    codes = np.arange(rows) % 3
    noise = np.random.default_rng(1).normal(size=(rows, 3))
    pooled = [
        np.roll(noise + strength * np.eye(3)[codes], 3 * k, axis=0)
        for k, strength in enumerate(strengths)
    ]
    for one, count in zip(pooled, tried or [], strict=False):
        one[count:] = np.nan
    labels = np.arange(rows), codes, np.ones(rows)
    return Together.of([Tally([], np.array(pooled)[:, :, k], *labels) for k in range(3)])


def test_a_setting_clearly_behind_is_not_kept():
    assert together([0.5, 3.0, 3.0]).kept().tolist() == [False, True, True]


def test_the_known_setting_stays_unless_the_best_is_clearly_better():
    level = together([3.0, 3.01])
    assert level.measures()[1] > level.measures()[0]
    assert level.weights(400.0, known=0).tolist() == [1.0, 0.0]
    assert together([0.5, 3.0]).weights(400.0, known=0).tolist() == [0.0, 1.0]


def test_settings_tried_on_some_rows_have_a_measure_and_no_weight():
    some = together([3.0, 1.0], tried=[60])
    assert some.whole.tolist() == [False, True]
    assert np.isfinite(some.measures()).all()
    assert some.weights(400.0, known=None).tolist() == [0.0, 1.0]
