"""Programs of any scale have the solution of the one in their own unit, digit for digit."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp import dispatch, scaling
from lincent.solvers.lp.scaling import EXTREME, FAR, TINY, USUAL, of_unit_scale
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.degenerate import program_of
from support.optimality import dual_value, primal_value

POWERS = (-1000, -700, -498, -60, 60, 498, 700, 1000)


def plain(seed=0, margin=0.01, m=60, n=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    sign = np.where(X[:, 0] + rng.standard_normal(m) > 0, 1.0, -1.0)
    return program_of(X, sign, margin=margin)


def times(program, rows, point):
    """The program with rows and margins multiplied."""
    return replace(
        program,
        rows=DenseRows(program.rows.dense() * rows),
        linear=program.linear * rows,
        difference=program.difference * rows,
        margin=program.margin * point,
        separation=program.separation * point,
        offset=program.offset * point,
    )


def solved(program):
    return dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))


def test_an_ordinary_program_is_left_alone():
    program = plain()
    scaled = of_unit_scale(program)
    assert scaled.near is program
    assert scaled.whole is program
    answer = solved(program).certificate
    assert scaled.back(answer) is answer


@pytest.mark.parametrize("power", POWERS)
def test_rows_and_margin_of_any_scale(power):
    program, unit = plain(), 2.0**power
    expected, found = solved(program).certificate, solved(times(program, unit, unit)).certificate
    np.testing.assert_allclose(found.beta, expected.beta, rtol=1e-12, atol=1e-14)
    assert found.objective / unit == pytest.approx(expected.objective, rel=1e-12)
    assert found.relative_gap <= 1e-9


@pytest.mark.parametrize("power", [20, 40, 80, 400, 900])
def test_rows_of_any_scale_with_a_margin_of_one(power):
    """The optimum inside the box only shrinks: the objective does not change."""
    program, unit = plain(margin=0.001), 2.0**power
    expected, found = solved(program).certificate, solved(times(program, unit, 1.0)).certificate
    assert np.abs(expected.beta).max() < 1
    np.testing.assert_allclose(found.beta * unit, expected.beta, rtol=1e-9)
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    # The proof is about the whole box; where that is too far to be proved, the gap says so.
    assert found.relative_gap <= 1e-9 or power > 40


def test_a_column_that_reaches_the_far_box():
    """The nearer box is for the solver only."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    sign = np.where(X[:, 0] + 0.3 * rng.standard_normal(40) > 0, 1.0, -1.0)
    program = program_of(X * 10.0 ** np.array([-12, 0, 12]), sign, margin=0.01)
    found = solved(program)
    assert found.certificate.relative_gap <= 1e-9
    assert np.abs(found.certificate.beta).max() == 1.0


def test_a_column_whose_centers_coincide_has_finite_bounds():
    program = plain()
    rows = np.hstack([program.rows.dense(), np.zeros((60, 1))])
    wide = replace(
        program,
        rows=DenseRows(rows * 2.0**-700),
        linear=np.append(program.linear, 0.0) * 2.0**-700,
        difference=np.append(program.difference, 0.0) * 2.0**-700,
        margin=program.margin * 2.0**-700,
        separation=program.separation * 2.0**-700,
        lower=np.append(program.lower, -1.0),
        upper=np.append(program.upper, 1.0),
    )
    near = of_unit_scale(wide).near
    assert np.isfinite(near.upper).all()
    assert np.isfinite(near.lower).all()


def assert_same_function(scaled, program, beta):
    """The objective is v/s times that of the program at beta, and the constraints are its own."""
    unit = scaled.point / scaled.rows
    whole, there = scaled.whole, beta * scaled.point
    assert primal_value(whole, there) == pytest.approx(
        unit * primal_value(program, beta), rel=1e-12
    )
    reach = program.difference @ beta - program.separation
    assert whole.difference @ there - whole.separation == pytest.approx(unit * reach, rel=1e-9)
    np.testing.assert_array_equal(whole.lower, program.lower * scaled.point)
    np.testing.assert_array_equal(whole.upper, program.upper * scaled.point)
    alpha = program.costs * np.linspace(0, 1, len(program.costs))
    assert dual_value(whole, alpha, 0.3) == pytest.approx(unit * dual_value(program, alpha, 0.3))


