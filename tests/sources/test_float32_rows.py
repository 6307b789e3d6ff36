"""Rows in single precision: seven digits, whatever the offset, or none at all."""

import numpy as np
import pytest

from lincent.sources import dense as dense
from lincent.sources.dense import DenseRows


def data(offset=0.0, m=80, n=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n)) + offset
    return X, np.where(np.arange(m) % 2, 1.0, -1.0), X.mean(axis=0)


@pytest.mark.parametrize("offset", [0.0, 3.0, 2.0**30])
@pytest.mark.parametrize("blocks", [2**20, 64])
def test_products_have_seven_digits_whatever_the_offset(offset, blocks, monkeypatch):
    monkeypatch.setattr(dense, "BLOCK_BYTES", blocks)
    X, sign, center = data(offset)
    rows, exact = dense.float32_rows(X, None, sign, center), DenseRows(sign[:, None] * (X - center))
    rng = np.random.default_rng(1)
    beta, alpha, uneven = rng.normal(size=5), rng.random(80), rng.random(80)
    near = {"rtol": 2e-5, "atol": 2e-5}
    np.testing.assert_allclose(rows.dot(beta), exact.dot(beta), **near)
    np.testing.assert_allclose(rows.tdot(alpha), exact.tdot(alpha), **near)
    for weight in (uneven, np.full(80, 0.7)):
        np.testing.assert_allclose(rows.gram(weight), exact.gram(weight), **near)
    np.testing.assert_allclose(rows.outer(rng.random(5)).shape, (80, 80))
    np.testing.assert_allclose(rows.column_scale(), exact.column_scale(), **near)
    np.testing.assert_allclose(
        rows.columns(np.array([3, 1])).dense(), exact.dense()[:, [3, 1]], **near
    )


def test_some_rows_are_those_of_all():
    X, sign, center = data()
    index = np.array([7, 3, 50])
    some, all_rows = (dense.float32_rows(X, which, sign, center) for which in (index, None))
    np.testing.assert_array_equal(some.dense(), all_rows.take(index).dense())


@pytest.mark.parametrize("scale", [1e20, 1e300])
def test_numbers_beyond_their_range_are_refused(scale):
    X, sign, center = data()
    assert dense.float32_rows(scale * X, None, sign, scale * center) is None
