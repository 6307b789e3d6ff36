"""Any multipliers bound the soft-margin program from below."""

import numpy as np
import pytest

from lincent.problems.hinge import HingeProgram, Quadratic
from lincent.sources.dense import DenseRows


def program(rng, *, intercept, costs=None):
    m, k = 30, 4
    sign = np.where(np.arange(m) % 3 == 0, 1.0, -1.0)
    rows = sign[:, None] * np.c_[rng.normal(size=(m, k - 1)), np.ones(m)]
    root = rng.normal(size=(k, k))
    P = root @ root.T + 0.1 * np.eye(k)
    if intercept:
        P[-1] = P[:, -1] = 0.0
    quadratic = Quadratic(P, sign if intercept else None)
    return HingeProgram(quadratic, DenseRows(rows), np.full(m, 0.5) if costs is None else costs)


def inverse(quadratic):
    return lambda q: np.linalg.solve(quadratic.penalized, q)


@pytest.mark.parametrize("intercept", [True, False])
def test_every_certificate_bounds_every_value(intercept):
    rng = np.random.default_rng(0)
    problem = program(rng, intercept=intercept)
    solve = inverse(problem.quadratic)
    found = [problem.certificate(rng.normal(size=4), rng.normal(size=30), solve) for _ in range(50)]
    assert max(one.dual_objective for one in found) <= min(one.objective for one in found)
    for one in found:
        assert one.t == 0.0
        assert np.all((one.alpha >= 0) & (one.alpha <= problem.costs))
        if intercept:
            assert one.alpha @ problem.quadratic.intercept == pytest.approx(0, abs=1e-12)


def test_multipliers_of_one_class_alone_bound_nothing():
    problem = program(np.random.default_rng(1), intercept=True)
    one_sided = np.where(problem.quadratic.intercept > 0, 0.5, 0.0)
    found = problem.certificate(np.zeros(4), one_sided, inverse(problem.quadratic))
    assert found.dual_objective == 0.0


def test_the_gap_is_relative_however_small_the_costs():
    rng = np.random.default_rng(2)
    problem = program(rng, intercept=False, costs=np.full(30, 1e-9))
    found = problem.certificate(np.zeros(4), np.zeros(30), inverse(problem.quadratic))
    assert found.objective == pytest.approx(3e-8)
    assert found.relative_gap == pytest.approx(1.0)


def test_balance_does_not_depend_on_the_unit_of_the_multipliers():
    problem = program(np.random.default_rng(3), intercept=True)
    a = np.random.default_rng(4).random(30)
    whole = problem.quadratic.balanced(a)
    assert whole @ problem.quadratic.intercept == pytest.approx(0, abs=1e-12)
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_array_equal(problem.quadratic.balanced(unit * a), unit * whole)
