"""Probabilities from scores whose rules count all classes alike: softmax with two numbers.

    p_k = exp(a f_k + b log s_k) / sum_l exp(a f_l + b log s_l),       s the shares of the classes,

by weighted maximum likelihood on scores of unseen rows.  Rules with class-balanced costs do not
know how frequent the classes are; b says how much of that the probabilities need.  Where classes
are equally frequent the most probable class is the one with the highest score.  The L2 term
``SHRINK`` on a and b keeps them finite where the scores separate the classes.  So do, in earnest,
the smoothed targets: with W_k the weight of class k among n, a row of k counts as (W_k + 1) /
(W_k + n) of k and 1 / (W_k + n) of each other class, which is Platt's rule (1999) for n = 2.  It is
convex; Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STEPS = 50
SHRINK = 1e-3
"""Against the likelihood of all rows: it decides only where that has no maximum."""


@dataclass(frozen=True)
class Softmax:
    """See the module; ``offset`` is b log s, one number per class."""

    slope: float
    offset: np.ndarray

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """From (rows, rules) to (rows, classes); one rule is for the second of two classes."""
        return _softmax(self.slope * by_class(scores) + self.offset)


def by_class(scores: np.ndarray) -> np.ndarray:
    """One score for each class; a single rule speaks against the first class as for the second."""
    if scores.shape[1] > 1:
        return scores
    return np.concatenate([-scores / 2, scores / 2], axis=1)


def _softmax(z: np.ndarray) -> np.ndarray:
    z = z - z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    return np.asarray(z / z.sum(axis=1, keepdims=True))


def fit_softmax(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, *, smooth: bool = False
) -> Softmax:
    """The softmax for scores of unseen rows; ``smooth``: with smoothed targets."""
    scores = by_class(np.asarray(scores, dtype=np.float64))
    m, n = scores.shape
    share = weight / weight.sum()
    common = np.log(np.maximum(np.bincount(codes, share, n), 1e-12) * n)
    parts = np.stack([scores, np.broadcast_to(common, (m, n))])
    target = np.zeros((m, n))
    if smooth:
        total = np.bincount(codes, weight, n)[codes] + n
        target += 1 / total[:, None]
        target[np.arange(m), codes] = 1 - (n - 1) / total
    else:
        target[np.arange(m), codes] = 1.0
    wanted = (parts * target).sum(axis=2)
    shrink = SHRINK / max(float(weight.sum()), 1.0)

    def loss(at: np.ndarray) -> float:
        p = _softmax(np.tensordot(at, parts, axes=1))
        likely = (target * np.log(np.maximum(p, 1e-300))).sum(axis=1)
        return float(shrink / 2 * (at @ at) - share @ likely)

    point, value = np.zeros(2), np.inf
    for _ in range(STEPS):
        p = _softmax(np.tensordot(point, parts, axes=1))
        mean = (parts * p).sum(axis=2)
        gradient = (mean - wanted) @ share + shrink * point
        around = parts - mean[:, :, None]
        curve = np.einsum("aik,bik,ik->ab", around, around, p * share[:, None])
        step = np.linalg.solve(curve + shrink * np.eye(2), gradient)
        if float(gradient @ step) <= 1e-12:
            break
        length, value = 1.0, loss(point)
        while loss(point - length * step) > value and length > 1e-10:
            length /= 2
        point = point - length * step
    return Softmax(float(point[0]), point[1] * common)


def balanced_likelihood(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int
) -> float:
    """The mean log-probability of the right class after calibration, each class counting alike."""
    even = weight / np.bincount(codes, weight, n_classes)[codes]
    p = fit_softmax(scores, codes, even).probability(scores)
    own = np.log(np.maximum(p[np.arange(len(p)), codes], 1e-12))
    return float(even @ own / even.sum())
