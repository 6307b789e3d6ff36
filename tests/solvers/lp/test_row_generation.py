"""Generated rows give the optimum of all of them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp import dispatch, highs, row_generation
from lincent.solvers.lp.row_generation import Tuning
from lincent.solvers.solution import Controls, Status
from support.judge import assert_optimal, dual_value, primal_value
from support.programs import program_of_rows

SMALL = Tuning(first_rows=10)


def wide(m, n, seed, sparse=True):
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=0.05, rng=rng, format="csr")
    sign = np.where(X @ rng.standard_normal(n) > 0, 1.0, -1.0)
    return program_of_rows(X if sparse else X.toarray(), sign)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(60, 200), (150, 150), (400, 30)])
@pytest.mark.parametrize("sparse", [True, False])
def test_it_is_the_optimum(shape, seed, sparse):
    program = wide(*shape, seed, sparse)
    solution = row_generation.solve(program, Controls(), SMALL)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def test_few_rows_are_solved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 30))
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += sign
    lines = []
    solution = row_generation.solve(program_of_rows(X, sign), Controls(tell=lines.append), SMALL)
    assert solution.status is Status.OPTIMAL
    last = [line for line in lines if line.startswith("rows, round")][-1]
    assert int(last.split("gap")[1].split("rows")[0].split()[-1]) < 1000


def test_the_clock_is_kept():
    program = wide(150, 150, 0)
    solution = row_generation.solve(program, Controls(deadline=0.0), SMALL)
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
    assert row_generation.missed_at_the_corner(program) == 0
    solution = auto(program)
    assert (solution.solver, solution.iterations) == (row_generation.NAME, 1)
    assert_optimal(program, solution)
    np.testing.assert_array_equal(solution.certificate.beta, np.sign(program.difference))


def test_few_rows_missed_at_the_corner_are_generated():
    X, sign = far_apart(1)
    X[:5] -= 1.5 * sign[:5, None] * np.sign(X[sign > 0].mean(axis=0) - X[sign < 0].mean(axis=0))
    program = program_of_rows(X, sign)
    assert 0 < row_generation.missed_at_the_corner(program) <= 24
    solution = auto(program)
    assert solution.solver == row_generation.NAME
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def test_many_rows_missed_at_the_corner_are_left_to_other_solvers():
    rng = np.random.default_rng(0)
    X, sign = rng.standard_normal((600, 120)), np.where(rng.random(600) < 0.5, 1.0, -1.0)
    program = program_of_rows(X, sign)
    assert row_generation.missed_at_the_corner(program) > row_generation.CORNER_MISSED * 600
    assert auto(program).solver != row_generation.NAME
    ended = row_generation.from_the_corner(program, 1, Controls())
    assert ended.status is Status.STALLED
    assert ended.certificate.dual_objective <= ended.certificate.objective


def test_the_first_rows_are_those_that_the_corner_misses_most():
    program = wide(60, 200, 0)
    missed = program.margin - program.rows.dot(program.farthest_point)
    for tuning, count in ((SMALL, 10), (Tuning(first_rows=2, first_share=0.25), 15)):
        rows = row_generation._worst(program, tuning)
        assert len(rows) == count
        assert missed[rows].min() >= np.delete(missed, rows).max()
    assert len(row_generation._worst(program, Tuning(first_rows=100))) == 60


def test_a_program_of_some_rows_bounds_that_of_all():
    program = wide(60, 200, 0)
    index = np.arange(0, 60, 3)
    part = row_generation._part(program, index)
    beta = program.feasible(np.full(200, 0.01))
    assert primal_value(part, beta) <= primal_value(program, beta)
    np.testing.assert_array_equal(part.rows.dense(), program.rows.dense()[index])
    best = row_generation._Best(program)
    assert best.relative_gap == np.inf
    point = highs.solve(part, Controls()).certificate
    missed = best.offer(point, index)
    np.testing.assert_allclose(
        missed, program.margin - program.rows.dense() @ point.beta, atol=1e-12
    )
    answer = best.certificate()
    assert answer.objective == pytest.approx(primal_value(program, point.beta))
    assert answer.dual_objective == pytest.approx(dual_value(program, answer.alpha, answer.t))
    np.testing.assert_array_equal(answer.alpha[index], point.alpha)
    assert np.count_nonzero(answer.alpha) == np.count_nonzero(point.alpha)
    # A worse point and a lower bound change nothing.
    worse = replace(point, beta=beta, dual_objective=point.dual_objective - 1.0, t=9.0)
    if primal_value(program, beta) > answer.objective:
        best.offer(worse, index)
        assert best.certificate().objective == answer.objective
        assert best.certificate().t == answer.t


def watched(program, monkeypatch, tuning=SMALL, first=None, **controls):
    """The tolerances and the rows of every round."""
    asked, real = [], row_generation.interior_point.solve

    def solve(some, within, enough):
        assert enough == Controls(**controls).tol
        asked.append((within.tol, some.shape[0]))
        return real(some, within, enough=enough)

    with monkeypatch.context() as patch:
        patch.setattr(row_generation.interior_point, "solve", solve)
        found = row_generation.solve(program, Controls(**controls), tuning, first)
    return asked, found


def separable(m=2000, n=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += sign
    return program_of_rows(X, sign)


def test_rounds_are_loose_at_first_and_exact_at_the_end(monkeypatch):
    program = separable()
    asked, found = watched(program, monkeypatch)
    tolerances, rows = zip(*asked, strict=True)
    assert found.status is Status.OPTIMAL
    assert tolerances[0] == SMALL.first_tol
    assert rows[0] == 200  # a tenth
    assert all(later <= sooner * SMALL.below_gap for sooner, later in pairwise(tolerances[:-1]))
    assert min(tolerances) == pytest.approx(SMALL.last_share * 1e-9)
    assert list(rows) == sorted(rows)
    assert len(asked) <= 5
    assert max(rows) <= 600
    assert found.iterations >= len(asked)


def test_rows_that_are_given_are_solved_to_the_end_at_once(monkeypatch):
    program = separable()
    _, found = watched(program, monkeypatch)
    answer = found.certificate
    near = np.flatnonzero(program.rows.dot(answer.beta) <= program.margin * (1 + 1e-6))
    again, same = watched(program, monkeypatch, first=near)
    assert again == [(pytest.approx(SMALL.last_share * 1e-9), len(near))]
    assert same.certificate.objective == pytest.approx(answer.objective, rel=1e-9)


def test_where_most_rows_matter_the_whole_is_solved_or_left(monkeypatch):
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    program = program_of_rows(rng.standard_normal((300, 10)), sign)
    asked, found = watched(program, monkeypatch)
    assert asked[-1][1] == 300
    assert found.status is Status.OPTIMAL
    left, ended = watched(program, monkeypatch, replace(SMALL, whole=False))
    assert max(rows for _, rows in left) <= 0.7 * 300
    assert ended.status is Status.STALLED
    one, short = watched(program, monkeypatch, replace(SMALL, rounds=1))
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
def test_worthwhile(m, n, sparse, named, expected):
    assert row_generation.worthwhile(m, n, sparse, after_naming=named) is expected


def test_worth_a_look():
    assert row_generation.worth_a_look(10_000, 100)
    assert not row_generation.worth_a_look(10_001, 100)
    assert not row_generation.worth_a_look(500, 99)
