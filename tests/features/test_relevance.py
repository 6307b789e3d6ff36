"""Columns that say more about the class are longer."""

import numpy as np

from lincent.features.pairs import (
    MAX_PAIRED,
    MIN_WEIGHT,
    mutual_relevance_weights,
    pair_interactions,
)


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


def product(m=2500, n=30, seed=0):
    """Two features whose product decides the class, among noise."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, n))
    return Z, (Z[:, 3] * Z[:, 7] + 0.3 * rng.normal(size=m) > 0).astype(int)


def test_features_that_matter_only_together_are_found():
    for seed in range(3):
        Z, codes = product(seed=seed)
        found = pair_interactions(Z, codes, np.ones(len(Z)))
        np.testing.assert_array_equal(np.argwhere(found), [[3, 7], [7, 3]])
        factors = mutual_relevance_weights(Z, codes, np.ones(len(Z)))
        assert set(np.argsort(-factors)[:2]) == {3, 7}
        assert min(factors[[3, 7]]) > 10 * np.median(factors)


def test_three_classes_have_interactions_too():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(3000, 6))
    codes = (Z[:, 0] > 0).astype(int) ^ (Z[:, 1] > 0).astype(int)
    codes = np.where(rng.random(3000) < 0.3, 2, codes)
    found = pair_interactions(Z, codes, np.ones(3000))
    np.testing.assert_array_equal(np.argwhere(found), [[0, 1], [1, 0]])


def test_noise_passes_no_gate():
    rng = np.random.default_rng(0)
    hits = 0
    for m in (60, 300, 2000):
        for _ in range(5):
            Z = rng.normal(size=(m, 20))
            hits += np.count_nonzero(pair_interactions(Z, rng.integers(0, 2, m), np.ones(m)))
    assert hits <= 2  # one pair of 2,850


def test_interactions_have_frequency_weights_in_any_order():
    Z, codes = product(400, 9)
    counts = np.arange(400) % 3
    order = np.random.default_rng(1).permutation(counts.sum())
    repeated = pair_interactions(
        np.repeat(Z, counts, axis=0)[order], np.repeat(codes, counts)[order], np.ones(len(order))
    )
    np.testing.assert_allclose(pair_interactions(Z, codes, counts.astype(float)), repeated)


def test_pairs_of_very_many_features_are_not_looked_at():
    Z, codes = product(50, MAX_PAIRED + 1)
    assert not pair_interactions(Z, codes, np.ones(50)).any()
