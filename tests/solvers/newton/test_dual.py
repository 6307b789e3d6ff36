"""Steps by the products of the rows between the margins."""

import numpy as np
import pytest

from lincent.solvers.newton.descent import descend
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Reader
from lincent.solvers.solution import Controls
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", ["plain", "midpoint", "uneven costs", "wide", "square"])
@pytest.mark.parametrize("known", [False, True])
def test_the_step_is_that_of_the_columns(name, known):
    program = make(*PROBLEMS[name])
    A, rng = program.rows.dense(), np.random.default_rng(0)
    curvature = Dual(program, A @ A.T if known else None)
    for _ in range(3):
        beta = 0.2 * rng.normal(size=program.shape[1])
        point = Reader(program).at(beta, 0.1 if program.free else 0.0)
        assert point.inside.any()
        step, shift = curvature.step(point)
        wanted, t = Whole(program).step(point)
        np.testing.assert_allclose(step, wanted, rtol=1e-8, atol=1e-10)
        assert shift == pytest.approx(t, rel=1e-8, abs=1e-10)


def test_without_a_row_between_the_margins_it_goes_down_the_gradient():
    program = make(*PROBLEMS["plain"])
    point = Reader(program).at(np.zeros(5), 0.0)
    step, shift = Dual(program).step_at(point, np.zeros(120, dtype=bool))
    np.testing.assert_array_equal(step, -point.gradient)
    assert shift == 0.0


def test_a_solve_by_rows_ends_where_one_by_columns_does():
    program = make(*PROBLEMS["wide"])
    found = descend(program, Dual(program), Controls()).certificate
    wanted = descend(program, Whole(program), Controls()).certificate
    assert found.relative_gap <= 1e-9
    np.testing.assert_allclose(found.beta, wanted.beta, atol=1e-6)


def test_products_that_are_not_definite_are_coarse():
    program = make(*PROBLEMS["plain"])
    point = Reader(program).at(np.zeros(5), 0.0)
    curvature = Dual(program, -1e3 * np.eye(120))
    step, _ = curvature.step(point)
    assert curvature.coarse
    assert point.descent(step, 0.0) < 0.0
