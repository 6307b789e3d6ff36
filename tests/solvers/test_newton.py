"""Newton's method for the regularized program: oracle, certificate, every way to the solution."""

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.passes import SignedRows, class_centers, open_pass
from lincent.programs.regularized import RegularizedProgram, certify
from lincent.solvers import newton
from lincent.solvers.solution import Controls, Status

# m, n, margins, C, free threshold, spread of the costs, scale of a column
PROBLEMS = {
    "plain": (120, 5, (-1.0, 3.0), 1.0, True, 0.0, 1.0),
    "midpoint": (120, 5, (-1.0, 3.0), 1.0, False, 0.0, 1.0),
    "positive margins": (80, 4, (0.5, 1.5), 0.3, True, 0.0, 1.0),
    "narrow margins": (80, 4, (0.99, 1.01), 1.0, True, 0.0, 1.0),
    "heavy costs": (60, 6, (0.0, 2.0), 300.0, True, 0.0, 1.0),
    "light costs": (60, 6, (0.0, 2.0), 1e-3, True, 0.0, 1.0),
    "uneven costs": (90, 5, (-1.0, 3.0), 1.0, True, 2.0, 1.0),
    "wide": (30, 80, (-1.0, 3.0), 1.0, True, 0.0, 1.0),
    "square": (40, 40, (0.0, 2.0), 10.0, False, 1.0, 1.0),
    "uneven columns": (100, 6, (-1.0, 3.0), 1.0, True, 0.0, 1e3),
}


def make(m, n, margins, C, free, spread, scale, seed=0, sparse=False):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.35, 1.0, -1.0)
    sign[:2] = -1.0, 1.0
    X = rng.standard_normal((m, n)) + 0.4 * sign[:, None] * rng.standard_normal(n)
    X[:, 0] *= scale
    if sparse:
        X[rng.random((m, n)) < 0.9] = 0.0
        X = sp.csr_array(X)
    costs = C * np.exp(spread * rng.standard_normal(m))
    source = open_pass(X)
    centers = class_centers(source, sign, np.ones(m))
    rows = SignedRows(source, sign, centers.mean(axis=0))
    return RegularizedProgram(rows, sign, costs, *margins, free)


def solve(program, **controls):
    return newton.solve(program, Controls(**controls), np.random.default_rng(0))


