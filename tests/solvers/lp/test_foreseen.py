"""Guesses of the next point of a path: exact where the path is straight, never above the last."""

import numpy as np
import pytest

from lincent.solvers.lp import choose
from lincent.solvers.lp.foreseen import Guide, Point, foresee
from lincent.solvers.solution import Controls
from support.degenerate import program_of


def program_at(margin, keep=slice(None), seed=0):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(300) % 2, 1.0, -1.0)
    X = rng.normal(size=(300, 4)) + 0.5 * sign[:, None]
    return program_of(X[keep], sign[keep], margin=margin)


def optimum(program):
    beta = choose.solve(program, "auto", Controls(), np.random.default_rng(0)).certificate.beta
    return Point(program.margin, beta, program.rows.dot(beta))


def test_a_path_that_scales_is_foreseen_exactly():
    before, last, wanted = (optimum(program_at(margin)) for margin in (0.04, 0.02, 0.01))
    found = foresee(program_at(0.01), last, before, None)
    np.testing.assert_allclose(found.beta, wanted.beta, rtol=1e-9)
    np.testing.assert_allclose(found.projected, wanted.projected, rtol=1e-9)
    assert found.turned(wanted) == found.turned(last) == 0
    alone = foresee(program_at(0.01), last, None, None)
    np.testing.assert_array_equal(alone.beta, last.beta)


def test_a_path_of_nearly_the_same_rows_is_a_guide():
    others = [optimum(program_at(margin, slice(0, 280))).beta for margin in (1.0, 2.0)]
    before, last = optimum(program_at(4.0)), optimum(program_at(2.0))
    program = program_at(1.0)
    wanted = optimum(program)
    found = foresee(program, last, before, Guide(*others))
    plain = foresee(program, last, before, None)

    def above(point):
        return program.primal(point.beta, point.projected) - program.primal(*wanted[1:])

    assert 0.0 <= above(found) < 0.5 * above(plain)
    np.testing.assert_array_equal(found.projected, program.rows.dot(found.beta))


@pytest.mark.parametrize("margin", [1.5, 2.5])
def test_a_bad_guess_is_not_taken_and_every_guess_is_feasible(margin):
    last = optimum(program_at(2.0))
    program = program_at(margin)
    bad = Guide(-10.0 * last.beta, 10.0 * last.beta)
    found = foresee(program, last, None, bad)
    assert np.abs(found.beta).max() <= 1.0
    if margin < 2.0:
        np.testing.assert_array_equal(found.beta, last.beta)
    else:
        assert program.difference @ found.beta >= margin * (1 - 1e-9)


def test_rows_turn_where_they_pass_the_margin():
    here = Point(1.0, np.zeros(1), np.array([0.5, 1.5, 3.0, 0.9]))
    there = Point(2.0, np.zeros(1), np.array([2.5, 1.5, 3.0, 0.9]))
    assert here.turned(there) == there.turned(here) == 2
    assert here.turned(here) == 0
