"""The search: costs as programs, scores of unseen rows, weak settings dropped on the way."""

import numpy as np
import pytest

from lincent.estimators.auto_search import Costs, map_scores, run_search, totals_for
from lincent.estimators.portfolio import Common, TrainingRows
from lincent.problems.joint import JointLoss, SeparateLoss

RNG = np.random.default_rng(0)
CODES = np.arange(90) % 2
Z = RNG.normal(size=(90, 3)) + CODES[:, None]
DATA = TrainingRows(Z, np.arange(90, dtype=np.uint64), CODES, np.ones(90), None)
FOLDS = [
    (np.arange(90)[np.arange(90) % 3 != k], np.arange(90)[np.arange(90) % 3 == k]) for k in range(3)
]
COMMON = Common(DATA, 0)
COSTS = Costs(np.array([0.5, 0.5]), (0.0, 2.0))


def test_two_classes_have_one_rule_and_more_have_one_each():
    weight = RNG.uniform(1, 2, 90)
    two = COSTS.coupling(CODES, weight)
    assert isinstance(two, SeparateLoss)
    # The costs of a class add up to its share, whatever its rows weigh.
    for k in (0, 1):
        assert two.costs[k == CODES].sum() == pytest.approx(0.5)
    three = Costs(np.full(3, 1 / 3), (0.0, 2.0)).coupling(np.arange(90) % 3, weight)
    assert isinstance(three, JointLoss)
    assert three.costs.sum() == pytest.approx(1.0)
    assert len(totals_for(2)) != len(totals_for(3))


def test_more_columns_than_rows_give_the_scores_of_the_rows_themselves():
    wide = RNG.normal(size=(30, 50))
    coupling = COSTS.coupling(CODES[:30], np.ones(30))
    unseen = RNG.normal(size=(5, 50))
    padded = np.vstack([wide, np.zeros((40, 50))])  # rows without weight: solved by columns
    weight = np.append(np.ones(30), np.zeros(40))
    other = COSTS.coupling(np.append(CODES[:30], CODES[:40]), weight)
    np.testing.assert_allclose(
        map_scores(wide, unseen, coupling, totals_for(2)[:4]),
        map_scores(padded, unseen, other, totals_for(2)[:4]),
        atol=0.02,
    )


def separation(scores, places):
    """How far apart the classes are, in deviations: judges any setting."""
    sides = [scores[CODES[places] == k, 0] for k in (0, 1)]
    return (sides[1].mean() - sides[0].mean()) / scores.std()


def test_the_best_settings_of_the_first_fold_are_tried_on_all():
    told = []
    maps = ["columns", "splines"]
    found = run_search(DATA, FOLDS, COSTS, maps, COMMON, separation, 3, tell=told.append)
    tried = np.concatenate([found.tried[name] for name in maps])
    assert sorted(np.unique(tried, return_counts=True)[1]) == [3, len(tried) - 3]
    first = FOLDS[0][1]
    values = np.array([separation(s[first], first) for n in maps for s in found.scores[n]])
    assert values[tried == 3].min() >= values[tried == 1].max()
    for name in maps:
        held = np.isfinite(found.scores[name][:, :, 0])
        np.testing.assert_array_equal(held.all(axis=1), found.tried[name] == 3)
        assert held[:, first].all()
    assert found.done == len(told) == 3


def test_a_fold_is_not_begun_when_time_is_up():
    found = run_search(
        DATA, FOLDS, COSTS, ["columns"], COMMON, separation, 3, out_of_time=lambda: True
    )
    assert found.done == 1
