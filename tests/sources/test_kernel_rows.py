"""The Gram matrix of a square array, added up in place."""

import numpy as np
import pytest

from lincent.sources.dense import DenseRows, KernelMatrixRows


@pytest.mark.parametrize("m", [1, 5, 63, 64, 65, 150])
def test_the_sum_by_blocks_is_the_product(m):
    rng = np.random.default_rng(m)
    rows, weight = rng.normal(size=(m, m)), rng.random(m)
    found = KernelMatrixRows(rows.copy()).gram(weight)
    np.testing.assert_allclose(found, DenseRows(rows).gram(weight), atol=1e-10)
    np.testing.assert_array_equal(found, found.T)
