"""What signed rows do by default: in parts of a size that stays in the cache."""

import numpy as np
import pytest

from lincent.sources import rows
from lincent.sources.dense import DenseRows


class PlainRows(rows.RowsBase):
    """Rows that know two products and nothing better."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def dot(self, beta):
        return self.array @ beta

    def tdot(self, alpha):
        return alpha @ self.array

    def dense(self):
        return self.array


@pytest.fixture
def array():
    return np.random.default_rng(0).normal(size=(50, 3))


def test_the_defaults_are_those_of_dense_rows(array):
    plain, known = PlainRows(array), DenseRows(array)
    beta, ruler = np.array([1.0, -2.0, 0.5]), np.random.default_rng(1).normal(size=(3, 2))
    np.testing.assert_allclose(plain.sizes(ruler), known.sizes(ruler))
    for found in (plain.sweep(beta, lambda _, z: z**2), known.sweep(beta, lambda _, z: z**2)):
        np.testing.assert_allclose(found[0], array @ beta)
        np.testing.assert_allclose(found[1], (array @ beta) ** 2 @ array)
    S, y, center = plain.factors()
    np.testing.assert_array_equal(S - np.outer(y, center), array)
    assert plain.float32(None) is None
    assert plain.materialize() is plain


@pytest.mark.parametrize(("m", "n"), [(0, 3), (1, 1), (10_000, 5), (100_000, 2), (700, 10**6)])
def test_parts_cover_all_rows_once_and_are_even(m, n):
    parts = list(rows.cache_blocks(m, n))
    covered = np.concatenate([np.arange(m)[part] for part in parts]) if parts else np.arange(0)
    np.testing.assert_array_equal(covered, np.arange(m))
    sizes = [part.stop - part.start for part in parts]
    if sizes:
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) <= rows.MOST_ROWS


def test_multipliers_are_made_part_by_part(monkeypatch):
    monkeypatch.setattr(rows, "MOST_ROWS", 7)
    seen = []

    def weigh(part, values):
        seen.append(part)
        return -values

    projected = np.arange(30.0)
    np.testing.assert_array_equal(rows.weighed(projected, weigh), -projected)
    assert len(seen) > 1
