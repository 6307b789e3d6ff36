"""The certificate closes at the optimum, is open at other points, and is never too small."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincent.problems.centralization import certify, difference_of, relative_gap
from lincent.solvers.lp import dispatch, highs
from lincent.solvers.solution import Controls
from support.degenerate import degenerate_program, program_of
from support.optimality import complementarity, dual_value, primal_value, violations
from support.problems import PROBLEMS

FINITE = [p for p in PROBLEMS if not p.infeasible and not p.program.hard]


def noisy_program(seed, m=120, n=6, **settings_):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * [1.0, 1.0, 5.0, 0.1, 1.0, 1.0][:n]
    sign = np.where(X[:, 0] + rng.standard_normal(m) > 0, 1.0, -1.0)
    return program_of(X, sign, **settings_)


def solved(program):
    return dispatch.solve(program, "auto", Controls(), np.random.default_rng(0)).certificate


def cvxpy_optimum(program):
    cp = pytest.importorskip("cvxpy")
    beta = cp.Variable(program.shape[1])
    missed = cp.pos(program.margin - program.rows.dense() @ beta)
    problem = cp.Problem(
        cp.Minimize(program.linear @ beta + program.costs @ missed),
        [
            beta >= program.lower,
            beta <= program.upper,
            program.difference @ beta >= program.separation,
        ],
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return program.offset + problem.value


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "settings_",
    [
        {},
        {"C": 0.01, "margin": 0.5},
        {"weight": 10.0 ** np.random.default_rng(9).uniform(-2, 2, 120)},
    ],
    ids=["paper's defaults", "cheap, wide margin", "weighted"],
)
def test_optimum_of_an_independent_modeler(seed, settings_):
    program = noisy_program(seed, **settings_)
    found = solved(program)
    assert found.relative_gap <= 1e-9
    np.testing.assert_allclose(found.objective, cvxpy_optimum(program), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_corrupted_beta_opens_the_gap(seed):
    program = noisy_program(seed)
    found = solved(program)
    worse = certify(program, found.beta * 1.01, found.alpha, found.t)
    assert worse.relative_gap > 1e-4
    assert worse.dual_objective == pytest.approx(found.dual_objective, rel=1e-12)
    turned = certify(program, np.roll(found.beta, 1), found.alpha, found.t)
    assert turned.gap > worse.gap


@pytest.mark.parametrize("seed", range(5))
def test_corrupted_alpha_opens_the_gap(seed):
    program = noisy_program(seed)
    found = solved(program)
    worse = certify(program, found.beta, found.alpha * 0.99, found.t)
    assert worse.relative_gap > 1e-4
    assert worse.objective == pytest.approx(found.objective, rel=1e-12)
    shuffled = np.random.default_rng(seed).permutation(found.alpha)
    assert certify(program, found.beta, shuffled, found.t).relative_gap > 1e-2


def test_multipliers_beyond_their_bounds_are_not_believed():
    """Larger alpha would promise a larger bound; the certificate clips before it computes."""
    program = noisy_program(0)
    found = solved(program)
    boasting = certify(program, found.beta, found.alpha + 10.0, found.t)
    assert np.all(boasting.alpha <= program.costs)
    assert boasting.dual_objective <= found.objective


def test_an_infeasible_point_is_not_believed():
    """A long beta beyond the box would look good; the certificate clips it to the box first."""
    program = noisy_program(0, C=0.01)
    found = solved(program)
    beyond = certify(program, 100 * found.beta, found.alpha, found.t)
    assert violations(program, beyond.beta) == 0
    assert beyond.objective >= found.dual_objective


def test_a_gap_is_relative_to_the_objective_or_to_one():
    assert relative_gap(0.5, -0.1) == 0.5
    assert relative_gap(0.5, -10.0) == 0.05
    assert relative_gap(0.5, 0.1, unit=0.2) == 2.5
    assert relative_gap(0.5, np.inf) == np.inf


@pytest.mark.parametrize("seed", range(60))
def test_bound_is_never_above_the_optimum_of_highs(seed):
    program = degenerate_program(10_000 + seed)
    if program is None:
        pytest.skip("the drawn centers coincide")
    reference = highs.solve(program, Controls()).certificate
    rng = np.random.default_rng(seed)
    size = max(1.0, abs(reference.objective))
    for alpha in (solved(program).alpha, rng.random(program.shape[0]) * program.costs):
        bound = certify(program, reference.beta, alpha, 0.0).dual_objective
        assert bound <= reference.objective + 1e-9 * size


@settings(max_examples=300)
@given(seed=st.integers(0, 10**6), length=st.floats(-8, 3), t=st.floats(0, 1e6))
def test_weak_duality_for_any_pair(seed, length, t):
    """P - D is the sum of the complementarity products, term by term nonnegative."""
    program = degenerate_program(seed)
    if program is None:
        return
    rng = np.random.default_rng(seed)
    m, n = program.shape
    beta = program.feasible(rng.standard_normal(n) * 10.0**length)
    alpha = rng.choice([0.0, 0.5, 1.0], m) * rng.random(m) * program.costs
    primal, dual = primal_value(program, beta), dual_value(program, alpha, t)
    products = complementarity(program, beta, alpha, t)
    rows = program.rows.dense()
    size = 1e-12 * (
        program.costs @ (program.margin + np.abs(rows) @ np.abs(beta))
        + (np.abs(program.linear) + t * np.abs(program.difference)).sum()
        + alpha @ np.abs(rows).sum(axis=1)
        + t * program.separation
    )
    assert violations(program, beta) <= 1e-9
    assert products.min() >= -size
    assert dual <= primal + size
    np.testing.assert_allclose(primal - dual, products.sum(), atol=size, rtol=1e-9)
    # The best t is at least as good as the one given.
    assert certify(program, beta, alpha, t).dual_objective >= dual - size


@pytest.mark.parametrize("problem", FINITE, ids=lambda p: p.name)
def test_no_random_pair_beats_a_known_optimum(problem):
    program = problem.program
    rng = np.random.default_rng(0)
    size = 1e-9 * max(1.0, abs(problem.optimum))
    for _ in range(50):
        beta = rng.uniform(-1, 1, program.shape[1])
        alpha = rng.random(program.shape[0]) * program.costs
        found = certify(program, beta, alpha, rng.exponential())
        assert found.objective >= problem.optimum - size
        assert found.dual_objective <= problem.optimum + size


def test_coordinates_that_the_difference_does_not_see_stay_where_they_are():
    """At the largest separation the rest of the box is one corner, and rounding may lead there."""
    program = noisy_program(0)
    difference = program.difference.copy()
    difference[1] = 0.0
    program = replace(program, difference=difference, separation=float(np.abs(difference).sum()))
    beta = 0.5 * np.ones(len(difference))
    moved = program.feasible(beta)
    assert moved[1] == beta[1]
    np.testing.assert_array_equal(np.delete(moved, 1), np.delete(np.sign(difference), 1))


def test_a_column_whose_class_means_agree_up_to_rounding_has_no_difference():
    centers = np.array([[0.1, 1e6, 0.0, 0.5], [0.1, 1e6, 1e-20, 0.25]])
    centers[1, :2] = np.nextafter(centers[1, :2], np.inf)
    np.testing.assert_array_equal(difference_of(centers), [0.0, 0.0, 1e-20, -0.25])
    # Sums of thousandths that cancel: what is left of them tells of nothing.
    np.testing.assert_array_equal(difference_of(centers, 1e-3), [0.0, 0.0, 0.0, -0.25])


def seen_to_degrees(*, linear, difference, separation=0.01):
    """A program whose box and d are told; its rows do not count here."""
    program = noisy_program(0, n=len(linear))
    return replace(
        program,
        linear=np.array(linear),
        difference=np.array(difference),
        separation=separation,
        lower=-np.ones(len(linear)),
        upper=np.ones(len(linear)),
    )


def test_a_corner_is_led_to_by_all_columns_that_are_not_nearly_flat():
    program = seen_to_degrees(linear=[1.0, 4.0, 9.0, 3.0], difference=[0.2, -0.05, 1e-6, 1e-4])
    combined = np.array([0.0, 1.0, 1.0, 0.0])
    # |rest / d| is 5, 60, 8e6 and 30,000: the third column is below 1e-4 of the steepest.
    assert program.corner_t(combined) == pytest.approx(30_000.0)


def test_a_point_that_falls_short_is_scaled_where_the_box_allows_it():
    program = seen_to_degrees(linear=[0.0, 0.0], difference=[1.0, 0.5], separation=0.5)
    np.testing.assert_allclose(program.feasible(np.array([0.2, -0.1])), [2 / 3, -1 / 3])
    backwards = program.feasible(np.array([-0.2, -0.1]))
    np.testing.assert_allclose(program.difference @ backwards, 0.5)
    assert np.all(backwards > [-0.2, -0.1])
    barely = replace(program, difference=np.array([1.0, 1e-14]), separation=1.0)
    np.testing.assert_array_equal(barely.feasible(np.array([-0.2, -0.1])), [1.0, -0.1])


def test_a_breakpoint_due_to_rounding_is_no_candidate():
    program = seen_to_degrees(
        linear=[1.0, 1.0, 1.0], difference=[1.0, 0.5, 1e-15], separation=1.5 - 1e-16
    )
    # The slope stays positive up to the breakpoints of the first two columns, at 1 and 2.
    assert program.best_t(np.zeros(3), 0.0) <= 2.0


def test_means_agree_within_eight_roundings():
    centers = np.array([[1.0, 1.0], [1.0 + 2.0**-49, 1.0 + 2.0**-48]])
    np.testing.assert_array_equal(difference_of(centers), [0.0, 2.0**-48])
