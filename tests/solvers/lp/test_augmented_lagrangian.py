"""Which rows sit on the kink, without a matrix: steps that are Newton's, and counts that fall."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import better_sides
from lincent.solvers.lp import highs
from lincent.solvers.lp.augmented_lagrangian import TUNING, Identified, _Held, _Smoothed, identify
from lincent.solvers.solution import Controls
from support.judge import dual_value, primal_value
from support.programs import overlapping


def test_the_hinges_in_doubt_shrink_towards_the_columns():
    program = overlapping(3000, 80, 2)
    near = identify(program, Controls(), 1.1 * 80)
    assert near.between <= 1.1 * 80 + 1
    assert near.best.relative_gap < 1e-2
    on = np.argsort(near.doubt(program.costs))[:80]
    assert np.median(np.abs(near.missed[on])) < 0.05 * np.median(np.abs(near.missed))


def test_the_gap_only_falls_from_round_to_round():
    lines = []
    identify(overlapping(2000, 60, 4), Controls(tell=lines.append), 0.0)
    gaps = [float(line.split("gap")[1].split()[0]) for line in lines]
    assert len(gaps) > 3
    assert gaps == sorted(gaps, reverse=True)


@pytest.fixture(params=[False, True], ids=["sparse", "dense"])
def held(request):
    """Multipliers that are held at a point where sides, gap and rows all act."""
    program = overlapping(300, 12, 1, dense=request.param, weights=True)
    program = replace(program, lower=program.lower - 0.1, upper=program.upper + 0.3)
    rng = np.random.default_rng(0)
    smooth = _Smoothed(program, replace(TUNING, proximal=1e-3))
    beta = rng.uniform(-2.0, 2.0, 12)
    beta -= program.difference * (program.difference @ beta) / (program.difference**2).sum()
    missed = program.margin - program.rows.dot(beta)
    alpha = program.costs * rng.random(300)
    low, high = 0.1 * rng.random((2, 12))
    point = Identified(beta, missed, alpha, low, high, 0.3, 0.7)
    return program, smooth, point, _Held(smooth, point)


def at(held, program, beta):
    return held.at(beta, program.margin - program.rows.dot(beta))


def test_multipliers_and_gradient_are_those_of_the_quadratics(held):
    program, smooth, point, function = held
    A, d, rho = program.rows.dense(), program.difference, point.rho
    beta = point.beta + 0.01
    now = at(function, program, beta)
    alpha = np.clip(
        point.alpha + rho * program.costs * (program.margin - A @ beta), 0.0, program.costs
    )
    low = np.maximum(point.low + rho * smooth.side * (program.lower - beta), 0.0)
    high = np.maximum(point.high + rho * smooth.side * (beta - program.upper), 0.0)
    t = max(point.t + rho * smooth.gap_weight * (program.separation - d @ beta), 0.0)
    np.testing.assert_allclose(now.alpha, alpha, atol=1e-12)
    np.testing.assert_allclose(now.low, low, atol=1e-12)
    np.testing.assert_allclose(now.high, high, atol=1e-12)
    assert now.t == pytest.approx(t)
    assert min(np.count_nonzero(low), np.count_nonzero(high), t) > 0
    proximal = 1e-3 * rho * smooth.curve * (beta - point.beta)
    gradient = program.linear - A.T @ alpha - t * d - low + high + proximal
    np.testing.assert_allclose(now.gradient, gradient, atol=1e-12)
    between = (alpha > 0) & (alpha < program.costs)
    np.testing.assert_array_equal(now.inside, np.flatnonzero(between))
    # The curvature of a column over all rows, and of as many as will be on the kink.
    curve = program.rows.column_scale() ** 2 * program.costs.sum()
    np.testing.assert_allclose(smooth.curve, curve, atol=1e-12)
    np.testing.assert_allclose(smooth.side, curve * 12 / 300, atol=1e-12)
    assert smooth.gap_weight == pytest.approx(12 * program.costs.mean())


@pytest.mark.parametrize("t", [0.3, -50.0])
def test_a_direction_is_newtons(held, t):
    """The gradient falls along it as a quadratic's does, with the gap acting and without."""
    program, _, _, function = held
    function.t = t
    now = at(function, program, function.origin)
    direction = function.newton(now, 1e-10, Controls())
    step = 1e-7
    change = at(function, program, function.origin + step * direction).gradient - now.gradient
    scale = np.abs(now.gradient).max()
    np.testing.assert_allclose(change / step, -now.gradient, atol=1e-5 * scale)
    loose = function.newton(now, 0.5, Controls())
    assert loose @ now.gradient < 0


@pytest.mark.parametrize("stretch", [0.01, 1.0, 30.0])
def test_the_length_is_where_the_slope_changes_its_sign(held, stretch):
    program, _, point, function = held
    now = at(function, program, point.beta)
    direction = stretch * function.newton(now, 1e-10, Controls())
    along = program.rows.dot(direction)

    def slope(length):
        return at(function, program, point.beta + length * direction).gradient @ direction

    for length in (0.2, 1.0):
        assert function._slope(point, direction, along, length) == pytest.approx(slope(length))
    found = function.length(point, direction, along)
    assert 0.0 < found <= 1.0
    if found == 1.0:
        assert slope(1.0) <= 0
    else:
        assert slope(found) <= 0 <= slope(found * (1 + 2 * TUNING.line_share))


