"""Sizes of rows: a factor of the scale of the data changes nothing, an outlier shows."""

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import lcc_program
from lincent.solvers.lp import interior_point
from lincent.solvers.lp.ruler import TUNING, ruler_of
from lincent.solvers.solution import Controls


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


def ruler_at_optimum(X, y, seed=0):
    program = program_of(X, y)
    beta = interior_point.solve(program, Controls(tol=1e-3)).certificate.beta
    return program, ruler_of(program, beta, 0.3, np.random.default_rng(seed))


def test_rows_of_about_one_size_need_no_ruler():
    _, ruler = ruler_at_optimum(*data(5))
    assert ruler.columns is None
    assert np.all(ruler.spread > 0)


@pytest.mark.parametrize("columns", [5, 40])
def test_a_row_far_out_is_as_large_as_it_is_far(columns):
    X, y = data(columns)
    X[:20] *= 50.0
    program, ruler = ruler_at_optimum(X, y)
    assert ruler.columns.shape[1] == min(columns, TUNING.columns)
    sizes = program.rows.sizes(ruler.columns)
    assert np.median(sizes) == pytest.approx(1.0, rel=0.3)
    assert np.median(sizes[:20]) > 20.0


def test_units_of_columns_do_not_matter():
    X, y = data(6)
    X[:20] *= 50.0
    units = 10.0 ** np.linspace(-3, 3, 6)
    program, ruler = ruler_at_optimum(X, y)
    # The same optimum in other units, for the same sizes.
    beta = interior_point.solve(program, Controls(tol=1e-3)).certificate.beta
    other = program_of(X * units, y)
    scaled = ruler_of(other, beta / units, 0.3, np.random.default_rng(0))
    np.testing.assert_allclose(
        other.rows.sizes(scaled.columns), program.rows.sizes(ruler.columns), rtol=1e-6
    )
    np.testing.assert_allclose(scaled.spread * units, ruler.spread, rtol=1e-6)


def test_columns_that_say_nothing_do_no_harm():
    X, y = data(4)
    X = np.hstack([X, X[:, :1], np.ones((len(X), 1))])
    X[:20, 1] = 80.0
    _, ruler = ruler_at_optimum(X, y)
    assert np.all(np.isfinite(ruler.spread))
