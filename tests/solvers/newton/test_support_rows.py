"""Where few samples decide: solved by those, certified by all."""

import time

import numpy as np
import pytest

from lincent import RegularizedLCC
from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import support_rows
from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import Start, descend
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
def test_few_samples_give_the_optimum_of_all(n, free):
    program = apart(12.0, n=n, free=free)
    start = np.zeros(n)
    start[0] = 0.6
    found = support_rows.solve(program, Start(start, 0.0), Controls())
    wanted = descend(program, Exact(program), Controls(tol=1e-12)).certificate
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


def test_samples_that_a_poor_start_misses_join():
    program = apart(12.0, n=20)
    wrong = np.zeros(20)
    wrong[1] = 50.0  # half of all samples are short here, and the others are not those that decide
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


@pytest.mark.parametrize(("features", "used"), [(310, True), (30, False)])
def test_fits_with_many_features_use_it(monkeypatch, features, used):
    """Classes of three clusters at a large C: with few features other routes are faster."""
    results = []
    solve = support_rows.solve

    def recorded(*args):
        results.append(solve(*args))
        return results[-1]

    monkeypatch.setattr(support_rows, "solve", recorded)
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 6, 900)
    centers, width = 1.5 * rng.standard_normal((6, features)), rng.uniform(0.3, 2.0, 6)
    X = rng.standard_normal((900, features)) * width[cluster, None] + centers[cluster]
    y = (cluster >= 3).astype(int)
    model = RegularizedLCC(C=1e4).fit(X, y)
    assert bool(results and results[-1] is not None) is used
    assert model.duality_gap_ <= 1e-9
    assert model.score(X, y) == 1.0
