"""The augmented Lagrangian of the dual: steps that are Newton's, bounds that hold, free columns."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp import highs
from lincent.solvers.lp.dual_lagrangian import (
    TUNING,
    _Held,
    _Smoothed,
    identify,
    others_are_asked,
    start,
)
from lincent.solvers.solution import Controls
from support.programs import wide

MANY = Controls(tol=1e-6, max_iter=5_000)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_comes_near_the_optimum_and_names_the_free_columns(dense, seed):
    program = wide(120, 400, seed, dense=dense)
    best = highs.solve(program, Controls()).certificate
    point = identify(program, start(program), -1.0, 0, MANY)
    assert point.best.relative_gap < 1e-3
    assert point.best.dual_objective <= best.objective + 1e-9
    assert point.best.objective >= best.dual_objective - 1e-9
    inside = np.flatnonzero(np.abs(best.beta) < 1.0 - 1e-7)
    # HiGHS ends at a vertex; what is inside there is among what was named.
    assert np.isin(inside, point.free).mean() > 0.9


def test_few_spare_columns_end_the_rounds():
    program = wide(120, 400, 0)
    point = identify(program, start(program), 0.5, 1000, MANY)
    assert 0 < point.spare <= 0.5 * point.between
    more = identify(program, point, 0.1, 1000, MANY)
    assert more.spare < 0.5 * more.between


def test_places_let_rows_join_once():
    point = start(wide(30, 80, 1))
    point.places(np.array([7, 3]))
    point.x[:-1] = [0.3, 0.7]
    places = point.places(np.array([7, 12, 3]))
    assert point.rows[places].tolist() == [7, 12, 3]
    assert point.alpha(30)[[3, 7, 12]].tolist() == [0.3, 0.7, 0.0]


def test_the_clock_and_the_step_limit_are_kept():
    program = wide(120, 400, 2)
    late = identify(program, start(program), -1.0, 0, Controls(deadline=0.0))
    assert (late.rounds, late.steps) == (1, 0)
    few = identify(program, start(program), -1.0, 0, Controls(max_iter=7))
    assert few.steps == 7


@pytest.fixture(params=[False, True], ids=["sparse", "dense"])
def held(request):
    """Multipliers that are held at a point where columns and rows are on all sides."""
    program = wide(30, 80, 1, dense=request.param)
    program = replace(program, lower=program.lower - 0.1, upper=program.upper + 0.3)
    rng = np.random.default_rng(0)
    smooth = _Smoothed(program, replace(TUNING, proximal=1e-3))
    point = start(program)
    point.beta = rng.uniform(program.lower, program.upper)
    point.places(np.arange(0, 30, 2))
    point.x = np.append(program.costs[point.rows] * rng.uniform(-0.3, 1.3, 15), 0.4)
    point.over, point.missed = 0.1 * rng.random((2, 16))
    point.stiffness = 0.4
    function = _Held(smooth, point)
    E = np.vstack([program.rows.dense()[point.rows], program.difference])
    return program, smooth, point, function, E


def at(held, x):
    program, _, _, function, E = held
    return function.at(x, program.linear - E.T @ x)


def test_point_and_gradient_are_those_of_the_quadratics(held):
    program, smooth, point, function, E = held
    now = at(held, point.x)
    moved = point.beta - 0.4 * smooth.sigma * (program.linear - E.T @ point.x)
    beta = np.clip(moved, program.lower, program.upper)
    top = np.append(program.costs[point.rows], np.inf)
    over = np.maximum(point.over - function.tau * point.x, 0.0)
    missed = np.maximum(point.missed + function.tau * (point.x - top), 0.0)
    goal = np.append(np.full(15, program.margin), program.separation)
    np.testing.assert_allclose(now.beta, beta, atol=1e-12)
    np.testing.assert_allclose(now.over, over, atol=1e-12)
    np.testing.assert_allclose(now.missed, missed, atol=1e-12)
    np.testing.assert_allclose(now.gradient, E @ beta - goal - over + missed, atol=1e-12)
    used = smooth.sigma > 0  # a column without entries is never free
    beyond = np.where(used, np.maximum(program.lower - moved, moved - program.upper), np.inf)
    np.testing.assert_allclose(now.beyond, beyond, atol=1e-12)
    free = (beta > program.lower) & (beta < program.upper) & used
    np.testing.assert_array_equal(now.beyond < 0, free)
    assert 0 < np.count_nonzero(free) < 80
    # A twentieth of the usual curvature of a row is the unit of what is added to it.
    assert function.curve == pytest.approx(0.05 * np.median(E**2 @ (0.4 * smooth.sigma)))
    assert function.tau == pytest.approx(TUNING.side * function.curve)


def test_a_stiffness_of_one_moves_a_usual_column_through_half_the_box(held):
    program, smooth, *_ = held
    slope = np.abs(program.linear) / program.rows.column_scale()
    half = (program.upper - program.lower) / 2
    moves = smooth.sigma * program.rows.column_scale() * slope[slope > 0].mean() / half
    used = np.any(program.rows.dense() != 0, axis=0)
    np.testing.assert_allclose(moves[used], 1.0, atol=1e-12)
    np.testing.assert_array_equal(smooth.sigma[~used], 0.0)


def test_a_direction_is_newtons(held):
    *_, point, function, _ = held
    function.tuning = replace(function.tuning, cg_share=1e-11, most_cg=500)
    now = at(held, point.x)
    direction = function.newton(now, Controls())
    step = 1e-7
    change = at(held, point.x + step * direction).gradient - now.gradient
    # What is added to a row's curvature is no part of the function.
    change += step * function.tuning.proximal * function.curve * direction
    scale = np.abs(now.gradient).max()
    np.testing.assert_allclose(change / step, -now.gradient, atol=1e-5 * scale)


@pytest.mark.parametrize("stretch", [0.01, 1.0, 30.0])
def test_the_length_is_where_the_slope_changes_its_sign(held, stretch):
    program, _, point, function, E = held
    direction = stretch * function.newton(at(held, point.x), Controls())

    def slope(length):
        return at(held, point.x + length * direction).gradient @ direction

    r = program.linear - E.T @ point.x
    found = function.length(point.x, r, direction, E.T @ direction)
    assert 0.0 < found <= 1.0
    if found == 1.0:
        assert slope(1.0) <= 0
    else:
        assert slope(found) <= 0 <= slope(found * (1 + 2 * TUNING.line_share))


def test_a_round_minimizes_and_renews_the_point():
    program = wide(120, 400, 3)
    smooth, point = _Smoothed(program, TUNING), start(program)
    goal = np.inf
    for number in range(4):
        missing = program.rows.dot(point.beta) <= program.margin
        smooth.minimize(point, MANY)
        assert set(np.flatnonzero(missing)) <= set(point.rows)
        assert point.rounds == number + 1
        assert point.goal <= TUNING.gradient_shrink * goal
        goal = point.goal
        # The slacks and the point nearly meet the rows that have mattered.
        E = np.vstack([program.rows.dense()[point.rows], program.difference])
        aim = np.append(np.full(len(point.rows), program.margin), program.separation)
        rest = E @ point.beta - aim - point.over + point.missed
        weight = np.append(program.costs[point.rows], program.costs.mean())
        assert weight @ np.abs(rest) <= goal * (1 + 1e-9)
        inside = (point.beta > program.lower) & (point.beta < program.upper) & (smooth.sigma > 0)
        np.testing.assert_array_equal(point.free, np.flatnonzero(inside))
        neither = (point.over == 0) & (point.missed == 0)
        assert point.between == np.count_nonzero(neither)
        assert point.spare == len(point.free) - point.between
        point.stiffness *= TUNING.growth
    assert point.steps <= 40


def test_the_start_is_the_farthest_corner():
    program = replace(wide(30, 80, 1), lower=np.full(80, -0.5), upper=np.full(80, 2.0))
    point = start(program)
    seen = program.difference != 0
    np.testing.assert_array_equal(point.beta[seen], program.farthest_point[seen])
    assert len(point.rows) == point.x[-1] == 0


def test_rounds_end_where_they_are_told_to():
    program = wide(120, 400, 0)

    def rounds(controls=MANY, share=-1.0, **tuning):
        found = identify(program, start(program), share, 10**6, controls, replace(TUNING, **tuning))
        return found.rounds

    usual = rounds()
    assert 8 <= usual <= 25
    assert rounds(rounds=5) == 5
    assert rounds(Controls(tol=0.9)) < usual
    # Most columns inside: the rows are to be named instead.
    assert rounds(judged_after=2, most_free=0.0) == 2
    # Few spare columns are enough only where the gap is small.
    assert rounds(share=1e9, near=1e9) == 1
    assert rounds(share=1e9, near=0.0) > 3
    # A face: free columns that no longer fall, at a gap that is small enough; or any that does not.
    patient = rounds(Controls(tol=0.0, max_iter=5_000), patience=1, near_face=1.0)
    assert patient <= rounds(Controls(tol=0.0, max_iter=5_000), patience=1, near_face=0.0)
    assert rounds(Controls(tol=0.0, max_iter=5_000), patience=0, near_face=1.0) < usual
    many = {"patience": 0, "near_face": 1.0, "interior_rows": 0}
    assert rounds(Controls(tol=0.0, max_iter=5_000), alone_face=0.0, **many) > 3


def test_the_stiffness_is_held_near_the_optimum_where_rounds_are_hard():
    program = wide(120, 400, 0)

    def stiffness(**tuning):
        found = identify(
            program, start(program), -1.0, 0, MANY, replace(TUNING, rounds=6, **tuning)
        )
        return found.stiffness / TUNING.growth**6

    assert stiffness(hold=np.inf, easy_steps=0) == TUNING.growth**-6
    assert stiffness(hold=np.inf, easy_steps=10**6, late_steps=10**6) == pytest.approx(1.0)
    assert stiffness(hold=0.0, easy_steps=0) == pytest.approx(1.0)
    # Nearly at a vertex more steps are not hard yet, and after a hard round it is tried.
    near = {"hold": np.inf, "easy_steps": 0, "nearly": np.inf, "nearly_spare": np.inf}
    assert stiffness(late_steps=10**6, **near) == pytest.approx(1.0)
    found = identify(program, start(program), -1.0, 0, MANY, replace(TUNING, late_steps=0, **near))
    assert found.rounds == 1


def test_an_interior_point_is_asked_for_few_rows_alone():
    program = wide(60, 200, 0)
    point = replace(start(program), rows=np.arange(40))
    assert others_are_asked(program, point)
    assert not others_are_asked(program, point, replace(TUNING, interior_rows=39))
    huge = {"wide": 199, "interior_rows": 59}
    assert not others_are_asked(program, point, replace(TUNING, wide_rows=39, **huge))
    assert others_are_asked(program, point, replace(TUNING, wide_rows=40, **huge))
    assert others_are_asked(program, point, replace(TUNING, wide_rows=39, wide=200))
    assert others_are_asked(program, point, replace(TUNING, wide_rows=39, wide=199))


def test_so_many_steps_come_near():
    steps, rounds = [], []
    for seed in range(5):
        program = wide(120, 400, seed)
        point = identify(program, start(program), 0.12, 100, MANY)
        assert point.best.relative_gap <= TUNING.near
        steps.append(point.steps)
        rounds.append(point.rounds)
    assert np.mean(steps) <= 28
    assert np.mean(rounds) <= 14
