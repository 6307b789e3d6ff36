"""One read of the rows says what the problem says."""

import numpy as np
import pytest

from lincent.problems.regularized import certify
from lincent.solvers.newton.oracle import Reader
from support.regularized_problems import PROBLEMS, make


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_reading_is_what_the_problem_says(name):
    """One sweep over the rows, against products with all of them; gradient by differences."""
    program = make(*PROBLEMS[name])
    rng = np.random.default_rng(3)
    reader = Reader(program)
    beta = 0.3 * rng.standard_normal(program.shape[1]) / np.maximum(1, program.rows.column_scale())
    t = 0.2 if program.free else 0.0
    found, known = reader.at(beta, t), certify(program, beta, t)
    assert found.objective == pytest.approx(known.objective, rel=1e-12)
    alpha = reader.multipliers(found)
    assert np.all((alpha >= 0) & (alpha <= program.costs * (1 + 1e-12)))
    if program.free:
        assert abs(alpha @ program.sign) <= 1e-12 * alpha.sum()
    assert program.dual(alpha, program.rows.tdot(alpha)) == pytest.approx(found.bound, rel=1e-9)
    step = rng.standard_normal(len(beta)) / np.maximum(1, program.rows.column_scale())
    ends = [reader.at(beta + h * step, t + h * program.free).objective for h in (1e-5, -1e-5)]
    slope = found.descent(step, float(program.free))
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("free", [True, False], ids=["free", "midpoint"])
def test_zero_is_read_without_the_rows(free):
    program = make(90, 5, (-1.0, 3.0), 1.0, free, 1.0, 1.0)
    t = 0.4 if free else 0.0
    short, long = Reader(program).at_zero(t), Reader(program).at(np.zeros(5), t)
    np.testing.assert_allclose(short.gradient, long.gradient, rtol=1e-10)
    np.testing.assert_allclose(short.pull, long.pull)
    for name in ("objective", "bound", "slope"):
        assert getattr(short, name) == pytest.approx(getattr(long, name), rel=1e-10)
