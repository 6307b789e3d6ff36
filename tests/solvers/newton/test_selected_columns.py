"""A choice of columns does what those columns of the matrix do."""

import numpy as np

from lincent.solvers.newton import curvature
from lincent.solvers.newton.curvature import SelectedColumns


def test_selected_columns(monkeypatch):
    monkeypatch.setattr(curvature, "BLOCK_ROWS", 7)
    rng = np.random.default_rng(1)
    B, places = rng.standard_normal((30, 5)), np.array([4, 0])
    chosen = SelectedColumns(np.ascontiguousarray(B.T))
    for used in (0.2, 0.9):
        w = np.where(rng.random(30) < used, rng.random(30), 0.0)
        np.testing.assert_allclose(chosen.gram(w), (B.T * w) @ B, atol=1e-12)
        np.testing.assert_allclose(chosen.cross(w, places), (B.T * w) @ B[:, places])
    np.testing.assert_allclose(chosen.tdot(w), B.T @ w)
    np.testing.assert_allclose(chosen.dot(w[:5]), B @ w[:5])
    np.testing.assert_allclose(chosen.outer(w[:5]), (B * w[:5]) @ B.T, atol=1e-12)
    np.testing.assert_allclose(chosen.column_scale(), np.sqrt((B**2).mean(axis=0)))
    np.testing.assert_array_equal(chosen.dense(), B)
    np.testing.assert_array_equal(chosen.take(np.array([4, 2])).dense(), B[[4, 2]])
    np.testing.assert_array_equal(chosen.columns(np.array([4, 2])).dense(), B[:, [4, 2]])
