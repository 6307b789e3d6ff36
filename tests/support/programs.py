"""Programs of plain or sparse rows, as they come."""

import numpy as np
import scipy.sparse as sp

from lincent.problems.centralization import lcc_program
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source


def program_of_rows(X, sign, weight=None, C=2.0, margin=0.01):
    """Equation LCC on rows that are read where they are."""
    source = open_source(X)
    weight = np.ones(len(sign)) if weight is None else weight
    centers = source.class_means(sign, weight)
    rows = SignedRows(source, sign, centers.mean(axis=0))
    return lcc_program(rows, centers[1] - centers[0], C * weight, margin)


def overlapping(m, n, seed, dense=False, weights=False):
    """Sparse rows whose classes overlap, as a program."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=min(1.0, 6.0 / n), rng=rng, format="csr")
    score = X @ rng.standard_normal(n)
    sign = np.where(score + score.std() * rng.standard_normal(m) > 0, 1.0, -1.0)
    weight = rng.integers(1, 4, m).astype(float) if weights else np.ones(m)
    return program_of_rows(X.toarray() if dense else X, sign, weight)


def wide(m, n, seed, *, dense=False, noise=False):
    """More columns than rows, sparse unless said; labels that columns explain, or do not."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=0.05, rng=rng, format="csr")
    score = rng.standard_normal(m) if noise else X @ rng.standard_normal(n)
    return program_of_rows(X.toarray() if dense else X, np.where(score > 0, 1.0, -1.0))
