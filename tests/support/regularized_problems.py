"""Small regularized programs of many kinds, for the tests of their solvers."""

import numpy as np
import scipy.sparse as sp

from lincent.problems.regularized import RegularizedProgram
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source

# m, n, margins, C, free threshold, spread of the costs, scale of a column
PROBLEMS = {
    "plain": (120, 5, (-1.0, 3.0), 1.0, True, 0.0, 1.0),
    "midpoint": (120, 5, (-1.0, 3.0), 1.0, False, 0.0, 1.0),
    "positive margins": (80, 4, (0.5, 1.5), 0.3, True, 0.0, 1.0),
    "narrow margins": (80, 4, (0.99, 1.01), 1.0, True, 0.0, 1.0),
    "heavy costs": (60, 6, (0.0, 2.0), 300.0, True, 0.0, 1.0),
    "light costs": (60, 6, (0.0, 2.0), 1e-3, True, 0.0, 1.0),
    "uneven costs": (90, 5, (-1.0, 3.0), 1.0, True, 2.0, 1.0),
    "wide": (30, 80, (-1.0, 3.0), 1.0, True, 0.0, 1.0),
    "square": (40, 40, (0.0, 2.0), 10.0, False, 1.0, 1.0),
    "uneven columns": (100, 6, (-1.0, 3.0), 1.0, True, 0.0, 1e3),
}


def make(m, n, margins, C, free, spread, scale, seed=0, sparse=False):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.35, 1.0, -1.0)
    sign[:2] = -1.0, 1.0
    X = rng.standard_normal((m, n)) + 0.4 * sign[:, None] * rng.standard_normal(n)
    X[:, 0] *= scale
    if sparse:
        X[rng.random((m, n)) < 0.9] = 0.0
        X = sp.csr_array(X)
    costs = C * np.exp(spread * rng.standard_normal(m))
    source = open_source(X)
    centers = source.class_means(sign, np.ones(m))
    rows = SignedRows(source, sign, centers.mean(axis=0))
    return RegularizedProgram(rows, sign, costs, *margins, free)
