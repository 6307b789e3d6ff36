"""The lowest point on a line."""

import numpy as np
import pytest

from lincent.solvers.ramp.line_search import MOST_COLUMNS, lowest_on_lines, minimum_on_lines
from support.ramp_problems import feasible_points, random_problem, value


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


def test_no_lines_are_searched_with_many_columns():
    program, *_ = random_problem(0, m=20, n=MOST_COLUMNS + 1, outliers=1)
    beta = next(feasible_points(program, 1))
    assert lowest_on_lines(program, beta, value(program, beta)) is None
