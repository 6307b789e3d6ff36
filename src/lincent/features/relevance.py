"""How much each column says about the class: a unit for distances between rows.

Distances count every column alike, so columns that say nothing drown those that do.  With b the
interval of a column between its quantiles in which a row lies, and all classes counting the same,
the mutual information of b and the class, less what chance alone would give (Miller, 1955),

    I_j = sum_{b,k} p(b,k) log( p(b,k) / (p(b) p(k)) ) - (#b - 1)(#k - 1) / (2 W),

W the total weight, sees any dependence on one column, not only a slope.  Column j is measured in
units of

    max( sqrt(I_j / mean I), LEAST ),

so a column that says nothing by itself still has a say, as it may matter beside others.
"""

from __future__ import annotations

import numpy as np

from lincent.tables.weighted import quantiles

INTERVALS = 8
LEAST = 0.1


def relevance(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A factor for each column of the rows; rounded, as sums in another order must not show."""
    share = weight / np.bincount(codes, weight)[codes]
    share /= share.sum()
    known = np.maximum(_information(Z, codes, weight, share), 0.0)
    if not known.any():
        return np.ones(Z.shape[1])
    return np.asarray(np.round(np.maximum(np.sqrt(known / known.mean()), LEAST), 6))


def _information(
    Z: np.ndarray, codes: np.ndarray, weight: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """I_j; intervals end at quantiles, so columns of few values have one for each."""
    inner = np.linspace(0.0, 1.0, INTERVALS + 1)[1:-1]
    n_columns, n_classes = Z.shape[1], int(codes.max()) + 1
    shape = (n_columns, INTERVALS, n_classes)
    cell = np.empty(Z.T.shape, dtype=np.intp)
    for j, column in enumerate(Z.T):
        cell[j] = np.searchsorted(quantiles(column, weight, inner), column) + j * INTERVALS
    cell = cell * n_classes + codes
    joint = np.bincount(cell.ravel(), np.tile(share, n_columns), np.prod(shape)).reshape(shape)
    apart = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, apart, where=joint > 0, out=np.ones(shape))
    intervals = np.count_nonzero(joint.any(axis=2), axis=1)
    classes = np.count_nonzero(np.bincount(codes, weight))
    chance = (intervals - 1) * (classes - 1) / (2 * weight.sum())
    return np.asarray(np.sum(joint * np.log(ratio), axis=(1, 2)) - chance)
