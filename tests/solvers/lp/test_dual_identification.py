"""Naming the free columns and finishing in the null space: the optimum of HiGHS, certified."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems.arrays import Certificate
from lincent.solvers.lp import dual_identification, highs
from lincent.solvers.lp.dual_identification import FINISH, Tuning, _at_vertex, working_start
from lincent.solvers.lp.dual_lagrangian import TUNING as NAMING
from lincent.solvers.lp.dual_lagrangian import Named, identify, start
from lincent.solvers.lp.null_space import finish
from lincent.solvers.lp.working_set import WorkingSet
from lincent.solvers.solution import Controls, Solution, Status
from support.judge import assert_optimal
from support.programs import program_of_rows, wide


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(60, 200), (150, 150), (200, 900)])
@pytest.mark.parametrize("options", [{}, {"dense": True}, {"noise": True}])
def test_it_is_the_optimum(shape, seed, options):
    program = wide(*shape, seed, **options)
    solution = dual_identification.solve(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def awkward(kind):
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


KINDS = ["binary", "duplicate columns", "empty columns", "zero rows", "repeated rows", "scales"]


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_data_is_certified_or_handed_on(kind):
    program = awkward(kind)
    solution = dual_identification.solve(program, Controls())
    answer, best = solution.certificate, highs.solve(program, Controls()).certificate
    # Whatever it claims is true: the bounds enclose the optimum.
    slack = 1e-9 * max(1.0, abs(best.objective))
    assert answer.dual_objective <= best.objective + slack
    assert answer.objective >= best.dual_objective - slack
    assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= 1e-9)
    assert solution.relative_gap < 1e-2


def test_without_a_matrix_the_gap_is_certified_and_no_matrix_is_formed(monkeypatch):
    def refuse(*args):
        raise AssertionError("a matrix was formed")

    monkeypatch.setattr(WorkingSet, "__init__", refuse)
    program = wide(150, 600, 0, noise=True)
    solution = dual_identification.solve(program, Controls(), Tuning(largest_matrix=0))
    assert solution.certificate.dual_objective <= solution.certificate.objective
    assert solution.relative_gap < 1e-3


def test_the_clock_and_the_step_limit_are_kept():
    program = wide(150, 600, 1)
    late = dual_identification.solve(program, Controls(deadline=0.0))
    assert late.status is Status.TIME_LIMIT
    short = dual_identification.solve(program, Controls(max_iter=1))
    assert short.certificate.dual_objective <= short.certificate.objective


def test_classes_that_overlap_are_handed_on_soon():
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    X = sp.random_array((800, 60), density=0.3, rng=rng, format="csr")
    lines = []
    solution = dual_identification.solve(program_of_rows(X, sign), Controls(tell=lines.append))
    assert solution.status is Status.STALLED
    assert len(lines) <= 4
    assert solution.certificate.dual_objective <= solution.certificate.objective


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_a_vertex_misses_join_it_where_it_is(seed):
    program = wide(200, 600, seed, noise=True)
    point = identify(program, start(program), 0.12, 100, Controls(max_iter=2_000))
    firm = (point.over + point.missed)[:-1]
    keep = np.argsort(firm, kind="stable")[: point.between - 5]
    hinges, begin = working_start(program, point, keep, len(keep))
    finish(hinges, begin, Controls(), FINISH)
    assert len(hinges.missed)
    new = point.places(hinges.missed)
    assert hinges.optimal
    vertex = _at_vertex(program, point, hinges, keep)
    # The optimum of these rows: every slope leads to the side that its column is at ...
    slopes, beta = hinges.slopes()[hinges.group], vertex.beta
    atol = 1e-9 * np.abs(slopes).max()
    assert np.all(slopes[beta > program.lower] < atol)
    assert np.all(slopes[beta < program.upper] > -atol)
    # ... and a vertex: as many columns inside as rows (or d) on the margin, but for those missed.
    others = np.setdiff1d(np.arange(len(point.rows)), np.append(keep, new))
    assert len(np.unique(hinges.group[vertex.free])) == vertex.between
    np.testing.assert_array_equal(vertex.x[others], hinges.fixed[point.rows[others]])
    slack = program.rows.dot(beta) - program.margin
    np.testing.assert_allclose((vertex.over - vertex.missed)[:-1], slack[point.rows], atol=1e-9)
    # Where the columns are not at their sides it is not the optimum, and none is said to be.
    hinges.judged = (1.01 * hinges.judged[0], hinges.judged[1])
    assert not hinges.optimal


def small_face():
    """0/1 columns, the optimum a face of few dimensions: columns are sums of others."""
    rng = np.random.default_rng(3)
    X = (rng.random((300, 900)) < 0.03).astype(float)
    X[:, 860:] = X[:, :40] + X[:, 40:80]
    return program_of_rows(sp.csr_array(X), np.where(X @ rng.standard_normal(900) > 0, 1.0, -1.0))


@pytest.mark.parametrize("most_face", [300, 0])
def test_a_small_face_is_finished_in_the_null_space_and_a_large_one_by_rows(monkeypatch, most_face):
    asked = []
    by_rows = dual_identification._by_rows
    monkeypatch.setattr(dual_identification, "_by_rows", lambda *a: asked.append(1) or by_rows(*a))
    program = small_face()
    tuning = Tuning(spare=(0.0,), most_spare=0, face_spare=10.0, most_face=most_face)
    solution = dual_identification.solve(program, Controls(), tuning)
    assert bool(asked) == (most_face == 0)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)


def test_naming_columns_pays_on_sparse_data_with_enough_rows_and_columns():
    worthwhile = dual_identification.worthwhile
    assert worthwhile(500, 250, True)
    assert worthwhile(1_000, 500, True)
    assert not worthwhile(500, 250, False)
    assert not worthwhile(499, 9_999, True)
    assert not worthwhile(1_000, 499, True)


def gap_of(gap):
    return Certificate(np.zeros(1), np.zeros(1), 0.0, 1.0, 1.0 - gap)


def solved(monkeypatch, gap, spare=0, between=100, rows=50, finished=(), steps=70, **controls):
    """How a solve goes on from what is named: shares asked for, vertices tried, rows solved."""
    point = SimpleNamespace(spare=spare, between=between, rows=range(rows), steps=steps, best=None)
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

    monkeypatch.setattr(dual_identification, "start", lambda program: point)
    monkeypatch.setattr(dual_identification, "identify", identify)
    monkeypatch.setattr(dual_identification, "_finish", finish)
    monkeypatch.setattr(dual_identification, "_by_rows", by_rows)
    program = SimpleNamespace(shape=(9_000, 10_000))
    found = dual_identification.solve(program, Controls(max_iter=400, **controls))
    assert found.iterations == max(steps // 10 + 4 * count["rows"], 1)
    return found.status, len(shares), count["finish"], count["rows"]


def test_a_vertex_is_tried_near_the_optimum_and_rows_are_solved_on_a_face(monkeypatch):
    def run(*given, **options):
        return solved(monkeypatch, *given, **options)

    optimal, stalled = Status.OPTIMAL, Status.STALLED
    assert run(1e-12) == (optimal, 1, 0, 0)
    assert run(1e-12, steps=3) == (optimal, 1, 0, 0)
    assert run(2.0 * NAMING.near) == (stalled, 1, 0, 0)
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
    return Named(beta, beyond, rows, x, over, missed, 1.0, steps=6, best=gap_of(0.1))


def test_rows_near_a_bound_are_those_least_firmly_there():
    point = named(wide(40, 60, 0))
    # Places 0 and 3 are between; then 4 (0.1 over), 2 (0.2 missed), 1 (0.3 over).
    for spare, places in ((0, [0, 3]), (1, [0, 3, 4]), (2, [0, 3, 4, 2]), (9, [0, 3, 4, 2, 1])):
        assert dual_identification._near_rows(point, 5, spare).tolist() == places
    assert dual_identification._near_rows(point, 4, 1).tolist() == [0, 3, 2]


@pytest.mark.parametrize("count", [0, 1, 4, 99])
def test_rows_that_the_point_is_nearest_to_missing_join(count):
    program = wide(40, 60, 0)
    point = named(program)
    over = program.rows.dot(point.beta) - program.margin
    others = np.setdiff1d(np.arange(40), point.rows)
    wanted = others[np.argsort(over[others])][:count]
    places = dual_identification._nearest(program, point, count)
    assert set(point.rows[places].tolist()) == set(wanted.tolist())
    assert len(point.rows) == 5 + min(count, 35)
    np.testing.assert_allclose(point.over[places], np.maximum(over[point.rows[places]], 0.0))
    np.testing.assert_array_equal(point.over[:5], named(program).over[:5])


@pytest.mark.parametrize("keep", [[0, 3], [0, 3, 4, 2, 1]])
@pytest.mark.parametrize("sure", [1, 2])
def test_a_start_has_the_free_columns_the_nearest_ones_and_the_rows_at_a_bound(keep, sure):
    program = wide(40, 60, 0)
    point = named(program)
    hinges, start = dual_identification.working_start(program, point, np.array(keep), sure)
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

    def working_start(program, point, keep, sure):
        asked.append((point.rows[keep].tolist(), sure))
        hinges = SimpleNamespace(missed=missed[min(len(asked) - 1, ends)], optimal=False)
        return hinges, None

    found = Solution(Status.STALLED, gap_of(0.05), 1, "")
    monkeypatch.setattr(dual_identification, "working_start", working_start)
    monkeypatch.setattr(dual_identification, "finish", lambda *_: found)
    ends, point = 2, named(program)
    count = int(0.1 * point.between) + max(point.spare, 0) + 1
    nearest = named(program)
    places = dual_identification._nearest(program, nearest, count)
    near = dual_identification._near_rows(point, 5, count)
    first = [*point.rows[near], *nearest.rows[places]]
    others = np.setdiff1d(np.arange(40), nearest.rows)
    missed += [others[:1], others[1:3], others[:0]]
    dual_identification._finish(program, point, Controls(), Tuning())
    assert [len(rows) - len(first) for rows, _ in asked] == [0, 1, 3]
    assert asked[0] == (first, len(first))
    assert asked[2] == ([*first, *others[:3]], len(first))
    assert point.best.relative_gap == pytest.approx(0.05)
    # So often at most; and not after the optimum.
    asked.clear()
    ends, point = 0, named(program)
    dual_identification._finish(program, point, Controls(), Tuning())
    assert len(asked) == 8
    asked.clear()
    found = Solution(Status.OPTIMAL, gap_of(0.0), 1, "")
    dual_identification._finish(program, named(program), Controls(), Tuning())
    assert len(asked) == 1


def test_rows_that_mattered_and_some_near_them_are_solved_by_rows(monkeypatch):
    program = wide(40, 60, 0)
    point, firsts = named(program), []

    def generate(program, controls, first):
        firsts.append(len(first))
        return Solution(Status.OPTIMAL, gap_of(0.01), 9, "")

    monkeypatch.setattr(dual_identification.row_generation, "solve", generate)
    assert dual_identification._by_rows(program, point, Controls(deadline=0.0)) == 0
    assert dual_identification._by_rows(program, point, Controls()) == 9
    assert firsts == [6]  # a tenth of three between, and one
    assert point.best.relative_gap == pytest.approx(0.01)
