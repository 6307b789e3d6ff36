"""The verbs of a source in memory, for every layout; and rows around an origin."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.sources.dense import DenseRows, DenseSource, origin_of
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source
from support.layouts import M, N, plain, same, signs, weights


@pytest.mark.usefixtures("blocks")
class TestVerbs:
    def test_shape(self, source):
        assert source.shape == (M, N)

    def test_project(self, source):
        v = weights(N)
        same(source.project(v), plain() @ v)

    def test_combine(self, source):
        w = weights()
        same(source.combine(w), plain().T @ w)

    def test_combine_of_several_columns(self, source):
        w = np.stack([weights(), weights() ** 2], axis=1)
        same(source.combine(w), plain().T @ w)

    def test_gram(self, source):
        w = weights()
        same(source.gram(w), plain().T @ np.diag(w) @ plain())

    def test_outer(self, source):
        w = weights(N)
        same(source.outer(w), plain() @ np.diag(w) @ plain().T)

    def test_array(self, source):
        same(source.array(), plain())

    def test_signed(self, source):
        signed = source.signed(signs())
        signed = signed.toarray() if sp.issparse(signed) else signed
        same(signed, plain() * signs()[:, None])

    def test_column_scale(self, source):
        center = weights(N)
        expected = np.sqrt(np.mean((plain() - center) ** 2, axis=0))
        same(source.column_scale(center), expected)


def test_columns_of_size_zero_have_scale_one():
    X = np.column_stack([np.full(5, 3.0), np.arange(5.0)])
    center = np.array([3.0, 0.0])
    for held in (X, sp.csr_array(X)):
        assert open_source(held).column_scale(center)[0] == 1.0


def test_class_centers_are_weighted_means(source):
    sign, weight = signs(), weights()
    expected = [
        np.average(plain()[sign < 0], axis=0, weights=weight[sign < 0]),
        np.average(plain()[sign > 0], axis=0, weights=weight[sign > 0]),
    ]
    same(source.class_means(sign, weight), np.array(expected))


def test_columns_that_are_one_number(layout):
    index = np.arange(N)
    assert not open_source(layout).constant_columns(index).any()
    with_constant = layout.copy()
    if sp.issparse(layout):
        with_constant = sp.csr_array(np.column_stack([np.full(M, 0.1), layout.toarray()]))
    else:
        with_constant = np.column_stack([np.full(M, 0.1, layout.dtype), layout])
    found = open_source(with_constant).constant_columns(np.arange(N + 1))
    assert found.tolist() == [True] + [False] * N


class TestOrigin:
    """Differences of rows are exact in doubles, however far the rows are from zero."""

    OFFSET = 2.0**33

    def test_harmless_offsets_are_left_alone(self):
        assert origin_of(plain()) is None
        assert origin_of(plain() + 50.0) is None
        assert origin_of(np.column_stack([plain(), np.ones(M)])) is None

    def test_only_columns_with_a_large_offset_are_moved(self):
        X = plain()
        X[:, 2] += self.OFFSET
        origin = origin_of(X)
        assert np.flatnonzero(origin).tolist() == [2]
        assert origin[2] == X[0, 2]

    def test_a_constant_becomes_zero(self):
        X = np.column_stack([plain(), np.full(M, 1e7 / 3)])
        source = DenseSource(X, centered=True)
        assert np.all(source.array()[:, -1] == 0)

    def test_one_row_has_no_range(self):
        assert origin_of(plain()[:1] + self.OFFSET) is None

    @pytest.mark.usefixtures("blocks")
    def test_methods_subtract_the_origin(self):
        # Steps of 2^-12 survive an offset of 2^33 exactly.
        near = np.round(plain() * 2.0**12) / 2.0**12
        X = near + self.OFFSET
        source = DenseSource(X, centered=True)
        seen = X - X[0]
        assert np.array_equal(source.origin, X[0])
        same(source.project(weights(N)), seen @ weights(N))
        same(source.combine(weights()), seen.T @ weights())
        same(source.gram(weights()), seen.T @ (weights()[:, None] * seen))
        same(source.array(), seen)
        center = weights(N)
        same(source.column_scale(center), np.sqrt(np.mean((seen - center) ** 2, axis=0)))
        A = signs()[:, None] * (seen - center)
        rows = SignedRows(source, signs(), center)
        same(rows.take(np.array([3, 0, 3])).dense(), A[[3, 0, 3]])
        same(rows.columns(np.array([4, 1])).dense(), A[:, [4, 1]])
        found, combined = rows.sweep(weights(N), lambda part, z: 1.0 + z**2)
        same(found, A @ weights(N))
        same(combined, A.T @ (1.0 + found**2))
        single = rows.float32(None).dense()
        np.testing.assert_allclose(single, A, atol=1e-5)


def test_a_source_is_formed_at_once_only_if_small():
    assert DenseSource(plain()).formed
    assert not DenseSource(np.broadcast_to(1.0, (10**6, 20))).formed


def test_dense_rows_are_their_own_material():
    rows = DenseRows(plain())
    assert rows.materialize() is rows


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_rows_are_those_that_were_taken_one_by_one(dtype, order, offset):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((20, 3)) + offset, dtype=dtype, order=order)
    before, sign = X.copy(), np.where(rng.random(20) < 0.5, -1.0, 1.0)
    source = DenseSource(X, centered=True)
    assert (source.origin is None) == (offset == 0.0)
    rows = source.take_all(sign, np.array([0.1, -0.2, 0.3])).dense()
    taken = source.take(np.arange(20), sign, np.array([0.1, -0.2, 0.3])).dense()
    np.testing.assert_array_equal(rows, taken)
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(X, before)
