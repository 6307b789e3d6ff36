"""How far a row moves when beta moves by as much as it is uncertain.

A row a_i changes sides between the optimum of a sample and that of the whole if a_i.beta crosses
the kink on the way.  The error of beta is about normal with the covariance (Portnoy and Koenker)

    S = inv(H) V inv(H)        H = sum_band c_i / (2 w_i) a_i a_i'   the smoothed Hessian
                               V = sum_out c_i^2 a_i a_i'            the scores' second moment

so row i moves by its size, sqrt(a_i' S a_i), and is in doubt where |a_i.beta - s| is not much
larger than that.  On data with outliers sizes differ by factors of hundreds: a band of one width
for all rows is then nearly the whole data, and still misses the largest ones.

S = B B' is estimated on a small sample at its optimum.  All rows are measured by G = B R with R a
random matrix of a few columns: |a_i G| is |a_i B| up to a quarter, for the price of two reads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.problems.centralization import Program


@dataclass(frozen=True)
class Tuning:
    """What the estimate trades; measured on the tall shapes of ``benchmarks/workloads.py``."""

    columns: int = (
        8  # of R: eight measure a size to a quarter, sixteen to a sixth at twice the time
    )
    heavy: float = 3.0  # sizes whose largest thousandth is below so many medians count as one size
    blend: float = (
        0.01  # of the second moment in H and V: keeps both regular where the band is thin
    )
    ridge: float = 1e-9  # of a column's own square: collinear columns, which no row tells apart


TUNING = Tuning()


@dataclass(frozen=True)
class Ruler:
    """How to measure rows, and how far each coefficient moves where a typical row moves by 1."""

    columns: Matrix | None  # None: all rows have about the same size
    spread: Vector
    scale: Vector  # of the columns


def ruler_of(program: Program, beta: Vector, share: float, rng: np.random.Generator) -> Ruler:
    """The ruler at the optimum of a sample, of whose rows a ``share`` is in doubt."""
    rows, n, scale = program.rows, program.shape[1], program.rows.column_scale()
    try:
        # Leverage is the size to begin with; where all rows have about the same it is enough.
        moment = _gram(rows, program.costs / float(program.costs.sum()), scale)
        moment.flat[:: n + 1] += TUNING.ridge
        root = np.linalg.inv(np.linalg.cholesky(moment)).T / scale[:, None]
        size = rows.sizes(root)
        if _differ(size):
            root = _root(program, beta, share, scale, moment, size)
            size = rows.sizes(root)
    except np.linalg.LinAlgError:
        return Ruler(None, 1.0 / scale, scale)
    typical = float(np.median(size))
    if not 0 < typical < np.inf:
        return Ruler(None, 1.0 / scale, scale)
    root /= typical
    spread = np.sqrt(np.einsum("ij,ij->i", root, root))
    if not _differ(size):
        return Ruler(None, spread, scale)
    if n > TUNING.columns:
        root = root @ rng.standard_normal((n, TUNING.columns)) / np.sqrt(TUNING.columns)
    return Ruler(root, spread, scale)


def _differ(size: Vector) -> bool:
    """Whether some rows are much larger than most."""
    middle, large = len(size) // 2, len(size) - 1 - len(size) // 1000
    ordered = np.partition(size, [middle, large])
    return bool(ordered[large] >= TUNING.heavy * ordered[middle])


def _gram(rows: Rows, weight: Vector, scale: Vector) -> Matrix:
    return rows.gram(weight) / scale / scale[:, None]


def _root(
    program: Program,
    beta: Vector,
    share: float,
    scale: Vector,
    moment: Matrix,
    leverage: Vector,
) -> Matrix:
    """B with S = B B', by way of columns of the same scale."""
    rows, costs = program.rows, program.costs
    distance = rows.dot(beta) - program.margin
    away = np.abs(distance) / leverage
    width = max(float(np.quantile(away, min(share, 1.0))), 1e-300)
    band = np.flatnonzero(away <= width)
    weight = costs[band] / (2 * width * leverage[band])
    H = _gram(rows.take(band), weight, scale) + TUNING.blend * float(weight.sum()) * moment
    scores = np.where(distance < 0, costs**2, 0.0)
    V = _gram(rows, scores, scale) + TUNING.blend * float(costs @ costs) * moment
    return np.asarray(np.linalg.solve(H, np.linalg.cholesky(V))) / scale[:, None]
