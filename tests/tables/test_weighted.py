"""Weighted statistics of columns: a weight counts repetitions, and order does not matter."""

import numpy as np
import pytest

from lincent.tables.weighted import (
    Columns,
    check_magnitude,
    check_weights,
    mean_and_deviation,
    median,
    merged,
    poststratified,
    quantiles,
    shares_of_classes,
)


def columns_of(X, weight):
    return Columns(*mean_and_deviation(X, weight), X.min(axis=0), X.max(axis=0))


def test_columns_of_zero_and_one():
    rng = np.random.default_rng(0)
    flag = (rng.random(1000) < 0.3).astype(float)
    half, shifted = flag.copy(), 1.0 + flag
    half[flag.argmax()] = 0.5
    X = np.stack([flag, half, shifted, -flag, np.zeros(1000)], axis=1)
    for weight in (np.ones(1000), rng.integers(1, 9, 1000).astype(float)):
        found = columns_of(X, weight).of_zero_and_one
        np.testing.assert_array_equal(found, [True, False, False, False, False])


def test_mean_and_deviation_count_repetitions_and_leave_constants():
    rng = np.random.default_rng(1)
    X, weight = rng.normal(3.0, 2.0, (50, 2)), rng.integers(1, 5, 50)
    repeated = np.repeat(X, weight, axis=0)
    mean, deviation = mean_and_deviation(X, weight.astype(float))
    np.testing.assert_allclose(mean, repeated.mean(axis=0))
    np.testing.assert_allclose(deviation, repeated.std(axis=0))
    mean, deviation = mean_and_deviation(np.full((50, 1), 0.1), np.ones(50))
    np.testing.assert_allclose(mean, 0.1)
    assert deviation == 1.0  # 0.1 is rounded, and its deviation is not


@pytest.mark.parametrize("size", [1, 2, 7, 8])
def test_median_is_the_lower_one_whatever_the_weights(size):
    rng = np.random.default_rng(size)
    values = rng.permutation(size).astype(float)
    assert median(values, np.full(size, 3.0)) == (size + 1) // 2 - 1
    weight = rng.integers(1, 6, size)
    repeated = np.sort(np.repeat(values, weight))
    assert median(values, weight.astype(float)) == repeated[(len(repeated) + 1) // 2 - 1]


def test_quantiles_are_values_at_which_a_fraction_of_the_weight_is_reached():
    values, weight = np.array([30.0, 10.0, 20.0]), np.array([0.1, 0.1, 0.1])
    fractions = np.array([0.0, 1 / 3, 0.34, 2 / 3, 0.67, 1.0])
    np.testing.assert_array_equal(quantiles(values, weight, fractions), [10, 10, 20, 20, 30, 30])
    np.testing.assert_array_equal(
        quantiles(values, np.array([1.0, 8.0, 1.0]), np.array([0.5, 0.8, 0.85])), [10, 10, 20]
    )


def test_shares_of_classes():
    assert shares_of_classes([30, 20], [1.0, 9.0], 50) == [30, 20]
    assert shares_of_classes([900, 900], [3.0, 1.0], 100) == [75, 25]
    assert shares_of_classes([900, 900], [99.0, 1.0], 100) == [99, 5]  # at least a twentieth
    assert shares_of_classes([900, 3], [99.0, 1.0], 100) == [99, 3]  # as far as there are rows


def test_merged_rows_have_the_weight_of_their_copies():
    keys = np.array([4, 2, 4, 2, 4], dtype=np.uint64)
    codes = np.array([0, 1, 0, 1, 1])
    weight = np.array([1.0, 2.0, 3.0, 0.0, 5.0])
    index, total = merged(np.arange(5), keys, codes, weight)
    assert [(int(keys[k]), int(codes[k])) for k in index] == [(2, 1), (4, 0), (4, 1)]
    assert total.tolist() == [2.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -0.5], "Negative values in data passed to `sample_weight`"),
        ([0.0, 0.0], "at least one non-zero|sample weight is 0"),
        ([1.0, 2e30], "largest sample weight is 2e\\+30"),
        ([0.0, 1e-31], "largest sample weight is 1e-31"),
    ],
)
def test_unusable_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weight, 2)


def test_usable_weights():
    np.testing.assert_array_equal(check_weights(None, 2), [1.0, 1.0])
    np.testing.assert_array_equal(check_weights(3, 2), [3.0, 3.0])
    np.testing.assert_array_equal(check_weights([0.0, 1e30], 2), [0.0, 1e30])


def test_the_first_cell_whose_square_overflows_is_named():
    X = np.zeros((3, 2))
    X[1, 0], X[1, 1] = 1e152, -1e152
    check_magnitude(X)
    check_magnitude(X[:0])
    X[2, 1] = -1.1e152
    with pytest.raises(ValueError, match=r"Row 2 \(from 0\) has -1\.1e\+152 in column 1:"):
        check_magnitude(X)
    with pytest.raises(ValueError, match="in the column 'b':"):
        check_magnitude(X, ["a", "b"])


def test_a_column_whose_squares_vanish_is_named():
    X = np.full((3, 2), 1e-152)
    X[:, 1] = 0.0
    check_magnitude(X)
    X[:, 1] = [0.0, -1e-153, 1e-200]
    with pytest.raises(ValueError, match=r"Row 1 \(from 0\) has -1e-153 in column 1: .* vanish"):
        check_magnitude(X)


def test_poststratified_weights_have_the_shares_of_the_population():
    codes, weight = np.repeat([0, 1, 2], [60, 30, 10]), np.linspace(1, 2, 100)
    totals = np.array([500.0, 400.0, 4.0])
    found = poststratified(codes, weight, totals)
    assert found.sum() == pytest.approx(weight.sum())
    np.testing.assert_allclose(
        np.bincount(codes, found) / found.sum(), totals / totals.sum(), rtol=1e-6
    )
    within = found / weight
    assert all(np.ptp(within[codes == k]) < 1e-12 for k in range(3))
    own = np.bincount(codes, weight)
    np.testing.assert_array_equal(poststratified(codes, weight, 7.3 * own * [1, 1.002, 1]), weight)
    absent = poststratified(codes[:90], weight[:90], totals)
    assert absent.sum() == pytest.approx(weight[:90].sum())
