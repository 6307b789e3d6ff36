"""What an additive model is fitted to where rows are in blocks."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import AdditiveLCC
from lincent.estimators.additive import Terms
from support.labeled import noisy

da = pytest.importorskip("dask.array")


def test_features_are_those_of_the_terms_for_any_kind_of_rows():
    X, _ = noisy(100, 3)
    keys = np.arange(100, dtype=np.uint64)
    terms = Terms.learn(X, keys, np.ones(100), np.arange(3), 5, np.zeros(3))
    seen = terms
    assert (seen.columns, seen.width) == (3, terms.apply(X).shape[1])
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(seen(rows), terms.apply(X))


def test_monotone_columns_need_rows_in_memory():
    X, y = noisy(200, 3)
    with pytest.raises(ValueError, match=r"monotonic_cst needs X in memory: compute\(\)"):
        AdditiveLCC(monotonic_cst=[1, 0, 0]).fit(da.from_array(X, chunks=(50, 3)), y)
