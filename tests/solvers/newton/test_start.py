"""The first step from zero, and block pivoting."""

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import start
from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import descend
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Evaluator
from lincent.solvers.newton.ridge import solve_path
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_first_step_goes_down_or_stays_at_zero(name):
    program = make(*PROBLEMS[name])
    zero, found, best = objectives(program)
    assert best - 1e-9 * abs(best) <= found <= zero
    if name in ("plain", "midpoint", "light costs", "uneven columns"):
        assert zero - found >= 0.5 * (zero - best)


def objectives(program):
    """The objective at zero, after the first step, and at the solution."""
    evaluator = Evaluator(program)
    zero = evaluator.at_zero().objective
    (best,) = solve_path(program, (1.0,), Controls(), np.random.default_rng(0))
    return (
        zero,
        start.first_step(evaluator, Exact(program), Controls()).objective,
        best.certificate.objective,
    )


def test_samples_without_extent_stay_at_zero():
    program = make(40, 3, (-1.0, 3.0), 1e-300, True, 0.0, 1.0)
    assert np.all(
        np.isfinite(start.first_step(Evaluator(program), Exact(program), Controls()).beta)
    )


def separable(m, n, free=True, seed=0):
    """Classes that a direction tells apart, uneven costs."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n))
    A += 0.5 * np.ones(n) / np.sqrt(n)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    return RegularizedProgram(DenseRows(A), sign, rng.uniform(0.5, 2.0, m), -1.0, 3.0, free)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [(40, 200), (60, 150), (100, 400)])
def test_sets_end_at_the_optimum(shape, free):
    program = separable(*shape, free)
    found = start.first_step(Evaluator(program), Dual(program), Controls())
    assert certify(program, found.beta, found.t).relative_gap <= 1e-10
    wanted = descend(program, Exact(program), Controls(tol=1e-12)).certificate
    np.testing.assert_allclose(found.beta, wanted.beta, atol=1e-6)


def test_samples_beyond_the_lower_margin_are_not_separated():
    program = separable(200, 90)
    assert start._is_separated(program, np.zeros(200), Dual(program))
    assert not start._is_separated(program, np.full(200, -2.0), Dual(program))


def test_it_does_not_end_above_where_it_began(monkeypatch):
    """Sets that are too few, or an optimum that the lower margin moves: the lowest point counts."""
    program, rng = separable(300, 20), np.random.default_rng(1)
    for sets in (1, 2, 40):
        monkeypatch.setattr(start, "SETS", sets)
        beta = rng.standard_normal(20)
        found = start.block_pivoting(Evaluator(program), Dual(program), Controls(), beta, 0.3)
        best = descend(program, Exact(program), Controls(tol=1e-12)).certificate.objective
        assert best * (1 - 1e-9) <= found.objective < Evaluator(program).at(beta, 0.3).objective


def test_no_set_is_begun_after_the_deadline():
    program, steps = separable(100, 400), []

    class Counted(Dual):
        def step(self, point):
            steps.append(1)
            return super().step(point)

    start.block_pivoting(Evaluator(program), Counted(program), Controls(), np.zeros(400), 0.0)
    taken = len(steps)
    late = Controls(deadline=0.0)
    start.block_pivoting(Evaluator(program), Counted(program), late, np.zeros(400), 0.0)
    assert taken > 1
    assert len(steps) == taken + 1
