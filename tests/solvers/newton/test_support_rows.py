"""Where few rows decide: solved by those, certified by all."""

import time

import numpy as np
import pytest

from lincent import RegularizedLCC
from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import support_rows
from lincent.solvers.newton.descent import Start, descend
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows


def apart(distance, m=600, n=8, free=True, seed=0):
    """Classes at a distance, with tails toward each other."""
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.3, 1.0, -1.0)
    A = rng.standard_t(5, (m, n))
    A[:, 0] += distance
    return RegularizedProgram(DenseRows(A), sign, np.exp(rng.normal(size=m)), -1.0, 3.0, free)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n", [3, 8, 200])
def test_few_rows_give_the_optimum_of_all(n, free):
    program = apart(12.0, n=n, free=free)
    start = np.zeros(n)
    start[0] = 0.6
    found = support_rows.solve(program, Start(start, 0.0), Controls())
    wanted = descend(program, Whole(program), Controls(tol=1e-12)).certificate
    assert found is not None
    assert found.status is Status.OPTIMAL
    assert found.certificate.objective == pytest.approx(wanted.objective, rel=1e-7)
    np.testing.assert_allclose(found.certificate.beta, wanted.beta, atol=1e-4)
    # The multipliers prove the bound by themselves.
    alpha, rows = found.certificate.alpha, program.rows
    assert np.all(alpha >= 0.0)
    assert np.all(alpha <= program.costs * (1 + 1e-12))
    assert abs(alpha @ program.sign) <= 1e-9 * alpha.sum() or not free
    bound = program.dual(alpha, rows.tdot(alpha))
    assert bound == pytest.approx(found.certificate.dual_objective, rel=1e-9, abs=1e-12)
    assert certify(program, found.certificate.beta, found.certificate.t).relative_gap <= 1e-7


def test_rows_that_a_poor_start_does_not_see_join():
    program = apart(12.0, n=20)
    wrong = np.zeros(20)
    wrong[1] = 50.0  # half of all rows are short here, and the others are not those that decide
    assert support_rows.solve(program, Start(wrong, 0.0), Controls()) is None
    wrong[:2] = 10.0, 5.0
    found = support_rows.solve(program, Start(wrong, 0.0), Controls())
    assert found is not None
    assert found.relative_gap <= 1e-9


def test_where_many_decide_it_says_so():
    program = apart(0.5, n=8)
    assert support_rows.solve(program, Start(np.zeros(8), 0.0), Controls()) is None


def test_it_ends_in_time():
    program = apart(12.0)
    start = Start(np.full(8, 0.5), 0.0)
    late = support_rows.solve(program, start, Controls(deadline=time.monotonic() - 1))
    assert late is None or late.status is Status.TIME_LIMIT


def test_a_fit_comes_to_it_by_itself(monkeypatch):
    """Heavy tails, classes apart: steps over all rows take long, and those of few rows do not."""
    asked = []
    solve = support_rows.solve

    def listening(*args):
        asked.append(solve(*args))
        return asked[-1]

    monkeypatch.setattr(support_rows, "solve", listening)
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 400)
    X = rng.standard_t(3, (800, 30)) ** 3
    X[:, 0] = 40.0 * (y - 0.5) + rng.standard_normal(800)
    model = RegularizedLCC().fit(X, y)
    assert len(asked) == 1
    assert asked[0] is not None
    assert model.duality_gap_ <= 1e-9 * max(1.0, model.objective_)
    assert model.score(X, y) == 1.0
