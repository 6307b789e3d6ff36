"""Steps by the products of active samples."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import descend
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Evaluator
from lincent.solvers.solution import Controls
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", ["plain", "midpoint", "uneven costs", "wide", "square"])
@pytest.mark.parametrize("given", [False, True])
def test_the_step_is_that_of_the_features(name, given):
    program = make(*PROBLEMS[name])
    A, rng = program.rows.dense(), np.random.default_rng(0)
    curvature = Dual(program, A @ A.T if given else None)
    for _ in range(3):
        beta = 0.2 * rng.normal(size=program.shape[1])
        point = Evaluator(program).at(beta, 0.1 if program.free else 0.0)
        assert point.active.any()
        step, shift = curvature.step(point)
        wanted, t = Exact(program).step(point)
        np.testing.assert_allclose(step, wanted, rtol=1e-8, atol=1e-10)
        assert shift == pytest.approx(t, rel=1e-8, abs=1e-10)


def test_without_an_active_sample_it_goes_down_the_gradient():
    program = make(*PROBLEMS["plain"])
    point = Evaluator(program).at(np.zeros(5), 0.0)
    point = replace(point, u=np.zeros(120))
    step, shift = Dual(program).step(point)
    np.testing.assert_array_equal(step, -point.gradient)
    assert shift == 0.0


def test_a_solve_by_samples_ends_where_one_by_features_does():
    program = make(*PROBLEMS["wide"])
    found = descend(program, Dual(program), Controls()).certificate
    wanted = descend(program, Exact(program), Controls()).certificate
    assert found.relative_gap <= 1e-9
    np.testing.assert_allclose(found.beta, wanted.beta, atol=1e-6)


def test_products_that_are_not_definite_are_coarse():
    program = make(*PROBLEMS["plain"])
    point = Evaluator(program).at(np.zeros(5), 0.0)
    curvature = Dual(program, -1e3 * np.eye(120))
    step, _ = curvature.step(point)
    assert curvature.coarse
    assert point.descent(step, 0.0) < 0.0
