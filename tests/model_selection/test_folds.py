"""Hash-based folds, and the forms of cv."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit

from lincent.model_selection.folds import fold_numbers, make_folds, number_of_folds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
CODES = np.arange(60) % 3
ONES = np.ones(60)


def held_values(X, folds):
    return [{tuple(row) for row in X[held]} for _, held in folds]


def test_every_sample_is_held_out_once_in_each_repeat():
    folds = make_folds(4, X, CODES, ONES, 2, seed=0)
    assert len(folds) == 8
    for repeat in (folds[:4], folds[4:]):
        held = np.sort(np.concatenate([rows for _, rows in repeat]))
        np.testing.assert_array_equal(held, np.arange(60))
    for train, held in folds:
        assert not set(train) & set(held)
        assert set(CODES[train]) == {0, 1, 2}
    assert held_values(X, folds[:4]) != held_values(X, folds[4:])


def test_neither_order_nor_duplication_changes_the_folds():
    order = RNG.permutation(np.repeat(np.arange(60), 2))
    once = held_values(X, make_folds(None, X, CODES, ONES, 1, seed=5))
    twice = make_folds(None, X[order], CODES[order], np.ones(120), 1, seed=5)
    assert sorted(map(sorted, held_values(X[order], twice))) == sorted(map(sorted, once))


def test_samples_without_weight_take_no_part():
    weight = np.where(np.arange(60) < 12, 0.0, 1.0)
    for cv in (3, KFold(3)):
        for train, held in make_folds(cv, X, CODES, weight, 1, seed=0):
            assert min(*train, *held) >= 12


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "at least 2 folds"),
        ([], "gives no folds"),
        ([(np.flatnonzero(CODES > 0), np.arange(3))], "no row of class number 0"),
    ],
)
def test_unusable_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        make_folds(cv, X, CODES, ONES, 1, seed=0)


def test_masks_are_as_good_as_indices():
    mask = np.arange(60) < 40
    ((train, held),) = make_folds([(mask, ~mask)], X, CODES, ONES, 1, seed=0)
    np.testing.assert_array_equal(train, np.arange(40))
    np.testing.assert_array_equal(held, np.arange(40, 60))


def test_remote_samples_have_no_positions():
    assert number_of_folds(None, remote=True) == 5
    with pytest.raises(ValueError, match="have no positions to index"):
        number_of_folds(KFold(3), remote=True)


def test_every_fold_can_be_made_to_test_every_class():
    codes = np.repeat([0, 1], [57, 3])
    for every_class, count in ((False, 5), (True, 3)):
        folds = make_folds(5, X, codes, ONES, every_class=every_class)
        assert len(folds) == count
        assert all(set(codes[train]) == {0, 1} for train, _ in folds)
        assert all(set(codes[held]) == {0, 1} for _, held in folds) == every_class


def test_one_fold_number_per_sample():
    numbers = np.array([0, 1, -1])
    np.testing.assert_array_equal(fold_numbers(PredefinedSplit(numbers), 3), numbers)
    assert fold_numbers(5, 3) is None
    for cv, told in (
        (numbers[:2], "cv has 2"),
        (numbers * 0.5, "whole number"),
        (np.ones((2, 2)), "2 dimension"),
    ):
        with pytest.raises(ValueError, match=told):
            fold_numbers(cv, 3)


def test_fold_numbers_are_folds_in_memory_too():
    numbers = np.arange(60) % 4 - 1
    folds = make_folds(numbers, X, CODES, ONES, 1, seed=0)
    assert len(folds) == 3
    for k, (train, held) in enumerate(folds):
        np.testing.assert_array_equal(held, np.flatnonzero(numbers == k))
        np.testing.assert_array_equal(train, np.flatnonzero(numbers != k))
