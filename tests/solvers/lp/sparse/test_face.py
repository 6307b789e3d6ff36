"""Points of the face that optimal multipliers leave."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems.centralization import certify
from lincent.solvers.lp import highs
from lincent.solvers.lp.sparse import face
from lincent.solvers.solution import Controls
from support.programs import program_of_rows, wide


def words(seed, m=120, n=900):
    """0/1 columns, most of them with an entry or two: the optimum is a face."""
    rng = np.random.default_rng(seed)
    X = (rng.random((m, n)) < 0.3 / np.arange(1, n + 1) ** 0.6).astype(float)
    sign = np.where(X @ rng.standard_normal(n) + 8.0 * rng.standard_normal(m) > 0, 1.0, -1.0)
    return program_of_rows(sp.csr_array(X), sign)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_an_optimum_and_the_nearest_to_the_point(seed):
    program = words(seed)
    best = highs.solve(program, Controls()).certificate
    rng = np.random.default_rng(seed)
    points = []
    for b in (np.zeros(900), rng.uniform(-1, 1, 900)):
        found = face.nearest(program, best.alpha, best.t, b, Controls())
        assert found is not None
        judged = certify(program, found[0], best.alpha, best.t)
        assert judged.relative_gap <= 1e-9
        points.append(found[0])
        # Near to the point that was given: the slacks count in the distance as well.
        assert np.linalg.norm(found[0] - b) <= 1.3 * np.linalg.norm(best.beta - b)
    assert np.abs(points[0] - points[1]).max() > 0.1


def test_equal_columns_share_a_coefficient():
    program = words(0)
    best = highs.solve(program, Controls()).certificate
    beta, _ = face.nearest(program, best.alpha, best.t, np.zeros(900), Controls())
    dense = program.rows.dense()
    _, group = np.unique(dense, axis=1, return_inverse=True)
    for same in (np.flatnonzero(group == g) for g in np.unique(group)):
        assert np.ptp(beta[same]) <= 1e-9


def test_multipliers_that_are_not_optimal_leave_nothing_and_rows_are_named():
    program = words(1)
    best = highs.solve(program, Controls()).certificate
    found = face.nearest(program, 0.9 * best.alpha, best.t, best.beta, Controls())
    if found is not None:
        beta, rows = found
        assert certify(program, beta, 0.9 * best.alpha, best.t).relative_gap > 1e-9
        assert np.all((rows >= 0) & (rows < 120))


def test_a_vertex_is_left_alone():
    program = wide(60, 200, 0)
    best = highs.solve(program, Controls()).certificate
    assert face.nearest(program, best.alpha, best.t, best.beta, Controls()) is None
