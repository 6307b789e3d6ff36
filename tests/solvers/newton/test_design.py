"""Gram matrices of rows: what they are defined to be, however they came about."""

import numpy as np
import pytest

from lincent.problems.joint import SeparateLoss
from lincent.solvers.newton.design import Design
from lincent.solvers.newton.joint import solve_path

RNG = np.random.default_rng(0)
ROWS, COLUMNS = 1500, 7  # more rows than are taken at a time
X = RNG.normal(size=(ROWS, COLUMNS))
CODES = (X[:, 0] + 0.5 * RNG.normal(size=ROWS) > 0).astype(int)


def by_definition(weight, rows=X):
    whole = np.column_stack([rows, np.ones(len(rows))])
    return (whole * weight[:, None]).T @ whole


def weights(share, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(ROWS) < share, rng.random(ROWS), 0.0)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_matrix_by_changes_is_the_matrix(kind):
    design, close = (
        Design(X.astype(kind), CODES, np.ones(ROWS)),
        {np.float64: 1e-12}.get(kind, 1e-5),
    )
    weight = weights(0.7, 1)
    for seed in range(5):
        found = design.gram_by_changes(weight.astype(kind))
        np.testing.assert_allclose(found, by_definition(weight), rtol=close, atol=close * ROWS)
        some = np.random.default_rng(seed).random(ROWS) < 0.05
        weight = np.where(some, weights(0.5, seed + 10), weight)


def test_only_changed_rows_are_read_and_all_where_most_have_changed():
    design = Design(X, CODES, np.ones(ROWS))
    weight = weights(1.0, 1)
    design.gram_by_changes(weight)
    assert design.rows_read == ROWS
    other = weight.copy()
    other[:10], other[10:30] = 0.0, 5.0
    design.gram_by_changes(other)
    assert design.rows_read == ROWS + 30
    np.testing.assert_allclose(design.gram_by_changes(2 * other), by_definition(2 * other))
    assert design.rows_read == ROWS + 30 + np.count_nonzero(other)


def test_each_rule_has_a_matrix_of_its_own():
    design = Design(X, CODES, np.ones(ROWS))
    first, second = weights(0.7, 1), weights(0.7, 2)
    design.gram_by_changes(first, 0)
    design.gram_by_changes(second, 1)
    first[:5] = 0.25
    np.testing.assert_allclose(design.gram_by_changes(first, 0), by_definition(first))
    np.testing.assert_allclose(design.gram_by_changes(second, 1), by_definition(second))


def test_scaled_rows_take_their_matrices_along():
    design, factors = Design(X, CODES, np.ones(ROWS)), np.linspace(0.1, 3.0, COLUMNS)
    weight = weights(1.0, 1)
    design.gram_by_changes(weight)
    other = design.scaled(factors)
    np.testing.assert_array_equal(other.X, X * factors)
    np.testing.assert_allclose(
        other.gram_by_changes(weight), by_definition(weight, X * factors), rtol=1e-12
    )
    assert other.rows_read == 0
    np.testing.assert_allclose(design.gram_by_changes(weight), by_definition(weight))


def test_a_path_reads_fewer_rows_than_its_steps_would():
    cost = np.array([[0.5, 0.5]]) / np.bincount(CODES)
    program = SeparateLoss(CODES, np.ones(ROWS), np.array([[-1.0, 1.0]]), cost, -1.0, 3.0)
    design = Design(X, CODES, np.ones(ROWS))
    found = solve_path(design, program, [0.1, 1.0, 10.0, 100.0], 1e-9, 50)
    assert max(one.relative_gap.max() for one in found) <= 1e-9
    steps = sum(one.iterations for one in found)
    assert design.rows_read < 0.7 * steps * ROWS
