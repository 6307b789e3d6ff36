"""Sizes of rows: a factor of the scale of the data changes nothing, an outlier shows."""

import numpy as np
import pytest

from lincent.solvers.lp.screening import HEAVY, METRIC_COLUMNS, _differ, metric_at
from lincent.sources.dense import DenseRows


def data(columns, seed=0, rows=2000):
    return np.random.default_rng(seed).standard_normal((rows, columns))


def metric_of(X, seed=0):
    rows = DenseRows(X)
    return rows, metric_at(rows, np.random.default_rng(seed))


def test_rows_of_about_one_size_need_no_metric():
    rows, metric = metric_of(data(5))
    assert metric.columns is None
    size = np.linalg.norm(rows.array / rows.column_scale(), axis=1)
    np.testing.assert_allclose(metric.spread, 1.0 / rows.column_scale() / np.median(size))


@pytest.mark.parametrize("columns", [5, 40])
def test_a_row_far_out_is_as_large_as_it_is_far(columns):
    X = data(columns)
    X[:20] *= 50.0
    rows, metric = metric_of(X)
    assert metric.columns.shape[1] == min(columns, METRIC_COLUMNS)
    sizes = rows.sizes(metric.columns)
    assert np.median(sizes) == pytest.approx(1.0)
    assert np.median(sizes[:20]) > 20.0


def test_units_of_columns_do_not_matter():
    X = data(6)
    X[:20] *= 50.0
    units = 10.0 ** np.linspace(-3, 3, 6)
    rows, metric = metric_of(X)
    other, scaled = metric_of(X * units)
    np.testing.assert_allclose(other.sizes(scaled.columns), rows.sizes(metric.columns), rtol=1e-9)
    np.testing.assert_allclose(scaled.spread * units, metric.spread, rtol=1e-9)


def test_columns_that_say_nothing_do_no_harm():
    X = data(4)
    X = np.hstack([X, X[:, :1], np.zeros((len(X), 1))])
    X[:20, 1] = 80.0
    _, metric = metric_of(X)
    assert np.all(np.isfinite(metric.spread))


def test_a_thousandth_of_the_rows_may_be_large_before_they_differ():
    size = np.ones(4000)
    size[:4] = 100.0  # one in a thousand
    assert not _differ(size)
    size[:5] = 100.0
    assert _differ(size)
    size[:5] = HEAVY * 1.001
    assert _differ(size)
    size[:5] = HEAVY * 0.999
    assert not _differ(size)
    assert _differ(np.array([1.0, 1.0, 3.0]))


def test_a_random_metric_measures_to_about_a_quarter():
    X = data(40)
    X[:20] *= 50.0
    exact = np.linalg.norm(X / DenseRows(X).column_scale(), axis=1)
    errors = []
    for seed in range(20):
        rows, metric = metric_of(X, seed)
        errors.append(rows.sizes(metric.columns) / (exact / np.median(exact)))
    errors = np.array(errors)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(1.0, abs=0.1)
    assert np.std(errors) == pytest.approx(0.25, abs=0.06)


def test_rows_of_no_size_leave_the_scale_of_the_columns():
    rows, metric = metric_of(np.zeros((20, 4)))
    assert metric.columns is None
    np.testing.assert_array_equal(metric.spread, 1.0 / rows.column_scale())
