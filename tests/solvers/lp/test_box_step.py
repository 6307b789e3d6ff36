"""The clipped Newton step: feasible, and exact where no bound is met."""

import numpy as np
import pytest

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp.box_step import model_minimum
from lincent.sources.dense import DenseRows


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


@pytest.mark.parametrize("length", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(12))
def test_the_step_is_feasible_and_exact_where_no_bound_is_met(seed, length):
    program, beta, gradient, H = model(seed, length=length)
    point = model_minimum(program, beta, gradient, H)
    assert np.all(point >= program.lower)
    assert np.all(point <= program.upper)
    assert program.difference @ point >= program.separation * (1 - 1e-9)
    free = beta - np.linalg.solve(H, gradient)
    if np.all(np.abs(free) <= 1.0) and program.difference @ free >= program.separation:
        np.testing.assert_allclose(point, free, atol=1e-8)


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


def test_coordinates_that_press_against_the_box_are_held():
    """The rest is at the minimum of the model; on the separation where it would end below."""
    for seed in range(20):
        program, beta, gradient, H = model(seed, length=0.02)
        sides = np.where(np.arange(6) % 3 == 0, np.where(gradient > 0, -1.0, 1.0), beta / 2)
        beta = program.feasible(sides)
        held = (np.abs(beta) == 1.0) & (beta * gradient < 0)
        found = model_minimum(program, beta, gradient, H)
        if np.any((np.abs(found) == 1.0) & ~held):
            continue  # projected onto the box
        np.testing.assert_array_equal(found[held], beta[held])
        slope = (gradient + H @ (found - beta))[~held]
        d = program.difference[~held]
        pull = slope @ d / (d @ d)
        np.testing.assert_allclose(slope, pull * d, atol=1e-7 * np.abs(gradient).max())
        reach = program.difference @ found
        assert reach >= program.separation * (1 - 1e-9)
        assert abs(pull) < 1e-7 or reach == pytest.approx(program.separation, rel=1e-6)
        assert pull > -1e-7


def test_a_point_held_on_all_sides_stays():
    program, _, _, H = model(0)
    corner = program.farthest_point
    found = model_minimum(program, corner, -corner * 3.0, H)
    np.testing.assert_array_equal(found, corner)
    # Pushed inwards it moves.
    assert np.any(model_minimum(program, corner, corner * 3.0, H) != corner)


def test_a_step_that_is_not_finite_gives_none():
    program, beta, _, H = model(0, length=30.0)
    assert model_minimum(program, beta, np.full(6, np.inf), H) is None
