"""Select an ensemble of candidates from out-of-fold decision values.

The ensemble is the mean of the best candidates, each normalized by the standard deviation of its
out-of-fold decision values.  Decision values have the shape (n_samples, n_outputs): one output for
two classes, one for each class of more.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent.estimators.calibration import Softmax, fit_softmax
from lincent.model_selection.scoring import Labels, Metric
from lincent.model_selection.search import make_cv_results
from lincent.tables.weighted import quantiles

N_THRESHOLDS = 99
"""Thresholds that are compared for a metric of predicted labels."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A feature map and a C with out-of-fold decision values, NaN where there are none."""

    feature_map: str
    C: float
    scores: np.ndarray
    deviation: float
    """Standard deviation of the decision values."""

    @classmethod
    def of(cls, feature_map: str, C: float, scores: np.ndarray, weight: np.ndarray) -> Any:
        rows = np.isfinite(scores[:, 0])
        return cls(feature_map, C, scores, standard_deviation(scores[rows], weight[rows]))


def standard_deviation(scores: np.ndarray, weight: np.ndarray) -> float:
    """Return the standard deviation over samples and outputs; 1 if there is none."""
    fraction = weight / weight.sum()
    deviation = float(np.sqrt(np.mean(fraction @ (scores - fraction @ scores) ** 2)))
    return deviation if deviation > 1e-12 else 1.0


def best_candidates(values: np.ndarray, count: int) -> list[int]:
    """Return the indices of the best candidates; ties go to the earlier, simpler one."""
    return [int(k) for k in np.argsort(-values, kind="stable")[:count]]


def mean_scores(candidates: Sequence[ScoredCandidate], chosen: Sequence[int]) -> np.ndarray:
    """Return the decision values of the ensemble."""
    return np.mean([candidates[k].scores / candidates[k].deviation for k in chosen], axis=0)


