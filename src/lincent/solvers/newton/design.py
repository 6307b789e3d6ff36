"""Rows with a column of ones, and weighted Gram matrices of them.

The loss bends by c_i where a row is between the margins and not at all elsewhere, so the Hessian

    G(h) = sum_i h_i (x_i, 1)(x_i, 1)',        h_i in {0, c_i},

changes from one Newton step to the next, and from one C to the next, only by the rows that came
between the margins or left:

    G(h) = G(h') + sum over h_i > h'_i of (h_i - h'_i) (x_i, 1)(x_i, 1)' - the same the other way.

Few do near a solution (``rows_read`` counts them).  The matrices give directions only (points are
judged by their own gradients), so rounding that updates leave behind costs, at worst, a step; and
they may be those of a copy of the rows in single precision, ``light``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lincent.problems.arrays import Matrix, Vector

BLOCK_ROWS = 1024
"""Rows of a Gram matrix at a time: no second array of the size of the features."""
FEW = 0.8
"""Changed rows over rows that count, up to which an update is less work than a new matrix."""


class Design:
    """Rows with a column of ones, in the precision of ``X``, and of ``light`` for directions."""

    def __init__(
        self, X: Matrix, codes: np.ndarray, weight: Vector, light: Matrix | None = None
    ) -> None:
        self.X, self.light = X, X if light is None else light
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1] + 1)
        self._codes, self._weight = codes, weight
        self._last: dict[int, tuple[Vector, Matrix]] = {}
        self.rows_read = 0
        """Rows that went into Gram matrices so far, each as often as it did."""

    def dot(self, rules: Matrix) -> Matrix:
        return _dot(self.X, rules)

    def tdot(self, amounts: Matrix) -> Matrix:
        return _tdot(self.X, amounts)

    def light_dot(self, rules: Matrix) -> Matrix:
        return _dot(self.light, rules)

    def light_tdot(self, amounts: Matrix) -> Matrix:
        return _tdot(self.light, amounts.astype(self.light.dtype, copy=False))

    def gram(self, weight: Vector) -> Matrix:
        """sum of weight (x, 1)(x, 1)' over the rows where it is not zero."""
        rows = np.flatnonzero(weight)
        self.rows_read += len(rows)
        total = np.zeros((self.shape[1], self.shape[1]), dtype=self.light.dtype)
        for start in range(0, len(rows), BLOCK_ROWS):
            some = rows[start : start + BLOCK_ROWS]
            root = np.sqrt(weight[some]).astype(self.light.dtype)[:, None]
            scaled = np.empty((len(some), self.shape[1]), dtype=self.light.dtype)
            np.multiply(self.light[some], root, out=scaled[:, :-1])
            scaled[:, -1:] = root
            total += scaled.T @ scaled
        return total

    def gram_by_changes(self, weight: Vector, rule: int = 0) -> Matrix:
        """``gram(weight)`` from the last one of this rule, by the rows whose weight has changed.

        It stays with the design: whoever changes it takes a copy.
        """
        before, total = self._last.get(rule, (None, None))
        if before is None or total is None:
            total = self.gram(weight)
        else:
            change = weight - before
            if np.count_nonzero(change) < FEW * np.count_nonzero(weight):
                total += self.gram(np.maximum(change, 0.0))
                total -= self.gram(np.maximum(-change, 0.0))
            else:
                total = self.gram(weight)
        self._last[rule] = weight.copy(), total
        return total

    def scaled(self, factors: Vector) -> Design:
        """The same rows with each column times a factor, and so the last Gram matrices."""
        out = Design(self.X * factors.astype(self.X.dtype), self._codes, self._weight)
        every = np.append(factors, 1.0).astype(self.X.dtype)
        for rule, (weight, total) in self._last.items():
            out._last[rule] = weight, total * every * every[:, None]
        return out

    @cached_property
    def grams(self) -> Matrix:
        """The sums over the rows of each class."""
        there = [self._weight * (self._codes == k) for k in range(int(self._codes.max()) + 1)]
        return np.stack([self.gram(weight) for weight in there])


def _dot(X: Matrix, rules: Matrix) -> Matrix:
    scores: Matrix = X @ rules[:-1].astype(X.dtype, copy=False)
    scores += rules[-1].astype(X.dtype)
    return scores


def _tdot(X: Matrix, amounts: Matrix) -> Matrix:
    out = np.empty((X.shape[1] + 1, amounts.shape[1]))
    out[:-1] = X.T @ amounts
    out[-1] = amounts.sum(axis=0, dtype=np.float64)
    return out
