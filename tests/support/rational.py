"""Objective and bound of a program in rational arithmetic: no rounding at all."""

from fractions import Fraction

import numpy as np


def exactly(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def inner(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


class ExactProgram:
    """(P) and (D) with every number as a fraction."""

    def __init__(self, rows, costs, margin, linear, difference, separation, lower, upper, offset):
        self.rows, self.costs, self.margin = rows, costs, margin
        self.linear, self.difference, self.separation = linear, difference, separation
        self.lower, self.upper, self.offset = lower, upper, offset

    @classmethod
    def of(cls, program):
        """A program as it is stored."""
        return cls(
            [exactly(row) for row in program.rows.dense()],
            exactly(program.costs),
            Fraction(program.margin),
            exactly(program.linear),
            exactly(program.difference),
            Fraction(program.separation),
            exactly(program.lower),
            exactly(program.upper),
            Fraction(program.offset),
        )

    @classmethod
    def of_data(cls, X, sign, weight, costs, margin):
        """The paper's program, its centers the exact means of the rows."""
        rows, weight = [exactly(row) for row in X], exactly(weight)
        means = {}
        for side in (-1, 1):
            index = [k for k, s in enumerate(sign) if s == side]
            kept = [weight[k] for k in index]
            means[side] = [
                inner(kept, [rows[k][j] for k in index]) / sum(kept) for j in range(X.shape[1])
            ]
        d = [b - a for a, b in zip(means[-1], means[1], strict=True)]
        middle = [(a + b) / 2 for a, b in zip(means[-1], means[1], strict=True)]
        signed = [
            [int(s) * (x - c) for x, c in zip(row, middle, strict=True)]
            for s, row in zip(sign, rows, strict=True)
        ]
        costs, margin = exactly(costs), Fraction(margin)
        one = [Fraction(1)] * len(d)
        less = [-x for x in d]
        below = [-x for x in one]
        return cls(signed, costs, margin, less, d, margin, below, one, -margin * sum(costs))

    def primal(self, beta):
        beta = exactly(beta)
        missed = [max(self.margin - inner(row, beta), Fraction(0)) for row in self.rows]
        return self.offset + inner(self.linear, beta) + inner(self.costs, missed)

    def reach(self, beta):
        return inner(self.difference, exactly(beta))

    def dual(self, alpha, t):
        alpha, t = exactly(alpha), Fraction(float(t))
        bound = self.offset + self.margin * sum(alpha) + self.separation * t
        for j, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            rest = self.linear[j] - t * self.difference[j]
            rest -= sum((a * row[j] for a, row in zip(alpha, self.rows, strict=True)), Fraction(0))
            bound += min(low * rest, high * rest)
        return bound
