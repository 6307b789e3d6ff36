"""Select an ensemble of candidates from out-of-fold decision values.

The first member of the ensemble is the mean of the best candidates, each normalized by the standard
deviation of its out-of-fold decision values, the second, for two classes, the mean of the best
quarter of these.  Feature maps of another kind (``separate``: leaves of trees) are members of their
own, each by its best candidate.  With f_m the decision values of member m and z_m = a_m f_m + b_m
their calibrated log-probabilities up to a constant, the ensemble is sum_m w_m a_m f_m, and its
weights w are those of a greedy selection with replacement that minimizes the out-of-fold log loss
of sum_m w_m z_m (Caruana et al., "Ensemble selection from libraries of models", ICML 2004), shrunk
towards the first member, half-way at ``SHRINK_ROWS`` samples.  Decision values have the
shape (n_samples, n_outputs): one output for two classes, one for each class of more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lincent.estimators.calibration import Softmax, by_class, fit_robust_softmax, fit_softmax
from lincent.model_selection.scoring import Labels, Metric
from lincent.model_selection.search import make_cv_results
from lincent.tables.weighted import quantiles

N_THRESHOLDS = 99
"""Thresholds that are compared for a metric of predicted labels."""
SHRINK_ROWS = 200.0
"""So many samples shrink the weights half-way, more of them by the square of their number: without,
development tables of fewer than 500 samples lose; by the number itself, those of more."""


class Criterion(NamedTuple):
    """By what candidates are selected."""

    metric: Metric
    costs: np.ndarray
    """Of a sample of each class: the predicted class has the largest probability times cost."""
    shift: bool = False
    """Whether the threshold is chosen by the metric."""
    separate: Sequence[str] = ()
    """Feature maps that are members of their own."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A feature map and a C with out-of-fold decision values, NaN where there are none."""

    feature_map: str
    C: float
    scores: np.ndarray
    deviation: float
    """Standard deviation of the decision values over samples and outputs; 1 if there is none."""

    @classmethod
    def of(cls, feature_map: str, C: float, scores: np.ndarray, weight: np.ndarray) -> Any:
        rows = np.isfinite(scores[:, 0])
        own, fraction = scores[rows], weight[rows] / weight[rows].sum()
        deviation = float(np.sqrt(np.mean(fraction @ (own - fraction @ own) ** 2)))
        return cls(feature_map, C, scores, _rounded(deviation) if deviation > 1e-12 else 1.0)


def _rounded(factor: float) -> float:
    """Return a factor on scores to five digits: sums in another order must not show."""
    return float(f"{factor:.5g}")


def best_candidates(values: np.ndarray, count: int) -> list[int]:
    """Return the indices of the best candidates; ties go to the earlier, simpler one."""
    order: list[int] = np.argsort(-values, kind="stable")[:count].tolist()
    return order


def mean_scores(candidates: Sequence[ScoredCandidate], chosen: Sequence[int]) -> np.ndarray:
    """Return the decision values of the ensemble."""
    return np.mean([candidates[k].scores / candidates[k].deviation for k in chosen], axis=0)


@dataclass(frozen=True)
class Blend:
    """Candidates of an ensemble: their weights, of sum one, and factors on their scores."""

    chosen: list[int]
    weights: np.ndarray
    factors: np.ndarray

    def scores(self, candidates: Sequence[ScoredCandidate]) -> np.ndarray:
        """Return the decision values of the ensemble."""
        pairs = zip(self.chosen, self.factors, strict=True)
        return np.asarray(sum(factor * candidates[k].scores for k, factor in pairs))


