"""Some hinges as one matrix, and the inverse of its normal matrix."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import certify
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp import working_set
from lincent.solvers.lp.working_set import RowHinges
from support.programs import overlapping


@pytest.mark.parametrize("dense", [False, True])
def test_a_working_set_multiplies_and_solves_as_its_matrix_does(dense):
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
    found, wanted = hinges.judge(beta, dual), certify(program, beta, dual[:40], dual[52])
    assert (found.objective, found.dual_objective) == (wanted.objective, wanted.dual_objective)


@pytest.mark.parametrize("block", [1, 5, 12])
def test_the_normal_matrix_is_the_same_in_blocks(block, monkeypatch):
    monkeypatch.setattr(working_set, "GRAM_COLUMNS", block)
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

    monkeypatch.setattr(working_set, "BlockedCholesky", factor)
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
