"""Double-double arithmetic: sums of products with twice the digits, and a bound of their error.

A sum of k products in double precision has an error of up to k u sum |a_i b_i|, u = 2^-53: on data
of large or mixed scale that is more than the gap a certificate must prove.  Here it is of the order
u^2, by two known steps, both exact (Dekker 1971; Rump, Ogita and Oishi 2008):

    a b = p + e           p = fl(a b); e from the halves of a and b, 26 bits each
    sum p_i = sum h_i + sum l_i     h_i = fl(fl(sigma + p_i) - sigma), l_i = p_i - h_i

With sigma = 2^M, 2^M >= 2 k max|p_i|, the h_i are multiples of one unit and add up without an error
in any order; each l_i is at most 2 u sigma, so that their plain sum is wrong by at most
k^2 2 u^2 sigma.  The result is a pair of doubles, high + low.

Sums over runs of entries, the rows or columns of a sparse matrix, have a k, a largest term and a
sigma each, and what is not stored is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector

UNIT = 2.0**-53
"""The largest relative error of one operation in double precision."""
LARGEST = 2.0**450
"""Entries beyond it would overflow when they are halved and multiplied."""
LONG = 2**15
"""Terms of one sum whose dozen vectors stay in the cache; of more terms there are several sums."""


class Pair(NamedTuple):
    """An unevaluated sum high + low of two doubles, and a bound of its error."""

    high: Vector
    low: Vector
    error: Vector

    @property
    def value(self) -> Vector:
        return self.high + self.low

    def __add__(self, other: Pair) -> Pair:  # type: ignore[override]
        high, rest = two_sum(self.high, other.high)
        low = rest + (self.low + other.low)
        off = 4 * UNIT * (np.abs(rest) + np.abs(self.low) + np.abs(other.low))
        return Pair(high, low, self.error + other.error + off)

    def times(self, factor: Vector | float) -> Pair:
        """Return the product with a double."""
        high, rest = two_product(self.high, factor)
        low = rest + self.low * factor
        off = 4 * UNIT * (np.abs(rest) + np.abs(self.low * factor))
        return Pair(high, low, self.error * np.abs(factor) + off)

    def over(self, divisor: float) -> Pair:
        """Return the quotient by a double, with its remainder."""
        high = self.high / divisor
        back, rest = two_product(high, divisor)
        low = ((self.high - back) - rest + self.low) / divisor
        return Pair(high, low, self.error / abs(divisor) + 8 * UNIT * np.abs(low))


def pair(value: Vector | float) -> Pair:
    """Return a double as a pair."""
    high = np.asarray(value, dtype=np.float64)
    return Pair(high, np.zeros_like(high), np.zeros_like(high))


def two_sum(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return a + b and its rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Vector | float, b: Vector | float) -> tuple[Vector, Vector]:
    """Return a b and its rounding error (Dekker)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    rest = a_high * b_high - product
    rest += a_high * b_low
    rest += a_low * b_high
    rest += a_low * b_low
    return product, rest


def _halves(a: Vector) -> tuple[Vector, Vector]:
    scaled = a * (2.0**27 + 1)  # splits a double into halves of 26 bits (Dekker)
    high = scaled - (scaled - a)
    return high, a - high


def product_sums(a: Matrix, b: Matrix | Vector, axis: int) -> Pair:
    """Sum a b along an axis; both are finite and below ``LARGEST``."""
    if np.ndim(a) == 1 and len(a) > LONG:
        b = np.broadcast_to(b, len(a))
        return total(product_sums(a[part], b[part], axis) for part in _parts(len(a)))
    return _added(*two_product(a, b), axis)


def sums(a: Matrix, axis: int) -> Pair:
    """Sum a along an axis: ``product_sums`` with ones, without rounding."""
    if np.ndim(a) == 1 and len(a) > LONG:
        return total(sums(a[part], axis) for part in _parts(len(a)))
    return _added(np.asarray(a, dtype=np.float64), None, axis)


def total(pairs: Iterable[Pair]) -> Pair:
    """Add several pairs."""
    return reduce(Pair.__add__, pairs)


def _parts(k: int) -> Iterator[slice]:
    return (slice(start, start + LONG) for start in range(0, k, LONG))


def _added(product: Matrix, rest: Matrix | None, axis: int) -> Pair:
    """Sum product + rest along an axis."""
    k = product.shape[axis]
    if k == 0:
        return pair(product.sum(axis=axis))
    largest = np.abs(product).max(axis=axis, keepdims=True)
    _, power = np.frexp(2.0 * k * largest)
    sigma = np.ldexp(1.0, power)
    high = sigma + product
    high -= sigma
    total = high.sum(axis=axis)
    low = np.subtract(product, high, out=high).sum(axis=axis)
    if rest is not None:
        low = low + rest.sum(axis=axis)
    # l_i and e_i are at most 2 u sigma and u sigma; their sums are made of k terms each.
    error = 4 * k * k * UNIT * UNIT * sigma.reshape(total.shape) + UNIT * np.abs(low)
    # Products near the smallest doubles have an error that is none of these.
    return Pair(total, low, error + k * 2.0**-1000)


def sums_of_runs(a: Vector, b: Vector, ends: Index) -> Pair:
    """Sum a b over each run of entries between two ends."""
    k = np.diff(ends)
    filled = np.flatnonzero(k)  # ``reduceat`` has no empty runs
    total, low, error = np.zeros((3, len(k)))
    if not len(filled):
        return Pair(total, low, error)
    first, k = ends[filled], k[filled].astype(np.float64)
    product, rest = two_product(a, b)
    largest = np.maximum.reduceat(np.abs(product), first)
    _, power = np.frexp(2.0 * k * largest)
    sigma = np.ldexp(np.sign(largest), power)  # stored zeros have no error
    spread = np.repeat(sigma, np.diff(ends)[filled])
    high = (spread + product) - spread
    total[filled] = np.add.reduceat(high, first)
    product -= high
    low[filled] = np.add.reduceat(product, first) + np.add.reduceat(rest, first)
    error[filled] = 4 * k * k * UNIT * UNIT * sigma + UNIT * np.abs(low[filled]) + k * 2.0**-1000
    return Pair(total, low, error)
