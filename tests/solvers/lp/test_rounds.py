"""Exact rounds from good and bad starts: the bound is valid at every stage, the end is optimal."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import interior_point, rounds, simplex, smoothing
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from support.constants import set_constants
from support.degenerate import program_of
from support.optimality import assert_optimal, dual_value, primal_value


def heavy_program(seed=0, m=4000, n=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    X = rng.standard_normal((m, n))
    X[:, 0] += y
    X[: m // 200] *= 60.0
    sign = np.where(y > 0, 1.0, -1.0)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, np.full(m, 2.0), 0.01)


def search(program, beta, band, controls=None):
    whole = program.rows.all_rows(program.costs, program.margin)
    near = smoothing.evaluate(program, whole, program.feasible(beta), band)
    return rounds.Rounds(program, whole, near, controls or Controls())


@pytest.mark.parametrize("away", [0.001, 0.05, 1.0])
def test_the_optimum_from_near_and_from_far(away, monkeypatch):
    set_constants(monkeypatch, rounds, guessed_rounds=60)
    program = heavy_program()
    optimum = interior_point.solve(program, Controls()).certificate
    rng = np.random.default_rng(1)
    start = optimum.beta + away * np.abs(optimum.beta).max() * rng.standard_normal(5)
    solution = search(program, start, 300).run(0)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    assert solution.certificate.objective == pytest.approx(optimum.objective, rel=1e-9)


def test_rounds_that_are_cut_short_still_bound_the_optimum(monkeypatch):
    set_constants(monkeypatch, rounds, guessed_rounds=1)
    program = heavy_program(1)
    optimum = interior_point.solve(program, Controls()).certificate
    solution = search(program, np.full(5, 0.01), 50).run(0)
    answer = solution.certificate
    assert solution.status is Status.ITERATION_LIMIT
    assert answer.dual_objective <= optimum.objective + 1e-9 * abs(optimum.objective)
    assert answer.objective >= optimum.objective - 1e-9 * abs(optimum.objective)
    assert answer.dual_objective == pytest.approx(
        dual_value(program, np.asarray(answer.alpha), answer.t), rel=1e-9
    )


def test_a_search_that_gets_nowhere_ends_as_stalled(monkeypatch):
    """The band is widened, and in the end another solver is to go on."""
    set_constants(monkeypatch, rounds, guessed_rounds=60)
    program = heavy_program(2)
    stuck = search(program, np.full(5, 0.001), 200)
    widened = []
    monkeypatch.setattr(stuck, "_widen", widened.append)
    monkeypatch.setattr(rounds.Bounds, "relative_gap", 0.5)
    solution = stuck.run(0)
    assert solution.status is Status.STALLED
    assert len(widened) >= 2


@pytest.fixture
def near_the_optimum():
    """A search that has not begun, a little off the optimum, in a box that is not around zero."""
    program = heavy_program(3)
    program = replace(program, lower=program.lower - 0.5, separation=0.02)
    optimum = interior_point.solve(program, Controls()).certificate
    rng = np.random.default_rng(3)
    start = optimum.beta * (1 + 0.05 * rng.standard_normal(5))
    return program, optimum, search(program, start, 300)


def test_a_restricted_program_bounds_the_whole_and_meets_it_at_its_point(near_the_optimum):
    program, _, rounds_ = near_the_optimum
    small = rounds_._restricted()
    here = rounds_.beta
    assert primal_value(small, here) == pytest.approx(primal_value(program, here), rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(20):
        beta = rng.uniform(small.lower, small.upper)
        assert primal_value(small, beta) <= primal_value(program, beta) + 1e-9
    # Its box is the trust region, inside the box of the program.
    np.testing.assert_array_equal(small.lower, np.maximum(program.lower, here - rounds_.radius))
    np.testing.assert_array_equal(small.upper, np.minimum(program.upper, here + rounds_.radius))
    reach = rounds.TRUST * rounds_.width / small.rows.column_scale()
    np.testing.assert_allclose(rounds_.radius, reach, atol=1e-12)
    distance = np.sort(np.abs(program.rows.dot(here) - program.margin))
    assert rounds_.width == pytest.approx(distance[300], rel=0.02)
    assert small.shape[0] == pytest.approx(300, abs=2)


def test_coefficients_at_the_trust_region_are_counted_but_not_those_at_the_box(near_the_optimum):
    program, _, rounds_ = near_the_optimum
    rounds_.beta = np.array([0.0, 0.1, program.upper[2], 0.2, -0.3])
    rounds_.radius = np.full(5, 0.01)
    moves = np.array([0.01, -0.01, 0.0, 0.009, -0.01 * (1 - 1e-8)])
    assert rounds_._held(rounds_.beta + moves) == 3
    rounds_.beta[2] -= 0.01
    assert rounds_._held(program.upper * np.array([9, 9, 1, 9, 9])) == 0


def test_a_bound_is_that_of_its_multipliers_for_all_rows(near_the_optimum):
    program, optimum, rounds_ = near_the_optimum
    point = interior_point.solve(rounds_._restricted(), Controls()).certificate
    rounds_._raise_bound(point)
    first = rounds_.bounds.bound
    split, alpha, combined, t = rounds_.bounds.dual
    whole = np.asarray(split.multipliers(alpha, combined))
    assert first == pytest.approx(dual_value(program, whole, t), rel=1e-10)
    assert first <= optimum.objective + 1e-9
    # A worse one is not taken.
    rounds_._raise_bound(replace(point, alpha=0.0 * point.alpha))
    assert rounds_.bounds.bound == first


def gone_on(rounds_, misplaced, held, gap):
    """What the next round would start with: radius, rows, whether it begins at all."""
    band = rounds_.split.rows.shape[0]
    found = rounds_.split.check(rounds_.beta)
    begun = rounds_._go_on(replace(found, misplaced=int(misplaced * band)), held, gap)
    return begun, rounds_.split.rows.shape[0] / band


def test_a_step_that_was_too_long_is_followed_by_shorter_ones_in_a_wider_band(near_the_optimum):
    _, _, rounds_ = near_the_optimum
    radius = rounds_.radius
    begun, wider = gone_on(rounds_, 0.51, 1, 0.1)
    assert begun
    np.testing.assert_allclose(rounds_.radius, radius / 4, atol=1e-12)
    assert wider == pytest.approx(1.5, rel=0.05)
    assert (rounds_.retreats, rounds_.gaps) == (1, [])
    rounds_.retreats = rounds.MOST_RETREATS
    gone_on(rounds_, 0.51, 1, 0.1)
    assert rounds_.gaps == [0.1]


def test_a_step_that_was_held_back_may_be_longer_next_time(near_the_optimum):
    _, _, rounds_ = near_the_optimum
    radius, tol = rounds_.radius, rounds_.inner_tol
    gone_on(rounds_, 0.0, 2, 0.1)
    np.testing.assert_allclose(rounds_.radius, radius * 4, atol=1e-12)
    gone_on(rounds_, 0.1, 2, 0.001)
    np.testing.assert_allclose(rounds_.radius, radius * 16, atol=1e-12)
    assert rounds_.inner_tol == tol
    gone_on(rounds_, 0.1, 0, 1e-4)
    assert rounds_.inner_tol == tol
    gone_on(rounds_, 0.0, 0, 1e-5)  # neither: only digits are missing
    assert rounds_.inner_tol == pytest.approx(1e-3 * tol)
    np.testing.assert_allclose(rounds_.radius, radius * 16, atol=1e-12)


def test_a_gap_that_does_not_halve_widens_the_band_twice_and_then_ends_it(near_the_optimum):
    _, _, rounds_ = near_the_optimum
    for _ in range(2):
        grown = [gone_on(rounds_, 0.0, 0, 0.1 - 0.001 * k) for k in range(4)]
        assert [begun for begun, _ in grown] == [True] * 4
        assert [wider for _, wider in grown[:3]] == [1.0] * 3
        assert grown[3][1] == pytest.approx(4, rel=0.3)
    assert rounds_.widenings == 2
    assert [gone_on(rounds_, 0.0, 0, 0.05)[0] for _ in range(4)] == [True, True, True, False]
    # Where it halves there is no end.
    _, _, other = near_the_optimum
    other.widenings, other.gaps = 0, []
    assert all(gone_on(other, 0.0, 0, 0.1 * 0.7**k)[0] for k in range(12))
    assert other.widenings == 0


def test_no_more_rows_than_there_are_join(near_the_optimum):
    program, _, rounds_ = near_the_optimum
    rounds_._widen(10.0**9)
    assert rounds_.split.rows.shape[0] == program.shape[0]


def test_so_many_rounds_from_a_point_that_is_near():
    counts = []
    for seed in range(4):
        program = heavy_program(seed)
        optimum = interior_point.solve(program, Controls()).certificate
        rng = np.random.default_rng(seed)
        lines = []
        start = optimum.beta * (1 + 0.02 * rng.standard_normal(5))
        found = search(program, start, 200, Controls(tell=lines.append)).run(7)
        assert found.status is Status.OPTIMAL
        assert found.iterations > 7
        np.testing.assert_array_equal(found.scale, search(program, start, 200).scale)
        counts.append(sum(line.startswith("round") for line in lines))
    assert np.mean(counts) <= 3


@pytest.mark.parametrize("reason", ["deadline", "rounds"])
def test_the_end_of_a_search_is_named(reason, near_the_optimum, monkeypatch):
    program, optimum, _ = near_the_optimum
    controls = Controls(deadline=0.0) if reason == "deadline" else Controls()
    set_constants(monkeypatch, rounds, guessed_rounds=2, inner_tol=1e5)
    found = search(program, np.full(5, 0.5), 20, controls).run(0)
    wanted = Status.TIME_LIMIT if reason == "deadline" else Status.ITERATION_LIMIT
    assert found.status is wanted
    answer = found.certificate
    assert answer.dual_objective <= optimum.objective + 1e-9 <= answer.objective + 2e-9


def some_program(m=300, n=4):
    rng = np.random.default_rng(m)
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    return program_of(rng.normal(size=(m, n)) + 0.3 * y[:, None], y)


@pytest.mark.parametrize("small", [True, False])
def test_a_part_is_solved_by_what_suits_its_size(small, monkeypatch):
    program = some_program()
    monkeypatch.setattr(simplex, "is_applicable", lambda m, n: small)
    found = rounds.solve_subproblem(program, Controls())
    assert_optimal(program, found)
    assert found.solver == (simplex.NAME if small else interior_point.NAME)


def test_steps_continue_where_pivots_end(monkeypatch):
    program = some_program()
    monkeypatch.setattr(simplex, "_solve_band", lambda *_: None)
    steps = simplex.solve(program, Controls()).iterations
    found, alone = (
        rounds.solve_subproblem(program, Controls()),
        interior_point.solve(program, Controls()),
    )
    assert_optimal(program, found)
    assert found.solver == interior_point.NAME
    assert found.iterations == steps + alone.iterations
