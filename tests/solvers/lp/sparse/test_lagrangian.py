"""Augmented Lagrangians: steps are Newton's, bounds hold, active sets shrink to a vertex."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import better_sides
from lincent.solvers.line_search import bisect_step
from lincent.solvers.lp import highs
from lincent.solvers.lp.sparse.lagrangian import (
    DUAL,
    LINE_SEARCH_WIDTH,
    PRIMAL,
    DualModel,
    PrimalModel,
    PrimalPoint,
    identify_columns,
    identify_rows,
    interior_point_affordable,
    start_columns,
)
from lincent.solvers.solution import Controls
from support.optimality import dual_value, primal_value
from support.programs import overlapping, wide

MANY = Controls(tol=1e-6, max_iter=5_000)


def test_the_undecided_hinges_shrink_towards_the_columns():
    program = overlapping(3000, 80, 2)
    near = identify_rows(program, Controls(), 1.1 * 80)
    assert near.between <= 1.1 * 80 + 1
    assert near.best.relative_gap < 1e-2
    on = np.argsort(near.distance_from_active(program.costs))[:80]
    assert np.median(np.abs(near.missed[on])) < 0.05 * np.median(np.abs(near.missed))


def test_the_gap_only_falls_from_round_to_round():
    lines = []
    identify_rows(overlapping(2000, 60, 4), Controls(tell=lines.append), 0.0)
    gaps = [float(line.split("gap")[1].split()[0]) for line in lines]
    assert len(gaps) > 3
    assert gaps == sorted(gaps, reverse=True)


@pytest.fixture(params=[False, True], ids=["sparse", "dense"])
def held(request):
    """Multipliers that are held at a point where sides, gap and rows all act."""
    program = overlapping(300, 12, 1, dense=request.param, weights=True)
    program = replace(program, lower=program.lower - 0.1, upper=program.upper + 0.3)
    rng = np.random.default_rng(0)
    model = PrimalModel(program, replace(PRIMAL, proximal=1e-3))
    beta = rng.uniform(-2.0, 2.0, 12)
    beta -= program.difference * (program.difference @ beta) / (program.difference**2).sum()
    missed = program.margin - program.rows.dot(beta)
    alpha = program.costs * rng.random(300)
    low, high = 0.1 * rng.random((2, 12))
    point = PrimalPoint(beta, missed, alpha, low, high, 0.3, 0.7)
    model.hold(point)
    return program, point, model


def at(held, program, beta):
    return held.at(beta, program.margin - program.rows.dot(beta))


def test_multipliers_and_gradient_are_those_of_the_quadratics(held):
    program, point, model = held
    A, d, rho = program.rows.dense(), program.difference, point.rho
    beta = point.beta + 0.01
    now = at(model, program, beta)
    alpha = np.clip(
        point.alpha + rho * program.costs * (program.margin - A @ beta), 0.0, program.costs
    )
    low = np.maximum(point.low + rho * model.side_weight * (program.lower - beta), 0.0)
    high = np.maximum(point.high + rho * model.side_weight * (beta - program.upper), 0.0)
    t = max(point.t + rho * model.separation_weight * (program.separation - d @ beta), 0.0)
    np.testing.assert_allclose(now.alpha, alpha, atol=1e-12)
    np.testing.assert_allclose(now.low, low, atol=1e-12)
    np.testing.assert_allclose(now.high, high, atol=1e-12)
    assert now.t == pytest.approx(t)
    assert min(np.count_nonzero(low), np.count_nonzero(high), t) > 0
    proximal = 1e-3 * rho * model.curvature * (beta - point.beta)
    gradient = program.linear - A.T @ alpha - t * d - low + high + proximal
    np.testing.assert_allclose(now.gradient, gradient, atol=1e-12)
    between = (alpha > 0) & (alpha < program.costs)
    np.testing.assert_array_equal(now.inside, np.flatnonzero(between))
    # The curvature of a column over all rows, and of as many as will be active.
    curve = program.rows.column_scale() ** 2 * program.costs.sum()
    np.testing.assert_allclose(model.curvature, curve, atol=1e-12)
    np.testing.assert_allclose(model.side_weight, curve * 12 / 300, atol=1e-12)
    assert model.separation_weight == pytest.approx(12 * program.costs.mean())


@pytest.mark.parametrize("t", [0.3, -50.0])
def test_a_direction_is_newtons(held, t):
    """The gradient falls along it as a quadratic's does, with the gap acting and without."""
    program, _, model = held
    model.t = t
    # Some sides have a dual weight, others a small one.
    model.low[::2] = 0.5 - (model.side * (program.lower - model.origin))[::2]
    now = at(model, program, model.origin)
    assert now.low[::2] == pytest.approx(0.5)
    model.tuning = replace(PRIMAL, cg_share=1e-10)
    direction = model.newton(now, 0, Controls())
    step = 1e-7
    change = at(model, program, model.origin + step * direction).gradient - now.gradient
    scale = np.abs(now.gradient).max()
    np.testing.assert_allclose(change / step, -now.gradient, atol=1e-5 * scale)
    model.tuning = replace(PRIMAL, cg_share=0.5)
    loose = model.newton(now, 0, Controls())
    assert loose @ now.gradient < 0


