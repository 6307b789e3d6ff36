"""The regularized program: its loss, its sums, and certificates at any point."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems import regularized
from lincent.problems.regularized import by_class, certify, certify_l1, unit_of
from support.regularized_problems import PROBLEMS, make


def test_loss_is_the_hinge_averaged_over_the_margins():
    program = make(*PROBLEMS["plain"])
    z = np.linspace(-4, 6, 120)
    margins = program.low + program.width * (np.arange(20000) + 0.5) / 20000
    averaged = np.maximum(margins[:, None] - z, 0).mean(axis=0)
    assert program.loss(z, program.dual_weights(z)) == pytest.approx(
        program.costs @ averaged, rel=1e-6
    )


def test_no_point_is_below_the_bound_of_another():
    for name in ("plain", "midpoint", "uneven costs"):
        program = make(*PROBLEMS[name])
        rng = np.random.default_rng(1)
        for judge in (certify, certify_l1):
            t = rng.normal(size=30) if program.free else np.zeros(30)
            found = [judge(program, rng.normal(size=program.shape[1]), float(v)) for v in t]
            assert max(one.dual_objective for one in found) <= min(one.objective for one in found)


def test_sums_by_blocks_are_those_of_all_rows(monkeypatch):
    monkeypatch.setattr(regularized, "BLOCK_ROWS", 7)
    program = make(*PROBLEMS["uneven costs"])
    rng = np.random.default_rng(2)
    projected, along, t = rng.normal(size=90), rng.normal(size=90), 0.3
    u = program.dual_weights(program.positions(projected, t))
    sums = program.dual_sums(projected, t, along)
    alpha = program.costs * u
    assert sums.total == pytest.approx(alpha.sum())
    assert sums.excess == pytest.approx(alpha @ program.sign)
    assert sums.work == pytest.approx(alpha @ along)
    ends = [program.dual_sums(projected, t + h).excess for h in (1e-7, -1e-7)]
    assert sums.rise == pytest.approx((ends[0] - ends[1]) / 2e-7, rel=1e-5)


def test_a_class_that_weighs_next_to_nothing_keeps_its_digits():
    alpha = np.array([1e17, 1.0, 3.0])
    assert by_class(alpha, np.array([-1.0, 1.0, 1.0])) == (1e17, 4.0)


def test_balancing_scales_the_heavier_class_alone():
    program = make(*PROBLEMS["plain"])
    alpha = program.costs * np.random.default_rng(3).random(120)
    even = program.balanced(alpha)
    assert even @ program.sign == pytest.approx(0, abs=1e-12 * alpha.sum())
    down, up = by_class(alpha, program.sign)
    lighter = program.sign > 0 if up < down else program.sign < 0
    np.testing.assert_array_equal(even[lighter], alpha[lighter])


@pytest.mark.parametrize("margins", [(-1.0, 3.0), (0.5, 2.0), (-3.0, 1.0)])
def test_the_unit_is_what_nothing_costs_and_at_most_one(margins):
    program = replace(make(*PROBLEMS["plain"]), low=margins[0], high=margins[1])
    for scale in (1e-300, 1e-9, 1e9):
        scaled = replace(program, costs=program.costs * scale)
        z = np.zeros(len(scaled.costs))
        nothing = scaled.primal(np.zeros(program.shape[1]), z, scaled.dual_weights(z))
        assert scaled.unit == pytest.approx(min(nothing, 1.0), rel=1e-12)
        for judge in (certify, certify_l1):
            assert judge(scaled, np.zeros(program.shape[1]), 0.0).unit == scaled.unit


def test_margins_that_nothing_meets_have_the_unit_one():
    assert unit_of(-3.0, -1.0, 5.0) == 1.0


def test_bounds_of_costs_whose_squares_vanish():
    """alpha^2 / c is alpha times a dual weight: it does not vanish before alpha does."""
    program = make(*PROBLEMS["plain"])
    tiny = replace(program, costs=program.costs * 2.0**-700)
    alpha, nothing = program.costs / 3, np.zeros(program.shape[1])
    assert tiny.dual_l1(alpha * 2.0**-700) == program.dual_l1(alpha) * 2.0**-700
    assert tiny.dual(alpha * 2.0**-700, nothing) == program.dual(alpha, nothing) * 2.0**-700


def test_both_bounds_are_those_of_their_formulas():
    program = make(*PROBLEMS["uneven costs"])
    rng = np.random.default_rng(4)
    alpha, beta = program.costs * rng.random(90), rng.normal(size=5)
    z = rng.normal(size=90)
    combined = program.rows.tdot(alpha)
    low, high = program.low, program.high
    bound = high * alpha.sum() - (high - low) / 2 * (alpha**2 / program.costs).sum()
    assert program.dual_l1(alpha) == pytest.approx(bound, rel=1e-12)
    assert program.dual(alpha, combined) == pytest.approx(
        bound - combined @ combined / 2, rel=1e-12
    )
    u = program.dual_weights(z)
    loss = program.loss(z, u)
    assert program.primal(beta, z, u) == pytest.approx((beta**2).sum() / 2 + loss, rel=1e-12)
    assert program.primal_l1(beta, z, u) == pytest.approx(np.abs(beta).sum() + loss, rel=1e-12)


@pytest.mark.parametrize("heavier", [-1.0, 1.0])
def test_either_class_may_be_the_heavier_one(heavier):
    program = make(*PROBLEMS["plain"])
    alpha = np.where(program.sign == heavier, 30.0, 1.0)
    even = program.balanced(alpha)
    np.testing.assert_array_equal(even[program.sign != heavier], 1.0)
    assert even @ program.sign == pytest.approx(0.0, abs=1e-9)
    # A class without multipliers leaves the other none.
    assert not program.balanced(np.where(program.sign == heavier, 1.0, 0.0)).any()
