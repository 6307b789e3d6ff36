"""Calibrated class probabilities from out-of-fold decision values.

The scores of a model are those of its binary subproblems.  What turns them into probabilities is
fitted to the scores of samples by models that were fitted without them: one softmax over the
columns of ``decision_function``,

    p_k = exp(a f_k + b log s_k) / sum_l exp(a f_l + b log s_l),

with s the class frequencies, by weighted maximum likelihood (Newton's method; convex).  The
classifiers have class-balanced costs and do not know the frequencies; b says how much of them the
probabilities need.  Between equally frequent classes the most probable one is the predicted one.
Scores are clipped to the range of those seen, or to their 5 and 95 % quantiles in each class where
that is more likely: single outlying samples would flatten the softmax for all others.

No number of samples rules a class out, and one outlying sample far on the wrong side would cost
more than all others together.  So four samples with the class frequencies q are counted to those
of total weight W, as Agresti and Coull (1998) do for a proportion:

    (W p + 4 q) / (W + 4)

For two classes of W_k each this is at most (W_k + 1) / (W_k + 2), Platt's (1999) largest target.
Scores that order the classes the wrong way round give the class frequencies.

Scores are first divided by their scale, the mean distance between the median scores of the two
sides of a subproblem, because the models of different folds may differ in length.

An estimator that cross-validates has out-of-fold scores, or the fits that give them
(``scores_of_folds``); any other is fitted again (``fit_without_folds``).  A class with a single
distinct sample cannot do without it: that sample is in every training set, and its score is that of
the model itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lincent import _console
from lincent.estimators.problem import HostTraining, binary_tasks, combine_scores
from lincent.model_selection.folds import calibration_folds
from lincent.tables.weighted import median, quantiles

BLOCK_ENTRIES = 1 << 14
"""Scores in a block of samples of the fit, which stays in the cache."""
LEAK = 1e-6
"""Slope of scores beyond the bounds of the softmax: their order, and with it that of the
probabilities, is kept."""

FoldFit = tuple[Any, np.ndarray, np.ndarray]
"""A fitted model, the indices of its training samples, and those of the samples held out."""


# From scores to probabilities.


@dataclass(frozen=True)
class Softmax:
    """A softmax with one slope and an ``offset`` per class, of scores clipped to [low, high].

    No probability of a class is below its ``floor``.
    """

    slope: float
    offset: np.ndarray
    low: float
    high: float
    floor: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Return class probabilities; a single column is for the second of two classes."""
        clipped = np.clip(scores, self.low, self.high)
        clipped += LEAK * (scores - clipped)
        p = _softmax(self.slope * by_class(clipped) + self.offset)[0]
        return p * (1.0 - self.floor.sum()) + self.floor

    def with_prior(self, prior: np.ndarray, weight: np.ndarray) -> Softmax:
        """Return this softmax of samples with these weights, and four more.

        ``prior`` is proportional to the frequencies of the classes among the latter.
        """
        return replace(self, floor=4.0 / (float(weight.sum()) + 4.0) * prior / prior.sum())


@dataclass(frozen=True)
class Calibration:
    """A softmax of the scores of the subproblems, one column each, divided by their scale."""

    softmax: Softmax
    scale: float
    strategy: str

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Return class probabilities."""
        columns = combine_scores(scores / self.scale, len(self.softmax.offset), self.strategy)
        return self.softmax.probability(columns.reshape(len(scores), -1))


def by_class(scores: np.ndarray) -> np.ndarray:
    """Return one column per class; a single score counts against the first as for the second."""
    if scores.shape[1] > 1:
        return scores
    return np.concatenate([-scores / 2, scores / 2], axis=1)


def _softmax(z: np.ndarray, axis: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the softmax over the classes, and the logarithm of its normalizing constant."""
    top = z.max(axis=axis, keepdims=True)
    p = np.exp(z - top)
    total = p.sum(axis=axis, keepdims=True)
    p /= total
    return p, (top + np.log(total)).squeeze(axis)


# Fitting.


