"""Newton steps on the smoothed program: they descend, and a step that overshoots is cut back."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import interior_point, smoothing
from lincent.solvers.lp.simplex import clipped_newton_point
from lincent.solvers.solution import Controls, silent
from lincent.sources.dense import DenseRows
from support.constants import set_constants
from support.degenerate import program_of
from support.optimality import primal_value


@pytest.fixture
def program():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 3000)
    X = rng.standard_t(3, (3000, 6))
    X[:, :2] += y[:, None]
    sign = np.where(y > 0, 1.0, -1.0)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, np.full(3000, 2.0), 0.01)


def approach(program, beta, band, steps=5):
    whole = program.rows.all_rows(program.costs, program.margin)
    near = smoothing.evaluate(program, whole, program.feasible(beta), band)
    rng = np.random.default_rng(0)
    closer, taken = smoothing.approach(program, whole, near, 60, steps, rng, silent)
    return near, closer, taken


def test_steps_come_near_the_optimum(program):
    optimum = interior_point.solve(program, Controls()).certificate
    rng = np.random.default_rng(1)
    start = optimum.beta * (1 + 0.1 * rng.standard_normal(6))
    near, closer, taken = approach(program, start, 1500)
    assert 1 <= taken <= 5
    assert closer.objective == pytest.approx(primal_value(program, closer.beta), rel=1e-12)
    before = near.objective - optimum.objective
    assert closer.objective - optimum.objective < 0.1 * before


def test_a_step_that_overshoots_is_cut_back(program, monkeypatch):
    """However bad the aim, the objective does not rise."""
    monkeypatch.setattr(
        smoothing, "newton_step", lambda program, view, width, rng: program.farthest_point
    )
    near, closer, _ = approach(program, np.full(6, 0.002), 1500, steps=2)
    assert closer.objective <= near.objective


def test_losses_between_two_points_are_those_of_the_points_between(program):
    whole = program.rows.all_rows(program.costs, program.margin)
    a, b = np.full(6, 0.001), np.linspace(-0.01, 0.02, 6)
    lengths = np.array([0.0, 0.3, 1.0])
    along = whole.look(a, 0).along(whole.look(b, 0), lengths)
    there = [whole.look(a + t * (b - a), 0).loss for t in lengths]
    np.testing.assert_allclose(along, there, rtol=1e-12)


def test_where_beta_only_grows_steps_go_beyond_their_end(monkeypatch):
    """Separable classes, from a point that is a thousand times too short."""
    rng = np.random.default_rng(1)
    sign = np.where(np.arange(2000) % 2, 1.0, -1.0)
    X = rng.standard_normal((2000, 5))
    X[:, 0] = sign * (2.0 + np.abs(X[:, 0]))
    program = program_of(X, sign, margin=1e-4)
    start = interior_point.solve(program, Controls()).certificate.beta / 1000

    def growth():
        near, closer, _ = approach(program, start, 1000, steps=8)
        assert closer.objective == pytest.approx(primal_value(program, closer.beta), rel=1e-9)
        return (closer.objective - program.offset) / (near.objective - program.offset)

    grown = growth()
    set_constants(monkeypatch, smoothing, further=())
    assert grown > max(30.0, 3.0 * growth())


def test_a_newton_step_is_the_minimum_of_the_smoothed_model(program):
    """From all rows of the band, where they are few enough to be the Hessian."""
    whole = program.rows.all_rows(program.costs, program.margin)
    beta = program.feasible(np.full(6, 0.02))
    view = whole.look(beta, 200)
    width = view.width(200)
    A = program.rows.dense()
    beyond = A @ beta - program.margin
    alpha = program.costs * np.clip((width - beyond) / (2 * width), 0.0, 1.0)
    band = np.abs(beyond) <= width
    H = A.T @ ((band * program.costs / (2 * width))[:, None] * A)
    wanted = clipped_newton_point(program, beta, program.linear - A.T @ alpha, H)
    found = smoothing.newton_step(program, view, width, np.random.default_rng(0))
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    assert smoothing.newton_step(program, view, 0.0, np.random.default_rng(0)) is None


@pytest.mark.parametrize(
    ("n", "rows"), [(5, 8_000), (20, 2_000), (40, 2_000), (100, 5_000), (250, 5_000)]
)
def test_rows_of_a_hessian_are_so_many_per_column_and_no_more_beyond_a_hundred(n, rows):
    asked = []

    class Seen:
        beta = np.zeros(n)

        def smoothed(self, width, most, rng):
            asked.append(most)
            return np.zeros(n), np.eye(n)

    rng = np.random.default_rng(0)
    y = np.where(np.arange(3 * n) % 2, 1.0, -1.0)
    smoothing.newton_step(program_of(rng.normal(size=(3 * n, n)), y), Seen(), 1.0, rng)
    assert asked == [rows]


def test_the_best_point_on_the_way_is_the_best_of_some(program):
    """Beyond the end where a step is better and much of the objective; before it where worse."""
    whole = program.rows.all_rows(program.costs, program.margin)
    best = interior_point.solve(program, Controls()).certificate.beta
    start = 0.5 * program.farthest_point

    def value(beta):
        inside = np.all((beta >= program.lower) & (beta <= program.upper))
        reaches = program.difference @ beta >= program.separation * (1 - 1e-9)
        return primal_value(program, beta) if inside and reaches else np.inf

    near = smoothing.evaluate(program, whole, start, 100)
    seen = set()
    for stretch in (0.01, 0.05, 0.3, 0.9, 1.0, 1.4, 2.0, -0.5):
        far = smoothing.evaluate(program, whole, start + stretch * (best - start), 100)
        end = far.beta
        found, length, looks = smoothing._best_on_the_way(program, whole, near, far)
        assert looks == 1
        better = far.objective < near.objective
        steady = abs(far.objective - near.objective) <= smoothing.STEADY * abs(
            far.objective - program.offset
        )
        lengths = [1.0] if better else [0.0]
        if not (better and steady):
            lengths += smoothing.FURTHER if better else smoothing.LENGTHS
        values = [value(start + at * (end - start)) for at in lengths]
        assert length == lengths[int(np.argmin(values))]
        np.testing.assert_allclose(
            found.beta, start + length * (end - start), rtol=1e-12, atol=1e-12
        )
        assert found.objective == pytest.approx(min(values), rel=1e-12)
        assert found.band == 100
        # As if it had been looked at from there.
        again = smoothing.evaluate(program, whole, found.beta, 100)
        np.testing.assert_allclose(found.view.distance, again.view.distance, atol=1e-12)
        assert found.view.loss == pytest.approx(again.view.loss, rel=1e-12)
        if found.view.tangent is not None:
            np.testing.assert_allclose(found.view.tangent, again.view.tangent, atol=1e-9)
        seen.add(0.0 if length == 0.0 else np.sign(length - 1.0))
    assert len(seen) >= 3  # not moved, cut back, the whole way or beyond it


def bands(monkeypatch, program, steps, few=50, most=8, start=800):
    """The bands of steps whose end is told: rows that crossed, the length, the objective there."""
    whole = program.rows.all_rows(program.costs, program.margin)
    near = smoothing.evaluate(program, whole, program.feasible(np.full(6, 0.01)), start)
    told = iter(steps)
    asked = []

    def best(program, whole, near, far):
        asked.append(near.band)
        _, length, change = now["step"]
        looks = 1 if length in (0.0, 1.0) else 2
        return replace(near, objective=near.objective * (1 + change)), length, looks

    now = {}

    def crossed(self, other, width):
        now["step"] = next(told)
        return now["step"][0]

    with monkeypatch.context() as patch:
        patch.setattr(type(near.view), "crossed", crossed)
        patch.setattr(smoothing, "_best_on_the_way", best)
        found, taken = smoothing.approach(
            program, whole, near, few, most, np.random.default_rng(0), silent
        )
    assert taken == len(asked)
    return asked, found.band


def test_bands_follow_the_rows_that_cross(program, monkeypatch):
    whole = replace(program, offset=0.0)
    calm = (1, 1.0, 0.0)
    # Hardly a row from beyond crossed: a quarter each time, until few are left and settled.
    assert bands(monkeypatch, whole, [calm] * 9) == ([800, 200, 50], 50)
    # Too many did: the band stays; more than it has, and the step was cut: it grows again.
    assert bands(monkeypatch, whole, [(41, 1.0, 0.0)] * 9, most=2) == ([800, 800], 800)
    assert bands(monkeypatch, whole, [calm, (201, 0.6, 0.0), *[calm] * 9])[0][:3] == [800, 200, 400]
    assert bands(monkeypatch, whole, [calm, (201, 1.0, 0.0), *[calm] * 9])[0][:3] == [800, 200, 200]
    # Never wider than at first.
    assert bands(monkeypatch, whole, [(801, 0.6, 0.0)] * 9, most=4) == ([800, 800], 800)
    # A point that did not move is nearer already than this width can tell.
    assert bands(monkeypatch, whole, [(49, 0.0, 0.0)] * 9) == ([800, 200, 50], 50)
    # Where the objective still changes by much nothing is settled.
    assert bands(monkeypatch, whole, [(0, 1.0, 0.5)] * 9, most=3) == ([800] * 3, 800)
    # Nor is it to be had at this width where the last one was too narrow: that is the end.
    narrow = [calm, (201, 0.0, 0.0), (0, 0.0, 0.0), *[calm] * 9]
    assert bands(monkeypatch, whole, narrow) == ([800, 200, 400], 400)
    # A step that takes a second look counts twice.
    assert len(bands(monkeypatch, whole, [(41, 0.6, 0.0)] * 9, most=4)[0]) == 2
    assert len(bands(monkeypatch, whole, [(41, 1.0, 0.0)] * 9, most=4)[0]) == 4
    # Few enough, but rows still cross: one step more.
    crossing = [(0, 1.0, 0.0), (2, 1.0, 0.0), (1, 1.0, 0.0)]
    assert bands(monkeypatch, whole, crossing, start=51)[0] == [51, 50, 50]
    assert bands(monkeypatch, whole, [], start=50) == ([], 50)


def test_a_point_knows_its_objective_and_the_width_of_its_band(program):
    whole = program.rows.all_rows(program.costs, program.margin)
    beta = program.feasible(np.full(6, 0.02))
    near = smoothing.evaluate(program, whole, beta, 70)
    assert near.objective == pytest.approx(primal_value(program, beta))
    distance = np.sort(np.abs(program.rows.dot(beta) - program.margin))
    assert near.width == pytest.approx(distance[70], rel=0.05)
    np.testing.assert_array_equal(near.beta, beta)


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
    point = clipped_newton_point(program, beta, gradient, H)
    assert np.all(point >= program.lower)
    assert np.all(point <= program.upper)
    assert program.difference @ point >= program.separation * (1 - 1e-9)
    free = beta - np.linalg.solve(H, gradient)
    if np.all(np.abs(free) <= 1.0) and program.difference @ free >= program.separation:
        np.testing.assert_allclose(point, free, atol=1e-8)


def test_a_matrix_that_says_nothing_gives_no_step():
    program, beta, gradient, H = model(0)
    assert clipped_newton_point(program, beta, gradient, np.full_like(H, np.nan)) is None
    assert clipped_newton_point(program, beta, gradient, 0 * H) is None


def test_a_step_that_stays_inside_is_newtons():
    program, beta, _, H = model(1)
    gradient = H @ np.full(6, 1e-4)
    beta = beta * 0.5 + 0.5 * program.farthest_point * 0.5
    found = clipped_newton_point(program, beta, gradient, H)
    np.testing.assert_allclose(found, beta - 1e-4, atol=1e-9)


def test_coordinates_that_press_against_the_box_are_held():
    """The rest is at the minimum of the model; on the separation where it would end below."""
    for seed in range(20):
        program, beta, gradient, H = model(seed, length=0.02)
        sides = np.where(np.arange(6) % 3 == 0, np.where(gradient > 0, -1.0, 1.0), beta / 2)
        beta = program.feasible(sides)
        held = (np.abs(beta) == 1.0) & (beta * gradient < 0)
        found = clipped_newton_point(program, beta, gradient, H)
        if np.any((np.abs(found) == 1.0) & ~held):
            continue  # projected onto the box
        np.testing.assert_array_equal(found[held], beta[held])
        slope = (gradient + H @ (found - beta))[~held]
        d = program.difference[~held]
        multiplier = slope @ d / (d @ d)
        np.testing.assert_allclose(slope, multiplier * d, atol=1e-7 * np.abs(gradient).max())
        reach = program.difference @ found
        assert reach >= program.separation * (1 - 1e-9)
        assert abs(multiplier) < 1e-7 or reach == pytest.approx(program.separation, rel=1e-6)
        assert multiplier > -1e-7


def test_where_some_stop_at_the_box_the_others_move_on_to_the_minimum_given_that():
    moved_on = 0
    for seed in range(40):
        program, beta, gradient, H = model(seed)
        program = replace(program, separation=-np.inf)
        once = clipped_newton_point(program, beta, gradient, H.copy(), 1)
        twice = clipped_newton_point(program, beta, gradient, H.copy())
        stopped = np.abs(once) == 1.0
        np.testing.assert_array_equal(twice[stopped], once[stopped])
        if np.any((np.abs(twice) == 1.0) & ~stopped):
            continue  # projected onto the box
        slope = gradient + H @ (twice - beta)
        np.testing.assert_allclose(slope[~stopped], 0.0, atol=1e-7 * np.abs(gradient).max())
        moved_on += np.any(once != twice)
    assert moved_on >= 5


def test_a_point_held_on_all_sides_stays():
    program, _, _, H = model(0)
    corner = program.farthest_point
    found = clipped_newton_point(program, corner, -corner * 3.0, H)
    np.testing.assert_array_equal(found, corner)
    # Pushed inwards it moves.
    assert np.any(clipped_newton_point(program, corner, corner * 3.0, H) != corner)


def test_a_step_that_is_not_finite_gives_none():
    program, beta, _, H = model(0, length=30.0)
    assert clipped_newton_point(program, beta, np.full(6, np.inf), H) is None
