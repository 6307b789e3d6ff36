"""The soft-margin programs: multipliers, known optima, and how a solve ends."""

import numpy as np
import pytest

from lincent.problems.hinge import HingeProgram, Quadratic
from lincent.solvers.hinge import interior_point
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows


def machine(m=60, n=3, cost=0.7, seed=0):
    """A soft-margin machine with a free intercept, and its labels."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    Z = y[:, None] * np.c_[rng.normal(size=(m, n)) + y[:, None], np.ones(m)]
    P = np.diag(np.append(np.ones(n), 0.0))
    return HingeProgram(Quadratic(P, y), DenseRows(Z), np.full(m, cost)), Z, y


def test_the_multipliers_are_those_of_the_margins():
    program, Z, y = machine()
    answer = interior_point.solve(program, Controls(tol=1e-11))
    assert answer.status is Status.OPTIMAL
    u, a = answer.certificate.beta, answer.certificate.alpha
    assert np.all((a >= 0) & (a <= 0.7))
    assert a @ y == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(Z.T @ a, [*u[:-1], 0.0], atol=1e-6)
    margin = Z @ u
    assert np.all(a[margin > 1 + 1e-4] < 1e-4)
    assert np.all(a[margin < 1 - 1e-4] > 0.7 - 1e-4)


@pytest.mark.parametrize(("cost", "optimum"), [(0.1, 0.2), (0.3, 0.6), (2.0, 1.0)])
def test_two_rows_have_a_known_optimum(cost, optimum):
    # u^2 / 2 + 2 cost (1 - u)_+ is least at u = min(1, 2 cost).
    program = HingeProgram(Quadratic(np.eye(1)), DenseRows(np.ones((2, 1))), np.full(2, cost))
    answer = interior_point.solve(program, Controls(tol=1e-10))
    assert answer.certified(1e-10)
    assert answer.certificate.beta[0] == pytest.approx(optimum, abs=1e-5)
    value = optimum**2 / 2 + 2 * cost * (1 - optimum)
    assert answer.certificate.objective == pytest.approx(value, rel=1e-9)


def test_a_solve_that_is_cut_short_says_so_and_keeps_its_gap():
    program, *_ = machine()
    answer = interior_point.solve(program, Controls(max_iter=2))
    assert answer.status is Status.ITERATION_LIMIT
    assert answer.iterations == 2
    assert answer.relative_gap > 1e-9


def test_a_tolerance_below_rounding_ends_before_the_limit():
    program, *_ = machine()
    answer = interior_point.solve(program, Controls(tol=1e-300))
    assert answer.status is not Status.ITERATION_LIMIT
    assert answer.relative_gap < 1e-12
