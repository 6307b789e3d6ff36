"""The model's minimum in the box: nothing feasible is lower, and clipping is not a substitute."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import lcc_program
from lincent.solvers.lp.box_step import model_minimum


def model(seed, n=6, length=1.0):
    """A program (only its box and its separation matter), a point, a gradient and a Hessian."""
    rng = np.random.default_rng(seed)
    difference = rng.standard_normal(n)
    rows = DenseRows(rng.standard_normal((3, n)))
    program = lcc_program(rows, difference, np.ones(3), 0.05)
    beta = program.feasible(rng.uniform(-0.9, 0.9, n))
    mix = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-1, 1, n)
    H = mix.T @ mix + 1e-3 * np.eye(n)
    return program, beta, length * (H @ rng.standard_normal(n)), H


def value(x, beta, gradient, H):
    return gradient @ (x - beta) + (x - beta) @ H @ (x - beta) / 2


def reference(program, beta, gradient, H):
    found = minimize(
        value, beta, (beta, gradient, H), jac=lambda x, *a: gradient + H @ (x - beta),
        bounds=list(zip(program.lower, program.upper, strict=True)), method="SLSQP",
        constraints=LinearConstraint(program.difference, program.separation),
        options={"ftol": 1e-14, "maxiter": 2000},
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("length", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_minimum_of_the_box(seed, length):
    program, beta, gradient, H = model(seed, length=length)
    found = model_minimum(program, beta, gradient, H)
    assert np.all(found >= program.lower)
    assert np.all(found <= program.upper)
    assert program.difference @ found >= program.separation * (1 - 1e-9)
    least = reference(program, beta, gradient, H)
    assert value(found, beta, gradient, H) <= least + 2e-3 * abs(least) + 1e-9


def test_clipping_would_lead_elsewhere():
    """The reason for this file: with correlated columns a clipped step can even ascend."""
    gains = []
    for seed in range(30):
        program, beta, gradient, H = model(seed, length=3.0)
        clipped = program.feasible(beta - np.linalg.solve(H, gradient))
        proper = model_minimum(program, beta, gradient, H)
        gains.append(value(clipped, beta, gradient, H) - value(proper, beta, gradient, H))
    assert min(gains) >= -1e-6
    assert max(gains) > 1.0


def test_a_matrix_that_says_nothing_gives_no_step():
    program, beta, gradient, H = model(0)
    assert model_minimum(program, beta, gradient, np.full_like(H, np.nan)) is None
    assert model_minimum(program, beta, gradient, 0 * H) is None


def test_a_step_that_stays_inside_is_newtons():
    program, beta, _, H = model(1)
    gradient = H @ np.full(6, 1e-4)
    beta = beta * 0.5 + 0.5 * program.farthest_point * 0.5
    found = model_minimum(program, beta, gradient, H)
    np.testing.assert_allclose(found, beta - 1e-4, atol=1e-9)
