"""Lines through a local optimum of the ramp problem lead lower."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from lincent import FQCC
from lincent.solvers import ramp
from lincent.solvers.solution import Controls
from support.benchmarks import load_benchmark
from support.ramp_problems import feasible_points, random_problem, start_of, value

ramp_lines = load_benchmark("ramp_lines")


def descend(solver, program, start):
    rng = np.random.default_rng(0)
    return solver.solve(program, start, "auto", Controls(), rng, 100)


def test_line_search_lowers_the_objective(monkeypatch):
    X, y = make_classification(150, 5, flip_y=0.25, class_sep=0.5, random_state=1)
    local = FQCC().fit(X, y).objective_
    monkeypatch.setattr(ramp, "solve", ramp_lines.solve)
    assert FQCC().fit(X, y).objective_ <= local


def test_lines_lower_the_objective_and_stay_monotone():
    gains = []
    for seed in range(15):
        program, *_ = random_problem(seed, outliers=10)
        start = start_of(program)
        plain, further = descend(ramp, program, start), descend(ramp_lines, program, start)
        assert np.all(np.diff(further.history) <= 0)
        gains.append(plain.objective - further.objective)
    assert min(gains) >= -1e-9
    assert max(gains) > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_minimum_on_a_line_is_that_of_a_fine_grid(seed):
    program, *_ = random_problem(seed)
    beta = next(feasible_points(program, 1, seed))
    lines = np.random.default_rng(seed).normal(size=(len(beta), 6))
    lines[:, 0] = [1, 0, 0, 0]
    lengths, values = ramp_lines.minimum_on_lines(program, beta, program.rows.dot(beta), lines)
    for length, found, line in zip(lengths, values, lines.T, strict=True):
        point = beta + length * line
        assert np.abs(point).max() <= 1 + 1e-12
        assert program.difference @ point >= program.margin - 1e-12
        assert value(program, point) == pytest.approx(found, abs=1e-9)
        for t in np.linspace(-3, 3, 2001):
            other = beta + t * line
            if np.abs(other).max() <= 1 and program.difference @ other >= program.margin:
                assert value(program, other) >= found - 1e-9


def test_no_lines_are_searched_with_many_features():
    program, *_ = random_problem(0, m=20, n=ramp_lines.FEATURES + 1, outliers=1)
    beta = next(feasible_points(program, 1))
    assert ramp_lines.lowest_on_lines(program, beta, value(program, beta)) is None
