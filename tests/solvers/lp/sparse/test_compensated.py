"""A matrix with a correction of rank one does what its dense form does."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp.sparse.compensated import CompensatedMatrix


def pair(sparse):
    rng = np.random.default_rng(0)
    S = np.where(rng.random((9, 6)) < 0.5, rng.standard_normal((9, 6)), 0.0)
    u, v = rng.standard_normal(9), rng.standard_normal(6)
    matrix = CompensatedMatrix(sp.csr_array(S), u, v) if sparse else CompensatedMatrix(S, u, v)
    return matrix, S - np.outer(u, v), rng


@pytest.mark.parametrize("sparse", [False, True])
def test_products_parts_and_squares(sparse):
    matrix, dense, rng = pair(sparse)
    rows, columns = np.array([4, 0, 7]), np.array([5, 2])
    for whole, part in (
        (matrix, dense),
        (matrix.take(rows), dense[rows]),
        (matrix.columns(columns), dense[:, columns]),
        (matrix.transpose(), dense.T),
        (matrix.append_column(np.arange(9.0)), np.column_stack([dense, np.arange(9.0)])),
    ):
        assert whole.shape == part.shape
        np.testing.assert_allclose(whole.dense(), part, atol=1e-14)
        for V in (rng.standard_normal(part.shape[1]), rng.standard_normal((part.shape[1], 2))):
            np.testing.assert_allclose(whole.dot(V), part @ V, atol=1e-13)
            np.testing.assert_allclose(whole.tdot(part @ V), part.T @ (part @ V), atol=1e-12)
        weight = rng.random(part.shape[1])
        np.testing.assert_allclose(whole.row_squares(weight), part**2 @ weight, atol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("block", [2, 100])
def test_the_lower_half_of_the_gram_matrix_is_formed_in_blocks(sparse, block):
    matrix, dense, _ = pair(sparse)
    np.testing.assert_allclose(np.tril(matrix.gram(block)), np.tril(dense.T @ dense), atol=1e-12)