def log_losses(log_odds: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the mean log loss of each of several (n_classes, n_samples) log-probabilities."""
    rows = np.arange(len(labels.codes))
    top = log_odds.max(axis=1)
    total = top + np.log(np.exp(log_odds - top[:, None]).sum(axis=1))
    return np.asarray((total - log_odds[:, labels.codes, rows]) @ labels.weight)


def greedy_weights(log_odds: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the weights of members by greedy selection with replacement on the log loss.

    ``log_odds`` has the shape (n_members, n_classes, n_samples).
    """
    counts, total = np.zeros(len(log_odds)), np.zeros(log_odds.shape[1:])
    least, best = np.inf, counts
    tolerance = 1e-6 * float(labels.weight.sum())
    for step in range(1, 26):
        losses = log_losses((total + log_odds) / step, labels)
        k = int(losses.argmin())
        counts[k] += 1
        total += log_odds[k]
        if losses[k] < least - tolerance:
            least, best = float(losses[k]), counts / step
    return best


def greedy_mean(scores: Sequence[np.ndarray], labels: Labels) -> np.ndarray:
    """Return the weights, of sum one, of a mean of decision values with small log loss.

    Greedy weights times the slopes of calibration; the first alone if none tells the classes.
    """
    fits = [fit_softmax(own, *labels[:2]) for own in scores]
    odds = np.stack([_log_odds(fit, own) for fit, own in zip(fits, scores, strict=True)])
    weights = greedy_weights(odds, labels) * [max(fit.slope, 0.0) for fit in fits]
    weights = weights if weights.any() else np.eye(len(scores))[0]
    return np.array([_rounded(weight) for weight in weights / weights.sum()])


def blend_members(
    candidates: Sequence[ScoredCandidate],
    first: Sequence[int],
    separate: Collection[str],
    labels: Labels,
) -> Blend:
    """Return the ensemble of means of the ``first`` candidates and the best of separate maps.

    Decision values are a weighted mean of normalized ones.
    """
    groups = [list(first)] if len(first) else []
    if len(first) > 1 and labels.n_classes == 2:
        # The best 4 of 16 candidates, or the best of 4: on development tables of 600 samples or
        # more it gains, on smaller ones the weights are shrunk; of more classes it loses.
        groups.append(list(first[: max(1, len(first) // 4)]))
    by_map: dict[str, list[int]] = {}
    for k, one in enumerate(candidates):
        if one.feature_map in separate:
            by_map.setdefault(one.feature_map, []).append(k)
    for indices in by_map.values():
        each = [candidates[k].scores for k in indices]
        odds = [_log_odds(fit_softmax(own, *labels[:2]), own) for own in each]
        groups.append([indices[int(log_losses(np.stack(odds), labels).argmin())]])
    scores = [mean_scores(candidates, group) for group in groups]
    calibrators = [fit_softmax(own, *labels[:2]) for own in scores]
    weights = np.eye(len(groups))[0]
    if len(groups) > 1 and calibrators[0].slope > 0:
        odds = [_log_odds(c, own) for c, own in zip(calibrators, scores, strict=True)]
        total = float(labels.weight.sum())
        greedy = greedy_weights(np.stack(odds), labels)
        weights = greedy + (weights - greedy) / (1 + (total / SHRINK_ROWS) ** 2)
        weights[[c.slope <= 0 for c in calibrators]] = 0.0
        weights = np.round(weights / weights.sum(), 6)  # sums in another order must not show
        weights /= weights.sum()
    slopes = np.ones(len(groups))
    if weights.max() < 1:
        slopes = np.array([_rounded(c.slope) for c in calibrators])
    shown, factors = np.zeros((2, len(candidates)))
    for group, weight, slope in zip(groups, weights, slopes, strict=True):
        shown[group] += weight / len(group)
        deviations = np.array([candidates[k].deviation for k in group])
        factors[group] += weight * slope / (weights @ slopes) / (len(group) * deviations)
    chosen = np.flatnonzero(shown)
    return Blend(chosen.tolist(), shown[chosen], factors[chosen])


def _log_odds(calibrator: Softmax, scores: np.ndarray) -> np.ndarray:
    return np.asarray((calibrator.slope * by_class(scores) + calibrator.offset).T)


def best_blend(
    candidates: Sequence[ScoredCandidate],
    values: np.ndarray,
    labels: Labels,
    count: int,
    separate: Collection[str],
) -> Blend:
    """Return the ensemble of the ``count`` candidates of the largest values and separate ones."""
    ordinary = [k for k, one in enumerate(candidates) if one.feature_map not in separate]
    first = [ordinary[k] for k in best_candidates(values[ordinary], count)]
    return blend_members(candidates, first, separate, labels)


def choose_threshold_shift(
    scores: np.ndarray,
    labels: Labels,
    folds: Sequence[np.ndarray],
    criterion: Criterion,
    calibrator: Softmax,
) -> np.ndarray:
    """Return what is added to the decision values before labels are predicted.

    That of the largest probability times cost, unless another one is better in the mean over folds
    by more than one standard error.  Candidates are thresholds at quantiles for two classes, and
    multiples of the log-frequencies of the classes for more.
    """
    slope = calibrator.slope if calibrator.slope > 0 else 1.0  # of scores that tell nothing
    offset = (calibrator.offset + np.log(criterion.costs)) / slope
    usual = offset if scores.shape[1] > 1 else offset[1:] - offset[:1]
    usual = np.round(usual, 6)  # sums in another order must not show
    if not criterion.shift:
        return usual
    if labels.n_classes == 2:
        fractions = np.linspace(0.01, 0.99, N_THRESHOLDS)
        thresholds = quantiles(scores[:, 0], labels.weight, fractions)
        shifts = np.concatenate([usual[None], -thresholds[:, None]])
    else:
        total = np.bincount(labels.codes, labels.weight, labels.n_classes)
        log_frequency = np.log(np.maximum(total / labels.weight.sum(), 1e-12))
        slope = max(fit_softmax(scores, *labels[:2]).slope, 1e-6)
        amounts = np.linspace(-1.0, 2.0, 13) / slope
        shifts = np.concatenate([usual[None], amounts[:, None] * log_frequency])
    parts = [(scores[fold], labels.subset(fold)) for fold in folds if len(fold)]
    values = np.array([[criterion.metric(s + k, own) for s, own in parts] for k in shifts])
    gain = values - values[0]
    mean = gain.mean(axis=1)
    error = gain.std(axis=1, ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else np.inf
    return np.asarray(shifts[int(np.where(mean > error, mean, 0.0).argmax())])


def final_calibrator(scores: np.ndarray, labels: Labels) -> Softmax:
    """Return a calibration that is robust where a clipped score keeps the largest class."""
    fit = fit_robust_softmax if labels.n_classes == 2 else fit_softmax
    return fit(scores, *labels[:2])


def aligned(scores: np.ndarray, own: Softmax, common: Softmax) -> np.ndarray:
    """Return scores that ``common`` gives the probabilities that ``own`` gives these.

    Ensembles that different folds choose have scores of different units and origins.
    """
    if own.slope <= 0 or common.slope <= 0:
        return scores
    offset = own.offset - common.offset
    moved = own.slope * scores + (offset if scores.shape[1] > 1 else offset[1:] - offset[:1])
    return np.asarray(moved / common.slope)


def nested_scores(
    candidates: Sequence[ScoredCandidate],
    labels: Labels,
    folds: Sequence[np.ndarray],
    criterion: Criterion,
    count: int,
    calibrator: Softmax,
) -> tuple[np.ndarray, float]:
    """Return decision values of ensembles that the other folds choose, and the nested-CV score.

    The values are those that ``calibrator``, of the whole ensemble, gives the probabilities of the
    fold. The score is theirs, or that of labels by thresholds that the other folds choose.
    """
    metric, separate = criterion.metric, criterion.separate
    scores = np.full((len(labels.codes), candidates[0].scores.shape[1]), np.nan)
    scored = scores.copy()
    for number, held in enumerate(folds):
        rest = [fold for k, fold in enumerate(folds) if k != number and len(fold)]
        if not rest or not len(held):
            continue
        others = np.concatenate(rest)
        own = labels.subset(others)
        inner = [
            ScoredCandidate.of(c.feature_map, c.C, c.scores[others], own.weight) for c in candidates
        ]
        values = np.array([metric(c.scores, own) for c in inner])
        blend = best_blend(inner, values, own, count, separate)
        outer = [replace(c, scores=c.scores[held]) for c in candidates]
        inside, outside = blend.scores(inner), blend.scores(outer)
        softmax = final_calibrator(inside, own)
        scores[held] = aligned(outside, softmax, calibrator)
        parts = np.split(np.arange(len(others)), np.cumsum([len(fold) for fold in rest])[:-1])
        shift = choose_threshold_shift(inside, own, parts, criterion, softmax)
        scored[held] = outside + shift if criterion.shift else scores[held]
    rows = np.flatnonzero(~np.isnan(scores[:, 0]))
    return scores, metric(scored[rows], labels.subset(rows)) if len(rows) else float("nan")


@dataclass(frozen=True)
class Selection:
    """The selected ensemble; ``samples`` were held out and have the decision values ``scores``.

    ``nested`` are decision values of ensembles that were chosen without the fold of the sample.
    """

    candidates: list[ScoredCandidate]
    values: np.ndarray
    n_folds: np.ndarray
    blend: Blend
    samples: np.ndarray
    scores: np.ndarray
    shift: np.ndarray
    nested: np.ndarray
    nested_score: float
    calibrator: Softmax

    def by_feature_map(self) -> dict[str, list[float]]:
        """Return for each feature map of the ensemble its values of C."""
        Cs: dict[str, list[float]] = {}
        for name, C in self.members():
            Cs.setdefault(name, []).append(C)
        return Cs

    def members(self) -> dict[tuple[str, float], tuple[float, float, float]]:
        """Return weight, factor on the scores, and score of each feature map and C."""
        chosen, weights, factors = self.blend.chosen, self.blend.weights, self.blend.factors
        columns = np.stack([weights, factors, self.values[chosen]], axis=1).tolist()
        keys = [(self.candidates[k].feature_map, self.candidates[k].C) for k in chosen]
        return {key: tuple(row) for key, row in zip(keys, columns, strict=True)}

    def cv_results(self) -> dict[str, Any]:
        """Return ``cv_results_``: scores of pooled out-of-fold decision values."""
        weight = np.zeros(len(self.candidates))
        weight[self.blend.chosen] = self.blend.weights
        params = [{"feature_map": one.feature_map, "C": one.C} for one in self.candidates]
        return make_cv_results(params, self.values, n_folds=self.n_folds, weight=weight)


def select(
    candidates: list[ScoredCandidate],
    n_folds: np.ndarray,
    folds: Sequence[np.ndarray],
    labels: Labels,
    criterion: Criterion,
    count: int,
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
    labels, criterion : Labels, Criterion
        By which candidates are scored.
    count : int
        Number of candidates in the first member of the ensemble.
    """
    held_out = [np.flatnonzero(np.isfinite(one.scores[:, 0])) for one in candidates]
    pairs = zip(candidates, held_out, strict=True)
    values = np.array([criterion.metric(one.scores[k], labels.subset(k)) for one, k in pairs])
    complete = np.flatnonzero(n_folds == n_folds.max()).tolist()
    samples = held_out[complete[0]]
    parts = [np.flatnonzero(np.isin(samples, test)) for test in folds]
    own = [replace(candidates[k], scores=candidates[k].scores[samples]) for k in complete]
    subset = labels.subset(samples)
    blend = best_blend(own, values[complete], subset, count, criterion.separate)
    scores = blend.scores(own)
    # This prior keeps the class of the largest probability times cost.
    calibrator = final_calibrator(scores, subset).with_prior(1.0 / criterion.costs, subset.weight)
    nested, nested_score = nested_scores(own, subset, parts, criterion, count, calibrator)
    return Selection(
        candidates,
        values,
        n_folds,
        replace(blend, chosen=[complete[k] for k in blend.chosen]),
        samples,
        scores,
        choose_threshold_shift(scores, subset, parts, criterion, calibrator),
        np.where(np.isnan(nested), scores, nested),  # a single fold has no others
        nested_score,
        calibrator,
    )


def select_few(
    selection: Selection,
    candidates: list[ScoredCandidate],
    parts: Sequence[np.ndarray],
    labels: Labels,
    criterion: Criterion,
    count: int,
) -> Selection:
    """Return the selection with at most ``count`` candidates, by other held-out samples.

    Forward selection: the best one first; another joins it if the mean of both is better still.
    Candidates of separate feature maps are members beside them.  ``parts`` of the samples give the
    standard error by which the threshold is chosen.
    """
    metric, separate = criterion.metric, criterion.separate
    rest = [k for k, one in enumerate(candidates) if one.feature_map not in separate]
    values = np.array([metric(candidates[k].scores, labels) for k in rest])
    first = [rest[k] for k in best_candidates(values, 1)]
    while first and len(first) < count:
        rest = [k for k in rest if k not in first]
        value = metric(mean_scores(candidates, first), labels)
        gains = [metric(mean_scores(candidates, [*first, k]), labels) - value for k in rest]
        if not gains or max(gains) <= 0:
            break
        first.append(rest[int(np.argmax(gains))])
    blend = blend_members(candidates, first, separate, labels)
    scores = blend.scores(candidates)
    calibrator = final_calibrator(scores, labels).with_prior(1.0 / criterion.costs, labels.weight)
    keys = [(one.feature_map, one.C) for one in selection.candidates]
    positions = [keys.index((candidates[k].feature_map, candidates[k].C)) for k in blend.chosen]
    return replace(
        selection,
        blend=replace(blend, chosen=positions),
        samples=np.arange(len(scores)),
        scores=scores,
        nested=scores,
        shift=choose_threshold_shift(scores, labels, parts, criterion, calibrator),
        calibrator=calibrator,
    )