def test_a_matrix_is_updated_by_the_rows_that_changed():
    program = overlapping(300, 12, 1, dense=True, weights=True)
    model, taken = PrimalModel(program, PRIMAL), []
    take = program.rows.take
    program.rows.take = lambda index: taken.append(len(index)) or take(index)
    first, second, third = np.arange(0, 100), np.arange(10, 105), np.arange(200, 220)
    for rows, fresh, read in (
        (first, True, [100]), (second, False, [5, 10]), (second, True, [95]), (third, False, [20])
    ):  # fmt: skip
        taken.clear()
        matrix = model._gram(rows, fresh=fresh)
        assert taken == read
        expected = take(rows).gram(program.costs[rows])
        np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-12 * expected.max())


@pytest.mark.parametrize("stretch", [0.01, 1.0, 30.0])
def test_the_length_is_where_the_slope_changes_its_sign(held, stretch):
    program, point, model = held
    now = at(model, program, point.beta)
    direction = stretch * model.newton(now, 0, Controls())
    along = program.rows.dot(direction)

    def slope(length):
        return at(model, program, point.beta + length * direction).gradient @ direction

    for length in (0.2, 1.0):
        there = point.beta + length * direction, point.missed - length * along
        assert model.slope(*there, direction, along) == pytest.approx(slope(length))
    found = bisect_step(slope, LINE_SEARCH_WIDTH)
    assert 0.0 < found <= 1.0
    if found == 1.0:
        assert slope(1.0) <= 0
    else:
        assert slope(found) <= 0 <= slope(found * (1 + 2 * LINE_SEARCH_WIDTH))


def test_the_start_is_the_discriminant_at_the_gap():
    program = overlapping(400, 10, 3, dense=True, weights=True)
    point = PrimalModel(program, PRIMAL).start()
    A, d = program.rows.dense(), program.difference
    ridge = 1e-3 * program.rows.column_scale() ** 2 * program.costs.sum()
    direction = np.linalg.solve(A.T @ (program.costs[:, None] * A) + np.diag(ridge), d)
    beta = direction * (program.separation / (d @ direction))
    np.testing.assert_allclose(point.beta, beta, rtol=2e-2, atol=1e-3 * np.abs(beta).max())
    np.testing.assert_allclose(point.missed, program.margin - A @ point.beta, atol=1e-12)
    width = 1.0 / point.rho
    assert width == pytest.approx(PRIMAL.first_width * np.median(np.abs(point.missed)))
    np.testing.assert_allclose(point.alpha, program.costs / 2, atol=1e-12)


