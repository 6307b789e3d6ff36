"""Generated rows give the optimum of all of them."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp import dispatch, highs, interior_point, row_generation
from lincent.solvers.solution import Controls, Status
from support.constants import set_constants
from support.optimality import assert_optimal, dual_value, primal_value
from support.programs import program_of_rows


@pytest.fixture
def small(monkeypatch):
    """Small programs may begin with ten rows."""
    set_constants(monkeypatch, row_generation, first_rows=10)


def wide(m, n, seed, sparse=True):
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=0.05, rng=rng, format="csr")
    sign = np.where(X @ rng.standard_normal(n) > 0, 1.0, -1.0)
    return program_of_rows(X if sparse else X.toarray(), sign)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(60, 200), (150, 150), (400, 30)])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.usefixtures("small")
def test_it_is_the_optimum(shape, seed, sparse):
    program = wide(*shape, seed, sparse)
    solution = row_generation.solve(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


@pytest.mark.usefixtures("small")
def test_few_rows_are_solved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 30))
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += sign
    lines = []
    solution = row_generation.solve(program_of_rows(X, sign), Controls(tell=lines.append))
    assert solution.status is Status.OPTIMAL
    last = [line for line in lines if line.startswith("rows, round")][-1]
    assert int(last.split("gap")[1].split("rows")[0].split()[-1]) < 1000


@pytest.mark.usefixtures("small")
def test_the_clock_is_kept():
    program = wide(150, 150, 0)
    solution = row_generation.solve(program, Controls(deadline=0.0))
    assert solution.status is Status.TIME_LIMIT
    assert solution.certificate.dual_objective <= solution.certificate.objective


def far_apart(clusters, m=600, n=120, seed=0):
    """Two classes of clusters whose centers lie far apart in all columns."""
    rng = np.random.default_rng(seed)
    part = np.arange(m) % (2 * clusters)
    centers = rng.standard_normal((2 * clusters, n))
    X = centers[part] + 0.5 * rng.standard_normal((m, n))
    return X, np.where(part < clusters, 1.0, -1.0)


def auto(program):
    return dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))


def test_a_corner_that_misses_no_row_is_the_optimum():
    program = program_of_rows(*far_apart(1))
    assert row_generation.violated_at_vertex(program) == 0
    solution = auto(program)
    assert (solution.solver, solution.iterations) == (row_generation.NAME, 1)
    assert_optimal(program, solution)
    np.testing.assert_array_equal(solution.certificate.beta, np.sign(program.difference))


def test_few_rows_violated_at_vertex_are_generated():
    X, sign = far_apart(1)
    X[:5] -= 1.5 * sign[:5, None] * np.sign(X[sign > 0].mean(axis=0) - X[sign < 0].mean(axis=0))
    program = program_of_rows(X, sign)
    assert 0 < row_generation.violated_at_vertex(program) <= 24
    solution = auto(program)
    assert solution.solver == row_generation.NAME
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def test_many_rows_violated_at_vertex_are_left_to_other_solvers():
    rng = np.random.default_rng(0)
    X, sign = rng.standard_normal((600, 120)), np.where(rng.random(600) < 0.5, 1.0, -1.0)
    program = program_of_rows(X, sign)
    assert row_generation.violated_at_vertex(program) > row_generation.VERTEX_VIOLATED * 600
    assert auto(program).solver != row_generation.NAME
    ended = row_generation.from_the_vertex(program, 1, Controls())
    assert ended.status is Status.STALLED
    assert ended.certificate.dual_objective <= ended.certificate.objective


def first_rows(monkeypatch, program, **constants):
    """The rows of the first program."""
    taken, solve = [], interior_point.solve

    def watched(some, controls, **options):
        taken.append(some.rows.dense())
        return solve(some, controls, **options)

    monkeypatch.setattr(interior_point, "solve", watched)
    set_constants(monkeypatch, row_generation, **constants)
    solution = row_generation.solve(program, Controls())
    rows = program.rows.dense()
    return np.flatnonzero((rows[:, None] == taken[0]).all(axis=2).any(axis=1)), solution


@pytest.mark.parametrize(
    ("constants", "count"),
    [({"first_rows": 10}, 10), ({"first_rows": 2, "first_share": 0.25}, 15)],
)
def test_the_first_rows_are_those_that_violate_the_margin_most(constants, count, monkeypatch):
    program = wide(60, 200, 0)
    missed = program.margin - program.rows.dot(program.farthest_point)
    rows, solution = first_rows(monkeypatch, program, **constants)
    assert len(rows) == count
    assert missed[rows].min() >= np.delete(missed, rows).max()
    assert_optimal(program, solution)


def test_with_few_rows_all_are_the_first(monkeypatch):
    rows, _ = first_rows(monkeypatch, wide(60, 200, 0), first_rows=100)
    assert len(rows) == 60


def test_a_program_of_some_rows_bounds_that_of_all(monkeypatch):
    """After one round the point is that of some rows, and the bound holds for all of them."""
    program = wide(60, 200, 0)
    best = highs.solve(program, Controls()).certificate.objective
    set_constants(monkeypatch, row_generation, first_rows=10, rounds=1)
    solution = row_generation.solve(program, Controls())
    answer = solution.certificate
    assert answer.dual_objective <= best + 1e-9
    assert answer.objective >= best - 1e-9
    assert answer.objective == pytest.approx(primal_value(program, answer.beta))
    assert answer.dual_objective == pytest.approx(dual_value(program, answer.alpha, answer.t))
    assert np.count_nonzero(answer.alpha) <= 10


def watched(program, monkeypatch, **options):
    """The tolerances and the rows of every round."""
    asked, real = [], row_generation.interior_point.solve

    def solve(some, within, enough):
        assert enough == Controls().tol
        asked.append((within.tol, some.shape[0]))
        return real(some, within, enough=enough)

    with monkeypatch.context() as patch:
        patch.setattr(row_generation.interior_point, "solve", solve)
        found = row_generation.solve(program, Controls(), **options)
    return asked, found


def separable(m=2000, n=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += sign
    return program_of_rows(X, sign)


@pytest.mark.usefixtures("small")
def test_rounds_are_loose_at_first_and_exact_at_the_end(monkeypatch):
    program = separable()
    asked, found = watched(program, monkeypatch)
    tolerances, rows = zip(*asked, strict=True)
    assert found.status is Status.OPTIMAL
    assert tolerances[0] == row_generation.FIRST_TOL
    assert rows[0] == 200  # a tenth
    assert all(
        later <= sooner * row_generation.BELOW_GAP for sooner, later in pairwise(tolerances[:-1])
    )
    assert min(tolerances) == pytest.approx(row_generation.LAST_SHARE * 1e-9)
    assert list(rows) == sorted(rows)
    assert len(asked) <= 5
    assert max(rows) <= 600
    assert found.iterations >= len(asked)


@pytest.mark.usefixtures("small")
def test_rows_that_are_given_are_solved_to_the_end_at_once(monkeypatch):
    program = separable()
    _, found = watched(program, monkeypatch)
    answer = found.certificate
    near = np.flatnonzero(program.rows.dot(answer.beta) <= program.margin * (1 + 1e-6))
    again, same = watched(program, monkeypatch, first=near)
    assert again == [(pytest.approx(row_generation.LAST_SHARE * 1e-9), len(near))]
    assert same.certificate.objective == pytest.approx(answer.objective, rel=1e-9)


@pytest.mark.usefixtures("small")
def test_where_most_rows_matter_the_whole_is_solved_or_left(monkeypatch):
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    program = program_of_rows(rng.standard_normal((300, 10)), sign)
    asked, found = watched(program, monkeypatch)
    assert asked[-1][1] == 300
    assert found.status is Status.OPTIMAL
    left, ended = watched(program, monkeypatch, near_vertex=True)
    assert max(rows for _, rows in left) <= 0.25 * 300
    assert ended.status is Status.STALLED
    set_constants(monkeypatch, row_generation, rounds=1)
    one, short = watched(program, monkeypatch)
    assert len(one) == 1
    assert short.status is Status.STALLED


@pytest.mark.parametrize(
    ("m", "n", "sparse", "named", "expected"),
    [
        (500, 500, True, False, True),
        (499, 500, True, False, False),
        (501, 500, True, False, False),
        (1500, 1500, False, False, True),
        (1499, 1500, False, False, False),
        (9000, 2000, True, True, True),
        (9000, 1999, True, True, False),
    ],
)
def test_is_applicable(m, n, sparse, named, expected):
    assert row_generation.is_applicable(m, n, sparse, after_identification=named) is expected


def test_vertex_is_candidate():
    assert row_generation.vertex_is_candidate(10_000, 100)
    assert not row_generation.vertex_is_candidate(10_001, 100)
    assert not row_generation.vertex_is_candidate(500, 99)
