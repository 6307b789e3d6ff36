"""Newton's method: the best threshold, the minimum from anywhere, how it ends."""

import time

import numpy as np
import pytest

from lincent.problems.regularized import certify
from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import Start, best_threshold, descend, lead
from lincent.solvers.solution import Controls, Status
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", ["plain", "uneven costs", "narrow margins", "heavy costs"])
def test_the_best_threshold_balances_the_classes(name):
    program, rng = make(*PROBLEMS[name]), np.random.default_rng(0)
    projected = program.rows.dot(rng.normal(size=program.shape[1]))
    for guess in (0.0, 100.0, -100.0):
        t = best_threshold(program, projected, guess)
        sums = program.dual_sums(projected, t)
        assert abs(sums.excess) <= 1e-10 * max(sums.total, 1e-300)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_minimum_is_reached_from_anywhere(name):
    program, rng = make(*PROBLEMS[name]), np.random.default_rng(1)
    beta = rng.normal(size=program.shape[1]) / program.rows.column_scale()
    for start in (None, Start(beta, 1.0 if program.free else 0.0)):
        found = descend(program, Exact(program), Controls(), start)
        assert found.status is Status.OPTIMAL
        assert certify(program, found.certificate.beta, found.certificate.t).objective == (
            pytest.approx(found.certificate.objective, rel=1e-9)
        )


def test_it_says_how_it_ended():
    program = make(*PROBLEMS["uneven costs"])
    start = Start(np.full(5, 3.0), 0.0)
    short = descend(program, Exact(program), Controls(max_iter=1), start)
    assert short.status is Status.ITERATION_LIMIT
    late = descend(program, Exact(program), Controls(deadline=time.monotonic() - 1), start)
    assert late.status is Status.TIME_LIMIT
    assert late.relative_gap > 1e-9


def test_a_lead_ends_a_step_from_the_solution():
    program = make(*PROBLEMS["plain"])
    best = descend(program, Exact(program), Controls(tol=1e-13)).certificate
    led = lead(program, Exact(program), Controls(tol=1e-3))
    assert led.steps >= 1
    assert led.status is Status.OPTIMAL
    np.testing.assert_allclose(led.start.beta, best.beta, atol=1e-2)
    short = lead(program, Exact(program), Controls(tol=1e-12, max_iter=1))
    assert short.status is Status.ITERATION_LIMIT


def test_the_threshold_moves_where_no_sample_is_active():
    """Samples that are all beyond their margins have no curvature, and the threshold a slope."""
    from lincent import RegularizedLCC

    model = RegularizedLCC(C=2.0, class_weight={0: 1000.0, 1: 0.01})
    assert model.fit(np.eye(50), np.arange(50) % 2).duality_gap_ <= 1e-9  # warnings are errors