@pytest.mark.parametrize("dense", [False, True])
def test_a_round_minimizes_and_renews_the_multipliers(dense):
    program = overlapping(600, 20, 5, dense=dense)
    model = PrimalModel(program, PRIMAL)
    point = model.start()
    for number in range(4):
        before = point.steps
        model.hold(point)
        size = np.abs(at(model, program, point.beta).gradient).sum()
        model.minimize(point, Controls())
        now = at(model, program, point.beta)
        goal = PRIMAL.first_gradient * model.unit * PRIMAL.gradient_shrink**number
        assert np.abs(now.gradient).sum() <= min(goal, PRIMAL.drop * size) * (1 + 1e-9)
        assert point.rounds == number + 1
        assert 1 <= point.steps - before <= 12
        np.testing.assert_allclose(
            point.missed, program.margin - program.rows.dot(point.beta), atol=1e-12
        )
        np.testing.assert_allclose(point.alpha, now.alpha, atol=1e-12)
        held_sides = np.count_nonzero(point.low) + np.count_nonzero(point.high)
        inside = (point.alpha > 0) & (point.alpha < program.costs)
        assert point.between == np.count_nonzero(inside) + held_sides + (point.t > 0)
        point.rho *= PRIMAL.growth


def test_so_many_rounds_and_steps_name_the_hinges():
    for seed in range(3):
        near = identify_rows(overlapping(1500, 50, seed), Controls(), 1.2 * 50)
        assert near.between <= 1.2 * 50
        assert near.rounds <= 8
        assert near.steps <= 44
        best = near.best
        assert best.objective >= best.dual_objective


def test_rounds_end_where_they_are_told_to():
    program = overlapping(600, 20, 0)
    assert identify_rows(program, Controls(), 1e9, replace(PRIMAL, near=1e9)).rounds == 1
    # Few hinges between their bounds are enough only where the gap is small.
    assert identify_rows(program, Controls(), 1e9, replace(PRIMAL, near=1e-4)).rounds > 2
    assert identify_rows(program, Controls(tol=0.5), 0.0).rounds <= 3
    assert identify_rows(program, Controls(deadline=0.0), 0.0).steps == 0
    few = identify_rows(program, Controls(max_iter=5), 0.0)
    assert few.steps == 5
    hopeless = replace(PRIMAL, hopeless=1e-12, judged_after=2)
    assert identify_rows(program, Controls(), 1.0, hopeless).rounds == 2
    assert identify_rows(program, Controls(), 0.0, hopeless).rounds > 2
    assert identify_rows(program, Controls(), 0.0, replace(PRIMAL, rounds=4)).rounds == 4
    # Where the gap falls by less than a tenth three times the rounds are over.
    assert identify_rows(program, Controls(tol=0.0), 0.0).rounds < PRIMAL.rounds


def test_separable_classes_are_left_to_the_next_solver_at_once():
    program = overlapping(600, 20, 0)
    reach = PrimalModel(program, PRIMAL).start()
    wrong = np.mean(reach.missed > program.margin)
    assert 0.0 < wrong < 0.5
    left = identify_rows(program, Controls(), 22.0, replace(PRIMAL, separable=1.01 * wrong))
    assert (left.steps, left.rounds) == (0, 0)
    assert left.best.dual_objective <= left.best.objective < np.inf
    assert identify_rows(program, Controls(), 22.0, replace(PRIMAL, separable=0.99 * wrong)).rounds
    # Where a gap is all that is asked for, there is no next solver.
    assert identify_rows(program, Controls(), 0.0, replace(PRIMAL, separable=1.0)).rounds


def test_a_large_gap_that_falls_slowly_ends_the_rounds():
    program = overlapping(600, 20, 0)
    slow = replace(PRIMAL, near=0.0, least_fall=1e-9, hopeless=np.inf)
    assert identify_rows(program, Controls(tol=0.0), 1.0, replace(slow, near=1.0)).rounds > 4
    assert identify_rows(program, Controls(tol=0.0), 1.0, slow).rounds == 4


