"""One read of the rows for a product there and back: A beta, then A' alpha(A beta).

A gradient needs both products, and the second depends on the first row by row only.  Block by
block, the rows are still in the cache when the second product asks for them, so data larger than
the cache is read once instead of twice.  Rows that are not one array (sparse, converted) are
multiplied as a whole, twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lincent.passes.dense import DensePass, DenseRows
from lincent.passes.source import SignedRows
from lincent.programs.arrays import (
    Matrix,
    Rows,
    Vector,
)

SWEEP_BYTES = 2**20
"""A block of this size, with the vectors that go with it, stays in the cache of one core."""
FEWEST_ROWS = 256
MOST_ROWS = 16_384

Weigh = Callable[[slice, Vector], Vector]
"""From some rows and their a_i.beta to their alpha_i; the array that is returned may be reused."""


def sweep(rows: Rows, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
    """(A beta, A' alpha), where ``weigh`` turns each part of the first into alpha."""
    if isinstance(rows, DenseRows):
        return _sweep_signed(rows.array, beta, weigh)
    if isinstance(rows, SignedRows) and isinstance(rows.source, DensePass):
        X = rows.source.X
        if X.dtype == np.float64 and X.flags.c_contiguous:
            return _sweep_plain(X, rows.sign, rows.center, beta, weigh)
    projected = rows.dot(beta)
    return projected, combine(rows, projected, weigh)


def combine(rows: Rows, projected: Vector, weigh: Weigh) -> Vector:
    """A' alpha for known A beta."""
    alpha = np.empty(len(projected))
    for part in _blocks(len(projected), 1):
        alpha[part] = weigh(part, projected[part])
    return rows.tdot(alpha)


def _sweep_signed(A: Matrix, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
    projected, total = np.empty(len(A)), np.zeros(len(beta))
    for part in _blocks(*A.shape):
        block = A[part]
        there = np.dot(block, beta, out=projected[part])
        total += weigh(part, there) @ block
    return projected, total


def _sweep_plain(
    X: Matrix, sign: Vector, center: Vector, beta: Vector, weigh: Weigh
) -> tuple[Vector, Vector]:
    projected, total = np.empty(len(X)), np.zeros(len(beta))
    middle = float(center @ beta)
    amount = 0.0
    for part in _blocks(*X.shape):
        block, side = X[part], sign[part]
        there = np.dot(block, beta, out=projected[part])
        there -= middle
        there *= side
        alpha = weigh(part, there)
        alpha *= side
        amount += float(alpha.sum())
        total += alpha @ block
    total -= amount * center
    return projected, total


def _blocks(m: int, n: int) -> Iterator[slice]:
    step = min(MOST_ROWS, max(FEWEST_ROWS, SWEEP_BYTES // (8 * max(1, n))))
    # Parts of the same size: a short last one would cost as many calls as a long one.
    parts = -(-m // step)
    for k in range(parts):
        yield slice(k * m // parts, (k + 1) * m // parts)
