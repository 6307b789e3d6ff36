"""Small problems of every scale, for judgment in rational arithmetic."""

from fractions import Fraction

import numpy as np

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows

KINDS = ("plain", "scales", "offset", "large", "weights", "heavy", "repeated", "wide")


def problem(kind, seed):
    """Rows, signs, weights and a margin."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    m, n = int(rng.integers(6, 40)), int(rng.integers(1, 6))
    if kind == "wide":
        m, n = 8, 12
    X = rng.standard_normal((m, n))
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    X += np.outer(sign, rng.standard_normal(n)) * rng.uniform(0, 1)
    weight = np.ones(m)
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-5, 5, n)
    elif kind == "offset":
        X += 10.0 ** rng.uniform(2, 7, n)
    elif kind == "large":
        X *= 10.0 ** rng.uniform(3, 9)
    elif kind == "weights":
        weight = 10.0 ** rng.uniform(-3, 3, m)
    elif kind == "heavy":
        X = X**3 * np.exp(X)
    elif kind == "repeated":
        X = np.round(X)
        X[m // 2 :] = X[: m - m // 2]
        X += 0.5 * sign[:, None]
    return X, sign, weight, float(10.0 ** rng.uniform(-6, -1))


def program_of(X, sign, weight, margin):
    low, high = (np.average(X[sign == s], axis=0, weights=weight[sign == s]) for s in (-1, 1))
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, 2.0 * weight, margin * np.abs(high - low).sum())


def solved(program):
    return dispatch.solve(program, "auto", Controls(), np.random.default_rng(0)).certificate


def near(value, exact, error):
    return abs(Fraction(float(value)) - exact) <= Fraction(float(error))
