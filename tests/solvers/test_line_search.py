"""Line searches end where a piecewise linear slope changes its sign."""

import pytest

from lincent.solvers.line_search import Bracket, bisect_step


def slope_of(zero):
    """A slope with two breakpoints that is zero at ``zero``."""
    return lambda x: (x - zero) * (10.0 if x > zero else 1.0) + (0.5 * (x - 2 * zero) > 0)


@pytest.mark.parametrize("zero", [0.003, 0.4, 0.99])
def test_bisection_stays_within_the_step(zero):
    length = bisect_step(slope_of(zero), width=1e-3)
    assert zero * (1 - 2e-3) <= length <= zero


def test_bisection_takes_a_full_step_that_still_descends():
    assert bisect_step(lambda x: x - 5.0, width=0.1) == 1.0


@pytest.mark.parametrize("zero", [0.003, 0.4, 1.7, 300.0])
def test_the_bracket_closes_on_the_zero(zero):
    slope, length = slope_of(zero), 1.0
    bracket = Bracket(slope(0.0))
    for _ in range(60):
        value = slope(length)
        if abs(value) <= 1e-9 * zero:
            break
        length = bracket.next(length, value)
    assert length == pytest.approx(zero, rel=1e-6)