def test_what_is_certified_is_true_and_either_side_may_be_the_better():
    program = overlapping(600, 20, 0, dense=True)
    best = highs.solve(program, Controls()).certificate.objective
    early = identify_rows(program, Controls(), 0.0, replace(PRIMAL, rounds=2)).best
    late = identify_rows(program, Controls(), 0.0, replace(PRIMAL, rounds=6)).best
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


def test_rows_are_ordered_by_their_distance_from_a_breakpoint():
    costs = np.full(5, 2.0)
    share = np.array([0.5, 0.1, 0.9, 0.0, 1.0])
    missed = np.array([0.0, 0.0, 0.0, -3.0, 4.0])
    nothing = np.zeros(1)
    point = PrimalPoint(nothing, missed, costs * share, nothing, nothing, 0.0, 0.5)
    # Inside by the distance to the nearer bound; outside by how far beyond it.
    np.testing.assert_allclose(
        point.distance_from_active(costs), [-0.5, -0.1, -0.1, 1.5, 2.0], atol=1e-12
    )


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_comes_near_the_optimum_and_names_the_free_columns(dense, seed):
    program = wide(120, 400, seed, dense=dense)
    best = highs.solve(program, Controls()).certificate
    point = identify_columns(program, start_columns(program), -1.0, 0, MANY)
    assert point.best.relative_gap < 1e-3
    assert point.best.dual_objective <= best.objective + 1e-9
    assert point.best.objective >= best.dual_objective - 1e-9
    inside = np.flatnonzero(np.abs(best.beta) < 1.0 - 1e-7)
    # HiGHS ends at a vertex; what is inside there is among what was named.
    assert np.isin(inside, point.free).mean() > 0.9


def test_few_spare_columns_end_the_rounds():
    program = wide(120, 400, 0)
    point = identify_columns(program, start_columns(program), 0.5, 1000, MANY)
    assert 0 < point.spare <= 0.5 * point.between
    more = identify_columns(program, point, 0.1, 1000, MANY)
    assert more.spare < 0.5 * more.between


def test_places_let_rows_join_once():
    point = start_columns(wide(30, 80, 1))
    point.places(np.array([7, 3]))
    point.x[:-1] = [0.3, 0.7]
    places = point.places(np.array([7, 12, 3]))
    assert point.rows[places].tolist() == [7, 12, 3]
    assert point.alpha(30)[[3, 7, 12]].tolist() == [0.3, 0.7, 0.0]


def test_the_clock_and_the_step_limit_are_kept():
    program = wide(120, 400, 2)
    late = identify_columns(program, start_columns(program), -1.0, 0, Controls(deadline=0.0))
    assert (late.rounds, late.steps) == (1, 0)
    few = identify_columns(program, start_columns(program), -1.0, 0, Controls(max_iter=7))
    assert few.steps == 7


@pytest.fixture(params=[False, True], ids=["sparse", "dense"])
def held_dual(request):
    """Multipliers that are held at a point where columns and rows are on all sides."""
    program = wide(30, 80, 1, dense=request.param)
    program = replace(program, lower=program.lower - 0.1, upper=program.upper + 0.3)
    rng = np.random.default_rng(0)
    model = DualModel(program, replace(DUAL, proximal=1e-3))
    point = start_columns(program)
    point.beta = rng.uniform(program.lower, program.upper)
    point.places(np.arange(0, 30, 2))
    point.x = np.append(program.costs[point.rows] * rng.uniform(-0.3, 1.3, 15), 0.4)
    point.over, point.missed = 0.1 * rng.random((2, 16))
    point.curvature = 0.4
    model.hold(point)
    E = np.vstack([program.rows.dense()[point.rows], program.difference])
    return program, point, model, E


def at_dual(held, x):
    program, _, model, E = held
    return model.at(x, program.linear - E.T @ x)


