import numpy as np
import pytest

from lincent.paper.study.splits import folds, holdout

Y = np.array(["a"] * 50 + ["b"] * 20)


def test_holdout_takes_thirty_percent_of_each_class():
    train, test = holdout(Y, 3)
    assert sorted(np.concatenate([train, test])) == list(range(70))
    assert (Y[test] == "a").sum() == 15
    assert (Y[test] == "b").sum() == 6


def test_split_depends_on_number_and_seed_only():
    assert np.array_equal(holdout(Y, 5, seed=1)[1], holdout(Y, 5, seed=1)[1])
    assert not np.array_equal(holdout(Y, 5, seed=1)[1], holdout(Y, 6, seed=1)[1])
    assert not np.array_equal(holdout(Y, 5, seed=1)[1], holdout(Y, 5, seed=2)[1])


def test_folds_cover_every_row_once():
    tests = np.concatenate([folds(Y, k)[1] for k in range(10)])
    assert sorted(tests) == list(range(70))
    assert all((Y[folds(Y, k)[1]] == "b").sum() == 2 for k in range(10))


@pytest.mark.parametrize("number", range(5))
def test_groups_stay_together(number):
    groups = np.arange(70) // 3
    for train, test in (holdout(Y, number, groups=groups), folds(Y, number, groups=groups)):
        assert not set(groups[train]) & set(groups[test])
    train, test = holdout(Y, number, groups=groups)
    assert set(Y[test]) == set(Y[train]) == {"a", "b"}


def test_few_groups_still_split():
    y = np.tile(["a", "b"], 30)
    train, test = holdout(y, 0, groups=np.arange(60) // 20)
    assert len(train) == 40
    assert len(test) == 20


def test_a_class_in_one_group_cannot_be_split():
    y = np.repeat(["a", "b"], 20)
    with pytest.raises(ValueError, match="No split by group"):
        holdout(y, 0, groups=np.repeat([0, 1, 2, 3], [7, 7, 6, 20]))
