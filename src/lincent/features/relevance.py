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

from lincent.features.weighted import quantiles

INTERVALS = 8
LEAST = 0.1


def relevance(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A factor for each column of the rows; rounded, as sums in another order must not show."""
    share = weight / np.bincount(codes, weight)[codes]
    share /= share.sum()
    known = np.array([_information(column, codes, weight, share) for column in Z.T])
    if not np.any(known > 0):
        return np.ones(Z.shape[1])
    known = np.maximum(known, 0.0)
    return np.asarray(np.round(np.maximum(np.sqrt(known / known.mean()), LEAST), 6))


def _information(
    column: np.ndarray, codes: np.ndarray, weight: np.ndarray, share: np.ndarray
) -> float:
    """I_j; intervals end at quantiles, so columns of few values have one for each."""
    inner = np.linspace(0.0, 1.0, INTERVALS + 1)[1:-1]
    interval = np.searchsorted(np.unique(quantiles(column, weight, inner)), column)
    n_classes = int(codes.max()) + 1
    joint = np.bincount(interval * n_classes + codes, share, (interval.max() + 1) * n_classes)
    joint = joint.reshape(-1, n_classes)
    joint = joint[joint.any(axis=1)]
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    there = joint > 0
    chance = (len(joint) - 1) * (np.count_nonzero(joint.any(axis=0)) - 1) / (2 * weight.sum())
    return float(np.sum(joint[there] * np.log(joint[there] / apart[there])) - chance)
