"""Sums with twice the digits, against fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lincent.problems import double_double as exact_sums
from lincent.problems.double_double import (
    Pair,
    pair,
    product_sums,
    sums,
    sums_of_runs,
    two_product,
    two_sum,
)


def exact(values):
    return sum(map(Fraction, np.ravel(values).tolist()), Fraction(0))


def off(found: Pair, wanted: Fraction, place=()) -> None:
    """The pair is within its own error of the truth, and that error is small."""
    value = Fraction(float(found.high[place])) + Fraction(float(found.low[place]))
    assert abs(value - wanted) <= Fraction(float(found.error[place]))


@pytest.mark.parametrize("seed", range(40))
def test_sums_of_products(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(1, 60)), int(rng.integers(1, 5))
    spread = 10.0 ** rng.uniform(-3, 8)
    a = rng.normal(size=(k, n)) * spread ** rng.uniform(-1, 1, size=(k, n)) + spread
    b = rng.normal(size=(k, 1)) * 10.0 ** rng.uniform(-6, 6)
    if seed % 2:  # nearly everything cancels
        a, b = np.concatenate([a, a * (1 + 1e-15)]), np.concatenate([b, -b])
    found = product_sums(a, b, axis=0)
    size = np.abs(a * b).sum(axis=0)
    for j in range(n):
        terms = zip(a[:, j].tolist(), b[:, 0].tolist(), strict=True)
        off(found, sum((Fraction(x) * Fraction(w) for x, w in terms), Fraction(0)), j)
    assert np.all(found.error <= 1e-25 * size + 1e-290)


def test_sums_along_the_other_axis():
    rng = np.random.default_rng(0)
    a, v = rng.normal(size=(7, 30)) * 1e5, rng.normal(size=30)
    found = product_sums(a, v, axis=1)
    for i in range(7):
        terms = zip(a[i].tolist(), v.tolist(), strict=True)
        off(found, sum((Fraction(x) * Fraction(w) for x, w in terms), Fraction(0)), i)


@pytest.mark.parametrize("seed", range(20))
def test_arithmetic_of_pairs(seed):
    rng = np.random.default_rng(seed)
    one = product_sums(rng.normal(size=(9, 1)), rng.normal(size=(9, 1)), axis=0)
    two = product_sums(rng.normal(size=(9, 1)) * 1e7, rng.normal(size=(9, 1)), axis=0)
    a, b = (Fraction(float(p.high[0])) + Fraction(float(p.low[0])) for p in (one, two))
    factor = float(rng.normal())
    for found, wanted, inherited in (
        (one + two, a + b, one.error + two.error),
        (one.times(factor), a * Fraction(factor), one.error * abs(factor)),
        (two.over(factor), b / Fraction(factor), two.error / abs(factor)),
    ):
        slack = Pair(found.high, found.low, found.error - inherited)
        off(slack, wanted, 0)
        assert found.error[0] <= 1e-26 * (1 + abs(float(wanted)) + 1e7)


def test_single_steps():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=100) * 1e9, rng.normal(size=100)
    total, rest = two_sum(a, b)
    product, error = two_product(a, b)
    for x, y, s, r, p, e in zip(a, b, total, rest, product, error, strict=True):
        assert Fraction(s) + Fraction(r) == Fraction(x) + Fraction(y)
        assert Fraction(p) + Fraction(e) == Fraction(x) * Fraction(y)


@pytest.mark.parametrize("seed", range(10))
def test_plain_sums_are_those_of_products_with_one(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(50, 3)) * 10.0 ** rng.uniform(-8, 8, size=(50, 3))
    kept, found = a.copy(), sums(a, axis=0)
    for one, other in zip(found, product_sums(a, np.ones(1), axis=0), strict=True):
        np.testing.assert_array_equal(one, other)
    for j in range(3):
        off(found, exact(a[:, j]), j)
    np.testing.assert_array_equal(a, kept)
    single = a.astype(np.float32)
    off(sums(single, axis=0), exact(single[:, 0].astype(float)), 0)


def test_nothing_to_add():
    assert sums(np.empty(0), axis=0).value == 0.0
    empty = product_sums(np.empty((0, 3)), np.empty((0, 1)), axis=0)
    assert empty.value.tolist() == [0.0, 0.0, 0.0]
    assert pair(2.0).value == 2.0


def test_halves_have_half_the_digits():
    """So that each product of two halves is exact."""
    a = np.random.default_rng(0).standard_normal(2000) * np.exp2(np.arange(2000) % 200 - 100)
    high, low = exact_sums._halves(a)
    np.testing.assert_array_equal(high + low, a)
    _, power = np.frexp(a)
    for part in (high, low):
        digits = np.frexp(part)[0] * 2.0**26
        np.testing.assert_array_equal(digits, np.round(digits))
    assert (np.abs(low) <= np.exp2(power - 27.0)).all()


def test_the_error_of_a_sum_of_products_is_what_its_derivation_says():
    a, b = np.array([[3.0, 1.0 + 2.0**-40, -5.0]]), np.array([1.0, 1.0 + 2.0**-40, 0.5])
    found = product_sums(a, b, 1)
    sigma = 32.0  # the first power of two above 2 k times the largest product, 18
    unit = 2.0**-53
    expected = 4 * 9 * unit**2 * sigma + unit * np.abs(found.low)
    assert np.abs(found.low)[0] > 0
    np.testing.assert_allclose(found.error, expected, rtol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_runs_are_those_of_their_terms(seed):
    """Empty runs and zeros among them."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0], np.cumsum(rng.integers(0, 6, 8))])
    a, b = rng.normal(size=(2, ends[-1])) * 10.0 ** rng.uniform(-8, 8, (2, ends[-1]))
    a[::5] = 0.0
    found = sums_of_runs(a, b, ends)
    for place, (start, stop) in enumerate(itertools.pairwise(ends)):
        run = zip(a[start:stop].tolist(), b[start:stop].tolist(), strict=True)
        terms = [Fraction(x) * Fraction(w) for x, w in run]
        off(found, sum(terms, Fraction(0)), place)
        assert found.error[place] <= 1e-28 * float(sum(map(abs, terms), Fraction(0))) + 1e-290