def choose_shift(
    scores: np.ndarray, labels: Labels, folds: Sequence[np.ndarray], metric: Metric
) -> np.ndarray:
    """Return what is added to the decision values before labels are predicted.

    Zero, the threshold of the training, unless another one is better in the mean over folds by more
    than one standard error.  Candidates are thresholds at quantiles for two classes, and multiples
    of the log-frequencies of the classes for more.
    """
    if labels.n_classes == 2:
        fractions = np.linspace(0.01, 0.99, N_THRESHOLDS)
        thresholds = quantiles(scores[:, 0], labels.weight, fractions)
        shifts = np.concatenate([np.zeros((1, 1)), -thresholds[:, None]])
    else:
        total = np.bincount(labels.codes, labels.weight, labels.n_classes)
        log_frequency = np.log(np.maximum(total / labels.weight.sum(), 1e-12))
        slope = max(fit_calibrator(scores, labels).slope, 1e-6)
        amounts = np.linspace(-1.0, 2.0, 13) / slope
        none = np.zeros((1, labels.n_classes))
        shifts = np.concatenate([none, amounts[:, None] * log_frequency])
    parts = [(scores[fold], labels.subset(fold)) for fold in folds if len(fold)]
    values = np.array([[metric(s + shift, own) for s, own in parts] for shift in shifts])
    gain = values - values[0]
    mean = gain.mean(axis=1)
    error = gain.std(axis=1, ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else np.inf
    return np.asarray(shifts[int(np.where(mean > error, mean, 0.0).argmax())])


def fit_calibrator(scores: np.ndarray, labels: Labels) -> Softmax:
    """Return the calibration of out-of-fold decision values."""
    return fit_softmax(scores, labels.codes, labels.weight)


def nested_score(
    candidates: Sequence[ScoredCandidate],
    labels: Labels,
    folds: Sequence[np.ndarray],
    metric: Metric,
    count: int,
    shift: bool,
) -> float:
    """Return the nested-CV score: ensemble and threshold of a fold are chosen by the others."""
    scores = np.full((len(labels.codes), candidates[0].scores.shape[1]), np.nan)
    for number, held in enumerate(folds):
        rest = [fold for k, fold in enumerate(folds) if k != number and len(fold)]
        if not rest or not len(held):
            continue
        others = np.concatenate(rest)
        own = labels.subset(others)
        inner = [
            ScoredCandidate.of(c.feature_map, c.C, c.scores[others], own.weight) for c in candidates
        ]
        chosen = best_candidates(np.array([metric(c.scores, own) for c in inner]), count)
        mean = np.mean([candidates[k].scores[held] / inner[k].deviation for k in chosen], axis=0)
        if shift:
            ends = np.cumsum([0] + [len(fold) for fold in rest])
            parts = [np.arange(a, b) for a, b in itertools.pairwise(ends)]
            mean = mean + choose_shift(mean_scores(inner, chosen), own, parts, metric)
        scores[held] = mean
    rows = np.flatnonzero(~np.isnan(scores[:, 0]))
    return metric(scores[rows], labels.subset(rows)) if len(rows) else float("nan")


@dataclass(frozen=True)
class Selection:
    """The selected ensemble; ``samples`` were held out and have the decision values ``scores``."""

    candidates: list[ScoredCandidate]
    values: np.ndarray
    n_folds: np.ndarray
    chosen: list[int]
    samples: np.ndarray
    scores: np.ndarray
    shift: np.ndarray
    nested_score: float
    calibrator: Softmax

    def by_feature_map(self) -> dict[str, list[float]]:
        """Return for each feature map of the ensemble its values of C."""
        Cs: dict[str, list[float]] = {}
        for candidate in (self.candidates[k] for k in self.chosen):
            Cs.setdefault(candidate.feature_map, []).append(candidate.C)
        return Cs

    def narrowed(
        self, few: Sequence[ScoredCandidate], scores: np.ndarray, shift: np.ndarray, calibrator: Any
    ) -> Selection:
        """Return the selection of a few candidates, scored on other held-out samples."""
        deviation = {(one.feature_map, one.C): one.deviation for one in few}
        candidates = [
            replace(one, deviation=deviation.get((one.feature_map, one.C), one.deviation))
            for one in self.candidates
        ]
        chosen = [k for k, c in enumerate(candidates) if (c.feature_map, c.C) in deviation]
        return replace(
            self, candidates=candidates, chosen=chosen, samples=np.arange(len(scores)),
            scores=scores, shift=shift, calibrator=calibrator,
        )  # fmt: skip

    def cv_results(self) -> dict[str, Any]:
        """Return ``cv_results_``: scores of pooled out-of-fold decision values."""
        weight = np.zeros(len(self.candidates))
        weight[self.chosen] = 1.0 / len(self.chosen)
        params = [{"feature_map": one.feature_map, "C": one.C} for one in self.candidates]
        return make_cv_results(params, self.values, n_folds=self.n_folds, weight=weight)


def select(
    candidates: list[ScoredCandidate],
    n_folds: np.ndarray,
    folds: Sequence[np.ndarray],
    labels: Labels,
    metric: Metric,
    count: int,
    shift: bool,
) -> Selection:
    """Select the best candidates among those that were evaluated on the most folds.

    Parameters
    ----------
    candidates : list of ScoredCandidate
        Candidates with out-of-fold decision values of all samples.
    n_folds : ndarray of shape (n_candidates,)
        Number of folds on which each was evaluated.
    folds : list of ndarray
        The test samples of each fold.
    labels, metric : Labels, callable
        By which candidates are scored.
    count : int
        Size of the ensemble.
    shift : bool
        Whether the threshold is chosen by the metric.
    """
    values = []
    for candidate in candidates:
        rows = np.flatnonzero(np.isfinite(candidate.scores[:, 0]))
        values.append(metric(candidate.scores[rows], labels.subset(rows)))
    complete = np.flatnonzero(n_folds == n_folds.max()).tolist()
    samples = np.flatnonzero(np.isfinite(candidates[complete[0]].scores[:, 0]))
    position = np.full(len(labels.codes), -1)
    position[samples] = np.arange(len(samples))
    parts = [position[test][position[test] >= 0] for test in folds]
    own = [replace(candidates[k], scores=candidates[k].scores[samples]) for k in complete]
    subset = labels.subset(samples)
    chosen = best_candidates(np.array(values)[complete], count)
    scores = mean_scores(own, chosen)
    return Selection(
        candidates,
        np.array(values),
        n_folds,
        [complete[k] for k in chosen],
        samples,
        scores,
        choose_shift(scores, subset, parts, metric) if shift else np.zeros(scores.shape[1]),
        nested_score(own, subset, parts, metric, count, shift),
        fit_calibrator(scores, subset),
    )


def select_few(
    selection: Selection,
    candidates: list[ScoredCandidate],
    parts: Sequence[np.ndarray],
    labels: Labels,
    metric: Metric,
    count: int,
    shift: bool,
) -> tuple[Selection, list[int]]:
    """Select at most ``count`` candidates by forward selection on other held-out samples.

    The best one first; another joins it if the mean of both is better still.  ``parts`` of the
    samples give the standard error by which the threshold is chosen.
    """
    chosen = best_candidates(np.array([metric(one.scores, labels) for one in candidates]), 1)
    while len(chosen) < count:
        rest = [k for k in range(len(candidates)) if k not in chosen]
        value = metric(mean_scores(candidates, chosen), labels)
        gains = [metric(mean_scores(candidates, [*chosen, k]), labels) - value for k in rest]
        if not gains or max(gains) <= 0:
            break
        chosen.append(rest[int(np.argmax(gains))])
    scores = mean_scores(candidates, chosen)
    moved = choose_shift(scores, labels, parts, metric) if shift else np.zeros(scores.shape[1])
    few = [candidates[k] for k in chosen]
    return selection.narrowed(few, scores, moved, fit_calibrator(scores, labels)), chosen
