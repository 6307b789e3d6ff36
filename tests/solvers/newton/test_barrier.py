"""An interior point for the regularized program: equations of its steps, the optimum, the end."""

import time

import numpy as np
import pytest

from lincent import RegularizedLCC
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import barrier
from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import descend
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_is_that_of_newton(name):
    program = make(*PROBLEMS[name])
    found = barrier.solve(program, Controls())
    wanted = descend(program, Exact(program), Controls())
    assert found.status is Status.OPTIMAL
    assert found.certificate.objective == pytest.approx(wanted.certificate.objective, rel=1e-8)
    # The multipliers prove the bound by themselves.
    alpha = found.certificate.alpha
    assert np.all(alpha >= 0.0)
    assert np.all(alpha <= program.costs * (1 + 1e-12))
    assert not program.free or abs(alpha @ program.sign) <= 1e-9 * alpha.sum()
    bound = program.dual(alpha, program.rows.tdot(alpha))
    assert bound == pytest.approx(found.certificate.dual_objective, rel=1e-12)


def of_all_sizes(m=120, n=40, seed=0):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    A = rng.standard_normal((m, n)) * 10.0 ** rng.uniform(0, 5, m)[:, None]
    return RegularizedProgram(DenseRows(A + sign[:, None]), sign, np.ones(m), -1.0, 3.0)


def test_full_steps_solve_the_linear_equations(monkeypatch):
    program, beta, t = of_all_sizes(), np.zeros(40), 0.0
    m = len(program.sign)
    step = barrier.predictor_corrector

    def checked(P, Z, direction, *, equal):
        nonlocal beta, t
        R = np.random.default_rng(0).uniform(-1.0, 1.0, 2 * m) * P * Z
        (dbeta, dt), dP, dZ = direction(R)
        np.testing.assert_allclose(Z * dP + P * dZ, R, atol=1e-9 * float((P * Z).max()))
        alpha = Z[:m] + dZ[:m]
        np.testing.assert_allclose(beta + dbeta, program.rows.tdot(alpha), rtol=1e-6, atol=1e-6)
        assert abs(program.sign @ alpha) <= 1e-6 * np.abs(alpha).sum()
        slack = P + dP
        z = program.positions(program.rows.dot(beta + dbeta), t + dt)
        off = program.high - z - program.width / program.costs * alpha + slack[:m] - slack[m:]
        assert np.abs(off).max() <= 1e-6 * np.abs(slack).max()
        move, length, other = step(P, Z, direction, equal=equal)
        assert length == other
        beta, t = beta + length * move[0][0], t + length * move[0][1]
        return move, length, other

    monkeypatch.setattr(barrier, "predictor_corrector", checked)
    barrier.solve(program, Controls(max_iter=5))


def test_rows_of_five_orders_of_magnitude():
    found = barrier.solve(of_all_sizes(), Controls())
    assert found.status is Status.OPTIMAL
    assert found.iterations <= 60


def test_it_ends_in_time_and_after_its_steps():
    program = of_all_sizes()
    late = barrier.solve(program, Controls(deadline=time.monotonic() - 1))
    assert late.status is Status.TIME_LIMIT
    brief = barrier.solve(program, Controls(max_iter=2))
    assert brief.iterations == 2
    assert brief.status is Status.ITERATION_LIMIT


def test_a_fit_comes_to_it_by_itself():
    rng = np.random.default_rng(1)
    y = (rng.random(450) < 0.2).astype(int)
    X = rng.standard_normal((450, 310)) * 10.0 ** rng.uniform(0, 5, 450)[:, None] + 3 * y[:, None]
    model = RegularizedLCC().fit(X, y)
    assert model.duality_gap_ <= 1e-9
