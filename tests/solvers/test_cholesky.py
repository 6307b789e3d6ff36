"""Cholesky factors: digits where scales differ, tiles, precision, and refusals."""

import numpy as np
import pytest

from lincent.solvers import cholesky
from lincent.solvers.cholesky import BlockedCholesky, NotPositiveDefiniteError, PositiveDefinite


def spd(n, seed=0):
    root = np.random.default_rng(seed).normal(size=(n, n))
    return root @ root.T + np.eye(n)


def test_scales_of_many_sizes_cost_no_digits():
    rng = np.random.default_rng(1)
    scale = 10.0 ** rng.uniform(-8, 8, 12)
    matrix, x = spd(12) * scale * scale[:, None], rng.normal(size=12) / scale
    found = PositiveDefinite(matrix).solve(matrix @ x)
    np.testing.assert_allclose(found * scale, x * scale, rtol=1e-9, atol=1e-11)


def test_collinear_columns_are_solved_as_well_as_they_can_be():
    residuals = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(30, 4))
        rows = np.column_stack([rows, rows @ rng.normal(size=4), rows[:, 0]])
        matrix = rows.T @ rows
        b = matrix @ rng.normal(size=6)
        found = PositiveDefinite(matrix).solve(b)
        residuals.append(np.abs(matrix @ found - b).max() / np.abs(b).max())
    # Which of them lose digits depends on the processor.
    assert np.median(residuals) < 1e-8
    assert max(residuals) < 1e-4


def test_a_matrix_of_few_digits_solves_the_one_that_is_meant():
    """A factor in single precision, refined by products with the matrix in double precision."""
    matrix, x = spd(12), np.random.default_rng(2).normal(size=12)
    rough = matrix.astype(np.float32).astype(np.float64)
    system = PositiveDefinite(rough, exact=1e-12, multiply=matrix.__matmul__)
    assert system.lower.dtype == np.float32
    np.testing.assert_allclose(system.solve(matrix @ x), x, rtol=1e-9)


def test_several_right_hand_sides_are_solved_one_by_one():
    matrix, b = spd(5), np.random.default_rng(3).normal(size=(5, 3))
    system = PositiveDefinite(matrix)
    found = system.solve(b)
    for k in range(3):
        np.testing.assert_array_equal(found[:, k], system.solve(b[:, k]))
    np.testing.assert_allclose(matrix @ found, b, atol=1e-12)


def test_a_variable_that_nothing_depends_on_stays_or_is_refused():
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = [[2.0, 0.5], [0.5, 1.0]]
    found = PositiveDefinite(matrix).solve(np.array([1.0, 1.0, 0.0]))
    assert found[2] == 0.0
    np.testing.assert_allclose(matrix @ found, [1.0, 1.0, 0.0], atol=1e-14)
    with pytest.raises(NotPositiveDefiniteError, match="diagonal"):
        PositiveDefinite(matrix, full=True)


@pytest.mark.parametrize(
    "matrix", [np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[np.nan, 0.0], [0.0, 1.0]])]
)
def test_what_is_not_positive_definite_is_refused(matrix):
    with pytest.raises(NotPositiveDefiniteError):
        PositiveDefinite(matrix)


@pytest.mark.parametrize("columns", [1, 7, 32, 45])
def test_it_solves_with_the_matrix(monkeypatch, columns):
    monkeypatch.setattr(cholesky, "TILE", 8)
    monkeypatch.setattr(cholesky, "DEPTH", 16)
    rng = np.random.default_rng(columns)
    A = rng.standard_normal((columns + 5, columns)) * 10.0 ** rng.uniform(-3, 3, columns)
    b = rng.standard_normal((columns, 11))
    factor = BlockedCholesky(A.T @ A, ridge=0.0)
    for right in (b, b[:, 0]):
        x = factor.solve(right)
        size = np.abs(A.T @ A) @ np.abs(x)
        assert np.all(np.abs(A.T @ (A @ x) - right) <= 1e-8 * (size + np.abs(right)))


def test_only_the_lower_half_is_read():
    A = np.random.default_rng(0).standard_normal((9, 5))
    gram = A.T @ A
    b = np.arange(5.0)
    lower = np.tril(gram) + np.triu(np.full((5, 5), np.nan), 1)
    np.testing.assert_allclose(
        BlockedCholesky(lower, 0.0).solve(b), np.linalg.solve(gram, b), rtol=1e-10
    )


def test_an_empty_column_solves_to_zero_and_a_dependent_one_needs_a_ridge():
    A = np.random.default_rng(0).standard_normal((9, 4))
    A[:, 1] = 0.0
    A[:, 3] = A[:, 2]
    b = A.T @ np.arange(9.0)
    x = BlockedCholesky(A.T @ A, 1e-12).solve(b)
    assert x[1] == 0.0
    np.testing.assert_allclose(A.T @ (A @ x), b, atol=1e-6)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(NotPositiveDefiniteError):
        BlockedCholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factor_keeps_its_precision_and_solves(dtype):
    matrix, b = spd(6).astype(dtype), np.arange(6.0)
    lower = cholesky.factor(matrix)
    assert lower.dtype == dtype
    x = cholesky.solve(lower, b)
    assert x.dtype == np.float64
    np.testing.assert_allclose(matrix @ x, b, atol=1e-3 if dtype == np.float32 else 1e-10)


def test_no_factor_of_an_indefinite_matrix():
    assert cholesky.factor(np.array([[1.0, 2.0], [2.0, 1.0]])) is None


def test_a_ridge_is_added_only_where_it_is_needed():
    lower, ridge = cholesky.factor_with_ridge(spd(4), 1e-14)
    assert ridge == 0.0
    np.testing.assert_allclose(np.tril(lower) @ np.tril(lower).T, spd(4))
    singular = np.ones((3, 3))
    lower, ridge = cholesky.factor_with_ridge(singular, 1e-14)
    assert 1e-15 < ridge < 1e-9
    with pytest.raises(NotPositiveDefiniteError, match="finite"):
        cholesky.factor_with_ridge(np.diag([-1.0, np.inf]), 1e-14)