def test_the_start_is_the_discriminant_at_the_gap():
    program = overlapping(400, 10, 3, dense=True, weights=True)
    point = _Smoothed(program, TUNING).start()
    A, d = program.rows.dense(), program.difference
    ridge = 1e-3 * program.rows.column_scale() ** 2 * program.costs.sum()
    direction = np.linalg.solve(A.T @ (program.costs[:, None] * A) + np.diag(ridge), d)
    beta = direction * (program.separation / (d @ direction))
    np.testing.assert_allclose(point.beta, beta, rtol=2e-2, atol=1e-3 * np.abs(beta).max())
    np.testing.assert_allclose(point.missed, program.margin - A @ point.beta, atol=1e-12)
    width = 1.0 / point.rho
    assert width == pytest.approx(TUNING.first_width * np.median(np.abs(point.missed)))
    np.testing.assert_allclose(point.alpha, program.costs / 2, atol=1e-12)


@pytest.mark.parametrize("dense", [False, True])
def test_a_round_minimizes_and_renews_the_multipliers(dense):
    program = overlapping(600, 20, 5, dense=dense)
    smooth = _Smoothed(program, TUNING)
    point = smooth.start()
    for number in range(4):
        function, before = _Held(smooth, point), point.steps
        size = np.abs(at(function, program, point.beta).gradient).sum()
        smooth.minimize(point, Controls())
        now = at(function, program, point.beta)
        goal = TUNING.first_gradient * smooth.unit * TUNING.gradient_shrink**number
        assert np.abs(now.gradient).sum() <= min(goal, TUNING.drop * size) * (1 + 1e-9)
        assert point.rounds == number + 1
        assert 1 <= point.steps - before <= 12
        np.testing.assert_allclose(
            point.missed, program.margin - program.rows.dot(point.beta), atol=1e-12
        )
        np.testing.assert_allclose(point.alpha, now.alpha, atol=1e-12)
        held_sides = np.count_nonzero(point.low) + np.count_nonzero(point.high)
        inside = (point.alpha > 0) & (point.alpha < program.costs)
        assert point.between == np.count_nonzero(inside) + held_sides + (point.t > 0)
        point.rho *= TUNING.growth


def test_so_many_rounds_and_steps_name_the_hinges():
    for seed in range(3):
        near = identify(overlapping(1500, 50, seed), Controls(), 1.2 * 50)
        assert near.between <= 1.2 * 50
        assert near.rounds <= 8
        assert near.steps <= 44
        best = near.best
        assert best.objective >= best.dual_objective


def test_rounds_end_where_they_are_told_to():
    program = overlapping(600, 20, 0)
    assert identify(program, Controls(), 1e9).rounds == 1
    assert identify(program, Controls(tol=0.5), 0.0).rounds <= 3
    assert identify(program, Controls(deadline=0.0), 0.0).steps == 0
    few = identify(program, Controls(max_iter=5), 0.0)
    assert few.steps == 5
    hopeless = replace(TUNING, hopeless=1e-12, judged_after=2)
    assert identify(program, Controls(), 1.0, hopeless).rounds == 2
    assert identify(program, Controls(), 0.0, hopeless).rounds > 2
    assert identify(program, Controls(), 0.0, replace(TUNING, rounds=4)).rounds == 4
    # Where the gap falls by less than a tenth three times the rounds are over.
    assert identify(program, Controls(tol=0.0), 0.0).rounds < TUNING.rounds


def test_what_is_certified_is_true_and_either_side_may_be_the_better():
    program = overlapping(600, 20, 0, dense=True)
    best = highs.solve(program, Controls()).certificate.objective
    early = identify(program, Controls(), 0.0, replace(TUNING, rounds=2)).best
    late = identify(program, Controls(), 0.0, replace(TUNING, rounds=6)).best
    for answer in (early, late):
        assert answer.dual_objective <= best + 1e-9
        assert answer.objective >= best - 1e-9
    assert late.relative_gap < early.relative_gap
    mixed = better_sides(
        replace(early, objective=late.objective - 1, beta=late.beta + 1), replace(late, t=7.0)
    )
    np.testing.assert_array_equal(mixed.beta, late.beta + 1)
    assert mixed.objective == late.objective - 1
    assert (mixed.dual_objective, mixed.t) == (late.dual_objective, 7.0)
    assert late.objective == pytest.approx(primal_value(program, late.beta))
    assert late.dual_objective == pytest.approx(dual_value(program, late.alpha, late.t))


def test_doubt_orders_rows_by_their_distance_from_a_kink():
    costs = np.full(5, 2.0)
    share = np.array([0.5, 0.1, 0.9, 0.0, 1.0])
    missed = np.array([0.0, 0.0, 0.0, -3.0, 4.0])
    nothing = np.zeros(1)
    point = Identified(nothing, missed, costs * share, nothing, nothing, 0.0, 0.5)
    # Inside by the distance to the nearer bound; outside by how far beyond it.
    np.testing.assert_allclose(point.doubt(costs), [-0.5, -0.1, -0.1, 1.5, 2.0], atol=1e-12)
