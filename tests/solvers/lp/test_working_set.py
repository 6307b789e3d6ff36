"""Some hinges as one matrix, and the inverse of its normal matrix."""

import numpy as np
import pytest

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
