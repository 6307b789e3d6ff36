"""Figures, their intervals, and the rule that looks at nothing."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    matthews_corrcoef,
    roc_auc_score,
)

from lincent.inspection.score_intervals import area_score, confusion, hard_scores, value_of, wilson

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 200)
ANSWERS = np.where(RNG.random(200) < 0.7, TRUTH, RNG.integers(0, 3, 200))


def test_figures_are_those_of_scikit_learn():
    table = confusion(TRUTH, ANSWERS, 3)
    assert value_of("accuracy", table) == pytest.approx(accuracy_score(TRUTH, ANSWERS))
    wanted = balanced_accuracy_score(TRUTH, ANSWERS)
    assert value_of("balanced_accuracy", table) == pytest.approx(wanted)
    assert value_of("mcc", table) == pytest.approx(matthews_corrcoef(TRUTH, ANSWERS))
    two, said = TRUTH % 2, ANSWERS % 2
    table = confusion(two, said, 2)
    assert value_of("f1", table, 1) == pytest.approx(f1_score(two, said))
    assert value_of("f1", table, 0) == pytest.approx(f1_score(two, said, pos_label=0))


def test_the_area_is_that_of_scikit_learn_also_with_ties():
    values = RNG.normal(size=200).round(1) + (TRUTH == 1)
    found = area_score(values, TRUTH == 1)
    assert found.value == pytest.approx(roc_auc_score(TRUTH == 1, values))
    assert found.low < found.value < found.high


def test_the_blind_rule_and_the_order():
    scores = hard_scores(TRUTH, ANSWERS, 3, 1, "mcc")
    assert [s.name for s in scores] == ["mcc", "balanced_accuracy", "accuracy"]
    assert scores[0].baseline == 0
    assert scores[1].baseline == pytest.approx(1 / 3)
    assert scores[2].baseline == pytest.approx(np.bincount(TRUTH).max() / 200)
    assert all(s.low <= s.value <= s.high for s in scores)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "mcc"])
def test_intervals_cover(name):
    """The figure of many rows lies in the interval of few in about 95 of 100 draws."""
    rng = np.random.default_rng(1)

    def draw(n):
        truth = (rng.random(n) < 0.3).astype(int)
        return truth, np.where(rng.random(n) < 0.8, truth, 1 - truth)

    truth, said = draw(200_000)
    wanted = value_of(name, confusion(truth, said, 2))
    inside = 0
    for _ in range(60):
        found = hard_scores(*draw(150), 2, 1, name)[0]
        inside += found.low <= wanted <= found.high
    assert inside >= 51  # 95 % of 60 is 57; fewer than 51 happens once in 100 runs


def test_no_error_in_few_rows_is_no_certainty():
    low, high = wilson(1.0, 10)
    assert low < 0.8
    assert high <= 1.0
    found = hard_scores(np.arange(10) % 2, np.arange(10) % 2, 2, 1, "balanced_accuracy")[0]
    assert found.value == 1.0
    assert found.low < 0.9


@pytest.mark.parametrize("name", ["balanced_accuracy", "accuracy", "mcc"])
def test_a_share_of_the_rows_has_the_interval_of_so_many_fewer(name):
    once = hard_scores(TRUTH, ANSWERS, 3, 1, name)[0]
    thrice = hard_scores(np.tile(TRUTH, 3), np.tile(ANSWERS, 3), 3, 1, name, share=1 / 3)[0]
    assert thrice.value == pytest.approx(once.value)
    assert thrice.low == pytest.approx(once.low, abs=1e-9)
    assert thrice.high == pytest.approx(once.high, abs=1e-9)


def test_figures_of_folds_have_the_variance_of_folds_that_share_rows():
    """The figure of rules fitted anew is spread more than rows alone spread it."""
    from lincent.inspection.held_out import FOLDS, SHARE

    assert pytest.approx(FOLDS * (1 / FOLDS + 1 / (FOLDS - 1))) == 1 / SHARE
    scores = np.random.default_rng(0).normal(size=200) + np.repeat([0.0, 1.0], 100)
    positive = np.repeat([False, True], 100)
    alone, folds = area_score(scores, positive), area_score(scores, positive, SHARE)
    ratio = (folds.high - folds.value) / (alone.high - alone.value)
    assert ratio == pytest.approx(SHARE**-0.5)
