"""Active-set identification and the null-space finish: the optimum of HiGHS, certified."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems.centralization import Certificate
from lincent.solvers.lp import highs, interior_point
from lincent.solvers.lp.sparse import identification
from lincent.solvers.lp.sparse.hinges import WorkingSet
from lincent.solvers.lp.sparse.identification import MOST_JOINING, ColumnTuning, RowTuning
from lincent.solvers.lp.sparse.lagrangian import (
    DUAL,
    PRIMAL,
    CertifiedPoint,
    DualPoint,
    PrimalPoint,
    identify_columns,
    identify_rows,
    start_columns,
)
from lincent.solvers.lp.sparse.null_space import finish
from lincent.solvers.solution import Controls, Solution, Status
from support.optimality import assert_optimal
from support.programs import overlapping, program_of_rows, wide


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(300, 20), (600, 60), (1500, 100)])
@pytest.mark.parametrize("options", [{}, {"dense": True}, {"weights": True}])
def test_it_is_the_optimum(shape, seed, options):
    program = overlapping(*shape, seed, **options)
    solution = identification.solve_rows(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8, abs=1e-8)


def awkward(kind):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((800, 40)) < 0.2, rng.random((800, 40)), 0.0)
    if kind == "one-hot":
        X = np.eye(8)[rng.integers(0, 8, (800, 5))].reshape(800, 40)
    sign = np.where(X @ rng.standard_normal(40) + 0.3 * rng.standard_normal(800) > 0, 1.0, -1.0)
    if kind == "duplicate columns":
        X[:, 10:20] = X[:, :10]
    elif kind == "constant columns":
        X[:, 3], X[:, 4] = 1.0, 0.0
    elif kind == "zero rows":
        X[::7] = 0.0
    elif kind == "repeated rows":
        X = X[rng.integers(0, 120, 800)]
    elif kind == "outlying rows":
        X[::100] *= 1000.0
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, 40)
    return program_of_rows(sp.csr_array(X), sign)


KINDS = [
    "duplicate columns",
    "constant columns",
    "one-hot",
    "zero rows",
    "repeated rows",
    "outlying rows",
    "scales",
]


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_data_is_certified_or_handed_on(kind):
    program = awkward(kind)
    solution = identification.solve_rows(program, Controls())
    answer = solution.certificate
    best = highs.solve(program, Controls()).certificate
    # Whatever it claims is true: the bounds enclose the optimum.
    slack = 1e-9 * max(1.0, abs(best.objective))
    assert answer.dual_objective <= best.objective + slack
    assert answer.objective >= best.dual_objective - slack
    assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= 1e-9)
    if kind not in ("repeated rows", "outlying rows", "scales"):
        assert solution.status is Status.OPTIMAL


def test_pure_noise_is_handed_on_after_a_few_rounds():
    rng = np.random.default_rng(1)
    sign = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    program = program_of_rows(rng.standard_normal((800, 40)), sign)
    lines = []
    solution = identification.solve_rows(program, Controls(tell=lines.append))
    assert solution.status is Status.STALLED
    assert len(lines) <= 4


def test_few_hinges_far_from_the_optimum_do_not_end_the_rounds():
    # Nearly separable: after one round few hinges are between their bounds, at a gap of 3e-2.
    rng = np.random.default_rng(8)
    columns = np.sort(rng.integers(0, 300, (3000, 10)), axis=1).ravel()
    entries = (rng.random(30_000) + 0.5, columns, np.arange(0, 30_001, 10))
    X = sp.csr_array(entries, shape=(3000, 300))
    X.sum_duplicates()
    score = X @ rng.standard_normal(300)
    sign = np.where((score > np.median(score)) ^ (rng.random(3000) < 0.005), 1.0, -1.0)
    program = program_of_rows(X, sign)
    solution = identification.solve_rows(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= 1e-9
    # The gap after one round depends on rounding (3e-2 or 1.5e-2): ``near`` is set by it.
    enough = 300 + RowTuning().spare_hinges(300)
    first = identify_rows(program, Controls(), enough, replace(PRIMAL, rounds=1))
    assert first.between <= enough
    for factor, ends in ((0.5, False), (2.0, True)):
        tuning = replace(PRIMAL, near=factor * first.gap)
        point = identify_rows(program, Controls(), enough, tuning)
        assert (point.rounds == 1) == ends
        assert point.between <= enough
        assert point.gap <= tuning.near


def test_few_distinct_rows_are_solved_by_an_interior_point():
    program = overlapping(900, 30, 0, dense=True)
    index = np.arange(900) % 35
    repeated = replace(program, rows=program.rows.take(index), costs=program.costs[index])
    solution = identification.solve_rows(repeated, Controls())
    assert solution.solver == interior_point.NAME
    assert solution.relative_gap <= 1e-9


def test_separable_classes_are_handed_on_soon():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 40))
    X[:, 0] += np.where(X[:, 0] > 0, 5.0, -5.0)
    program = program_of_rows(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    solution = identification.solve_rows(program, Controls())
    assert solution.certificate.dual_objective <= solution.certificate.objective
    assert solution.status in (Status.OPTIMAL, Status.STALLED, Status.ITERATION_LIMIT)


def test_without_a_matrix_the_gap_is_certified_and_no_matrix_is_formed(monkeypatch):
    program = overlapping(2000, 100, 0)
    small = RowTuning(largest_matrix=50)

    def refuse(*args):
        raise AssertionError("a matrix was formed")

    monkeypatch.setattr(WorkingSet, "__init__", refuse)
    lines = []
    solution = identification.solve_rows(program, Controls(max_iter=25, tell=lines.append), small)
    assert solution.status is Status.ITERATION_LIMIT
    assert 1e-9 < solution.relative_gap < 1e-1
    assert not any("null space" in line for line in lines)
    assert identification.solve_rows(program, Controls(), small).relative_gap < 1e-3


def test_the_clock_and_the_step_limit_are_kept():
    program = overlapping(1500, 100, 1)
    late = identification.solve_rows(program, Controls(deadline=0.0))
    assert late.status is Status.TIME_LIMIT
    short = identification.solve_rows(program, Controls(max_iter=3))
    assert short.iterations <= 10_000
    assert short.certificate.dual_objective <= short.certificate.objective


def test_naming_pays_from_so_many_columns_and_rows_per_column_on():
    assert identification.rows_applicable(4000, 500, False)
    assert identification.rows_applicable(1200, 150, False)
    assert not identification.rows_applicable(4000, 501, False)
    assert not identification.rows_applicable(1199, 150, False)
    assert not identification.rows_applicable(9999, 149, False)
    assert identification.rows_applicable(2000, 500, True)
    assert not identification.rows_applicable(1999, 500, True)
    assert not identification.rows_applicable(9999, 499, True)


def near_by(program, gap, steps=7, rng=None):
    """A point that was named with such a gap."""
    m, n = program.shape
    rng = np.random.default_rng(0) if rng is None else rng
    low, high = np.zeros(n), np.zeros(n)
    low[:2], high[-1:] = 0.3, 0.2
    beta = rng.uniform(-0.5, 0.5, n)
    beta[:4], beta[-3:] = [-1.0, -0.95, -0.965, -0.955], [0.955, 0.965, 1.0]
    alpha = program.costs * np.clip(rng.uniform(-0.5, 1.5, m), 0.0, 1.0)
    missed, t = rng.standard_normal(m), 0.7
    best = Certificate(beta, alpha, t, 1.0, 1.0 - gap)
    return PrimalPoint(beta, missed, alpha, low, high, t, 2.0, steps, 1, 0, best)


@pytest.mark.parametrize(
    ("gap", "matrix", "late", "steps", "finished", "status"),
    [
        (1.9e-2, 20, False, 7, True, Status.OPTIMAL),
        (2.1e-2, 20, False, 7, False, Status.STALLED),
        (1e-12, 20, False, 7, False, Status.OPTIMAL),
        (1.9e-2, 19, False, 7, False, Status.STALLED),
        (1.9e-2, 20, True, 7, False, Status.TIME_LIMIT),
        (2.1e-2, 20, False, 500, False, Status.ITERATION_LIMIT),
        (2.1e-2, 20, False, 0, False, Status.STALLED),
        (1.9e-2, 20, False, 0, True, Status.OPTIMAL),
    ],
)
def test_what_is_named_is_finished_where_it_is_near(
    gap, matrix, late, steps, finished, status, monkeypatch
):
    program = overlapping(300, 20, 0)
    near = near_by(program, gap, steps)
    asked = []

    def finish(hinges, start, controls):
        asked.append(start)
        return Solution(Status.OPTIMAL, start.best, start.steps, "")

    def identify(program, controls, enough):
        assert enough == (20 + 6 if matrix >= 20 else 0.0)
        return near

    monkeypatch.setattr(identification, "identify_rows", identify)
    monkeypatch.setattr(identification, "finish", finish)
    controls = Controls(deadline=0.0 if late else np.inf, max_iter=500)
    tuning = RowTuning(largest_matrix=matrix)
    found = identification.solve_rows(program, controls, tuning)
    assert bool(asked) == finished
    assert found.status is status
    assert found.iterations == max(steps, 1)
    assert found.certificate is near.best
    assert found.solver == "identification"


@pytest.mark.parametrize(
    ("m", "spare", "between"), [(90, 5, 0), (90, 0, 0), (90, 0, 40), (25, 5, 0)]
)
def test_a_start_has_the_least_decided_rows_and_the_sides_that_are_near(m, spare, between):
    program = overlapping(m, 20, 1)
    near = near_by(program, 1e-3)
    near.between = between
    tuning = RowTuning(spare=0.1, least_spare=spare)
    start = identification.start_from_rows(program, near, tuning)
    count = min(m, max(20 + max(2, spare) - 3, between - 3))
    distance = near.distance_from_active(program.costs)
    rows = start.chosen[:count]  # of equal distances any
    np.testing.assert_array_equal(np.sort(distance[rows]), np.sort(distance)[:count])
    # Sides with a multiplier, or within a fiftieth of the box, here 0.04.
    sides = [0, 1, 2, 20 + 18, 20 + 19]
    np.testing.assert_array_equal(start.distance, [*distance[rows], *[-np.inf] * 6])
    np.testing.assert_array_equal(start.chosen, [*rows, *(m + np.array(sides)), m + 40])
    share = near.alpha / program.costs
    alpha = np.where(share > 0.5, program.costs, 0.0)
    alpha[rows] = near.alpha[rows]
    assert np.any(np.abs(share - 0.5) < 0.5)
    box = np.concatenate([near.low, near.high])
    np.testing.assert_array_equal(start.dual, [*alpha, *box, near.t])
    assert (start.best, start.steps) == (near.best, near.steps)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(60, 200), (150, 150), (200, 900)])
@pytest.mark.parametrize("options", [{}, {"dense": True}, {"noise": True}])
def test_it_is_the_optimum_columns(shape, seed, options):
    program = wide(*shape, seed, **options)
    solution = identification.solve_columns(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def awkward_columns(kind):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((150, 400)) < 0.05, rng.random((150, 400)), 0.0)
    if kind == "binary":
        X = (X > 0).astype(float)
    sign = np.where(X @ rng.standard_normal(400) + 0.3 * rng.standard_normal(150) > 0, 1.0, -1.0)
    if kind == "duplicate columns":
        X[:, 200:] = X[:, :200]
    elif kind == "empty columns":
        X[:, ::3] = 0.0
    elif kind == "zero rows":
        X[::7] = 0.0
    elif kind == "repeated rows":
        X = X[rng.integers(0, 60, 150)]
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, 400)
    return program_of_rows(sp.csr_array(X), sign)


COLUMN_KINDS = [
    "binary",
    "duplicate columns",
    "empty columns",
    "zero rows",
    "repeated rows",
    "scales",
]


@pytest.mark.parametrize("kind", COLUMN_KINDS)
def test_awkward_data_is_certified_or_handed_on_columns(kind):
    program = awkward_columns(kind)
    solution = identification.solve_columns(program, Controls())
    answer, best = solution.certificate, highs.solve(program, Controls()).certificate
    # Whatever it claims is true: the bounds enclose the optimum.
    slack = 1e-9 * max(1.0, abs(best.objective))
    assert answer.dual_objective <= best.objective + slack
    assert answer.objective >= best.dual_objective - slack
    assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= 1e-9)
    assert solution.relative_gap < 1e-2


def test_without_a_matrix_the_gap_is_certified_and_no_matrix_is_formed_columns(monkeypatch):
    def refuse(*args):
        raise AssertionError("a matrix was formed")

    monkeypatch.setattr(WorkingSet, "__init__", refuse)
    program = wide(150, 600, 0, noise=True)
    solution = identification.solve_columns(program, Controls(), ColumnTuning(largest_matrix=0))
    assert solution.certificate.dual_objective <= solution.certificate.objective
    assert solution.relative_gap < 1e-3


def test_the_clock_and_the_step_limit_are_kept_columns():
    program = wide(150, 600, 1)
    late = identification.solve_columns(program, Controls(deadline=0.0))
    assert late.status is Status.TIME_LIMIT
    short = identification.solve_columns(program, Controls(max_iter=1))
    assert short.certificate.dual_objective <= short.certificate.objective


def test_classes_that_overlap_are_handed_on_soon():
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    X = sp.random_array((800, 60), density=0.3, rng=rng, format="csr")
    lines = []
    solution = identification.solve_columns(program_of_rows(X, sign), Controls(tell=lines.append))
    assert solution.status is Status.STALLED
    assert len(lines) <= 4
    assert solution.certificate.dual_objective <= solution.certificate.objective


@pytest.mark.parametrize("seed", range(3))
def test_a_vertex_is_optimal_for_its_rows_where_slopes_lead_to_the_sides(seed):
    program = wide(200, 600, seed, noise=True)
    point = identify_columns(program, start_columns(program), 0.12, 100, Controls(max_iter=2_000))
    firm = (point.over + point.missed)[:-1]
    keep = np.argsort(firm, kind="stable")[: point.between - 5]
    hinges, begin = identification.start_from_columns(program, point, keep, len(keep))
    finish(hinges, begin, Controls(), MOST_JOINING)
    assert len(hinges.missed)
    assert hinges.optimal
    alpha = hinges.fixed.copy()
    alpha[hinges.rows] = hinges.x[:-1]
    slopes = program.linear - program.rows.tdot(alpha) - hinges.x[-1] * program.difference
    atol = 1e-9 * np.abs(slopes).max()
    assert np.all(slopes[hinges.beta > program.lower] < atol)
    assert np.all(slopes[hinges.beta < program.upper] > -atol)
    # Where the columns are not at their sides it is not the optimum, and none is said to be.
    hinges.certified = (1.01 * hinges.certified[0], hinges.certified[1])
    assert not hinges.optimal


def small_face():
    """0/1 columns, the optimum a face of few dimensions: columns are sums of others."""
    rng = np.random.default_rng(3)
    X = (rng.random((300, 900)) < 0.03).astype(float)
    X[:, 860:] = X[:, :40] + X[:, 40:80]
    return program_of_rows(sp.csr_array(X), np.where(X @ rng.standard_normal(900) > 0, 1.0, -1.0))


@pytest.mark.parametrize("most_face", [300, 0])
def test_a_small_face_is_finished_in_the_null_space_a_large_one_not(monkeypatch, most_face):
    asked = []
    solve = identification._by_interior_point

    def counted(*arguments):
        asked.append(1)
        return solve(*arguments)

    monkeypatch.setattr(identification, "_by_interior_point", counted)
    program = small_face()
    tuning = ColumnTuning(spare=(0.0,), most_spare=0, face_spare=10.0, most_face=most_face)
    solution = identification.solve_columns(program, Controls(), tuning)
    assert bool(asked) == (most_face == 0)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)


def test_naming_columns_pays_on_sparse_data_with_enough_rows_and_columns():
    applicable = identification.columns_applicable
    assert applicable(500, 250, True)
    assert applicable(1_000, 500, True)
    assert not applicable(500, 250, False)
    assert not applicable(499, 9_999, True)
    assert not applicable(1_000, 499, True)


def gap_of(gap):
    return Certificate(np.zeros(1), np.zeros(1), 0.0, 1.0, 1.0 - gap)


class Identified(CertifiedPoint, SimpleNamespace):
    """A point of which only some fields matter."""


def solved(monkeypatch, gap, spare=0, between=100, rows=50, finished=(), steps=70, **controls):
    """How a solve goes on from what is named: shares asked for, vertices tried, rows solved."""
    point = Identified(spare=spare, between=between, rows=range(rows), steps=steps, best=None)
    shares, gaps = [], iter(finished)
    count = {"finish": 0, "rows": 0}

    def identify(program, point, share, most, controls):
        assert (most, controls.max_iter) == (100, 10 * 400)
        shares.append(share)
        point.best = point.best or gap_of(gap)
        return point

    def finish(program, point, controls, tuning):
        count["finish"] += 1
        point.best = gap_of(next(gaps, gap))

    def by_rows(program, point, controls):
        count["rows"] += 1
        return 4

    monkeypatch.setattr(identification, "start_columns", lambda program: point)
    monkeypatch.setattr(identification, "identify_columns", identify)
    monkeypatch.setattr(identification, "_finish", finish)
    monkeypatch.setattr(identification, "_by_interior_point", by_rows)
    program = SimpleNamespace(shape=(9_000, 10_000))
    found = identification.solve_columns(program, Controls(max_iter=400, **controls))
    assert found.iterations == max(steps // 10 + 4 * count["rows"], 1)
    return found.status, len(shares), count["finish"], count["rows"]


def test_a_vertex_is_tried_near_the_optimum_and_rows_are_solved_on_a_face(monkeypatch):
    def run(*given, **options):
        return solved(monkeypatch, *given, **options)

    optimal, stalled = Status.OPTIMAL, Status.STALLED
    assert run(1e-12) == (optimal, 1, 0, 0)
    assert run(1e-12, steps=3) == (optimal, 1, 0, 0)
    assert run(2.0 * DUAL.near) == (stalled, 1, 0, 0)
    assert run(1e-3, deadline=0.0)[:3] == (Status.TIME_LIMIT, 1, 0)
    # Few columns are spare: the vertex, until it is found or no fewer are.
    assert run(1e-3, finished=[1e-12]) == (optimal, 1, 1, 0)
    assert run(1e-3, finished=[1e-4, 1e-12]) == (optimal, 2, 2, 0)
    assert run(1e-3) == (stalled, 4, 4, 1)
    assert run(1e-3, spare=12) == (stalled, 2, 2, 1)
    # A face: the vertex once where it is small, else the rows.
    assert run(1e-3, spare=13) == (stalled, 1, 1, 1)
    assert run(1e-3, spare=40) == (stalled, 1, 1, 1)
    assert run(1e-3, spare=41) == (stalled, 1, 0, 1)
    assert run(1e-3, spare=300, between=1_000) == (stalled, 1, 1, 1)
    assert run(1e-3, spare=301, between=1_000) == (stalled, 1, 0, 1)
    # Matrices that are too large are not formed.
    assert run(1e-3, between=6_000) == (stalled, 4, 4, 1)
    assert run(1e-3, between=6_001) == (stalled, 4, 0, 1)
    assert run(1e-3, rows=6_000)[3] == 1
    assert run(1e-3, rows=6_001)[3] == 0


def named(program, seed=0):
    """Five working rows, some at a bound, and a few free columns."""
    rng = np.random.default_rng(seed)
    n = program.shape[1]
    rows = np.array([3, 17, 8, 30, 21])
    over = np.array([0.0, 0.3, 0.0, 0.0, 0.1, 0.0])
    missed = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    x = np.append(rng.uniform(0.1, 0.4, 5) * program.costs[rows], 0.6)
    beyond = rng.permutation(np.linspace(-0.3, 1.0, n))
    beta = rng.uniform(-1.0, 1.0, n)
    return DualPoint(beta, beyond, rows, x, over, missed, 1.0, steps=6, best=gap_of(0.1))


def test_rows_near_a_bound_are_those_least_firmly_there():
    point = named(wide(40, 60, 0))
    # Places 0 and 3 are between; then 4 (0.1 over), 2 (0.2 missed), 1 (0.3 over).
    for spare, places in ((0, [0, 3]), (1, [0, 3, 4]), (2, [0, 3, 4, 2]), (9, [0, 3, 4, 2, 1])):
        assert identification._near_rows(point, 5, spare).tolist() == places
    assert identification._near_rows(point, 4, 1).tolist() == [0, 3, 2]


@pytest.mark.parametrize("count", [0, 1, 4, 99])
def test_rows_that_the_point_is_nearest_to_missing_join(count):
    program = wide(40, 60, 0)
    point = named(program)
    over = program.rows.dot(point.beta) - program.margin
    others = np.setdiff1d(np.arange(40), point.rows)
    wanted = others[np.argsort(over[others])][:count]
    places = identification._nearest(program, point, count)
    assert set(point.rows[places].tolist()) == set(wanted.tolist())
    assert len(point.rows) == 5 + min(count, 35)
    np.testing.assert_allclose(point.over[places], np.maximum(over[point.rows[places]], 0.0))
    np.testing.assert_array_equal(point.over[:5], named(program).over[:5])


@pytest.mark.parametrize("keep", [[0, 3], [0, 3, 4, 2, 1]])
@pytest.mark.parametrize("sure", [1, 2])
def test_a_start_has_the_free_columns_the_nearest_ones_and_the_rows_at_a_bound(keep, sure):
    program = wide(40, 60, 0)
    point = named(program)
    hinges, start = identification.start_from_columns(program, point, np.array(keep), sure)
    rows = point.rows[keep]
    # Rows that are not kept are at the bound that they miss.
    fixed = np.zeros(40)
    fixed[8] = program.costs[8]
    fixed[rows] = 0.0
    np.testing.assert_array_equal(hinges.fixed, fixed)
    np.testing.assert_array_equal(hinges.rows, rows)
    # Equal columns are one, the nearest of them.
    n, group = hinges.n, hinges.group
    beyond = np.array([point.beyond[group == g].min() for g in range(n)])
    near = np.count_nonzero(beyond < 0) + int(0.05 * len(rows)) + 1
    columns = np.sort(np.argsort(beyond)[:near])
    sides = np.concatenate([point.over[[*keep, 5]], point.missed[[*keep, 5]]])
    k = len(keep) + 1
    held = [i for i in range(2 * k) if sides[i] > 0 or sure <= i < k - 1]
    np.testing.assert_array_equal(start.chosen, [*columns, *(n + np.array(held, dtype=int))])
    v = np.bincount(group, weights=point.beta - program.lower)
    np.testing.assert_array_equal(start.dual, [*v, *sides])
    assert (start.best, start.steps) == (point.best, 6)


def test_rows_that_a_vertex_misses_join_until_none_does(monkeypatch):
    program = wide(40, 60, 0)
    missed, asked = [], []

    def start_from_columns(program, point, keep, sure):
        asked.append((point.rows[keep].tolist(), sure))
        hinges = SimpleNamespace(missed=missed[min(len(asked) - 1, ends)], optimal=False)
        return hinges, None

    found = Solution(Status.STALLED, gap_of(0.05), 1, "")
    monkeypatch.setattr(identification, "start_from_columns", start_from_columns)
    monkeypatch.setattr(identification, "finish", lambda *_: found)
    ends, point = 2, named(program)
    count = int(0.1 * point.between) + max(point.spare, 0) + 1
    nearest = named(program)
    places = identification._nearest(program, nearest, count)
    near = identification._near_rows(point, 5, count)
    first = [*point.rows[near], *nearest.rows[places]]
    others = np.setdiff1d(np.arange(40), nearest.rows)
    missed += [others[:1], others[1:3], others[:0]]
    identification._finish(program, point, Controls(), ColumnTuning())
    assert [len(rows) - len(first) for rows, _ in asked] == [0, 1, 3]
    assert asked[0] == (first, len(first))
    assert asked[2] == ([*first, *others[:3]], len(first))
    assert point.best.relative_gap == pytest.approx(0.05)
    # So often at most; and not after the optimum.
    asked.clear()
    ends, point = 0, named(program)
    identification._finish(program, point, Controls(), ColumnTuning())
    assert len(asked) == 8
    asked.clear()
    found = Solution(Status.OPTIMAL, gap_of(0.0), 1, "")
    identification._finish(program, named(program), Controls(), ColumnTuning())
    assert len(asked) == 1


def test_rows_that_mattered_and_some_near_them_are_solved_by_interior_point(monkeypatch):
    program = wide(40, 60, 0)
    point, firsts = named(program), []

    def generate(program, controls, first):
        firsts.append(len(first))
        return Solution(Status.OPTIMAL, gap_of(0.01), 9, "")

    monkeypatch.setattr(identification.row_generation, "solve", generate)
    assert identification._by_interior_point(program, point, Controls(deadline=0.0)) == 0
    assert identification._by_interior_point(program, point, Controls()) == 9
    assert firsts == [6]  # a tenth of three between, and one
    assert point.best.relative_gap == pytest.approx(0.01)
