"""The general solver goes down, stays feasible, ends in time, and is seldom ahead."""

import time

import numpy as np

from lincent.solvers.solution import Controls, Status
from support.benchmarks import load_benchmark
from support.ramp_problems import feasible_points, random_problem, start_of, value

ramp_lines, ramp_slsqp = load_benchmark("ramp_lines"), load_benchmark("ramp_slsqp")


def test_general_solver_goes_down_and_stays_feasible():
    program, *_ = random_problem(4, m=30, n=3)
    start = start_of(program)
    found = ramp_slsqp.solve(program, start, Controls(max_iter=300))
    assert found.objective <= value(program, start)
    assert value(program, found.beta) == found.objective
    assert np.abs(found.beta).max() <= 1
    assert program.difference @ found.beta >= program.margin * (1 - 1e-9)


def test_time_and_iterations_are_limited():
    program, *_ = random_problem(3)
    start = next(feasible_points(program, 1))
    late = Controls(deadline=time.monotonic() - 1)
    assert ramp_slsqp.solve(program, start, late).status is Status.TIME_LIMIT
    one = Controls(max_iter=1)
    assert ramp_slsqp.solve(program, start, one).status is Status.ITERATION_LIMIT


def descend(program, start):
    rng = np.random.default_rng(0)
    return ramp_lines.solve(program, start, "auto", Controls(), rng, 100)


def test_descent_is_seldom_behind_the_general_solver():
    behind = 0
    for seed in range(40):
        program, *_ = random_problem(seed, m=40, n=3)
        start = start_of(program)
        ours = descend(program, start).objective
        theirs = ramp_slsqp.solve(program, start, Controls(max_iter=300)).objective
        behind += ours > theirs + 1e-7 * max(1, abs(theirs))
    assert behind <= 2
