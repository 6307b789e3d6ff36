"""The ramp program is the paper's, and its models are above it."""

from dataclasses import replace

import numpy as np
import pytest

from support.ramp_problems import feasible_points, random_problem, value


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


def test_the_constant_of_a_model_is_that_of_the_ramp_or_left_out():
    program, *_ = random_problem(3)
    nowhere = np.zeros(program.shape[0], dtype=bool)
    assert program.upper_model(nowhere).offset == -program.margin * program.costs.sum()
    hard = replace(program, costs=np.where(np.arange(len(program.costs)), program.costs, np.inf))
    assert hard.hard
    assert hard.upper_model(nowhere).offset == 0.0
