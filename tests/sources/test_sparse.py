"""Sparse rows: the numbers of dense ones, and never filled."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.sources.dense import DenseSource
from lincent.sources.sparse import SparseSource
from support.layouts import M, N, plain, same, signs, weights


@pytest.fixture
def source():
    return SparseSource(sp.csr_array(plain()))


def test_every_verb_gives_the_numbers_of_dense_rows(source):
    known, center, index = DenseSource(plain()), weights(N), np.array([3, 0, 5])
    v, w = weights(N), weights()
    same(source.project(v), known.project(v))
    same(source.combine(w), known.combine(w))
    same(source.gram(w), known.gram(w))
    same(source.outer(v), known.outer(v))
    same(source.array(), plain())
    same(source.class_means(signs(), w), known.class_means(signs(), w))
    same(source.column_scale(center), known.column_scale(center))
    same(source.columns(index, signs(), center).dense(), (
        signs()[:, None] * (plain() - center))[:, index])  # fmt: skip
    rows = source.take(np.array([4, 9]), signs(), center)
    assert rows.sparse
    same(rows.dense(), (signs()[:, None] * (plain() - center))[[4, 9]])


def test_constant_columns_are_found_also_where_they_are_empty():
    X = plain()
    X[:, 1], X[:, 4] = 0.0, 7.0
    found = SparseSource(sp.csr_array(X)).constant_columns(np.arange(N))
    np.testing.assert_array_equal(found, [False, True, False, False, True, False])


def test_an_origin_is_taken_off_full_columns_alone():
    X = plain()
    X[:, 2] = 1e6 + np.random.default_rng(0).random(M)
    source = SparseSource(sp.csr_array(X), centered=True)
    assert source.origin[2] == pytest.approx(1e6, rel=1e-3)
    assert not np.delete(source.origin, 2).any()
    assert source.X.nnz == np.count_nonzero(X)
    same(source.array() + source.origin, X)
    assert SparseSource(sp.csr_array(plain()), centered=True).origin is None


def test_signed_rows_stay_sparse(source):
    signed = source.signed(signs())
    assert signed.nnz == source.X.nnz
    same(signed.toarray(), signs()[:, None] * plain())