def fit_robust_softmax(scores: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> Softmax:
    """Fit the softmax to all scores and to clipped ones, and return the more likely of the two."""
    sides = [codes == code for code in np.unique(codes)]
    ends = np.array(
        [
            quantiles(column[side], weight[side], np.array([0.05, 0.95]))
            for column in scores.T
            for side in sides
        ]
    )
    # Zero, the threshold between two equally frequent classes, is never clipped.
    bounds = min(0.0, float(ends[:, 0].min())), max(0.0, float(ends[:, 1].max()))
    fits = [fit_softmax(scores, codes, weight, each) for each in (None, bounds)]
    best = max(fits, key=lambda fit: weight @ _log_probability(fit, scores, codes))
    if scores.shape[1] > 1 or best.slope <= 0.0:
        return best
    # Nor is the score at which both classes have the same probability.
    even = float(best.offset[0] - best.offset[1]) / best.slope
    return replace(best, low=min(best.low, even), high=max(best.high, even))


def _log_probability(softmax: Softmax, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    p = softmax.probability(scores)
    return np.asarray(np.log(np.maximum(p[np.arange(len(p)), codes], 1e-12)))


def fit_softmax(
    scores: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    bounds: tuple[float, float] | None = None,
) -> Softmax:
    """Fit the softmax to out-of-fold scores, clipped to ``bounds`` or to their range."""
    scores = np.asarray(scores, dtype=np.float64)
    low, high = bounds or (float(scores.min()), float(scores.max()))
    # Classes first: sums over them are fast.
    scores = np.ascontiguousarray(by_class(np.clip(scores, low, high)).T)
    n, m = scores.shape
    fraction = weight / weight.sum()
    count = np.bincount(codes, fraction, n)
    frequency = np.log(np.maximum(count, 1e-12) * n)
    wanted = np.array([fraction @ scores[codes, np.arange(m)], frequency @ count])
    # An L2 term on a and b; it matters only where the likelihood has no maximum.
    shrink = 1e-3 / max(float(weight.sum()), 1.0)
    size = max(1, BLOCK_ENTRIES // n)

    def evaluate(at: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the loss, its gradient and its Hessian, a block of samples at a time."""
        loss, gradient = float(shrink / 2 * (at @ at) - at @ wanted), shrink * at - wanted
        hessian = shrink * np.eye(2)
        for block in (slice(start, start + size) for start in range(0, m, size)):
            x, share = scores[:, block], fraction[block]
            p, normalizer = _softmax(at[0] * x + (at[1] * frequency)[:, None], axis=0)
            means = np.stack([(p * x).sum(axis=0), frequency @ p])
            loss += float(share @ normalizer)
            gradient += means @ share
            centered = np.stack([x - means[0], frequency[:, None] - means[1]])
            hessian += np.tensordot(centered, centered * (p * share), axes=([1, 2], [1, 2]))
        return loss, gradient, hessian

    point = np.zeros(2)
    least, gradient, hessian = evaluate(point)
    for _ in range(50):
        step = np.linalg.solve(hessian, gradient)
        if float(gradient @ step) <= 1e-12:
            break
        length, value = 1.0, np.inf
        while value > least and length > 1e-10:
            value, gradient, hessian = evaluate(point - length * step)
            length /= 2
        point, least = point - 2 * length * step, value
    return Softmax(float(point[0]), point[1] * frequency, low, high)


def log_likelihoods(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the calibrated log-probability of the class of each sample, classes balanced."""
    even = weight / np.bincount(codes, weight, n_classes)[codes]
    return _log_probability(fit_softmax(scores, codes, even), scores, codes)


def balanced_likelihood(
    scores: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int
) -> float:
    """Return the class-balanced mean of ``log_likelihoods``."""
    even = weight / np.bincount(codes, weight, n_classes)[codes]
    return float(even @ log_likelihoods(scores, codes, weight, n_classes) / even.sum())


# Out-of-fold scores.


@dataclass(frozen=True)
class OutOfFoldScores:
    """Normalized scores (n_samples, n_problems) by models that were fitted without the samples.

    NaN where there is none.  ``part`` is the fold of each sample, by which out-of-fold
    probabilities are computed; -1 where a sample could not be held out.
    """

    scores: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    part: np.ndarray
    n_classes: int
    strategy: str = "ovr"

    def calibrate(self, model: Any, scale: float) -> None:
        """Set the calibration and out-of-fold attributes of a model with this scale."""
        model._calibration = self.calibration(scale)
        part = np.where(np.isfinite(self.scores[:, 0]), self.part, -1)
        raw = np.where((part >= 0)[:, None], self.scores, np.nan)
        probabilities = np.full((len(raw), self.n_classes), np.nan)
        for k in range(part.max(initial=-1) + 1):
            own = part == k
            rest = np.where(own, 0.0, self.weight)
            others = replace(self, weight=rest) if rest.any() else self
            probabilities[own] = others.calibration(1.0).probability(raw[own])
        model.out_of_fold_scores_ = combine_scores(raw * scale, self.n_classes, self.strategy)
        model.out_of_fold_probabilities_ = probabilities
        warn_if_uninformative(model, probabilities, self.codes, self.weight)

    def calibration(self, scale: float) -> Calibration:
        """Return the calibration of a model whose scores have this scale."""
        kept = (self.weight > 0) & np.isfinite(self.scores).all(axis=1)
        if not kept.any():
            raise ValueError(
                "No row has a score by a model that has not seen it, so probabilities cannot be "
                "calibrated: every class needs at least 2 different rows. Give more rows, or "
                "probability=None."
            )
        scores, codes, weight = self.scores[kept], self.codes[kept], self.weight[kept]
        columns = combine_scores(scores, self.n_classes, self.strategy).reshape(len(scores), -1)
        softmax = fit_robust_softmax(columns, codes, weight)
        frequency = np.bincount(codes, weight, self.n_classes) / weight.sum()
        if softmax.slope <= 0.0:  # no probability falls as its score grows: what is left
            softmax = replace(softmax, slope=LEAK, offset=np.log(np.maximum(frequency, 1e-12)))
        return Calibration(softmax.with_prior(frequency, weight), scale, self.strategy)


def score_scale(
    scores: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    strategy: str = "ovr",
) -> float:
    """Return the mean distance between the median scores of the two sides of a subproblem."""
    distances = []
    for k, task in enumerate(binary_tasks(n_classes, strategy)):
        sides = [np.isin(codes, side) for side in task.sides]
        low, high = (median(scores[s, k], weight[s]) for s in sides)
        if low == high:  # few distinct scores
            low, high = (float(np.average(scores[s, k], weights=weight[s])) for s in sides)
        distances.append(abs(high - low))
    scale = float(np.mean(distances))
    return scale if scale > 0 else 1.0


def fit_without_folds(model: Any, training: HostTraining) -> list[FoldFit]:
    """Fit a copy of the model without each of five folds."""
    fold = calibration_folds(training.X, training.codes, training.weight)
    fits: list[FoldFit] = []
    n_folds, pairwise = int(fold.max(initial=-1)) + 1, is_pairwise(model)
    for k in range(n_folds):
        _console.step("out-of-fold scores, fold", k, n_folds)
        rows = fold != k  # of all folds at the end: masks, which are smaller than indices
        part = training.fold(np.flatnonzero(rows))
        part = part.with_features(part.X[:, rows]) if pairwise else part
        fits.append((model._fit_fold(part), rows, fold == k))
    return fits


def scores_of_folds(
    model: Any, folds: Sequence[FoldFit], training: HostTraining
) -> tuple[OutOfFoldScores, float]:
    """Return the out-of-fold scores of a model, and the scale of its own scores.

    ``folds`` are its fits to folds that hold out a sample at most once.
    """
    X, codes, weight, n_classes = training.X, training.codes, training.weight, len(training.classes)
    strategy, pairwise = model.multi_class, is_pairwise(model)

    def normalized(fitted: Any, rows: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, float]:
        """Return scores of ``held_out`` divided by the scale of those of ``rows``, and this."""
        given = X[:, rows] if pairwise else X
        own = fitted._task_scores(given[rows])
        scale = score_scale(own, codes[rows], weight[rows], n_classes, strategy)
        return fitted._task_scores(given[held_out]) / scale, scale

    everything = np.arange(len(codes))
    scores, scale = normalized(model, everything, everything)
    part = np.full(len(codes), -1)
    for k, (fitted, rows, held_out) in enumerate(folds):
        part[held_out] = k
        scores[held_out] = normalized(fitted, rows, held_out)[0]
    return OutOfFoldScores(scores, codes, weight, part, n_classes, strategy), scale


def is_pairwise(model: Any) -> bool:
    """Return whether X is a kernel matrix, of which folds have rows and columns."""
    return bool(model.__sklearn_tags__().input_tags.pairwise)


def warn_if_uninformative(
    model: Any, probabilities: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> None:
    """Warn where out-of-fold probabilities have no smaller log loss than the class frequencies."""
    kept = (weight > 0) & np.isfinite(probabilities).all(axis=1)
    if not kept.any():
        return
    frequency = np.bincount(codes, weight, probabilities.shape[1]) / weight.sum()
    p, codes, weight = probabilities[kept], codes[kept], weight[kept] / weight[kept].sum()
    loss, base = (
        -float(weight @ np.log(np.maximum(own, 1e-12)))
        for own in (p[np.arange(len(p)), codes], frequency[codes])
    )
    if loss >= base:
        warnings.warn(
            f"The probabilities of {type(model).__name__} are no better than the class frequencies "
            f"(log loss out of fold {loss:.3f}, of the frequencies {base:.3f}): its scores hardly "
            "tell the classes apart. Scale the columns, look for wrong labels and outliers, or use "
            "another estimator.",
            stacklevel=2,
        )
