"""Complex, sparse and empty collections are refused with an error message."""

import numpy as np
import pytest

from lincent import LCC


def test_complex_sparse_and_empty_collections_are_sentences():
    da = pytest.importorskip("dask.array")
    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(0).normal(size=(20, 3))
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="complex"):
        LCC().fit(da.from_array(rows.astype(complex), chunks=10), y)
    with pytest.raises(ValueError, match="at least one row"):
        LCC().fit(da.zeros((0, 3)), da.zeros(0))
    with pytest.raises(ValueError, match="complex"):
        LCC().fit(torch.tensor(rows.astype(complex)), y)
    with pytest.raises(ValueError, match="sparse tensor"):
        LCC().fit(torch.tensor(rows).to_sparse(), y)
