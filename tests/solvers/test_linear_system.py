"""Positive definite systems: digits where scales differ, and honest refusals."""

import numpy as np
import pytest

from lincent.solvers.linear_system import FactorizationError, PositiveDefinite


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
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(30, 4))
    rows = np.column_stack([rows, rows @ rng.normal(size=4), rows[:, 0]])
    matrix = rows.T @ rows
    b = matrix @ rng.normal(size=6)
    found = PositiveDefinite(matrix).solve(b)
    np.testing.assert_allclose(matrix @ found, b, rtol=1e-9, atol=1e-9)


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
    with pytest.raises(FactorizationError, match="diagonal"):
        PositiveDefinite(matrix, full=True)


@pytest.mark.parametrize(
    "matrix", [np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[np.nan, 0.0], [0.0, 1.0]])]
)
def test_what_is_not_positive_definite_is_refused(matrix):
    with pytest.raises(FactorizationError):
        PositiveDefinite(matrix)
