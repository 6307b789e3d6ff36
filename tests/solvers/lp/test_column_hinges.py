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
    return program, ColumnHinges(program, rows, alpha), alpha, E


@pytest.mark.parametrize("dense", [False, True])
def test_a_working_set_is_its_matrix(dense):
    _, hinges, _, E = hinges_of(dense)
    unit = np.eye(5)
    chosen = np.concatenate([np.arange(3, 30), 40 + np.array([1, 4, 5 + 2])])
    M = np.vstack([E.T[3:30], -unit[[1, 4]], unit[[2]]])
    np.testing.assert_allclose(hinges.columns(chosen), M.T, atol=1e-13)
    work = hinges.working(chosen)
    assert work.shape == M.shape
    for V in (np.arange(5.0), np.random.default_rng(0).standard_normal((5, 3))):
        np.testing.assert_allclose(work.dot(V), M @ V, atol=1e-12)
        np.testing.assert_allclose(work.tdot(M @ V), M.T @ (M @ V), atol=1e-12)
        np.testing.assert_allclose(work.solve(M.T @ (M @ V)), V, atol=1e-7)


def test_rest_and_distances_are_those_of_the_program():
    program, hinges, alpha, E = hinges_of(False)
    rng = np.random.default_rng(1)
    v, p, q = rng.random(40), rng.random(5), rng.random(5)
    goal = np.append(np.full(4, program.margin), program.separation)
    expected = goal - E @ (program.lower + v) + p - q
    np.testing.assert_allclose(hinges.rest(np.concatenate([v, p, q])), expected, atol=1e-12)
    x = rng.random(5) * 0.1
    beyond = hinges.beyond(-x)
    r = program.linear - program.rows.tdot(alpha) - E.T @ x
    np.testing.assert_allclose(beyond[:40], r, atol=1e-12)
    np.testing.assert_allclose(beyond[40:45], x)
    np.testing.assert_allclose(beyond[45:49], program.costs[hinges.rows] - x[:-1])


def test_a_judgement_says_which_rows_are_at_the_wrong_bound():
    program, hinges, _, _ = hinges_of(False)
    beta = program.feasible(np.zeros(40))
    judged = hinges.judge(np.zeros(5), np.concatenate([beta - program.lower, np.zeros(10)]))
    over = program.rows.dot(beta) - program.margin
    wrong = [i for i in range(12) if i not in (2, 3, 5, 11) and (over[i] > 0) == (i in (1, 9))]
    assert hinges.missed.tolist() == wrong
    assert hinges.lacking == bool(wrong)
    assert judged.dual_objective <= judged.objective
