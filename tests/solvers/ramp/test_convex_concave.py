"""The ramp program, its convex-concave descent, its line search and the general solvers."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import lcc_program
from lincent.programs.ramp import RampProgram
from lincent.solvers.lp import choose
from lincent.solvers.ramp import convex_concave, scipy_slsqp
from lincent.solvers.ramp.line_search import MOST_COLUMNS, lowest_on_lines, minimum_on_lines
from lincent.solvers.solution import Controls, Status
from support.degenerate import program_of


def random_problem(seed, m=50, n=4, outliers=4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    shift = rng.normal(size=n)
    X = rng.normal(size=(m, n)) + np.outer(y, shift) * 0.5
    far = rng.choice(m, outliers, replace=False)
    X[far] -= np.outer(y[far], shift) * 4
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    rows = y[:, None] * (X - (low + high) / 2)
    costs = rng.uniform(0.5, 3.0, m)
    return RampProgram(DenseRows(rows), costs, 0.05, high - low), X, y


def start_of(program):
    linear = lcc_program(program.rows, program.difference, program.costs, program.margin)
    return choose.solve(linear, "auto", Controls(), np.random.default_rng(0)).certificate.beta


def descend(program, start, **options):
    rng = np.random.default_rng(0)
    return convex_concave.solve(program, start, "auto", Controls(), rng, 100, **options)


def value(program, beta):
    return program.objective(beta, program.rows.dot(beta))


def feasible_points(program, count, seed=0):
    rng = np.random.default_rng(seed)
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    for _ in range(count):
        beta = rng.uniform(-1, 1, program.shape[1])
        yield model.feasible(beta * np.sign(program.difference @ beta))


def paper_value(program, X, y, beta):
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    nearer = np.abs((X - high) @ beta) - np.abs((X - low) @ beta)
    slack = np.maximum(y * nearer, -program.margin)
    return -abs((high - low) @ beta) + program.costs @ slack


def test_objective_is_the_paper_s_with_distances():
    program, X, y = random_problem(0)
    for beta in feasible_points(program, 20):
        expected = paper_value(program, X, y, beta)
        assert value(program, beta) == pytest.approx(expected, abs=1e-12)


def test_every_model_is_above_and_touches_where_it_was_made():
    program, *_ = random_problem(1)
    points = list(feasible_points(program, 20))
    for beta in points:
        z = program.rows.dot(beta)
        model = program.upper_model(program.beyond(beta, z))
        assert model.primal(beta, z) == pytest.approx(program.objective(beta, z), abs=1e-10)
        for other in points:
            above = model.primal(other, program.rows.dot(other))
            assert above >= value(program, other) - 1e-10


def test_a_ray_is_linear_until_the_centers_are_a_margin_apart():
    program, X, y = random_problem(2)
    beta = next(feasible_points(program, 1))
    beta *= program.margin / (program.difference @ beta)
    values = [paper_value(program, X, y, t * beta) for t in (0.25, 0.5, 0.75, 1.0)]
    np.testing.assert_allclose(np.diff(values, 2), 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_descent_is_monotone_and_ends_at_a_local_optimum(seed):
    program, *_ = random_problem(seed)
    found = descend(program, start_of(program))
    assert found.status is Status.OPTIMAL
    assert np.all(np.diff(found.history) <= 0)
    assert value(program, found.beta) == found.objective
    rng = np.random.default_rng(seed)
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    size = np.abs(found.beta).max()
    for _ in range(200):
        near = found.beta + 1e-7 * size * rng.normal(size=found.beta.shape)
        near = model.feasible(near)
        assert value(program, near) >= found.objective - 1e-9


def test_steps_are_limited():
    program, *_ = random_problem(3)
    start = next(feasible_points(program, 1))
    found = convex_concave.solve(program, start, "auto", Controls(), np.random.default_rng(0), 1)
    assert found.steps == 1
    assert found.status is Status.ITERATION_LIMIT


def test_time_is_limited():
    program, *_ = random_problem(3)
    start = next(feasible_points(program, 1))
    late = Controls(deadline=time.monotonic() - 1)
    rng = np.random.default_rng(0)
    assert convex_concave.solve(program, start, "auto", late, rng, 9).status is Status.TIME_LIMIT
    assert scipy_slsqp.solve(program, start, late).status is Status.TIME_LIMIT


@pytest.mark.parametrize("seed", range(5))
def test_minimum_on_a_line_is_that_of_a_fine_grid(seed):
    program, *_ = random_problem(seed)
    beta = next(feasible_points(program, 1, seed))
    lines = np.random.default_rng(seed).normal(size=(len(beta), 6))
    lines[:, 0] = [1, 0, 0, 0]
    lengths, values = minimum_on_lines(program, beta, program.rows.dot(beta), lines)
    for length, found, line in zip(lengths, values, lines.T, strict=True):
        point = beta + length * line
        assert np.abs(point).max() <= 1 + 1e-12
        assert program.difference @ point >= program.margin - 1e-12
        assert value(program, point) == pytest.approx(found, abs=1e-9)
        for t in np.linspace(-3, 3, 2001):
            other = beta + t * line
            if np.abs(other).max() <= 1 and program.difference @ other >= program.margin:
                assert value(program, other) >= found - 1e-9


def test_lines_lower_the_objective_and_stay_monotone():
    gains = []
    for seed in range(15):
        program, *_ = random_problem(seed, outliers=10)
        start = start_of(program)
        plain, further = descend(program, start), descend(program, start, lines=True)
        assert np.all(np.diff(further.history) <= 0)
        gains.append(plain.objective - further.objective)
    assert min(gains) >= -1e-9
    assert max(gains) > 1e-3


def test_no_lines_are_searched_with_many_columns():
    program, *_ = random_problem(0, m=20, n=MOST_COLUMNS + 1, outliers=1)
    beta = next(feasible_points(program, 1))
    assert lowest_on_lines(program, beta, value(program, beta)) is None


@pytest.mark.parametrize("method", scipy_slsqp.METHODS)
def test_general_solver_goes_down_and_stays_feasible(method):
    program, *_ = random_problem(4, m=30, n=3)
    start = start_of(program)
    found = scipy_slsqp.solve(program, start, Controls(max_iter=300), method)
    assert found.objective <= value(program, start)
    assert value(program, found.beta) == found.objective
    assert np.abs(found.beta).max() <= 1
    assert program.difference @ found.beta >= program.margin * (1 - 1e-9)


def test_descent_is_seldom_behind_the_general_solver():
    behind = 0
    for seed in range(40):
        program, *_ = random_problem(seed, m=40, n=3)
        start = start_of(program)
        ours = descend(program, start, lines=True).objective
        theirs = scipy_slsqp.solve(program, start, Controls(max_iter=300)).objective
        behind += ours > theirs + 1e-7 * max(1, abs(theirs))
    assert behind <= 2


def test_models_solved_from_the_last_point_end_where_those_solved_afresh_do(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 20))
    sign = np.where(X[:, 0] + rng.standard_normal(2000) > 0, 1.0, -1.0)
    lcc = program_of(X, sign)
    program = RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference)
    start = choose.solve(lcc, "auto", Controls(), rng).certificate.beta
    used = []
    solve_near = convex_concave.screening.solve

    def watched(*args, **named):
        used.append(named)
        return solve_near(*args, **named)

    monkeypatch.setattr(convex_concave.screening, "solve", watched)
    near = convex_concave.solve(program, start, "auto", Controls(), rng, 100)
    assert near.steps > 1
    assert used
    far = replace(convex_concave.TUNING, near_above=10**9)
    monkeypatch.setattr(convex_concave, "TUNING", far)
    afresh = convex_concave.solve(program, start, "auto", Controls(), rng, 100)
    assert near.status is afresh.status is Status.OPTIMAL
    np.testing.assert_allclose(near.history, afresh.history, rtol=1e-8)