def test_no_runs_are_no_sums():
    nothing = sums_of_runs(np.empty(0), np.empty(0), np.zeros(4, dtype=int))
    assert nothing.value.tolist() == nothing.error.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("power", [0, -480])  # the second are products near the smallest doubles
def test_errors_are_what_their_derivation_says(power):
    a = np.ldexp(np.array([3.0, 1.0 + 2.0**-40, -5.0, 7.0, 1.0 / 3.0]), power)
    b = np.ldexp(np.array([1.0, 1.0 + 2.0**-40, 0.5, 1.0, 1.0 / 3.0]), power)
    unit, least = 2.0**-53, 2.0**-1000
    # Runs of three, none and two: above 2 k times the largest product are 32 and 32.
    size = 2.0 ** (2 * power)
    found = sums_of_runs(a, b, np.array([0, 3, 3, 5]))
    for place, k in ((0, 3), (2, 2)):
        expected = 4 * k * k * unit**2 * 32.0 * size + unit * abs(found.low[place]) + k * least
        np.testing.assert_allclose(found.error[place], expected, rtol=1e-14)
    assert found.error[1] == 0.0
    one = product_sums(a[:3], b[:3], axis=0)
    np.testing.assert_allclose(one.error, found.error[0], rtol=1e-14)
    # Sums, multiples and parts inherit errors and add a few roundings of what is small.
    two = product_sums(a[3:], b[3:], axis=0)
    rest = two_sum(one.high, two.high)[1]
    small = np.abs(rest) + np.abs(one.low) + np.abs(two.low)
    np.testing.assert_allclose((one + two).error, one.error + two.error + 4 * unit * small)
    rest = two_product(two.high, -0.3)[1]
    small = np.abs(rest) + np.abs(two.low * 0.3)
    np.testing.assert_allclose(two.times(-0.3).error, 0.3 * two.error + 4 * unit * small)
    third = two.over(-0.3)
    np.testing.assert_allclose(third.error, two.error / 0.3 + 8 * unit * np.abs(third.low))


def test_the_value_is_the_sum_of_both_parts():
    assert Pair(np.float64(1.0), np.float64(0.25), np.float64(0.0)).value == 1.25
