"""The first step from zero."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.newton import start
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Reader
from lincent.solvers.newton.ridge import solve
from lincent.solvers.solution import Controls
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("share", [0.35, 0.5, 0.65])
def test_where_all_rows_are_at_zero_both_classes_pull_the_same(share):
    program = make(*PROBLEMS["plain"])
    positive = program.sign > 0
    costs = np.where(positive, share / positive.sum(), (1 - share) / (~positive).sum())
    reader = Reader(replace(program, costs=costs))
    assert reader.at_zero(start.even_at_zero(reader)).slope == pytest.approx(0, abs=1e-14)


def test_without_a_threshold_nothing_is_evened():
    assert start.even_at_zero(Reader(make(*PROBLEMS["midpoint"]))) == 0.0


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_first_step_goes_down_or_stays_at_zero(name):
    program = make(*PROBLEMS[name])
    zero, found, best = way(program)
    assert best - 1e-9 * abs(best) <= found <= zero
    if name in ("plain", "midpoint", "light costs", "uneven columns"):
        assert zero - found >= 0.5 * (zero - best)


def way(program):
    """The objective at zero, after the first step, and at the solution."""
    reader = Reader(program)
    zero = reader.at_zero(start.even_at_zero(reader)).objective
    best = solve(program, Controls(), np.random.default_rng(0)).certificate.objective
    return zero, start.first_step(reader, Whole(program), Controls()).objective, best


def test_few_of_many_rows_are_enough(monkeypatch):
    program = make(800, 5, (-1.0, 3.0), 1.0, True, 0.0, 1.0)
    zero, whole, best = way(program)
    monkeypatch.setattr(start, "FEW_ROWS", 200)
    monkeypatch.setattr(start, "MANY_COLUMNS", 1)
    thinned = way(program)[1]
    assert thinned != whole
    assert zero - thinned >= 0.5 * (zero - best)


def test_rows_without_extent_stay_at_zero():
    program = make(40, 3, (-1.0, 3.0), 1e-300, True, 0.0, 1.0)
    assert np.all(np.isfinite(start.first_step(Reader(program), Whole(program), Controls()).beta))