@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_is_that_of_an_independent_solver(name):
    cp = pytest.importorskip("cvxpy")
    program = make(*PROBLEMS[name])
    A = program.rows.dense()
    beta, t = cp.Variable(A.shape[1]), cp.Variable()
    if not program.free:
        t = 0.0
    # phi is the infimal convolution of a parabola and a line: split hi - z into 0 <= a, 0 <= b.
    a, b = cp.Variable(A.shape[0]), cp.Variable(A.shape[0], nonneg=True)
    width = program.high - program.low
    loss = program.costs @ (cp.square(a) / (2 * width) + b)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(beta) / 2 + loss),
        [a + b >= program.high - (A @ beta - program.sign * t), a >= 0],
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    found = solve(program)
    assert found.status is Status.OPTIMAL
    assert found.certificate.objective == pytest.approx(problem.value, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_certificate_is_what_the_problem_says(name):
    program = make(*PROBLEMS[name])
    found = solve(program).certificate
    again = certify(program, found.beta, found.t)
    assert found.relative_gap <= 1e-9
    assert again.objective == pytest.approx(found.objective, rel=1e-12)
    # The multipliers are feasible, and the bound is the value of the dual at them.
    assert np.all(found.alpha >= 0)
    assert np.all(found.alpha <= program.costs * (1 + 1e-12))
    if program.free:
        assert abs(program.sign @ found.alpha) <= 1e-9 * program.costs.sum()
    value = program.dual(found.alpha, program.rows.tdot(found.alpha))
    assert value == pytest.approx(found.dual_objective, rel=1e-9, abs=1e-9)


def test_no_point_is_below_the_dual_bound():
    program = make(*PROBLEMS["uneven costs"])
    rng = np.random.default_rng(1)
    best = solve(program).certificate
    for _ in range(50):
        poor = certify(program, rng.standard_normal(5), float(rng.standard_normal()))
        assert poor.dual_objective <= best.objective * (1 + 1e-12)
        assert poor.objective >= best.dual_objective * (1 - 1e-12)


def test_gap_of_a_bad_answer_is_large():
    program = make(*PROBLEMS["plain"])
    good = solve(program).certificate
    assert certify(program, good.beta * 1.01, good.t).relative_gap > 1e-6
    assert certify(program, good.beta, good.t + 0.01).relative_gap > 1e-6


def test_loss_is_the_hinge_averaged_over_the_margins():
    program = make(*PROBLEMS["plain"])
    z = np.linspace(-4, 6, 120)
    margins = program.low + program.width * (np.arange(20000) + 0.5) / 20000
    averaged = np.maximum(margins[:, None] - z, 0).mean(axis=0)
    assert program.loss(z, program.pull(z)) == pytest.approx(program.costs @ averaged, rel=1e-6)


def test_ends_after_few_steps_at_rounding():
    found = solve(make(*PROBLEMS["plain"]), tol=1e-14)
    assert found.iterations <= 12
    assert found.relative_gap <= 1e-14


@pytest.mark.parametrize(
    ("limit", "value"),
    [("SAMPLE_ROWS", 100), ("FACTOR_LIMIT", 3), ("COPY_ENTRIES", 0)],
    ids=["sample first", "conjugate gradients", "rows read in place"],
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_every_way_ends_at_the_same_optimum(monkeypatch, limit, value, sparse):
    program = make(600, 8, (-1.0, 3.0), 1.0, True, 0.5, 1.0, sparse=sparse)
    usual = solve(program, tol=1e-12).certificate
    monkeypatch.setattr(newton, limit, value)
    monkeypatch.setattr(newton, "COPY_ENTRIES", 0)
    other = solve(program, tol=1e-12)
    assert other.relative_gap <= 1e-12
    np.testing.assert_allclose(other.certificate.beta, usual.beta, atol=1e-5)
    assert other.certificate.objective == pytest.approx(usual.objective, rel=1e-11)


def test_wide_rows_with_repetitions_have_no_full_rank():
    program = make(*PROBLEMS["wide"])
    index = np.tile(np.arange(30), 2)
    doubled = replace(
        program,
        rows=program.rows.take(index),
        sign=program.sign[index],
        costs=program.costs[index] / 2,
    )
    once, twice = solve(program).certificate, solve(doubled).certificate
    np.testing.assert_allclose(once.beta, twice.beta, atol=1e-6)


def test_rows_of_cost_zero_do_not_count():
    program = make(*PROBLEMS["plain"])
    costs = program.costs.copy()
    costs[10:40] = 0.0
    keep = np.flatnonzero(costs)
    less = replace(
        program, rows=program.rows.take(keep), sign=program.sign[keep], costs=costs[keep]
    )
    whole = solve(replace(program, costs=costs)).certificate
    np.testing.assert_allclose(whole.beta, solve(less).certificate.beta, atol=1e-8)
    assert np.all(whole.alpha[10:40] == 0)


def test_path_is_the_same_as_single_solves():
    program = make(*PROBLEMS["plain"])
    scales = [0.01, 0.1, 1.0, 10.0]
    path = newton.solve_path(program, scales, Controls(), np.random.default_rng(0))
    for scale, found in zip(scales, path, strict=True):
        alone = solve(replace(program, costs=scale * program.costs))
        assert found.relative_gap <= 1e-9
        assert found.certificate.objective == pytest.approx(alone.certificate.objective, rel=1e-8)


def test_limits_are_kept_and_told():
    program = make(*PROBLEMS["heavy costs"])
    short = solve(program, max_iter=1)
    assert short.status is Status.ITERATION_LIMIT
    assert short.relative_gap > 1e-9
    late = solve(program, deadline=time.monotonic() - 1)
    assert late.status is Status.TIME_LIMIT


def test_light_costs_give_the_difference_of_the_centers():
    program = make(200, 4, (0.0, 2.0), 1e-7, False, 0.0, 1.0)
    balance = np.where(program.sign > 0, np.mean(program.sign < 0), np.mean(program.sign > 0))
    beta = solve(replace(program, costs=program.costs * balance), tol=1e-20).certificate.beta
    d = program.rows.tdot(balance)
    cosine = beta @ d / np.linalg.norm(beta) / np.linalg.norm(d)
    assert cosine > 1 - 1e-6
