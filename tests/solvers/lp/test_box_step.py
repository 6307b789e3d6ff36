"""The model's minimum in the box: nothing feasible is lower, and clipping is not a substitute."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import box_step
from lincent.solvers.lp.box_step import TUNING, _Model, _with_sides_held, model_minimum
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
    assert value(found, beta, gradient, H) <= least + 1e-4 * abs(least) + 1e-12


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


@pytest.mark.parametrize(("length", "most"), [(0.01, 1.0), (1.0, 7.4), (30.0, 9.7)])
def test_so_many_factorizations_are_enough(length, most, monkeypatch):
    made, real = [], box_step.PositiveDefinite
    monkeypatch.setattr(
        box_step, "PositiveDefinite", lambda *args, **how: made.append(1) or real(*args, **how)
    )
    for seed in range(12):
        model_minimum(*model(seed, length=length))
    assert len(made) / 12 <= most


def test_coordinates_that_press_against_the_box_are_held():
    """The rest is at the minimum of the model; on the separation where it would end below."""
    for seed in range(20):
        program, beta, gradient, H = model(seed, length=0.02)
        sides = np.where(np.arange(6) % 3 == 0, np.where(gradient > 0, -1.0, 1.0), beta / 2)
        beta = program.feasible(sides)
        held = (np.abs(beta) == 1.0) & (beta * gradient < 0)
        found = _with_sides_held(program, beta, gradient, H)
        if found is None:
            continue
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
    assert np.all(np.abs(model_minimum(program, corner, corner * 3.0, H) - corner) > 0)


def test_a_start_of_the_model_is_inside_with_equal_products():
    program, beta, gradient, H = model(2, length=3.0)
    start = _Model(program, beta, gradient, H)
    width = program.upper - program.lower
    inside = np.clip(
        beta, program.lower + TUNING.inside * width, program.upper - TUNING.inside * width
    )
    np.testing.assert_allclose(start.x, inside, atol=1e-12)
    typical = np.abs(program.difference) @ width / 6
    apart = max(program.difference @ inside - program.separation, TUNING.inside * typical)
    slacks = np.concatenate([inside - program.lower, program.upper - inside, [apart]])
    np.testing.assert_allclose(start.P, slacks, atol=1e-12)
    pull = np.abs(gradient + H @ (inside - beta)) @ width / 6
    np.testing.assert_allclose(start.P * start.Z, TUNING.inside * pull, atol=1e-12)


def test_directions_of_the_model_are_newtons():
    program, beta, gradient, H = model(4, length=3.0)
    point = _Model(program, beta, gradient, H)
    point.P *= 1.2  # the separation is not met then
    d, Z, P = program.difference, point.Z, point.P
    matrix = H + Z[-1] / P[-1] * np.outer(d, d) + np.diag(Z[:6] / P[:6] + Z[6:12] / P[6:12])
    point.solve = lambda b: np.linalg.solve(matrix, b)
    rest = Z[:6] - Z[6:12] + Z[-1] * d - gradient - H @ (point.x - beta)
    short = d @ point.x - program.separation - P[-1]
    R = np.random.default_rng(0).normal(size=13)
    dx, dP, dZ = point._direction(R, rest, short)
    np.testing.assert_allclose(Z * dP + P * dZ, R, atol=1e-9)
    np.testing.assert_allclose(dP[:12], np.concatenate([dx, -dx]), atol=1e-12)
    assert dP[-1] == pytest.approx(d @ dx + short)
    new = Z + dZ
    slope = gradient + H @ (point.x + dx - beta)
    np.testing.assert_allclose(new[:6] - new[6:12] + new[-1] * d, slope, atol=1e-8)
    length = point._length(dP, dZ)
    reach = [-a[b < 0] / b[b < 0] for a, b in ((P, dP), (Z, dZ))]
    assert length == pytest.approx(min(1.0, np.concatenate(reach).min()))


def test_a_step_that_is_not_finite_gives_none():
    program, beta, _, H = model(0, length=30.0)
    assert model_minimum(program, beta, np.full(6, np.inf), H) is None
