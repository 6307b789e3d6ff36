"""Rows for a proof: sparse ones have the sums of dense ones, at the cost of what they store."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems.rounding import BLOCK_ENTRIES, CertificateData, SparseCertificateData


def both(X):
    stored = sp.csr_array(X)
    given = np.ones(len(X)), np.ones(len(X)), X.shape
    return (
        CertificateData(X.__getitem__, *given),
        SparseCertificateData(stored.__getitem__, *given, stored.nnz),
    )


def sparse(m, n, seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, n)) < 0.3, rng.normal(size=(m, n)), 0.0)
    X[0] = X[:, 1] = 0.0  # a row and a column without entries
    return X


@pytest.mark.parametrize("seed", range(5))
def test_sparse_rows_have_the_sums_of_dense_ones(seed):
    X = sparse(30, 20, seed)
    rng = np.random.default_rng(seed)
    w, v, index = rng.normal(size=30), rng.normal(size=20), np.array([3, 7, 11])
    (combined, projected, largest, columns), other = (
        (
            data.combined(data.read(slice(None)), w).value,
            data.projected(data.read(slice(None)), v).value,
            data.largest(data.read(index)),
            data.columns(data.read(index), index),
        )
        for data in both(X)
    )
    np.testing.assert_allclose(other[0], combined, rtol=1e-15, atol=0)
    np.testing.assert_allclose(other[1], projected, rtol=1e-15, atol=0)
    assert other[2] == largest == np.abs(X[index]).max()
    np.testing.assert_array_equal(other[3], columns)


def test_entries_that_stand_twice_are_added():
    twice = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    data = SparseCertificateData(twice.__getitem__, np.ones(1), np.ones(1), (1, 1), 2)
    assert data.combined(twice, np.array([10.0])).value.tolist() == [30.0]
    assert data.projected(twice, np.array([10.0])).value.tolist() == [30.0]


def test_parts_cover_all_rows_and_are_as_large_as_they_may_be():
    dense, stored = both(sparse(5000, 40, 0))
    for data in (dense, stored):
        parts = list(data.parts())
        assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
        assert parts[-1].stop == 5000
    assert all((part.stop - part.start) * 40 <= BLOCK_ENTRIES for part in dense.parts())
    assert len(list(stored.parts())) < len(list(dense.parts()))


def steps(shape, entries=None):
    """How many rows the first part has, of so many and so large rows."""
    given = shape[0] * [0.0], shape[0] * [0.0], shape
    data = (
        CertificateData(None, *given)
        if entries is None
        else SparseCertificateData(None, *given, entries=entries)
    )
    part = next(data.parts())
    return part.stop - part.start


def test_a_part_has_as_many_entries_as_the_cache_holds_or_one_row():
    assert 2**20 <= 12 * 8 * BLOCK_ENTRIES <= 2**22  # bytes of a dozen arrays
    assert steps((BLOCK_ENTRIES + 1, 1)) == BLOCK_ENTRIES
    assert steps((9, BLOCK_ENTRIES)) == steps((9, 2 * BLOCK_ENTRIES)) == 1
    # Sparse rows: by the entries, which are at least as many as columns.
    assert steps((10, BLOCK_ENTRIES), entries=2 * BLOCK_ENTRIES) == 5
    assert steps((10, 4 * BLOCK_ENTRIES), entries=10 * BLOCK_ENTRIES) == 4
    assert steps((10, 3), entries=0) == 10


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_rows_of_one_weight_and_small_entries(weight):
    X = 0.01 * sparse(30, 20, 0)
    for data in both(X):
        whole = data.read(slice(None))
        found = data.combined(whole, np.full(30, weight)).value
        np.testing.assert_allclose(found, weight * X.sum(axis=0), rtol=1e-14, atol=1e-300)
        assert data.largest(whole) == np.abs(X).max() < 1.0
        assert data.largest(data.read(slice(0, 1))) == 0.0
