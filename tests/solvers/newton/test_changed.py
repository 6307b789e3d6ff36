"""Steps by an older factor and the rows that changed sides since."""

import numpy as np
import pytest

from lincent.solvers.newton import hessian
from lincent.solvers.newton.changed import Changed
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Reader
from support.regularized_problems import PROBLEMS, make


def near_points(program, count, size=0.02):
    """Points close to each other, between which some rows cross a margin."""
    rng, reader = np.random.default_rng(3), Reader(program)
    beta = 0.5 * rng.normal(size=program.shape[1])
    for _ in range(count):
        beta = beta + size * rng.normal(size=program.shape[1])
        yield reader.at(beta, 0.1 if program.free else 0.0)


@pytest.mark.parametrize("name", ["plain", "midpoint", "uneven costs", "square"])
def test_rows_that_come_and_go_give_the_step_of_a_new_factor(name):
    program = make(*PROBLEMS[name])
    first, *others = near_points(program, 5)
    changed = Changed(program, Whole(program).factored(first.inside))
    crossed = 0
    for point in others:
        index = np.flatnonzero(point.inside != first.inside)
        came = np.where(point.inside[index], 1.0, -1.0)
        step, shift = changed.step(index, came, point.gradient, point.slope)
        wanted, t = Whole(program).step(point)
        np.testing.assert_allclose(step, wanted, rtol=1e-7, atol=1e-9)
        assert shift == pytest.approx(t, rel=1e-7, abs=1e-9)
        assert not len(changed.unknown(index))
        crossed += len(index)
    assert crossed


def test_exact_steps_keep_their_factor_while_few_rows_change(monkeypatch):
    program = make(*PROBLEMS["plain"])
    tuning = hessian.Tuning(changed_order=1, changed_share=10.0)
    monkeypatch.setattr(hessian, "TUNING", tuning)
    curvature = Whole(program, stale=0.0)
    first, *others = near_points(program, 4)
    curvature.step(first)
    held = curvature.factor
    for point in others:
        step, _ = curvature.step(point)
        np.testing.assert_allclose(step, Whole(program).step(point)[0], rtol=1e-7, atol=1e-9)
        assert curvature.factor is held
    far = next(near_points(program, 1, size=5.0))
    monkeypatch.setattr(hessian, "TUNING", hessian.Tuning(changed_order=1, changed_share=0.0))
    curvature.step(far)
    assert curvature.factor is not held
