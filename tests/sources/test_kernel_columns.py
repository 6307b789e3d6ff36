"""Columns of a kernel that is never formed do what those of the matrix do."""

import numpy as np
import pytest

from lincent.sources import kernel as kernel_columns
from lincent.sources.kernel import KernelColumns, SelectedColumns


@pytest.fixture
def formed_and_not(monkeypatch):
    monkeypatch.setattr(kernel_columns, "BLOCK_ENTRIES", 30 * 4)
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


def test_blocks_cover_every_column_once(formed_and_not):
    _, rows = formed_and_not
    order = np.random.default_rng(1).permutation(22)
    for used, count in ((30, 6), (15, 3), (1, 1)):
        parts = list(rows.blocks(order, used))
        assert len(parts) == count
        np.testing.assert_array_equal(np.concatenate(parts), order)


def test_columns_are_those_that_are_named(formed_and_not):
    A, rows = formed_and_not
    for index in ([1, 4, 9], [20, 5], [0]):
        np.testing.assert_array_equal(rows.columns(np.array(index)).array, A[:, index])


def test_only_rows_with_multipliers_are_computed(formed_and_not):
    A, rows = formed_and_not
    asked = []

    def sums(rows, columns, w):
        asked.append(rows.tolist())
        return w @ (A * sign[:, None])[np.ix_(rows, columns)]

    sign = rows.sign
    counted = KernelColumns(rows.between, sign, 22, sums)
    alpha = np.zeros(30)
    np.testing.assert_array_equal(counted.tdot_of(alpha, np.arange(22)), np.zeros(22))
    alpha[[3, 8]] = 0.5, 2.0
    np.testing.assert_allclose(counted.tdot_of(alpha, np.array([2, 7])), A[:, [2, 7]].T @ alpha)
    assert asked == [[3, 8]]


def test_selected_columns(formed_and_not, monkeypatch):
    monkeypatch.setattr(kernel_columns, "BLOCK_ROWS", 7)
    A, rows = formed_and_not
    buffer = np.zeros((5, 30))
    places = np.array([4, 0, 1, 3, 2])
    rows.write(np.array([9, 1, 3, 20, 7]), buffer, places)
    B = A[:, [1, 3, 7, 20, 9]]
    chosen = SelectedColumns(buffer)
    rng = np.random.default_rng(1)
    for used in (0.2, 0.9):
        w = np.where(rng.random(30) < used, rng.random(30), 0.0)
        np.testing.assert_allclose(chosen.gram(w), (B.T * w) @ B, atol=1e-12)
        np.testing.assert_allclose(chosen.cross(w, places[:2]), (B.T * w) @ B[:, places[:2]])
    np.testing.assert_allclose(chosen.tdot(w), B.T @ w)
    np.testing.assert_allclose(chosen.dot(w[:5]), B @ w[:5])
    np.testing.assert_allclose(chosen.outer(w[:5]), (B * w[:5]) @ B.T, atol=1e-12)
    np.testing.assert_allclose(chosen.column_scale(), np.sqrt((B**2).mean(axis=0)))
    np.testing.assert_array_equal(chosen.dense(), B)
    np.testing.assert_array_equal(chosen.take(np.array([4, 2])).dense(), B[[4, 2]])
    np.testing.assert_array_equal(chosen.columns(np.array([4, 2])).dense(), B[:, [4, 2]])
