"""The L1 penalty: independent solvers, optimality conditions, certificates, zeros."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel

from lincent import RegularizedLCC
from lincent.problems.regularized import RegularizedProgram, certify_l1
from lincent.solvers.newton import lasso
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from support.regularized_problems import PROBLEMS, make

MORE = {
    **PROBLEMS,
    "many columns": (60, 300, (-1.0, 3.0), 1.0, True, 0.5, 1.0),
    "many columns, heavy costs": (40, 260, (0.0, 2.0), 30.0, True, 0.0, 1.0),
    "many rows": (3000, 12, (-1.0, 3.0), 0.02, True, 0.0, 1.0),
}


def solve(program, **controls):
    rng = np.random.default_rng(0)
    return lasso.solve_path(program, (1.0,), Controls(**controls), rng)[0]


@pytest.mark.parametrize("name", MORE)
def test_objective_is_that_of_an_independent_solver(name):
    cp = pytest.importorskip("cvxpy")
    program = make(*MORE[name])
    A = program.rows.dense()
    beta, t = cp.Variable(A.shape[1]), cp.Variable()
    if not program.free:
        t = 0.0
    a, b = cp.Variable(A.shape[0]), cp.Variable(A.shape[0], nonneg=True)
    width = program.high - program.low
    loss = program.costs @ (cp.square(a) / (2 * width) + b)
    problem = cp.Problem(
        cp.Minimize(cp.norm1(beta) + loss),
        [a + b >= program.high - (A @ beta - program.sign * t), a >= 0],
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    found = solve(program)
    assert found.status is Status.OPTIMAL
    assert found.certificate.objective == pytest.approx(problem.value, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", MORE)
def test_certificate_is_what_the_problem_says(name):
    program = make(*MORE[name])
    found = solve(program).certificate
    assert found.relative_gap <= 1e-9
    again = certify_l1(program, found.beta, found.t)
    assert again.objective == pytest.approx(found.objective, rel=1e-12)
    assert np.all(found.alpha >= 0)
    assert np.all(found.alpha <= program.costs * (1 + 1e-12))
    if program.free:
        assert abs(program.sign @ found.alpha) <= 1e-9 * program.costs.sum()
    assert np.all(np.abs(program.rows.tdot(found.alpha)) <= 1 + 1e-9)
    assert program.dual_l1(found.alpha) == pytest.approx(found.dual_objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", MORE)
def test_optimality_conditions_hold_column_by_column(name):
    program = make(*MORE[name])
    found = solve(program, tol=1e-12).certificate
    dual = program.dual_weights(program.positions(program.rows.dot(found.beta), found.t))
    slope = program.rows.tdot(program.costs * dual)
    used = found.beta != 0
    np.testing.assert_allclose(slope[used], np.sign(found.beta[used]), atol=1e-4)
    assert np.all(np.abs(slope[~used]) <= 1 + 1e-4)


def test_fewer_columns_the_smaller_the_costs_down_to_none():
    program = make(200, 40, (-1.0, 3.0), 1.0, True, 0.0, 1.0)
    scales = [1e-4, 1e-2, 3e-2, 1e-1, 1.0]
    rng = np.random.default_rng(0)
    path = lasso.solve_path(program, scales, Controls(), rng)
    used = [int(np.count_nonzero(found.certificate.beta)) for found in path]
    assert used[0] == 0
    assert used == sorted(used)
    assert used[2] < 40
    for scale, found in zip(scales, path, strict=True):
        alone = solve(replace(program, costs=scale * program.costs))
        assert found.relative_gap <= 1e-9
        assert found.certificate.objective == pytest.approx(alone.certificate.objective, rel=1e-8)


def test_columns_that_matter_are_found_among_many():
    rng = np.random.default_rng(0)
    program = make(300, 500, (-1.0, 3.0), 0.05, True, 0.0, 1.0)
    X = rng.standard_normal((300, 500))
    X[:, :4] += 1.2 * program.sign[:, None]
    rows = type(program.rows)(type(program.rows.source)(X), program.sign, np.zeros(500))
    found = solve(replace(program, rows=rows))
    assert found.relative_gap <= 1e-9
    assert np.all(found.certificate.beta[:4] > 0)
    assert np.count_nonzero(found.certificate.beta) < 60


def test_sparse_rows_have_the_same_solution():
    shape = (150, 220, (-1.0, 3.0), 0.5, True, 0.0, 1.0)
    sparse = make(*shape, sparse=True)
    dense = replace(sparse, rows=sparse.rows.take(np.arange(150)))
    first, second = solve(sparse).certificate, solve(dense).certificate
    assert first.objective == pytest.approx(second.objective, rel=1e-8)


def test_equal_columns_and_rows_of_cost_zero():
    program = make(*PROBLEMS["plain"])
    A = program.rows.dense()
    twice = replace(program, rows=type(program.rows.take(np.arange(2)))(np.hstack([A, A])))
    assert solve(twice).certificate.objective == pytest.approx(
        solve(program).certificate.objective, rel=1e-8
    )
    costs = program.costs.copy()
    costs[10:40] = 0.0
    keep = np.flatnonzero(costs)
    rows, sign = program.rows.take(keep), program.sign[keep]
    less = solve(replace(program, rows=rows, sign=sign, costs=costs[keep])).certificate
    whole = solve(replace(program, costs=costs)).certificate
    np.testing.assert_allclose(whole.beta, less.beta, atol=1e-8)
    assert np.all(whole.alpha[10:40] == 0)


def test_limits_are_kept_and_told():
    for name in ("heavy costs", "many columns"):
        program = make(*MORE[name])
        short = solve(program, max_iter=1)
        assert short.status is Status.ITERATION_LIMIT
        assert short.relative_gap > 1e-9
        assert solve(program, deadline=time.monotonic() - 1).status is Status.TIME_LIMIT


@pytest.mark.parametrize(("few", "size"), [(4, 5.0), (1, 20.0)])
def test_columns_whose_own_gap_is_small_are_solved_all_the_same(few, size):
    # At zero the dual weights of the classes are unequal: the balanced ones have a large gradient
    # in a column that is not yet chosen (the eleventh), so that the gap of all columns is far above
    # that of the ten that are.
    m, n, rng = 100, 260, np.random.default_rng(0)
    sign = np.where(np.arange(m) < few, 1.0, -1.0)
    A = 1e-3 * rng.standard_normal((m, n))
    A[:few, :10] += 1.02 / few
    dual = (3.0 - 3.0 * (m - 2 * few) / m) / 4.0
    A[:few, 10], A[few:, 10] = size, (0.9 - few * size) / (dual * (m - few))
    program = RegularizedProgram(DenseRows(A), sign, np.ones(m), -1.0, 3.0)
    found = solve(program)
    assert found.status is Status.OPTIMAL
    assert certify_l1(program, found.certificate.beta, found.certificate.t).relative_gap <= 1e-9
    assert found.certificate.beta[10] != 0.0


def test_of_points_that_differ_by_rounding_the_one_with_the_better_bound_goes_on():
    # Rows of a real table with a little noise: kernel columns that are nearly equal.
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng([1, 1000, 20, *b"real: wdbc"])
    columns = rng.permutation(X.shape[1])[:20]
    index = np.append([y.argmin(), y.argmax()], rng.integers(0, len(X), 998))
    noise = 0.1 * X[:, columns].std(axis=0) * rng.standard_normal((1000, 20))
    X = X[index][:, columns] + noise
    K = rbf_kernel(X, gamma=1 / (20 * X.var()))
    model = RegularizedLCC(2.0, norm="l1", multi_class="ovr").fit(K, y[index])
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_subproblem_meets_its_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    rank = int(rng.integers(1, 2 * n + 1))
    A = rng.standard_normal((rank, n))
    G = A.T @ A + 1e-6 * np.eye(n)
    b = 3 * rng.standard_normal(n)
    x = lasso.minimize(G, b, rng.standard_normal(n) * (rng.random(n) < 0.5))
    slope = G @ x + b
    used = x != 0
    np.testing.assert_allclose(slope[used], -np.sign(x[used]), atol=1e-6)
    assert np.all(np.abs(slope[~used]) <= 1 + 1e-6)


def test_without_a_slope_above_one_all_stay_zero():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 6))
    b = rng.uniform(-1, 1, 6)
    np.testing.assert_array_equal(lasso.minimize(A.T @ A + np.eye(6), b, np.zeros(6)), np.zeros(6))


def test_the_start_does_not_decide_the_end():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((20, 8))
    G, b = A.T @ A, 5 * rng.standard_normal(8)
    ends = [
        lasso.minimize(G, b, start) for start in (np.zeros(8), np.full(8, 10.0), np.full(8, -10.0))
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-9)


def test_features_that_reach_zero_together_stay_there_together():
    # Equal features do, up to rounding; a residue of one of them used to end the search.
    crossing = np.random.default_rng(0).uniform(0.1, 10, 50)
    x, target = np.append(crossing, 1.0), np.append(-2 * crossing, 100.0)
    nearer = lasso._toward(np.eye(51), np.zeros(51), np.ones(51), x, target)
    assert nearer is not None
    assert np.count_nonzero(nearer) == 1


def test_a_coordinate_that_is_zero_up_to_rounding_does_not_end_the_search():
    x, target = np.array([1e-20, 1.0]), np.array([-100.0, 100.0])
    nearer = lasso._toward(np.eye(2), np.zeros(2), np.ones(2), x, target)
    np.testing.assert_array_equal(nearer, [0.0, 1.0])
