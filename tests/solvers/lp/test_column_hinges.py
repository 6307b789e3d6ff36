"""The dual's hinges: columns in the place of rows."""

import numpy as np
import pytest

from lincent.solvers.lp.column_hinges import ColumnHinges
from support.programs import overlapping


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
    expected = goal - E @ (program.lower + hinges.apart(v)) + p - q
    np.testing.assert_allclose(hinges.rest(np.concatenate([v, p, q])), expected, atol=1e-12)
    x = rng.random(5) * 0.1
    beyond = hinges.beyond(-x)
    r = program.linear - program.rows.tdot(alpha) - E.T @ x
    np.testing.assert_allclose(beyond[:n], r[first], atol=1e-12)
    np.testing.assert_allclose(r[first][hinges.group], r, atol=1e-12)
    np.testing.assert_allclose(beyond[n : n + 5], x)
    np.testing.assert_allclose(beyond[n + 5 : -1], program.costs[hinges.rows] - x[:-1])


def test_columns_that_are_equal_in_the_working_rows_are_one_hinge_with_the_sum_of_their_boxes():
    program, hinges, _, E, first = hinges_of(False)
    assert hinges.n < 40  # sparse columns without an entry in these rows, or with the same
    np.testing.assert_array_equal(E[:, first][:, hinges.group], E)
    width = program.upper - program.lower
    np.testing.assert_allclose(hinges.top[: hinges.n], hinges.together(width))
    v = np.random.default_rng(2).random(hinges.n) * hinges.top[: hinges.n]
    apart = hinges.apart(v)
    assert np.all((apart >= 0.0) & (apart <= width))
    np.testing.assert_allclose(hinges.together(apart), v)


def test_a_judgement_says_which_rows_are_at_the_wrong_bound():
    program, hinges, _, _, _ = hinges_of(False)
    beta = program.feasible(np.zeros(40))
    v = hinges.together(beta - program.lower)
    beta = program.lower + hinges.apart(v)
    judged = hinges.judge(np.zeros(5), np.concatenate([v, np.zeros(10)]))
    over = program.rows.dot(beta) - program.margin
    wrong = [i for i in range(12) if i not in (2, 3, 5, 11) and (over[i] > 0) == (i in (1, 9))]
    assert hinges.missed.tolist() == wrong
    assert hinges.lacking == bool(wrong)
    assert judged.dual_objective <= judged.objective
