"""From small costs to those asked for: where plain steps lead nowhere soon."""

import time

import numpy as np
import pytest

from lincent import RegularizedLCC
from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import costs
from lincent.solvers.newton.descent import Doubt, descend
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows


def of_many_sizes(m=300, n=6, orders=3, free=True, seed=0):
    """Classes that overlap a little, in rows of sizes over several orders of magnitude."""
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    A = rng.standard_normal((m, n)) + np.linspace(2.0, 0.0, n)
    A *= 10.0 ** rng.uniform(0, orders, m)[:, None]
    return RegularizedProgram(DenseRows(A), sign, np.exp(rng.normal(size=m)), -1.0, 3.0, free)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("orders", [0, 3])
def test_it_leads_to_the_optimum(orders, free):
    program = of_many_sizes(orders=orders, free=free)
    led = costs.approach(program, Whole(program), Controls(tol=1e-6), 1e-10)
    assert led.status is Status.OPTIMAL
    point = certify(program, led.start.beta, led.start.t)
    assert point.relative_gap <= 1e-5
    wanted = descend(program, Whole(program), Controls()).certificate
    assert point.objective == pytest.approx(wanted.objective, rel=1e-6)


def test_the_first_costs_leave_all_rows_between_the_margins():
    program = of_many_sizes(orders=0)
    small = costs.scaled(program, costs._first_scale(program) / 10)
    alpha = descend(small, Whole(small), Controls()).certificate.alpha / small.costs
    assert np.all((alpha > 0) & (alpha < 1))


def test_sums_over_rows_are_of_use_at_other_costs():
    program = of_many_sizes(orders=1)
    inside = np.arange(program.shape[0]) % 3 > 0
    kept = Whole(program)
    kept.factored(inside)
    dearer = costs.scaled(program, 7.0)
    kept.with_costs(dearer, 7.0)
    gradient = np.arange(1.0, program.shape[1] + 1)
    for one, other in zip(
        kept.factored(inside).solve(gradient, 0.5),
        Whole(dearer).factored(inside).solve(gradient, 0.5),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_doubt_ends_a_walk_whose_gap_is_large():
    program = of_many_sizes()
    assert descend(program, Whole(program), Controls(), doubt=Doubt(1, 0.0)).iterations == 1
    assert descend(program, Whole(program), Controls(), doubt=Doubt(1, 1e14)).relative_gap <= 1e-9


def test_it_ends_in_time_and_after_its_steps():
    program = of_many_sizes()
    late = costs.approach(program, Whole(program), Controls(deadline=time.monotonic() - 1), 1e-10)
    assert late.status is Status.TIME_LIMIT
    brief = costs.approach(program, Whole(program), Controls(max_iter=2), 1e-10)
    assert brief.status is not Status.OPTIMAL
    assert brief.steps <= 3


@pytest.mark.parametrize(("m", "n"), [(400, 20), (2_000, 30), (600, 310)])
def test_rows_of_all_sizes_are_certified(m, n):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, m)
    X = rng.standard_normal((m, n)) + np.outer(y, np.linspace(1.0, 0.0, n))
    X = X**3 * np.exp(X) * 10.0 ** rng.integers(0, 3, n)
    model = RegularizedLCC().fit(X, y)
    assert model.duality_gap_ <= 1e-9 * max(1.0, model.objective_)
