"""Sizes of rows: a factor of the scale of the data changes nothing, an outlier shows."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import interior_point
from lincent.solvers.lp.screening import TUNING, _differ, metric_at
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows


def program_of(X, y):
    sign = np.where(y > 0, 1.0, -1.0)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, np.full(len(y), 2.0), 0.01)


def data(columns, seed=0, rows=2000):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.standard_normal((rows, columns))
    X[:, 0] += y
    return X, y


def metric_at_optimum(X, y, seed=0):
    program = program_of(X, y)
    beta = interior_point.solve(program, Controls(tol=1e-3)).certificate.beta
    return program, metric_at(program, beta, 0.3, np.random.default_rng(seed))


def test_rows_of_about_one_size_need_no_metric():
    _, metric = metric_at_optimum(*data(5))
    assert metric.columns is None
    assert np.all(metric.spread > 0)


@pytest.mark.parametrize("columns", [5, 40])
def test_a_row_far_out_is_as_large_as_it_is_far(columns):
    X, y = data(columns)
    X[:20] *= 50.0
    program, metric = metric_at_optimum(X, y)
    assert metric.columns.shape[1] == min(columns, TUNING.metric_columns)
    sizes = program.rows.sizes(metric.columns)
    assert np.median(sizes) == pytest.approx(1.0, rel=0.3)
    assert np.median(sizes[:20]) > 20.0


def test_units_of_columns_do_not_matter():
    X, y = data(6)
    X[:20] *= 50.0
    units = 10.0 ** np.linspace(-3, 3, 6)
    program, metric = metric_at_optimum(X, y)
    # The same optimum in other units, for the same sizes.
    beta = interior_point.solve(program, Controls(tol=1e-3)).certificate.beta
    other = program_of(X * units, y)
    scaled = metric_at(other, beta / units, 0.3, np.random.default_rng(0))
    np.testing.assert_allclose(
        other.rows.sizes(scaled.columns), program.rows.sizes(metric.columns), rtol=1e-6
    )
    np.testing.assert_allclose(scaled.spread * units, metric.spread, rtol=1e-6)


def test_columns_that_say_nothing_do_no_harm():
    X, y = data(4)
    X = np.hstack([X, X[:, :1], np.ones((len(X), 1))])
    X[:20, 1] = 80.0
    _, metric = metric_at_optimum(X, y)
    assert np.all(np.isfinite(metric.spread))


def covariance(program, beta, share):
    """S of the head of the file, from its formula, with what keeps it regular."""
    A, costs = program.rows.dense(), program.costs
    moment = A.T @ ((costs / costs.sum())[:, None] * A)
    leverage = np.sqrt(np.einsum("ij,ij->i", A @ np.linalg.inv(moment), A))
    distance = A @ beta - program.margin
    away = np.abs(distance) / leverage
    width = np.quantile(away, share)
    band = away <= width
    weight = costs[band] / (2 * width * leverage[band])
    H = A[band].T @ (weight[:, None] * A[band]) + TUNING.blend * weight.sum() * moment
    below = np.where(distance < 0, costs**2, 0.0)
    V = A.T @ (below[:, None] * A) + TUNING.blend * (costs @ costs) * moment
    return leverage, np.linalg.solve(H, np.linalg.solve(H, V).T)


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_sizes_and_spread_are_those_of_the_covariance(share):
    """As many columns as the metric has are measured exactly."""
    X, y = data(6, rows=600)
    X[:10] *= 30.0
    program = program_of(X, y)
    beta = interior_point.solve(program, Controls(tol=1e-6)).certificate.beta
    metric = metric_at(program, beta, share, np.random.default_rng(0))
    _, S = covariance(program, beta, share)
    A = program.rows.dense()
    size = np.sqrt(np.einsum("ij,ij->i", A @ S, A))
    np.testing.assert_allclose(
        program.rows.sizes(metric.columns), size / np.median(size), rtol=1e-5, atol=1e-12
    )
    np.testing.assert_allclose(
        metric.spread, np.sqrt(S.diagonal()) / np.median(size), rtol=1e-5, atol=1e-12
    )
    np.testing.assert_array_equal(metric.scale, program.rows.column_scale())


def test_where_rows_are_alike_the_spread_is_that_of_their_leverage():
    program, metric = metric_at_optimum(*data(5, rows=600))
    A, costs = program.rows.dense(), program.costs
    moment = A.T @ ((costs / costs.sum())[:, None] * A)
    inverse = np.linalg.inv(moment)
    leverage = np.sqrt(np.einsum("ij,ij->i", A @ inverse, A))
    wanted = np.sqrt(inverse.diagonal()) / np.median(leverage)
    np.testing.assert_allclose(metric.spread, wanted, rtol=1e-6, atol=1e-12)


def test_a_thousandth_of_the_rows_may_be_large_before_they_differ():
    size = np.ones(4000)
    size[:4] = 100.0  # one in a thousand
    assert not _differ(size)
    size[:5] = 100.0
    assert _differ(size)
    size[:5] = TUNING.heavy * 1.001
    assert _differ(size)
    size[:5] = TUNING.heavy * 0.999
    assert not _differ(size)
    assert _differ(np.array([1.0, 1.0, 3.0]))


def test_a_random_metric_measures_to_about_a_quarter():
    X, y = data(40)
    X[:20] *= 50.0
    program = program_of(X, y)
    beta = interior_point.solve(program, Controls(tol=1e-3)).certificate.beta
    _, S = covariance(program, beta, 0.3)
    A = program.rows.dense()
    exact = np.sqrt(np.einsum("ij,ij->i", A @ S, A))
    errors = []
    for seed in range(20):
        metric = metric_at(program, beta, 0.3, np.random.default_rng(seed))
        errors.append(program.rows.sizes(metric.columns) / (exact / np.median(exact)))
    errors = np.array(errors)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(1.0, abs=0.1)
    assert np.std(errors) == pytest.approx(0.25, abs=0.06)


def test_a_matrix_that_says_nothing_leaves_the_scale_of_the_columns():
    program = program_of(*data(4))
    nothing = replace(program, costs=np.full(2000, np.nan))
    metric = metric_at(nothing, np.zeros(4), 0.3, np.random.default_rng(0))
    assert metric.columns is None
    np.testing.assert_array_equal(metric.spread, 1.0 / program.rows.column_scale())
