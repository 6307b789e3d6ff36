"""Columns of a kernel that is never formed do what those of the matrix do."""

import numpy as np
import pytest

from lincent.passes import kernel_columns
from lincent.passes.kernel_columns import KernelColumns


@pytest.fixture
def formed_and_not(monkeypatch):
    monkeypatch.setattr(kernel_columns, "BLOCK_BYTES", 8 * 30 * 4)
    rng = np.random.default_rng(0)
    K = rng.standard_normal((30, 22))
    sign = np.where(rng.random(30) < 0.4, 1.0, -1.0)
    rows = KernelColumns(lambda rows, columns: K[np.ix_(rows, columns)], sign, 22)
    return K * sign[:, None], rows


def test_products(formed_and_not):
    A, rows = formed_and_not
    rng = np.random.default_rng(1)
    beta = np.where(rng.random(22) < 0.3, rng.standard_normal(22), 0.0)
    alpha = rng.random(30)
    np.testing.assert_allclose(rows.dot(beta), A @ beta, atol=1e-12)
    np.testing.assert_allclose(rows.tdot(alpha), A.T @ alpha, atol=1e-12)
    np.testing.assert_allclose(rows.columns(np.array([3, 9])).array, A[:, [3, 9]])
    np.testing.assert_allclose(rows.take(np.array([4, 2])).dense(), A[[4, 2]])
    np.testing.assert_allclose(rows.gram(alpha), (A.T * alpha) @ A, atol=1e-12)
    np.testing.assert_allclose(rows.outer(np.ones(22)), A @ A.T, atol=1e-12)
    np.testing.assert_allclose(rows.column_scale(), np.sqrt((A**2).mean(axis=0)), atol=1e-12)


def test_blocks_cover_every_column_once_wherever_they_begin(formed_and_not):
    _, rows = formed_and_not
    for first in (0, 2, 17):
        parts = list(rows.blocks(first))
        assert len(parts) == 6
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(22))
    assert next(rows.blocks(2))[0] == 8


def test_columns_are_computed_once_and_only_for_rows_with_multipliers():
    rng = np.random.default_rng(2)
    K, sign = rng.standard_normal((30, 22)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    asked = []

    def between(rows, columns):
        asked.append((len(rows), columns.tolist()))
        return K[np.ix_(rows, columns)]

    rows = KernelColumns(between, sign, 22)
    A = K * sign[:, None]
    for index in ([1, 4, 9], [1, 5, 9, 20], [1, 5, 9, 20], [0, 5]):
        np.testing.assert_array_equal(rows.columns(np.array(index)).array, A[:, index])
    assert asked == [(30, [1, 4, 9]), (30, [5, 20]), (30, [0])]
    alpha = np.zeros(30)
    np.testing.assert_array_equal(rows.tdot_of(alpha, np.arange(22)), np.zeros(22))
    alpha[[3, 8]] = 0.5, 2.0
    np.testing.assert_allclose(rows.tdot_of(alpha, np.array([2, 7])), A[:, [2, 7]].T @ alpha)
    assert asked[3:] == [(2, [2, 7])]
