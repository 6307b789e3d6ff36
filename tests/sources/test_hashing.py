"""Keys depend on the values of a row and on nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.sources import hashing as row_hash
from lincent.sources.hashing import distinct_rows, row_hashes, smallest_distinct


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.integers(-2, 3, (300, 4)).astype(float)


def test_sparse_rows_have_the_keys_of_dense_ones(X):
    np.testing.assert_array_equal(row_hashes(sp.csr_array(X)), row_hashes(X))
    places = np.indices(X.shape).reshape(2, -1)
    stored = sp.csr_array((X.ravel(), places))
    assert stored.nnz == X.size  # zeros that are stored
    np.testing.assert_array_equal(row_hashes(stored), row_hashes(X))


def test_neither_layout_nor_blocks_nor_a_negative_zero_matter(X, monkeypatch):
    keys = row_hashes(X)
    np.testing.assert_array_equal(row_hashes(np.asfortranarray(X)), keys)
    np.testing.assert_array_equal(row_hashes(X.astype(np.float32)), keys)
    np.testing.assert_array_equal(row_hashes(np.where(X == 0, -0.0, X)), keys)
    monkeypatch.setattr(row_hash, "BLOCK_ROWS", 7)
    np.testing.assert_array_equal(row_hashes(X), keys)


def test_columns_and_seeds_matter():
    assert row_hashes(np.array([[1.0, 2.0]]))[0] != row_hashes(np.array([[2.0, 1.0]]))[0]
    assert row_hashes(np.array([[1.0]]), 0)[0] != row_hashes(np.array([[1.0]]), 1)[0]


def test_kinds_are_those_of_numpy_in_order_of_appearance(X):
    first, group = distinct_rows(X)
    assert len(first) == len(np.unique(X, axis=0))
    assert np.all(np.diff(first) > 0)
    np.testing.assert_array_equal(X[first][group], X)


def test_a_draw_does_not_know_repetitions_or_order(X):
    allowed = np.ones(len(X), dtype=bool)
    once = X[smallest_distinct(row_hashes(X, 3), allowed, 20)[0]]
    assert len(np.unique(once, axis=0)) == 20
    shuffled = np.random.default_rng(1).permutation(np.repeat(X, 3, axis=0))
    twice = shuffled[smallest_distinct(row_hashes(shuffled, 3), np.ones(len(shuffled)), 20)[0]]
    np.testing.assert_array_equal(once, twice)
    assert not np.array_equal(X[smallest_distinct(row_hashes(X, 4), allowed, 20)[0]], once)


def test_rows_without_weight_are_not_drawn(X):
    allowed = np.zeros(len(X), dtype=bool)
    allowed[5:8] = True
    assert set(smallest_distinct(row_hashes(X, 0), allowed, 20)[0]) <= {5, 6, 7}


def test_a_sample_has_the_lowest_hashes_and_their_weights():
    keys = np.array([5, 1, 9, 1, 7, 3], dtype=np.uint64)
    weight = np.array([1.0, 2.0, 1.0, 4.0, 1.0, 0.0])
    index, total = smallest_distinct(keys, weight, 3)
    assert keys[index].tolist() == [1, 5, 7]  # 3 has no weight
    assert total.tolist() == [6.0, 1.0, 1.0]
