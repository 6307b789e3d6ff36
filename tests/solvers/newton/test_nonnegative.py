"""Rules some of whose coefficients must not be negative, against SciPy's bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lincent.problems.joint import SeparateLoss
from lincent.solvers.newton.design import Design
from lincent.solvers.newton.nonnegative import solve_nonnegative


def problem(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6)) + np.outer(2 * y - 1, rng.normal(size=6))
    program = SeparateLoss(y, np.ones(60), np.array([[-1.0, 1.0]]), np.ones((1, 2)), 0.0, 2.0)
    held = np.array([True, True, True, False, False, False])
    return Design(X, y, np.ones(60)), program, held


def objective(point, design, program, scale):
    at = program.read(design.dot(point[:, None]))
    gradient = design.tdot(scale * at.slope)[:, 0]
    gradient[:-1] += point[:-1]
    return point[:-1] @ point[:-1] / 2 + scale * at.loss[0], gradient


@pytest.mark.parametrize("scale", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_another_solver(seed, scale):
    design, program, held = problem(seed)
    found = solve_nonnegative(design, program, scale, held, 1e-10, 200)
    assert found.relative_gap[0] <= 1e-10
    assert np.all(found.rules[:-1][held] >= 0)
    bounds = [(0, None) if h else (None, None) for h in (*held, False)]
    other = minimize(
        objective, np.zeros(7), (design, program, scale), "L-BFGS-B", jac=True, bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    assert found.objective[0] == pytest.approx(other.fun, rel=1e-8)


def test_some_coefficient_is_held_at_zero_by_its_sign():
    design, program, held = problem(0)
    free = solve_nonnegative(design, program, 1.0, np.zeros(6, dtype=bool), 1e-9, 200)
    assert free.rules[:-1][held].min() < 0
    bound = solve_nonnegative(design, program, 1.0, held, 1e-9, 200)
    assert bound.rules[:-1][held].min() == 0.0
    assert bound.objective[0] > free.objective[0]


def test_steps_are_limited_and_the_gap_says_so():
    design, program, held = problem(1)
    found = solve_nonnegative(design, program, 1.0, held, 1e-12, 1)
    assert found.iterations == 1
    assert found.relative_gap[0] > 1e-12