def test_point_and_gradient_are_those_of_the_quadratics(held_dual):
    program, point, model, E = held_dual
    now = at_dual(held_dual, point.x)
    moved = point.beta - 0.4 * model.unit_sigma * (program.linear - E.T @ point.x)
    beta = np.clip(moved, program.lower, program.upper)
    top = np.append(program.costs[point.rows], np.inf)
    over = np.maximum(point.over - model.tau * point.x, 0.0)
    missed = np.maximum(point.missed + model.tau * (point.x - top), 0.0)
    goal = np.append(np.full(15, program.margin), program.separation)
    np.testing.assert_allclose(now.beta, beta, atol=1e-12)
    np.testing.assert_allclose(now.over, over, atol=1e-12)
    np.testing.assert_allclose(now.missed, missed, atol=1e-12)
    np.testing.assert_allclose(now.gradient, E @ beta - goal - over + missed, atol=1e-12)
    used = model.unit_sigma > 0  # a column without entries is never free
    beyond = np.where(used, np.maximum(program.lower - moved, moved - program.upper), np.inf)
    np.testing.assert_allclose(now.beyond, beyond, atol=1e-12)
    free = (beta > program.lower) & (beta < program.upper) & used
    np.testing.assert_array_equal(now.beyond < 0, free)
    assert 0 < np.count_nonzero(free) < 80
    # A twentieth of the usual curvature of a row is the unit of what is added to it.
    assert model.row_curvature == pytest.approx(0.05 * np.median(E**2 @ (0.4 * model.unit_sigma)))
    assert model.tau == pytest.approx(DUAL.side * model.row_curvature)


def test_a_curvature_of_one_moves_a_usual_column_through_half_the_box(held_dual):
    program, _, model, _ = held_dual
    slope = np.abs(program.linear) / program.rows.column_scale()
    half = (program.upper - program.lower) / 2
    moves = model.unit_sigma * program.rows.column_scale() * slope[slope > 0].mean() / half
    used = np.any(program.rows.dense() != 0, axis=0)
    np.testing.assert_allclose(moves[used], 1.0, atol=1e-12)
    np.testing.assert_array_equal(model.unit_sigma[~used], 0.0)


def test_a_direction_is_newtons_of_the_dual(held_dual):
    _, point, model, _ = held_dual
    model.tuning = replace(model.tuning, cg_share=1e-11, most_cg=500)
    now = at_dual(held_dual, point.x)
    direction = model.newton(now, 0, Controls())
    step = 1e-7
    change = at_dual(held_dual, point.x + step * direction).gradient - now.gradient
    # What is added to a row's curvature is no part of the model.
    change += step * model.tuning.proximal * model.row_curvature * direction
    scale = np.abs(now.gradient).max()
    np.testing.assert_allclose(change / step, -now.gradient, atol=1e-5 * scale)


@pytest.mark.parametrize("stretch", [0.01, 1.0, 30.0])
def test_the_length_is_where_the_slope_changes_its_sign_of_the_dual(held_dual, stretch):
    program, point, model, E = held_dual
    direction = stretch * model.newton(at_dual(held_dual, point.x), 0, Controls())

    def slope(length):
        return at_dual(held_dual, point.x + length * direction).gradient @ direction

    r, along = program.linear - E.T @ point.x, E.T @ direction
    for length in (0.2, 1.0):
        there = point.x + length * direction, r - length * along
        assert model.slope(*there, direction, along) == pytest.approx(slope(length))
    found = bisect_step(slope, LINE_SEARCH_WIDTH)
    assert 0.0 < found <= 1.0
    if found == 1.0:
        assert slope(1.0) <= 0
    else:
        assert slope(found) <= 0 <= slope(found * (1 + 2 * LINE_SEARCH_WIDTH))


