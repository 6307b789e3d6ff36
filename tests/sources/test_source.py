"""The kind of X decides how it is read, and nothing else: the optimum is the same."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.sources.dense import DenseSource
from lincent.sources.source import Kind, kind_of, open_source
from lincent.sources.sparse import SparseSource
from support.layouts import LAYOUTS, plain, signs, weights


def test_kinds():
    torch = pytest.importorskip("torch")
    X = plain()
    assert kind_of(X) is Kind.DENSE
    assert kind_of(X.tolist()) is Kind.DENSE
    assert kind_of(sp.csc_matrix(X)) is Kind.SPARSE
    assert kind_of(da.from_array(X)) is Kind.DASK
    assert kind_of(torch.asarray(X)) is Kind.DEVICE
    assert kind_of(open_source(X)) is Kind.OPENED


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


def test_same_optimum_through_the_estimator(layout):
    """All layouts hold the same numbers here, so single precision loses nothing either."""
    reference = LCC().fit(plain(), signs(), weights())
    model = LCC().fit(layout, signs(), weights())
    assert model.duality_gap_ <= 1e-9
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