@pytest.mark.parametrize("power", [-200, -60, 60, 200])
def test_a_scaled_program_is_the_same_function_of_a_scaled_point(power):
    program = times(replace(plain(), offset=0.7), 2.0**power, 2.0**power)
    scaled = of_unit_scale(program)
    assert 2.0**-0.5 <= np.abs(scaled.whole.difference).max() <= 2.0**0.5
    assert scaled.point == 1.0
    assert_same_function(scaled, program, np.array([0.3, -0.2, 0.1]))


@pytest.mark.parametrize("power", [-31, -60, -300])
def test_a_tiny_separation_becomes_a_usual_one(power):
    program = times(plain(), 1.0, 2.0**power)
    scaled = of_unit_scale(program)
    assert scaled.rows == 1.0
    share = scaled.whole.separation / (scaled.whole.largest_separation / scaled.point)
    assert USUAL * 2.0**-0.5 <= share <= USUAL * 2.0**0.5
    assert_same_function(scaled, program, 2.0**power * np.array([0.3, -0.2, 0.1]))


def test_the_limits_of_what_is_ordinary():
    program = plain()
    size, reach = np.abs(program.difference).max(), program.largest_separation
    for rows, ordinary in ((EXTREME, True), (1.1 * EXTREME, False), (1 / EXTREME, True)):
        other = times(program, rows / size, rows / size)
        assert (of_unit_scale(other).near is other) == ordinary
    small = times(program, 0.9 / EXTREME / size, 0.9 / EXTREME / size)
    assert of_unit_scale(small).rows == 2.0**-40
    for share, ordinary in ((TINY, True), (0.9 * TINY, False)):
        other = replace(program, separation=share * reach)
        assert (of_unit_scale(other).near is other) == ordinary
    nothing = replace(program, separation=0.0)
    assert of_unit_scale(nothing).near is nothing


def test_rows_are_not_copied_where_they_are_many(monkeypatch):
    program = times(plain(), 2.0**60, 2.0**60)
    assert of_unit_scale(program).rows == 2.0**60
    monkeypatch.setattr(scaling, "MOST_ENTRIES", 60 * 3)
    assert of_unit_scale(program).rows == 2.0**60
    monkeypatch.setattr(scaling, "MOST_ENTRIES", 60 * 3 - 1)
    assert of_unit_scale(program).rows == 1.0


def test_the_nearer_box_is_inside_the_whole_and_holds_what_comes_near_it():
    program = times(plain(), 1.0, 2.0**-60)
    scaled = of_unit_scale(program)
    near, whole = scaled.near, scaled.whole
    slope = np.abs(whole.difference)
    far = FAR / np.minimum(slope, 1.0)
    np.testing.assert_allclose(near.upper, np.minimum(whole.upper, far), atol=1e-12)
    np.testing.assert_allclose(near.lower, np.maximum(whole.lower, -far), atol=1e-12)
    assert np.all(near.upper < whole.upper)
    for sign in (1.0, -1.0):
        beta = np.zeros(3)
        beta[1] = sign * 0.51 * far[1]
        assert scaled.held(beta)
        beta[1] = sign * 0.49 * far[1]
        assert not scaled.held(beta)
    # At a side of the whole box nothing is held back.
    own = replace(scaled, near=whole)
    assert not own.held(whole.upper)


def test_the_way_back_is_that_of_the_point_and_of_the_objective():
    program = times(plain(), 2.0**60, 2.0**60)
    scaled = replace(of_unit_scale(program), point=4.0)
    answer = solved(plain()).certificate
    back = scaled.back(replace(answer, rounding=0.5))
    unit = scaled.rows / 4.0
    np.testing.assert_array_equal(back.beta, answer.beta / 4.0)
    assert back.objective == answer.objective * unit
    assert back.dual_objective == answer.dual_objective * unit
    assert (back.rounding, back.unit) == (0.5 * unit, 1.0)
    assert replace(scaled, rows=0.25).back(answer).unit == 0.25
