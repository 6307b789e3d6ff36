"""A factorization in tiles is the factorization."""

import numpy as np
import pytest

from lincent.solvers import blocked_cholesky
from lincent.solvers.blocked_cholesky import BlockedCholesky, NotPositiveError


@pytest.mark.parametrize("columns", [1, 7, 32, 45])
def test_it_solves_with_the_matrix(monkeypatch, columns):
    monkeypatch.setattr(blocked_cholesky, "TILE", 8)
    monkeypatch.setattr(blocked_cholesky, "DEPTH", 16)
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
    with pytest.raises(NotPositiveError):
        BlockedCholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), 1e-12)
