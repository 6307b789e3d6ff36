"""The regularized problem: certificates, every route to the optimum, rising costs."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lincent import RegularizedLCC
from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import ridge
from lincent.solvers.newton.curvature import Exact
from lincent.solvers.newton.descent import Doubt, descend
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source
from support.benchmarks import load_benchmark
from support.constants import set_constants
from support.regularized_problems import PROBLEMS, make


def solve(program, **controls):
    return ridge.solve_path(program, (1.0,), Controls(**controls), np.random.default_rng(0))[0]


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


def test_ends_after_few_steps_at_rounding():
    found = solve(make(*PROBLEMS["plain"]), tol=1e-14)
    assert found.iterations <= 12
    assert found.relative_gap <= 1e-14


ROUTES = {
    "samples themselves": (lambda m, n: m, {}),
    "single precision": (None, {}),
    "subsample first": (lambda m, n: 150, {"single_entries": 0}),
    "misleading subsample": (lambda m, n: 9, {"single_entries": 0, "corrections": 2}),
    "conjugate gradients": (None, {"factor_limit": 3}),
    "sparse by products": (None, {"sparse_factor_limit": 3}),
    "products, then exact steps": (None, {"sparse_factor_limit": 3, "conjugate_steps": 1}),
}


@pytest.mark.parametrize("free", [True, False], ids=["free", "midpoint"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("route", ROUTES)
def test_every_route_ends_at_the_same_optimum(monkeypatch, route, sparse, free):
    program = make(600, 8, (-1.0, 3.0), 1.0, free, 0.5, 1.0, sparse=sparse)
    usual = solve(program, tol=1e-12).certificate
    size, changes = ROUTES[route]
    set_constants(monkeypatch, ridge, whole_entries=0, **changes)
    if size is not None:
        monkeypatch.setattr(ridge, "sample_size", size)
    other = solve(program, tol=1e-12)
    assert other.relative_gap <= 1e-12
    np.testing.assert_allclose(other.certificate.beta, usual.beta, atol=1e-5)
    assert other.certificate.objective == pytest.approx(usual.objective, rel=1e-11)


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1e3, 1e6], ids=str)
def test_single_precision_is_enough_for_features_of_any_scale(monkeypatch, scale):
    program = make(400, 6, (-1.0, 3.0), 1.0, True, 0.0, scale)
    set_constants(monkeypatch, ridge, whole_entries=0)
    found = solve(program)
    assert found.status is Status.OPTIMAL
    again = certify(program, found.certificate.beta, found.certificate.t)
    assert again.objective == pytest.approx(found.certificate.objective, rel=1e-12)
    assert found.relative_gap <= 1e-9


@pytest.mark.parametrize("entries", [0, 20_000], ids=["single precision", "samples themselves"])
@pytest.mark.parametrize("margins", [(0.0, 2.0), (0.5, 0.6), (-1.0, 3.0)], ids=str)
@pytest.mark.parametrize("C", [0.1, 100.0, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_tied_samples_of_uneven_features_at_any_cost(monkeypatch, entries, margins, C, seed):
    """Exact numbers: many rows are equal and cross a margin together, and zero may be a corner."""
    set_constants(monkeypatch, ridge, whole_entries=entries)
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(400) < 0.2, 1.0, -1.0)
    X = np.round(rng.standard_normal((400, 6)) + 0.5 * sign[:, None]) * 3.0 ** np.arange(-3, 3)
    source = open_source(X)
    middle = source.class_means(sign, np.ones(400)).mean(axis=0)
    costs = C * np.where(sign > 0, 2.5, 0.625)
    program = RegularizedProgram(SignedRows(source, sign, middle), sign, costs, *margins)
    found = solve(program)
    assert found.status is Status.OPTIMAL
    assert certify(program, found.certificate.beta, found.certificate.t).objective == (
        pytest.approx(found.certificate.objective, rel=1e-10)
    )


def test_features_beyond_single_precision_end_as_they_do_in_double(monkeypatch):
    program = make(400, 6, (-1.0, 3.0), 1.0, True, 0.0, 1e25)
    assert program.rows.float32(None) is None
    double = solve(program)
    set_constants(monkeypatch, ridge, whole_entries=0)
    other = solve(program)
    # Neither can be certified, since A'alpha rounds to far more than one; both say so.
    assert other.status is double.status is Status.STALLED
    assert other.certificate.objective == pytest.approx(double.certificate.objective, rel=1e-6)


def test_a_large_offset_costs_no_digits(monkeypatch):
    set_constants(monkeypatch, ridge, whole_entries=0)
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(500) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((500, 5)) + 0.4 * sign[:, None]
    betas = []
    for offset in (0.0, 2.0**20):
        source = open_source(X + offset)
        middle = source.class_means(sign, np.ones(500)).mean(axis=0)
        program = RegularizedProgram(SignedRows(source, sign, middle), sign, np.ones(500), -1, 3)
        found = solve(program)
        assert found.relative_gap <= 1e-9
        betas.append(found.certificate.beta)
    np.testing.assert_allclose(betas[0], betas[1], atol=1e-4)


def test_wide_data_with_duplicates_has_no_full_rank():
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


def test_samples_of_cost_zero_do_not_count():
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
    path = ridge.solve_path(program, scales, Controls(), np.random.default_rng(0))
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


def test_sparse_rows_of_many_columns_form_no_matrix(monkeypatch):
    def refuse(self, weight):
        raise AssertionError("a Gram matrix was formed")

    monkeypatch.setattr(SignedRows, "gram", refuse)
    program = make(600, 150, (-1.0, 3.0), 1.0, True, 0.5, 1.0, sparse=True)
    assert solve(program).relative_gap <= 1e-9


def of_many_sizes(m=300, n=6, orders=3, free=True, seed=0):
    """Classes that overlap a little, in samples of scales over several orders of magnitude."""
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    A = rng.standard_normal((m, n)) + np.linspace(2.0, 0.0, n)
    A *= 10.0 ** rng.uniform(0, orders, m)[:, None]
    return RegularizedProgram(DenseRows(A), sign, np.exp(rng.normal(size=m)), -1.0, 3.0, free)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("orders", [0, 3])
def test_rising_costs_lead_to_the_optimum(orders, free):
    program = of_many_sizes(orders=orders, free=free)
    led = ridge.rise_costs(program, Exact(program), Controls(tol=1e-6), 1e-10)
    assert led.status is Status.OPTIMAL
    point = certify(program, led.start.beta, led.start.t)
    assert point.relative_gap <= 1e-5
    wanted = descend(program, Exact(program), Controls()).certificate
    assert point.objective == pytest.approx(wanted.objective, rel=1e-6)


def test_the_first_costs_leave_all_samples_active():
    program = of_many_sizes(orders=0)
    small = ridge.scaled(program, ridge._first_scale(program) / 10)
    alpha = descend(small, Exact(small), Controls()).certificate.alpha / small.costs
    assert np.all((alpha > 0) & (alpha < 1))


def test_sums_over_samples_are_of_use_at_other_costs():
    program = of_many_sizes(orders=1)
    active = np.arange(program.shape[0]) % 3 > 0
    kept = Exact(program)
    kept.factored(active)
    dearer = ridge.scaled(program, 7.0)
    kept.with_costs(dearer, 7.0)
    gradient = np.arange(1.0, program.shape[1] + 1)
    for one, other in zip(
        kept.factored(active).solve(gradient, 0.5),
        Exact(dearer).factored(active).solve(gradient, 0.5),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_doubt_ends_a_walk_whose_gap_is_large():
    program = of_many_sizes()
    assert descend(program, Exact(program), Controls(), doubt=Doubt(1, 0.0)).iterations == 1
    assert descend(program, Exact(program), Controls(), doubt=Doubt(1, 1e14)).relative_gap <= 1e-9


def test_rising_costs_end_in_time_and_after_their_steps():
    program = of_many_sizes()
    late = ridge.rise_costs(program, Exact(program), Controls(deadline=time.monotonic() - 1), 1e-10)
    assert late.status is Status.TIME_LIMIT
    brief = ridge.rise_costs(program, Exact(program), Controls(max_iter=2), 1e-10)
    assert brief.status is not Status.OPTIMAL
    assert brief.steps <= 3


@pytest.mark.parametrize(("m", "n"), [(400, 20), (2_000, 30), (600, 310)])
def test_samples_of_all_scales_are_certified(m, n):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, m)
    X = rng.standard_normal((m, n)) + np.outer(y, np.linspace(1.0, 0.0, n))
    X = X**3 * np.exp(X) * 10.0 ** rng.integers(0, 3, n)
    model = RegularizedLCC().fit(X, y)
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
@pytest.mark.parametrize(("m", "n"), [(1_000, 24), (2_000, 50), (900, 320)])
@pytest.mark.parametrize("kind", ["separable", "mixture", "cubed"])
def test_large_costs_are_certified(kind, m, n, C):
    """Fails without ``barrier``, on which steps at large costs depend where they stall."""
    X, y = load_benchmark("workloads").make(kind, m, n, seed=0)
    model = RegularizedLCC(C=C).fit(X, y)
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("seed", [0, 2])
def test_features_of_all_scales_are_certified_where_they_are_more_than_samples(seed):
    X, y = load_benchmark("workloads").make("scales", 300, 400, seed=seed)
    assert RegularizedLCC(C=1e3).fit(X, y).duality_gap_ <= 1e-9