def test_a_round_minimizes_and_renews_the_point():
    program = wide(120, 400, 3)
    model, point = DualModel(program, DUAL), start_columns(program)
    goal = np.inf
    for number in range(4):
        missing = program.rows.dot(point.beta) <= program.margin
        model.minimize(point, MANY)
        assert set(np.flatnonzero(missing)) <= set(point.rows)
        assert point.rounds == number + 1
        assert point.goal <= DUAL.gradient_shrink * goal
        goal = point.goal
        # The slacks and the point nearly meet the rows that have mattered.
        E = np.vstack([program.rows.dense()[point.rows], program.difference])
        aim = np.append(np.full(len(point.rows), program.margin), program.separation)
        rest = E @ point.beta - aim - point.over + point.missed
        weight = np.append(program.costs[point.rows], program.costs.mean())
        assert weight @ np.abs(rest) <= goal * (1 + 1e-9)
        inside = (
            (point.beta > program.lower) & (point.beta < program.upper) & (model.unit_sigma > 0)
        )
        np.testing.assert_array_equal(point.free, np.flatnonzero(inside))
        neither = (point.over == 0) & (point.missed == 0)
        assert point.between == np.count_nonzero(neither)
        assert point.spare == len(point.free) - point.between
        point.curvature *= DUAL.growth
    assert point.steps <= 40


def test_the_start_is_the_farthest_corner():
    program = replace(wide(30, 80, 1), lower=np.full(80, -0.5), upper=np.full(80, 2.0))
    point = start_columns(program)
    seen = program.difference != 0
    np.testing.assert_array_equal(point.beta[seen], program.farthest_point[seen])
    assert len(point.rows) == point.x[-1] == 0


def test_rounds_end_where_they_are_told_to_of_the_dual():
    program = wide(120, 400, 0)

    def rounds(controls=MANY, share=-1.0, **tuning):
        found = identify_columns(
            program, start_columns(program), share, 10**6, controls, replace(DUAL, **tuning)
        )
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


def test_the_curvature_is_held_near_the_optimum_where_rounds_are_hard():
    program = wide(120, 400, 0)

    def curvature(**tuning):
        found = identify_columns(
            program, start_columns(program), -1.0, 0, MANY, replace(DUAL, rounds=6, **tuning)
        )
        return found.curvature / DUAL.growth**6

    assert curvature(hold=np.inf, easy_steps=0) == DUAL.growth**-6
    assert curvature(hold=np.inf, easy_steps=10**6, late_steps=10**6) == pytest.approx(1.0)
    assert curvature(hold=0.0, easy_steps=0) == pytest.approx(1.0)
    # Nearly at a vertex more steps are not hard yet, and after a hard round it is tried.
    near = {"hold": np.inf, "easy_steps": 0, "nearly": np.inf, "nearly_spare": np.inf}
    assert curvature(late_steps=10**6, **near) == pytest.approx(1.0)
    found = identify_columns(
        program, start_columns(program), -1.0, 0, MANY, replace(DUAL, late_steps=0, **near)
    )
    assert found.rounds == 1


def test_an_interior_point_is_asked_for_few_rows_alone():
    program = wide(60, 200, 0)
    point = replace(start_columns(program), rows=np.arange(40))
    assert interior_point_affordable(program, point)
    assert not interior_point_affordable(program, point, replace(DUAL, interior_rows=39))
    huge = {"wide": 199, "interior_rows": 59}
    assert not interior_point_affordable(program, point, replace(DUAL, wide_rows=39, **huge))
    assert interior_point_affordable(program, point, replace(DUAL, wide_rows=40, **huge))
    assert interior_point_affordable(program, point, replace(DUAL, wide_rows=39, wide=200))
    assert interior_point_affordable(program, point, replace(DUAL, wide_rows=39, wide=199))


def test_so_many_steps_come_near():
    steps, rounds = [], []
    for seed in range(5):
        program = wide(120, 400, seed)
        point = identify_columns(program, start_columns(program), 0.12, 100, MANY)
        assert point.best.relative_gap <= DUAL.near
        steps.append(point.steps)
        rounds.append(point.rounds)
    assert np.mean(steps) <= 28
    assert np.mean(rounds) <= 14
