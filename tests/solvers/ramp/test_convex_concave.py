"""The convex-concave descent goes down to a local optimum."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.ramp import RampProgram
from lincent.solvers.lp import choose
from lincent.solvers.ramp import convex_concave
from lincent.solvers.solution import Controls, Status
from support.degenerate import program_of
from support.ramp_problems import feasible_points, random_problem, start_of, value


def descend(program, start, **options):
    rng = np.random.default_rng(0)
    return convex_concave.solve(program, start, "auto", Controls(), rng, 100, **options)


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


def test_where_no_newton_step_leads_lower_the_first_model_is_minimized(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 20))
    lcc = program_of(X, np.where(X[:, 0] + rng.standard_normal(2000) > 0, 1.0, -1.0))
    program = RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference)
    start = choose.solve(lcc, "auto", Controls(), rng).certificate.beta
    monkeypatch.setattr(convex_concave, "approach", lambda program, start, controls: start)
    minimized, plain = [], convex_concave._minimum
    monkeypatch.setattr(
        convex_concave, "_minimum", lambda *given: minimized.append(1) or plain(*given)
    )
    found = convex_concave.solve(program, start, "auto", Controls(), rng, 100)
    assert minimized
    assert found.status is Status.OPTIMAL


def test_a_first_model_solved_from_the_start_ends_where_one_solved_afresh_does(monkeypatch):
    monkeypatch.setattr(convex_concave, "worthwhile", lambda program: False)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 20))
    sign = np.where(X[:, 0] + rng.standard_normal(2000) > 0, 1.0, -1.0)
    lcc = program_of(X, sign)
    program = RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference)
    start = choose.solve(lcc, "auto", Controls(), rng).certificate.beta
    afresh = convex_concave.solve(program, start, "auto", Controls(), rng, 1)
    used = []
    solve_near = convex_concave.screening.solve

    def watched(*args, **named):
        used.append(named)
        return solve_near(*args, **named)

    monkeypatch.setattr(convex_concave.screening, "solve", watched)
    monkeypatch.setattr(convex_concave, "TUNING", replace(convex_concave.TUNING, near_above=1000))
    near = convex_concave.solve(program, start, "auto", Controls(), rng, 1)
    assert used
    np.testing.assert_allclose(near.history, afresh.history, rtol=1e-8)
