"""Column generation gives the optimum of all columns, and says when it does not."""

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram, certify_l1
from lincent.solvers.bounds import Bounds
from lincent.solvers.newton import lasso
from lincent.solvers.newton.lasso import spread_choice
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from support.constants import set_constants

SMALL = {"all_features": 20, "joining": 10}
LEAVING = {"all_features": 20, "joining": 4, "idle": 1.0}
ALL = {"all_features": 1000}


def kernel_program(m, seed):
    """A problem with the columns of an RBF kernel."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 2))
    sign = np.where((X**2).sum(axis=1) + 0.5 * rng.standard_normal(m) > 1.4, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    return RegularizedProgram(DenseRows(K * sign[:, None]), sign, np.ones(m), -1.0, 3.0)


def solve(program, monkeypatch, constants, **controls):
    set_constants(monkeypatch, lasso, **constants)
    rng = np.random.default_rng(0)
    return lasso.solve_path(program, (1.0,), Controls(**controls), rng)[0]


@pytest.mark.parametrize("tuning", [SMALL, LEAVING])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum_of_all_columns(seed, tuning, monkeypatch):
    program = kernel_program(300, seed)
    found = solve(program, monkeypatch, tuning)
    assert found.status is Status.OPTIMAL
    answer = found.certificate
    again = certify_l1(program, answer.beta, answer.t)
    assert again.objective == pytest.approx(answer.objective, rel=1e-10)
    # The multipliers are feasible in every column, and their bound is the one that is claimed.
    assert np.abs(program.rows.tdot(answer.alpha)).max() <= 1 + 1e-10
    assert program.dual_l1(answer.alpha) == pytest.approx(answer.dual_objective, rel=1e-10)
    whole = solve(program, monkeypatch, ALL).certificate
    assert answer.objective == pytest.approx(whole.objective, rel=1e-8)
    assert np.count_nonzero(answer.beta) < 60


def test_a_gap_that_was_wrong_is_not_believed(monkeypatch):
    """Whatever the search takes for granted, the certificate is computed from all columns."""

    class Closed(Bounds):
        relative_gap = 0.0

    program = kernel_program(300, 0)
    best = solve(program, monkeypatch, ALL).certificate
    monkeypatch.setattr(lasso, "Bounds", Closed)
    solved = solve(program, monkeypatch, SMALL)
    assert solved.status is Status.STALLED
    found = solved.certificate
    assert found.objective > best.objective * (1 + 1e-3)
    assert found.relative_gap > 1e-3
    assert np.abs(program.rows.tdot(found.alpha)).max() <= 1 + 1e-10


def test_time_that_runs_out_leaves_valid_bounds(monkeypatch):
    program = kernel_program(200, 0)
    late = solve(program, monkeypatch, SMALL, deadline=0.0)
    assert late.status is Status.TIME_LIMIT
    best = solve(program, monkeypatch, ALL)
    assert late.certificate.dual_objective <= best.certificate.objective
    assert late.certificate.objective >= best.certificate.dual_objective


def test_a_choice_is_steep_and_spread():
    slopes = np.array([0.5, 3.0, 1.5, 1.2, 9.0, 1.1, 0.2, 2.0])
    assert set(spread_choice(slopes, 10)) == {1, 2, 3, 4, 5, 7}
    chosen = spread_choice(slopes, 4)
    assert len(set(chosen)) == 4
    assert {4, 1, 5} <= set(chosen)  # the steepest two, and the flattest above 1
    assert set(spread_choice(np.array([0.3, 0.9, 0.1]), 1)) == {1}
