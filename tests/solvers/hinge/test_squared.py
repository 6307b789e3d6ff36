"""The squared hinges: known optima, certificates, and how a solve ends."""

import numpy as np
import pytest

from lincent.problems.hinge import Quadratic
from lincent.problems.squared_hinge import SquaredHingeProgram
from lincent.solvers.hinge import squared
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows


def regression(*, ridge=0.4, intercept=True):
    rng = np.random.default_rng(0)
    m = 80
    sign = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    Z = sign[:, None] * np.c_[rng.normal(size=(m, 3)) + 0.5 * sign[:, None], np.ones(m)]
    P = np.diag([ridge, ridge, ridge, 0.0 if intercept else ridge])
    quadratic = Quadratic(P, sign if intercept else None)
    return SquaredHingeProgram(quadratic, DenseRows(Z), np.ones(m), np.ones(m)), Z


def test_where_no_row_reaches_its_target_it_is_a_ridge_regression():
    program, Z = regression(ridge=1e4, intercept=False)
    answer = squared.solve(program, Controls())
    assert answer.status is Status.OPTIMAL
    ridge = np.linalg.solve(2 * Z.T @ Z + program.quadratic.P, 2 * Z.T @ program.targets)
    missed = program.targets - Z @ ridge
    assert np.all(missed > 0)
    np.testing.assert_allclose(answer.certificate.beta, ridge, rtol=1e-9)
    assert answer.iterations == 1


@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_certifies_the_optimum(intercept):
    program, _ = regression(intercept=intercept)
    answer = squared.solve(program, Controls(tol=1e-12))
    assert answer.status is Status.OPTIMAL
    assert answer.relative_gap <= 1e-12
    missed = program.missed(answer.certificate.beta)
    assert 0 < np.count_nonzero(missed > 0) < len(missed)


def test_a_solve_that_is_cut_short_says_so_and_keeps_its_gap():
    program, _ = regression()
    answer = squared.solve(program, Controls(max_iter=1))
    assert answer.status is Status.ITERATION_LIMIT
    assert answer.relative_gap > 1e-9
