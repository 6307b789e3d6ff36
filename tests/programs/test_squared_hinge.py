"""The squared hinge: its slope is that of its value, and any multipliers bound it from below."""

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.hinge import Quadratic
from lincent.programs.squared_hinge import SquaredHingeProgram


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
