"""Columns that say more about the class are longer."""

import numpy as np

from lincent.features.relevance import MIN_WEIGHT, mutual_relevance_weights


def sample(m=400):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, m)
    slope = codes + rng.normal(size=m)
    ring = np.where(codes == 1, 3.0, 1.0) * rng.normal(size=m)  # spread, no slope
    return np.stack([slope, ring, rng.normal(size=m)], axis=1), codes


def test_noise_is_short_and_a_spread_without_a_slope_is_seen():
    Z, codes = sample()
    found = mutual_relevance_weights(Z, codes, np.ones(len(codes)))
    assert found[2] == MIN_WEIGHT
    assert min(found[:2]) > 0.7


def test_weights_are_repetitions_in_any_order():
    Z, codes = sample()
    counts = np.arange(len(codes)) % 3
    order = np.random.default_rng(1).permutation(counts.sum())
    repeated = mutual_relevance_weights(
        np.repeat(Z, counts, axis=0)[order], np.repeat(codes, counts)[order], np.ones(len(order))
    )
    np.testing.assert_allclose(
        mutual_relevance_weights(Z, codes, counts.astype(float)), repeated, atol=2e-6
    )


def test_where_nothing_is_known_all_columns_are_alike():
    Z, _ = sample(60)
    codes = np.tile([0, 1], 30)
    Z[1::2] = Z[::2]  # both classes have the same rows
    np.testing.assert_array_equal(mutual_relevance_weights(Z, codes, np.ones(60)), np.ones(3))
