"""Hinge and squared hinge losses: known optima, certificates, and how a solve ends."""

import numpy as np
import pytest

from lincent.problems.hinge import HingeProgram, Quadratic, SquaredHingeProgram
from lincent.solvers.hinge import solve_hinge, solve_squared_hinge
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows


def machine(m=60, n=3, cost=0.7, seed=0):
    """A soft-margin machine with a free intercept, and its labels."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    Z = y[:, None] * np.c_[rng.normal(size=(m, n)) + y[:, None], np.ones(m)]
    P = np.diag(np.append(np.ones(n), 0.0))
    return HingeProgram(Quadratic(P, y), DenseRows(Z), np.full(m, cost)), Z, y


def test_dual_weights_complement_the_margins():
    program, Z, y = machine()
    answer = solve_hinge(program, Controls(tol=1e-11))
    assert answer.status is Status.OPTIMAL
    u, a = answer.certificate.beta, answer.certificate.alpha
    assert np.all((a >= 0) & (a <= 0.7))
    assert a @ y == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(Z.T @ a, [*u[:-1], 0.0], atol=1e-6)
    margin = Z @ u
    assert np.all(a[margin > 1 + 1e-4] < 1e-4)
    assert np.all(a[margin < 1 - 1e-4] > 0.7 - 1e-4)


@pytest.mark.parametrize(("cost", "optimum"), [(0.1, 0.2), (0.3, 0.6), (2.0, 1.0)])
def test_two_samples_have_a_known_optimum(cost, optimum):
    # u^2 / 2 + 2 cost (1 - u)_+ is least at u = min(1, 2 cost).
    program = HingeProgram(Quadratic(np.eye(1)), DenseRows(np.ones((2, 1))), np.full(2, cost))
    answer = solve_hinge(program, Controls(tol=1e-10))
    assert answer.certified(1e-10)
    assert answer.certificate.beta[0] == pytest.approx(optimum, abs=1e-5)
    value = optimum**2 / 2 + 2 * cost * (1 - optimum)
    assert answer.certificate.objective == pytest.approx(value, rel=1e-9)


def test_hinges_cut_short_report_the_limit_and_keep_their_gap():
    program, *_ = machine()
    answer = solve_hinge(program, Controls(max_iter=2))
    assert answer.status is Status.ITERATION_LIMIT
    assert answer.iterations == 2
    assert answer.relative_gap > 1e-9


def test_a_tolerance_below_rounding_ends_before_the_limit():
    program, *_ = machine()
    answer = solve_hinge(program, Controls(tol=1e-300))
    assert answer.status is not Status.ITERATION_LIMIT
    assert answer.relative_gap < 1e-12


def regression(*, ridge=0.4, intercept=True):
    rng = np.random.default_rng(0)
    m = 80
    sign = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    Z = sign[:, None] * np.c_[rng.normal(size=(m, 3)) + 0.5 * sign[:, None], np.ones(m)]
    P = np.diag([ridge, ridge, ridge, 0.0 if intercept else ridge])
    quadratic = Quadratic(P, sign if intercept else None)
    return SquaredHingeProgram(quadratic, DenseRows(Z), np.ones(m), np.ones(m)), Z


def test_ridge_regression_where_no_sample_reaches_its_target():
    program, Z = regression(ridge=1e4, intercept=False)
    answer = solve_squared_hinge(program, Controls())
    assert answer.status is Status.OPTIMAL
    ridge = np.linalg.solve(2 * Z.T @ Z + program.quadratic.P, 2 * Z.T @ program.targets)
    missed = program.targets - Z @ ridge
    assert np.all(missed > 0)
    np.testing.assert_allclose(answer.certificate.beta, ridge, rtol=1e-9)
    assert answer.iterations == 1


@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_certifies_the_optimum(intercept):
    program, _ = regression(intercept=intercept)
    answer = solve_squared_hinge(program, Controls(tol=1e-12))
    assert answer.status is Status.OPTIMAL
    assert answer.relative_gap <= 1e-12
    missed = program.missed(answer.certificate.beta)
    assert 0 < np.count_nonzero(missed > 0) < len(missed)


def test_squared_hinges_cut_short_report_the_limit_and_keep_their_gap():
    program, _ = regression()
    answer = solve_squared_hinge(program, Controls(max_iter=1))
    assert answer.status is Status.ITERATION_LIMIT
    assert answer.relative_gap > 1e-9
