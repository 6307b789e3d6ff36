"""Feature weights for distances between samples, from mutual information with the class.

Distances weight every feature equally, so irrelevant features hide the relevant ones.  With b the
interval between quantiles of a feature in which a sample lies, and all classes weighted equally,
the mutual information of b and the class, less its expectation under independence (Miller, 1955),

    I_j = sum_{b,k} p(b,k) log( p(b,k) / (p(b) p(k)) ) - (#b - 1)(#k - 1) / (2 W),

W the total weight, captures any dependence on one feature, not only a linear one.  Feature j is
multiplied by

    max( sqrt(I_j / mean I), MIN_WEIGHT ),

so that a feature that is irrelevant alone still counts, as it may matter in combination.
"""

from __future__ import annotations

import numpy as np

from lincent.tables.weighted import quantiles

INTERVALS = 8
MIN_WEIGHT = 0.1


def mutual_relevance_weights(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a factor for each feature; rounded, as sums in another order must not show."""
    fraction = weight / np.bincount(codes, weight)[codes]
    fraction /= fraction.sum()
    information = np.maximum(_information(Z, codes, weight, fraction), 0.0)
    if not information.any():
        return np.ones(Z.shape[1])
    return np.asarray(
        np.round(np.maximum(np.sqrt(information / information.mean()), MIN_WEIGHT), 6)
    )


def _information(
    Z: np.ndarray, codes: np.ndarray, weight: np.ndarray, fraction: np.ndarray
) -> np.ndarray:
    """Return I_j; intervals end at quantiles, so features of few values have one for each."""
    inner = np.linspace(0.0, 1.0, INTERVALS + 1)[1:-1]
    n_columns, n_classes = Z.shape[1], int(codes.max()) + 1
    shape = (n_columns, INTERVALS, n_classes)
    cell = np.empty(Z.T.shape, dtype=np.intp)
    for j, column in enumerate(Z.T):
        cell[j] = np.searchsorted(quantiles(column, weight, inner), column) + j * INTERVALS
    cell = cell * n_classes + codes
    joint = np.bincount(cell.ravel(), np.tile(fraction, n_columns), np.prod(shape)).reshape(shape)
    apart = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, apart, where=joint > 0, out=np.ones(shape))
    intervals = np.count_nonzero(joint.any(axis=2), axis=1)
    classes = np.count_nonzero(np.bincount(codes, weight))
    chance = (intervals - 1) * (classes - 1) / (2 * weight.sum())
    return np.asarray(np.sum(joint * np.log(ratio), axis=(1, 2)) - chance)
