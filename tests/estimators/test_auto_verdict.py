"""What a search comes to."""

import numpy as np
import pytest

from lincent.estimators.auto_choice import Rows, measure_of
from lincent.estimators.auto_search import Search
from lincent.estimators.auto_verdict import judge

RNG = np.random.default_rng(0)
CODES = np.arange(120) % 2
LABELS = Rows(CODES, np.ones(120), 2)
FOLDS = [
    (np.flatnonzero(np.arange(120) % 4 != k), np.flatnonzero(np.arange(120) % 4 == k))
    for k in range(4)
]
MEASURE = measure_of(None, np.arange(2))


def search(done=4):
    scores = {
        name: (quality * (2 * CODES - 1) + RNG.normal(size=(2, 120)))[:, :, None]
        for name, quality in (("columns", 1.0), ("splines", 2.0), ("centers", 0.1))
    }
    for by_cost in scores.values():
        by_cost[:, np.arange(120) % 4 >= done] = np.nan
    scores["centers"][:, np.arange(120) % 4 > 0] = np.nan
    tried = {name: np.full(2, 1 if name == "centers" else done) for name in scores}
    return Search(FOLDS, np.array([1.0, 10.0]), scores, tried, done)


def test_the_best_settings_are_members_and_dropped_ones_are_not():
    verdict = judge(search(), LABELS, MEASURE, 2, by_labels=False)
    assert [verdict.settings[k].map for k in verdict.members] == ["splines", "splines"]
    table = verdict.table()
    assert table["weight"].sum() == pytest.approx(1.0)
    assert set(table["rank"]) == set(range(1, 7))
    np.testing.assert_array_equal(table["folds"], [4, 4, 4, 4, 1, 1])
    np.testing.assert_allclose(table["C"][:2], [1 / 120, 10 / 120])
    assert not verdict.shift.any()
    assert MEASURE(verdict.blended, LABELS) >= verdict.honest > 0.9


@pytest.mark.parametrize("done", [1, 2])
def test_rows_that_were_not_held_out_have_no_say(done):
    verdict = judge(search(done), LABELS, MEASURE, 1, by_labels=False)
    np.testing.assert_array_equal(verdict.judged, np.flatnonzero(np.arange(120) % 4 < done))
    assert len(verdict.blended) == len(verdict.judged)
    assert np.isnan(verdict.honest) == (done == 1)
