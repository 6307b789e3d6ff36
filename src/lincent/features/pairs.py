"""Features and pairs of features that matter: relevance weights and interactions.

Distances weight every feature equally, so irrelevant features hide the relevant ones.  With b the
interval between quantiles of a feature in which a sample lies, and all classes weighted equally,
the mutual information of b and the class, less its expectation under independence (Miller, 1955),

    I_j = sum_{b,k} p(b,k) log( p(b,k) / (p(b) p(k)) ) - (#b - 1)(#k - 1) / (2 W),

W the total weight, captures any dependence on one feature, not only a linear one.  Feature j is
multiplied by

    max( sqrt(I_j / mean I), MIN_WEIGHT ),

so that a feature that is irrelevant alone still counts, as it may matter in combination.

Features may matter only together, as in a product of two.  The interaction information of a pair,

    S_jk = I(j, k; class) - I(j; class) - I(k; class),

on coarser intervals, is added to I_j and I_k where it exceeds ``GATE`` standard deviations of its
distribution under independence (2 W S is then chi-squared with (#b_j - 1)(#b_k - 1)(#k - 1) degrees
of freedom).  Without the gate the sum over many pairs of noise would hide the single features.
"""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

from lincent.tables.weighted import quantiles

INTERVALS = 8
MIN_WEIGHT = 0.1
PAIR_INTERVALS = 5
GATE = 6.0
MAX_PAIRED = 120
"""Features of two classes up to which pairs are evaluated: their number grows with the square."""


def mutual_relevance_weights(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a factor for each feature; rounded, as sums in another order must not show."""
    information = np.maximum(_information(Z, codes, weight), 0.0)
    information += pair_interactions(Z, codes, weight).max(axis=0, initial=0.0)
    if not information.any():
        return np.ones(Z.shape[1])
    return np.asarray(
        np.round(np.maximum(np.sqrt(information / information.mean()), MIN_WEIGHT), 6)
    )


def _balanced(codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return weights of sum one, the same for all classes."""
    fraction = weight / np.bincount(codes, weight)[codes]
    return np.asarray(fraction / fraction.sum())


def _information(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return I_j; intervals end at quantiles, so features of few values have one for each."""
    fraction = _balanced(codes, weight)
    inner = np.linspace(0.0, 1.0, INTERVALS + 1)[1:-1]
    n_columns, n_classes = Z.shape[1], int(codes.max()) + 1
    shape = (n_columns, INTERVALS, n_classes)
    cell = np.empty(Z.T.shape, dtype=np.intp)
    for j, column in enumerate(Z.T):
        cell[j] = np.searchsorted(quantiles(column, weight, inner), column) + j * INTERVALS
    cell = cell * n_classes + codes
    joint = np.bincount(cell.ravel(), np.tile(fraction, n_columns), np.prod(shape)).reshape(shape)
    apart = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    intervals = np.count_nonzero(joint.any(axis=2), axis=1)
    classes = np.count_nonzero(np.bincount(codes, weight))
    chance = (intervals - 1) * (classes - 1) / (2 * weight.sum())
    return np.asarray(rel_entr(joint, apart).sum(axis=(1, 2)) - chance)


def pair_interactions(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return S_jk in nats where it passes the gate, otherwise zero; symmetric, zero diagonal."""
    n_columns, n_classes = Z.shape[1], int(codes.max()) + 1
    if n_columns < 2 or n_columns**2 * n_classes > 2 * MAX_PAIRED**2:
        return np.zeros((n_columns, n_columns))
    fraction, counted = _balanced(codes, weight), weight > 0
    effective = 1 / np.sum(fraction[counted] ** 2 / weight[counted])
    inner = np.linspace(0.0, 1.0, PAIR_INTERVALS + 1)[1:-1]
    width = n_columns * PAIR_INTERVALS
    indicators = np.zeros((len(Z), width))
    for j, column in enumerate(Z.T):
        cell = np.searchsorted(quantiles(column, weight, inner), column) + j * PAIR_INTERVALS
        indicators[np.arange(len(Z)), cell] = 1.0
    # Joint frequencies of two intervals and the class, for all pairs of features at once.
    tensor = np.empty((n_classes, n_columns, PAIR_INTERVALS, n_columns, PAIR_INTERVALS))
    for k in range(n_classes):
        rows = indicators[codes == k]
        gram = rows.T @ (rows * fraction[codes == k, None])
        tensor[k] = gram.reshape(tensor.shape[1:])
    joint = tensor.transpose(1, 3, 0, 2, 4).reshape(n_columns, n_columns, n_classes, -1)
    cells = joint.sum(axis=2)
    apart = cells[:, :, None] * joint.sum(axis=3, keepdims=True)
    occupied = np.count_nonzero(cells > 0, axis=2)  # on the diagonal: intervals of one feature
    information = rel_entr(joint, apart).sum(axis=(2, 3))
    information -= (occupied - 1) * (n_classes - 1) / (2 * effective)
    single = information.diagonal()
    interaction = information - single[:, None] - single
    degrees = np.maximum(np.outer(occupied.diagonal() - 1, occupied.diagonal() - 1), 1)
    interaction[interaction <= GATE * np.sqrt(2 * degrees * (n_classes - 1)) / (2 * effective)] = 0
    np.fill_diagonal(interaction, 0.0)
    return np.asarray(interaction)
