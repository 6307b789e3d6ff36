"""The squared hinge: its slope is that of its value, and any multipliers bound it from below."""

import numpy as np
import pytest

from lincent.problems.hinge import Quadratic, SquaredHingeProgram
from lincent.sources.dense import DenseRows


def program(rng, *, intercept):
    m, k = 30, 4
    sign = np.where(np.arange(m) % 3 == 0, 1.0, -1.0)
    rows = sign[:, None] * np.c_[rng.normal(size=(m, k - 1)), np.ones(m)]
    P = np.diag([0.3, 1.0, 2.0, 0.0 if intercept else 0.5])
    quadratic = Quadratic(P, sign if intercept else None)
    return SquaredHingeProgram(quadratic, DenseRows(rows), (sign + 1) / 2, rng.uniform(1, 3, m))


def test_the_gradient_is_the_slope_of_the_objective():
    rng = np.random.default_rng(0)
    problem, u = program(rng, intercept=True), rng.normal(size=4)
    gradient, size = problem.gradient(u, problem.missed(u))
    for k, step in enumerate(1e-6 * np.eye(4)):
        ahead, behind = (problem.objective(v, problem.missed(v)) for v in (u + step, u - step))
        assert (ahead - behind) / 2e-6 == pytest.approx(gradient[k], abs=1e-6 * size)


@pytest.mark.parametrize("intercept", [True, False])
def test_every_certificate_bounds_every_value(intercept):
    rng = np.random.default_rng(1)
    problem = program(rng, intercept=intercept)
    found = []
    for u in rng.normal(size=(50, 4)):
        inverse = np.linalg.inv(problem.quadratic.penalized).dot
        found.append(problem.certificate(u, problem.missed(u), inverse))
    assert max(one.dual_objective for one in found) <= min(one.objective for one in found)


def test_the_bound_is_the_stated_one():
    rng = np.random.default_rng(2)
    problem, u = program(rng, intercept=False), rng.normal(size=4)
    missed = problem.missed(u)
    P, Z = problem.quadratic.P, problem.rows.dense()
    a = [2 * w * max(0.0, e) for w, e in zip(problem.weight, missed, strict=True)]
    q = Z.T @ a
    stated = sum(
        v * t - v * v / (4 * w) for v, t, w in zip(a, problem.targets, problem.weight, strict=True)
    )
    found = problem.certificate(u, missed, np.linalg.inv(P).dot)
    assert found.dual_objective == pytest.approx(stated - q @ np.linalg.solve(P, q) / 2, rel=1e-12)
    loss = problem.weight @ np.maximum(missed, 0.0) ** 2
    assert found.objective == pytest.approx(u @ P @ u / 2 + loss)
    np.testing.assert_allclose(found.alpha, a)
    assert found.t == 0.0


def test_the_size_of_a_gradient_is_that_of_its_larger_part():
    problem, u = program(np.random.default_rng(3), intercept=False), np.full(4, 3.0)
    for point in (u, 0.01 * u):
        missed = problem.missed(point)
        loss_gradient = problem.rows.tdot(2 * problem.weight * np.maximum(missed, 0.0))
        penalty_gradient = problem.quadratic.P @ point
        gradient, size = problem.gradient(point, missed)
        assert size == max(np.abs(loss_gradient).max(), np.abs(penalty_gradient).max())
        np.testing.assert_allclose(gradient, penalty_gradient - loss_gradient)
