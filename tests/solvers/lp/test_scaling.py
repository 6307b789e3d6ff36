"""Programs of any scale have the solution of the one in their own unit, digit for digit."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.solvers.lp import choose
from lincent.solvers.lp.scaling import of_unit_scale
from lincent.solvers.solution import Controls
from support.degenerate import program_of

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
    return choose.solve(program, "auto", Controls(), np.random.default_rng(0))


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
