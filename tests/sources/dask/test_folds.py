"""Folds in blocks are those of scikit-learn, whatever the chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from lincent.sources.dask.folds import FoldWeights, allocation, folds_by_rank


def scikit_learn_folds(y, folds):
    numbers = np.empty(len(y), dtype=int)
    for k, (_, held) in enumerate(StratifiedKFold(folds).split(y, y)):
        numbers[held] = k
    return numbers


def surveyed(y, cuts):
    classes, first = np.unique(y, return_index=True)
    parts = np.split(y, cuts)
    present = np.array([[np.sum(part == c) for c in classes] for part in parts])
    return classes, first, parts, present


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 4), st.booleans())
def test_the_folds_of_scikit_learn(seed, folds, kinds, ordered):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(kinds), folds), rng.integers(0, kinds, 40)])
    y = np.sort(y)[::-1] if ordered else rng.permutation(y)
    cuts = np.sort(rng.integers(0, len(y), rng.integers(0, 6)))
    classes, first, parts, present = surveyed(y, cuts)
    rules = folds_by_rank(classes, present, first, folds)
    found = [rule(None, part) for rule, part in zip(rules, parts, strict=True)]
    np.testing.assert_array_equal(np.concatenate(found), scikit_learn_folds(y, folds))


def test_every_row_has_one_place():
    counts, first = np.array([7, 1, 12]), np.array([3, 0, 1])
    places = allocation(counts, first, 5)
    np.testing.assert_array_equal(places.sum(axis=1), counts)
    assert np.ptp(places.sum(axis=0)) <= 1


@pytest.mark.parametrize("plain", [False, True])
def test_a_row_is_trained_on_or_held_out(plain):
    numbers = np.array([0, 1, 2, 1, -1])
    weight = np.array([0.5, 2.0, 1.0, 0.0, 3.0])
    left = FoldWeights(weight, numbers, 1, held=False, plain=plain).among(None, np.zeros(5), weight)
    held = FoldWeights(weight, numbers, 1, held=True, plain=plain).among(None, np.zeros(5), weight)
    np.testing.assert_array_equal(left > 0, [True, False, True, False, True])
    np.testing.assert_array_equal(left + held, np.ones(5) if plain else weight)
