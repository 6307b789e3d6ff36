"""Signed rows through any source are y (x - l), in every product."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source
from support.layouts import M, N, plain, same, signs, weights


def formed(center):
    return signs()[:, None] * (plain() - center)


@pytest.mark.usefixtures("blocks")
class TestSignedRows:
    @pytest.fixture
    def rows(self, source):
        return SignedRows(source, signs(), weights(N))

    @pytest.fixture
    def A(self):
        return formed(weights(N))

    def test_dot(self, rows, A):
        same(rows.dot(weights(N)), A @ weights(N))

    def test_tdot(self, rows, A):
        same(rows.tdot(weights()), A.T @ weights())

    def test_gram(self, rows, A):
        same(rows.gram(weights()), A.T @ np.diag(weights()) @ A)

    def test_outer(self, rows, A):
        same(rows.outer(weights(N)), A @ np.diag(weights(N)) @ A.T)

    def test_sweep(self, rows, A):
        found, combined = rows.sweep(weights(N), lambda part, z: np.exp(z) + weights()[part])
        same(found, A @ weights(N))
        same(combined, A.T @ (np.exp(found) + weights()))

    def test_columns(self, rows, A):
        index = np.array([5, 0, 2])
        same(rows.columns(index).dense(), A[:, index])

    def test_single(self, rows, A):
        single = rows.float32(np.array([4, 1]))
        if not rows.sparse:
            np.testing.assert_allclose(single.dense(), A[[4, 1]], rtol=1e-5, atol=1e-5)
        else:
            assert single is None

    def test_dense(self, rows, A):
        same(rows.dense(), A)

    def test_factors(self, rows, A):
        matrix, sign, center = rows.factors()
        matrix = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        same(matrix - np.outer(sign, center), A)

    @pytest.mark.parametrize("index", [np.array([5, 0, 5, 31]), np.array([], dtype=np.intp)])
    def test_take(self, rows, A, index):
        taken = rows.take(index)
        assert taken.shape == (len(index), N)
        same(taken.dense(), A[index])
        same(taken.dot(weights(N)), A[index] @ weights(N))
        same(taken.tdot(weights(len(index))), A[index].T @ weights(len(index)))
        same(taken.gram(weights(len(index))), A[index].T @ np.diag(weights(len(index))) @ A[index])

    def test_materialize(self, rows, A):
        whole = rows.materialize()
        same(whole.dot(weights(N)), A @ weights(N))
        same(whole.gram(weights()), A.T @ np.diag(weights()) @ A)
        same(whole.outer(weights(N)), A @ np.diag(weights(N)) @ A.T)
        same(whole.column_scale(), np.sqrt(np.mean(A**2, axis=0)))

    def test_taking_rows_leaves_the_data_alone(self, layout):
        before = layout.copy()
        rows = SignedRows(open_source(layout), signs(), weights(N))
        rows.take(np.arange(M)).dense()
        rows.materialize().dense()
        difference = abs(layout - before)
        assert difference.max() == 0
