"""Every way of reading rows gives the same numbers, and the same optimum."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.passes import dense as dense_module
from lincent.passes.dense import DenseSource
from lincent.passes.signed_rows import SignedRows
from lincent.passes.source import open_source
from lincent.passes.sparse import SparseSource

M, N = 57, 6


def plain():
    """Rounded to single precision, so that every layout holds exactly the same numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, N)) * (rng.random((M, N)) < 0.6)
    return X.astype(np.float32).astype(np.float64)


def memory_mapped(X, folder):
    path = folder / "X.dat"
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


def strided(X, _):
    wide = np.full((2 * M, 2 * N), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def read_only(X, _):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "C": lambda X, _: np.ascontiguousarray(X),
    "Fortran": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "float32 Fortran": lambda X, _: np.asfortranarray(X.astype(np.float32)),
    "strided": strided,
    "reversed": lambda X, _: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "memory-mapped": memory_mapped,
    "sparse matrix": lambda X, _: sp.csr_matrix(X),
    "sparse array": lambda X, _: sp.csr_array(X),
    "sparse by columns": lambda X, _: sp.csc_array(X),
    "sparse float32": lambda X, _: sp.csr_array(X.astype(np.float32)),
}


@pytest.fixture(params=LAYOUTS)
def layout(request, tmp_path):
    return LAYOUTS[request.param](plain(), tmp_path)


@pytest.fixture
def source(layout):
    return open_source(layout)


@pytest.fixture(params=[2**20, 256], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(dense_module, "BLOCK_BYTES", request.param)


def same(found, expected):
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def signs():
    return np.where(np.random.default_rng(1).random(M) < 0.4, 1.0, -1.0)


def weights(size=M):
    return np.random.default_rng(2).exponential(size=size)


def test_type_decides_the_pass(layout):
    expected = SparseSource if sp.issparse(layout) else DenseSource
    assert type(open_source(layout)) is expected


def test_data_is_not_copied(tmp_path):
    X = plain()
    for name in ("C", "Fortran", "float32", "strided", "read-only", "memory-mapped"):
        held = LAYOUTS[name](X, tmp_path)
        assert np.shares_memory(open_source(held).X, held)
    held = sp.csr_array(X)
    assert np.shares_memory(open_source(held).X.data, held.data)


@pytest.mark.usefixtures("blocks")
class TestVerbs:
    def test_shape(self, source):
        assert source.shape == (M, N)

    def test_project(self, source):
        v = weights(N)
        same(source.project(v), plain() @ v)

    def test_combine(self, source):
        w = weights()
        same(source.combine(w), plain().T @ w)

    def test_combine_of_several_columns(self, source):
        w = np.stack([weights(), weights() ** 2], axis=1)
        same(source.combine(w), plain().T @ w)

    def test_gram(self, source):
        w = weights()
        same(source.gram(w), plain().T @ np.diag(w) @ plain())

    def test_outer(self, source):
        w = weights(N)
        same(source.outer(w), plain() @ np.diag(w) @ plain().T)

    def test_array(self, source):
        same(source.array(), plain())

    def test_signed(self, source):
        signed = source.signed(signs())
        signed = signed.toarray() if sp.issparse(signed) else signed
        same(signed, plain() * signs()[:, None])

    def test_column_scale(self, source):
        center = weights(N)
        expected = np.sqrt(np.mean((plain() - center) ** 2, axis=0))
        same(source.column_scale(center), expected)


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


def test_columns_of_size_zero_have_scale_one():
    X = np.column_stack([np.full(5, 3.0), np.arange(5.0)])
    center = np.array([3.0, 0.0])
    for held in (X, sp.csr_array(X)):
        assert open_source(held).column_scale(center)[0] == 1.0


def test_class_centers_are_weighted_means(source):
    sign, weight = signs(), weights()
    expected = [
        np.average(plain()[sign < 0], axis=0, weights=weight[sign < 0]),
        np.average(plain()[sign > 0], axis=0, weights=weight[sign > 0]),
    ]
    same(source.class_means(sign, weight), np.array(expected))


def test_same_optimum_through_the_estimator(layout):
    """All layouts hold the same numbers here, so single precision loses nothing either."""
    reference = LCC().fit(plain(), signs(), weights())
    model = LCC().fit(layout, signs(), weights())
    assert model.duality_gap_ <= 1e-9 * max(1.0, abs(model.objective_))
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=2e-9)
    np.testing.assert_allclose(
        model.decision_function(layout), reference.decision_function(plain()), atol=1e-6
    )


def test_rounding_to_single_precision_moves_the_optimum_by_its_own_size():
    """float32 is stated to its own precision: about 1e-7 relative in the data."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 5))
    y = X[:, 0] + rng.standard_normal(400) > 0
    exact, rounded = LCC().fit(X, y), LCC().fit(X.astype(np.float32), y)
    assert exact.objective_ != rounded.objective_
    np.testing.assert_allclose(rounded.objective_, exact.objective_, rtol=1e-5)
