"""Folds by the values of rows: even, the same for any order, and repetitions stay together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lincent.sources import hashing as module
from lincent.sources.hashing import HashKFold, smallest_hashes


def keys_of(m, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, m, dtype=np.uint64)


def make_folds(keys, codes, folds=5):
    smallest = [smallest_hashes(keys[codes == k]) for k in range(codes.max() + 1)]
    return HashKFold.of(smallest, folds, 0)


@given(st.integers(0, 1_000), st.integers(2, 6))
def test_few_rows_go_to_the_folds_in_turn(seed, folds):
    rng = np.random.default_rng(seed)
    keys, codes = keys_of(40, seed), np.concatenate([[0, 0, 1, 1], rng.integers(0, 2, 36)])
    found = make_folds(keys, codes, folds).numbers(keys, codes)
    for k in (0, 1):
        assert np.ptp(np.bincount(found[codes == k], minlength=folds)) <= 1
    assert np.ptp(np.bincount(found, minlength=folds)) <= 1
    order = rng.permutation(40)
    again = make_folds(keys[order], codes[order], folds).numbers(keys[order], codes[order])
    np.testing.assert_array_equal(again, found[order])


def test_many_rows_are_assigned_by_their_hashes(monkeypatch):
    monkeypatch.setattr(module, "RANKED", 100)
    monkeypatch.setattr(module, "SCORED", 500)
    keys, codes = keys_of(4_040), np.repeat([0, 1], [4_000, 40])
    folds = make_folds(keys, codes)
    found = folds.numbers(keys, codes)
    assert np.all(np.abs(np.bincount(found[codes == 0]) - 800) < 120)
    assert np.ptp(np.bincount(found[codes == 1])) <= 1
    asked = folds.scored(keys, codes)
    assert asked[codes == 1].all()
    assert 350 < asked[codes == 0].sum() < 650
    assert folds.hashes[0] is None  # nothing as long as the data


def test_a_key_that_would_be_beyond_all_asks_everyone(monkeypatch):
    monkeypatch.setattr(module, "RANKED", 100)
    keys, codes = keys_of(150), np.zeros(150, dtype=int)
    assert make_folds(keys, codes).scored(keys, codes).all()


def test_fewer_rows_than_folds():
    keys, codes = keys_of(4), np.array([0, 0, 1, 1])
    assert make_folds(keys, codes, 8).used == [0, 1, 2, 3]


def test_a_class_of_one_kind_cannot_be_held_out():
    keys, codes = np.array([5, 9, 7, 7], dtype=np.uint64), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="Class number 1 has fewer than 2 different rows") as error:
        make_folds(keys, codes).check()
    assert "numbered from 0 in sorted order" in str(error.value)
    assert "leave the class out" in str(error.value)
