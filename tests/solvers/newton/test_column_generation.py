"""Column generation gives the optimum of all columns, and says when it does not."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram, certify_l1
from lincent.solvers.newton import column_generation, lasso
from lincent.solvers.newton.column_generation import Tuning
from lincent.solvers.newton.lasso import spread_choice
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from lincent.sources.kernel import KernelColumns

SMALL = Tuning(least=20, joining=10, enough=30, few=3, busy=1.0)
LEAVING = replace(SMALL, joining=4, enough=4, idle=1.0)
FORMED = replace(SMALL, busy=0.0)
NESTED = replace(SMALL, thinner=3, least_priced=40)


def kernel_problem(m, seed, monkeypatch):
    """An RBF kernel as columns, and the same program with the matrix formed."""
    monkeypatch.setattr("lincent.sources.kernel.BLOCK_ENTRIES", m * 16)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 2))
    sign = np.where((X**2).sum(axis=1) + 0.5 * rng.standard_normal(m) > 1.4, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    rows = KernelColumns(lambda i, j: K[np.ix_(i, j)], sign, m)
    costs = np.ones(m)
    program = RegularizedProgram(rows, sign, costs, -1.0, 3.0)
    formed = RegularizedProgram(DenseRows(K * sign[:, None]), sign, costs, -1.0, 3.0)
    return program, rows, formed


@pytest.mark.parametrize("tuning", [SMALL, LEAVING, FORMED, NESTED])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum_of_all_columns(seed, tuning, monkeypatch):
    program, rows, formed = kernel_problem(300, seed, monkeypatch)
    rng = np.random.default_rng(seed)
    found = column_generation.solve(program, rows, Controls(), rng, tuning)
    assert found.status is Status.OPTIMAL
    answer = found.certificate
    again = certify_l1(formed, answer.beta, answer.t)
    assert again.objective == pytest.approx(answer.objective, rel=1e-10)
    # The multipliers are feasible in every column, and their bound is the one that is claimed.
    assert np.abs(formed.rows.tdot(answer.alpha)).max() <= 1 + 1e-10
    assert formed.dual_l1(answer.alpha) == pytest.approx(answer.dual_objective, rel=1e-10)
    whole = lasso.solve_path(formed, (1.0,), Controls(), rng)[0].certificate
    assert answer.objective == pytest.approx(whole.objective, rel=1e-8)
    assert np.count_nonzero(answer.beta) < 60


def test_a_price_that_was_wrong_is_not_believed(monkeypatch):
    """Whatever the search takes for granted, the certificate is computed from all columns."""
    program, rows, formed = kernel_problem(300, 0, monkeypatch)
    nobody = np.empty(0, dtype=np.intp)
    monkeypatch.setattr(column_generation._Prices, "update", lambda *given: (True, 1.0, nobody))
    solved = column_generation.solve(program, rows, Controls(), np.random.default_rng(0), SMALL)
    assert solved.status is Status.STALLED
    found = solved.certificate
    best = lasso.solve_path(formed, (1.0,), Controls(), np.random.default_rng(0))[0].certificate
    assert found.objective > best.objective * (1 + 1e-3)
    assert found.relative_gap > 1e-3
    assert np.abs(formed.rows.tdot(found.alpha)).max() <= 1 + 1e-10


def test_time_that_runs_out_leaves_valid_bounds(monkeypatch):
    program, rows, formed = kernel_problem(200, 0, monkeypatch)
    late = column_generation.solve(
        program, rows, Controls(deadline=0.0), np.random.default_rng(0), SMALL
    )
    assert late.status is Status.TIME_LIMIT
    best = lasso.solve_path(formed, (1.0,), Controls(), np.random.default_rng(0))[0]
    assert late.certificate.dual_objective <= best.certificate.objective
    assert late.certificate.objective >= best.certificate.dual_objective


def test_a_choice_is_steep_and_spread():
    slopes = np.array([0.5, 3.0, 1.5, 1.2, 9.0, 1.1, 0.2, 2.0])
    assert set(spread_choice(slopes, 10)) == {1, 2, 3, 4, 5, 7}
    chosen = spread_choice(slopes, 4)
    assert len(set(chosen)) == 4
    assert {4, 1, 5} <= set(chosen)  # the steepest two, and the flattest above 1
    assert set(spread_choice(np.array([0.3, 0.9, 0.1]), 1)) == {1}
