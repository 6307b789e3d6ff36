"""Hinges of (P) and of its dual, and their working sets."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import certify
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp.sparse import hinges as hinges_module
from lincent.solvers.lp.sparse.hinges import ColumnHinges, RowHinges
from support.programs import overlapping


@pytest.mark.parametrize("dense", [False, True])
def test_a_hinges_module_multiplies_and_solves_as_its_matrix_does(dense):
    program = overlapping(60, 12, 3, dense=dense)
    hinges = RowHinges(program)
    rows, sides = np.arange(5, 35), np.array([60 + 2, 60 + 7, 60 + 12 + 4])
    work = hinges.working(np.concatenate([rows, sides, [60 + 2 * 12]]))
    unit = np.eye(12)
    M = np.vstack([program.rows.dense()[rows], unit[[2, 7]], -unit[[4]], program.difference])
    rng = np.random.default_rng(0)
    for V in (rng.standard_normal(12), rng.standard_normal((12, 3))):
        np.testing.assert_allclose(work.dot(V), M @ V, atol=1e-12)
        np.testing.assert_allclose(work.tdot(M @ V), M.T @ (M @ V), atol=1e-12)
        np.testing.assert_allclose(work.solve(M.T @ (M @ V)), V, atol=1e-6)
    chosen = np.array([3, 60 + 5, 60 + 12 + 1, 10])
    columns = np.column_stack(
        [program.rows.dense()[3], unit[5], -unit[1], program.rows.dense()[10]]
    )
    np.testing.assert_allclose(hinges.columns(chosen), columns, atol=1e-12)


def test_the_rest_is_what_the_multipliers_miss_of_the_dual():
    program = overlapping(40, 6, 1)
    hinges = RowHinges(program)
    dual = np.random.default_rng(0).random(40 + 2 * 6 + 1)
    A = np.vstack([program.rows.dense(), np.eye(6), -np.eye(6), program.difference])
    np.testing.assert_allclose(hinges.rest(dual), program.linear - A.T @ dual, atol=1e-12)
    assert np.all(hinges.top[:40] == program.costs)
    assert np.all(np.isinf(hinges.top[40:]))


def test_hinges_bend_where_the_program_says():
    program = overlapping(40, 6, 1)
    program = replace(program, lower=np.linspace(-2, -1, 6), upper=np.linspace(1, 3, 6))
    hinges = RowHinges(program)
    M = np.vstack([program.rows.dense(), np.eye(6), -np.eye(6), program.difference])
    at = np.concatenate(
        [np.full(40, program.margin), program.lower, -program.upper, [program.separation]]
    )
    np.testing.assert_array_equal(hinges.at, at)
    assert hinges.top.shape == at.shape
    rng = np.random.default_rng(0)
    beta, dual = program.feasible(rng.uniform(-1, 1, 6)), rng.random(53)
    np.testing.assert_allclose(hinges.beyond(beta), M @ beta - at, atol=1e-13)
    found, wanted = hinges.certify(beta, dual), certify(program, beta, dual[:40], dual[52])
    assert (found.objective, found.dual_objective) == (wanted.objective, wanted.dual_objective)


@pytest.mark.parametrize("block", [1, 5, 12])
def test_the_normal_matrix_is_the_same_in_blocks(block, monkeypatch):
    monkeypatch.setattr(hinges_module, "GRAM_COLUMNS", block)
    program = overlapping(60, 12, 3)
    sides = np.array([60 + 2, 60 + 2 + 12, 60 + 7])
    work = RowHinges(program).working(np.concatenate([np.arange(30), sides, [60 + 24]]))
    M = work.dot(np.eye(12))
    assert work.shape == M.shape
    np.testing.assert_allclose(np.tril(work._normal()), np.tril(M.T @ M), atol=1e-12)


def test_ridges_grow_until_one_is_enough(monkeypatch):
    tried = []

    def factor(normal, ridge):
        tried.append(ridge)
        if len(tried) % 4 < enough:
            raise NotPositiveDefiniteError

    monkeypatch.setattr(hinges_module, "BlockedCholesky", factor)
    hinges, chosen = RowHinges(overlapping(40, 6, 1)), np.array([0, 1, 2, 52])
    for enough in (1, 2, 3):
        tried.clear()
        hinges.working(chosen)
        assert tried == [1e-13, 1e-11, 1e-9][:enough]
    tried.clear()
    enough = 4
    with pytest.raises(NotPositiveDefiniteError):
        hinges.working(chosen)
    assert tried == [1e-13, 1e-11, 1e-9]


def hinges_of(dense):
    program = overlapping(12, 40, 3, dense=dense)
    alpha = np.zeros(12)
    alpha[[1, 9]] = program.costs[[1, 9]]
    rows = np.array([2, 3, 5, 11])
    E = np.vstack([program.rows.dense()[rows], program.difference])
    hinges = ColumnHinges(program, rows, alpha)
    return program, hinges, alpha, E, np.unique(hinges.group, return_index=True)[1]


@pytest.mark.parametrize("dense", [False, True])
def test_a_working_set_is_its_matrix(dense):
    _, hinges, _, E, first = hinges_of(dense)
    unit, n = np.eye(5), hinges.n
    chosen = np.concatenate([np.arange(3, n - 2), n + np.array([1, 4, 5 + 2])])
    M = np.vstack([E.T[first][3:-2], -unit[[1, 4]], unit[[2]]])
    np.testing.assert_allclose(hinges.columns(chosen), M.T, atol=1e-13)
    work = hinges.working(chosen)
    assert work.shape == M.shape
    for V in (np.arange(5.0), np.random.default_rng(0).standard_normal((5, 3))):
        np.testing.assert_allclose(work.dot(V), M @ V, atol=1e-12)
        np.testing.assert_allclose(work.tdot(M @ V), M.T @ (M @ V), atol=1e-12)
        np.testing.assert_allclose(work.solve(M.T @ (M @ V)), V, atol=1e-7)


def test_rest_and_distances_are_those_of_the_program():
    program, hinges, alpha, E, first = hinges_of(False)
    n = hinges.n
    rng = np.random.default_rng(1)
    v, p, q = rng.random(n), rng.random(5), rng.random(5)
    goal = np.append(np.full(4, program.margin), program.separation)
    expected = goal - E @ (program.lower + hinges.share * v[hinges.group]) + p - q
    np.testing.assert_allclose(hinges.rest(np.concatenate([v, p, q])), expected, atol=1e-12)
    x = rng.random(5) * 0.1
    beyond = hinges.beyond(-x)
    r = program.linear - program.rows.tdot(alpha) - E.T @ x
    np.testing.assert_allclose(beyond[:n], r[first], atol=1e-12)
    np.testing.assert_allclose(r[first][hinges.group], r, atol=1e-12)
    np.testing.assert_allclose(beyond[n : n + 5], x)
    np.testing.assert_allclose(beyond[n + 5 : -1], program.costs[hinges.rows] - x[:-1])
    np.testing.assert_allclose(hinges.beyond(np.zeros(5))[:-1], -hinges.at[:-1])


def test_columns_that_are_equal_in_the_working_rows_are_one_hinge_with_the_sum_of_their_boxes():
    program, hinges, _, E, first = hinges_of(False)
    assert hinges.n < 40  # sparse columns without an entry in these rows, or with the same
    np.testing.assert_array_equal(E[:, first][:, hinges.group], E)
    width = program.upper - program.lower
    np.testing.assert_allclose(hinges.top[: hinges.n], hinges.together(width))
    v = np.random.default_rng(2).random(hinges.n) * hinges.top[: hinges.n]
    apart = hinges.share * v[hinges.group]
    assert np.all((apart >= 0.0) & (apart <= width))
    np.testing.assert_allclose(hinges.together(apart), v)


def test_an_evaluation_says_which_rows_are_at_the_wrong_bound():
    program, hinges, _, _, _ = hinges_of(False)
    beta = program.feasible(np.zeros(40))
    v = hinges.together(beta - program.lower)
    beta = program.lower + hinges.share * v[hinges.group]
    judged = hinges.certify(np.zeros(5), np.concatenate([v, np.zeros(10)]))
    over = program.rows.dot(beta) - program.margin
    wrong = [i for i in range(12) if i not in (2, 3, 5, 11) and (over[i] > 0) == (i in (1, 9))]
    assert hinges.missed.tolist() == wrong
    assert hinges.lacking == bool(wrong)
    assert judged.dual_objective <= judged.objective
