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
        return _softmax(self.slope * by_class(scores) + self.offset)[0]


def by_class(scores: np.ndarray) -> np.ndarray:
    """One score for each class; a single rule speaks against the first class as for the second."""
    if scores.shape[1] > 1:
        return scores
    return np.concatenate([-scores / 2, scores / 2], axis=1)


def _softmax(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(z) with rows of sum 1, and the logarithms of what they were divided by."""
    top = z.max(axis=1, keepdims=True)
    p = np.exp(z - top)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    return p, (top + np.log(total))[:, 0]


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

    def value(at: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss, and the probabilities: log p of the target is target.z - log sum exp z."""
        p, total = _softmax(np.tensordot(at, parts, axes=1))
        return float(shrink / 2 * (at @ at) - share @ (at @ wanted - total)), p

    point = np.zeros(2)
    least, p = value(point)
    for _ in range(STEPS):
        mean = (parts * p).sum(axis=2)
        gradient = (mean - wanted) @ share + shrink * point
        around = parts - mean[:, :, None]
        weighed = around * (p * share[:, None])
        curve = np.tensordot(around, weighed, axes=([1, 2], [1, 2]))
        step = np.linalg.solve(curve + shrink * np.eye(2), gradient)
        if float(gradient @ step) <= 1e-12:
            break
        length, (found, p) = 1.0, value(point - step)
        while found > least and length > 1e-10:
            length /= 2
            found, p = value(point - length * step)
        point, least = point - length * step, found
    return Softmax(float(point[0]), point[1] * common)


def log_likelihoods(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int
) -> np.ndarray:
    """The log-probability of each row's class after calibration, each class counting alike."""
    even = weight / np.bincount(codes, weight, n_classes)[codes]
    p = fit_softmax(scores, codes, even).probability(scores)
    return np.asarray(np.log(np.maximum(p[np.arange(len(p)), codes], 1e-12)))


def balanced_likelihood(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int
) -> float:
    """Their mean, each class counting alike."""
    even = weight / np.bincount(codes, weight, n_classes)[codes]
    return float(even @ log_likelihoods(scores, codes, weight, n_classes) / even.sum())
