"""One pass over the samples gives what the problem defines."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.regularized import certify
from lincent.solvers.newton.evaluation import Evaluator
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_evaluation_is_what_the_problem_says(name):
    """One pass over the samples, against products with all of them; gradient by differences."""
    program = make(*PROBLEMS[name])
    rng = np.random.default_rng(3)
    evaluator = Evaluator(program)
    beta = 0.3 * rng.standard_normal(program.shape[1]) / np.maximum(1, program.rows.column_scale())
    t = 0.2 if program.free else 0.0
    found, expected = evaluator.at(beta, t), certify(program, beta, t)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    alpha = evaluator.dual_weights(found)
    assert np.all((alpha >= 0) & (alpha <= program.costs * (1 + 1e-12)))
    if program.free:
        assert abs(alpha @ program.sign) <= 1e-12 * alpha.sum()
    assert program.dual(alpha, program.rows.tdot(alpha)) == pytest.approx(found.bound, rel=1e-9)
    step = rng.standard_normal(len(beta)) / np.maximum(1, program.rows.column_scale())
    ends = [evaluator.at(beta + h * step, t + h * program.free).objective for h in (1e-5, -1e-5)]
    slope = found.descent(step, float(program.free))
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("free", [True, False], ids=["free", "midpoint"])
def test_zero_is_evaluated_without_the_samples(free):
    program = make(90, 5, (-1.0, 3.0), 1.0, free, 1.0, 1.0)
    short = Evaluator(program).at_zero()
    long = Evaluator(program).at(np.zeros(5), short.t)
    np.testing.assert_allclose(short.gradient, long.gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(short.u, long.u)
    for name in ("objective", "bound", "slope"):
        assert getattr(short, name) == pytest.approx(getattr(long, name), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("share", [0.35, 0.5, 0.65])
def test_the_threshold_at_zero_balances_the_classes(share):
    program = make(*PROBLEMS["plain"])
    positive = program.sign > 0
    costs = np.where(positive, share / positive.sum(), (1 - share) / (~positive).sum())
    assert Evaluator(replace(program, costs=costs)).at_zero().slope == pytest.approx(0, abs=1e-14)


def test_a_fixed_threshold_stays_at_zero():
    assert Evaluator(make(*PROBLEMS["midpoint"])).at_zero().t == 0.0
