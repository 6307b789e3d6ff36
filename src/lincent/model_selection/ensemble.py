"""Ensembles of fold models, weighted by their cross-validated scores.

Every candidate (a feature map and a C) is fitted on the training part of every fold.  Decision
values are normalized by half the distance between the projected class centers,

    f(x) = ((x - l).beta - t) / (d.beta/2),

so that those of different models can be pooled and averaged.  With f_j the out-of-fold decision
values of candidate j, averaged over repeats, and a_j their score (AUC by default),

    weight of candidate j    proportional to exp(INVERSE_TEMPERATURE * (a_j - max a))
    ensemble                 the weighted mean of the models of all candidates and folds

and nothing is refitted.  In one-vs-rest problems of several classes, candidates are scored jointly
by the log-probability of the true class, and the ensemble consists of the candidates refitted to
all samples: small classes lose more by held-out samples than they gain by a mean over folds.
Candidates that are worse than the best by more than one standard error on the first fold are
evaluated on no other, and a default candidate is kept unless the best one is better by more than
one standard error: among candidates that are nearly tied the best on some samples is no better on
others.

Standard errors are those of paired differences: with v_ij the log-probability for sample i and
candidate j, all n classes weighted equally,

    mean_j = 1/n sum_k 1/W_k sum over samples i of class k of w_i v_ij,  W_k the weight of class k,

a difference d of two candidates has the squared standard error

    1/n^2 sum_k Var_k(d) / W_k,  Var_k(d) = sum over samples of k of w_i (d_i - mean)^2 / (W_k - 1),

which treats sample weights as frequencies, and is infinite where a class has weight one or less.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lincent import _console
from lincent.estimators.calibration import FoldFit, OutOfFoldScores, log_likelihoods
from lincent.estimators.linear import RegularizedFit, controls
from lincent.estimators.problem import BinaryTask, HostTraining, Training, binary_tasks
from lincent.estimators.validation import Calibrated, ClassCosts, Strategy, check_class_weight
from lincent.model_selection.folds import calibration_folds
from lincent.model_selection.scoring import Labels, make_metric
from lincent.model_selection.search import (
    LinearModels,
    TrainingFolds,
    check_grid,
    make_cv_results,
    make_training_folds,
    search_folds,
    store_gaps,
)
from lincent.sources.landmarks import RowMapping
from lincent.tables.weighted import poststratified

TOTAL_COSTS = 10.0 ** np.arange(-1.5, 3.75, 0.5)
"""Default costs as totals over all samples: C times the weight of the training part."""
INVERSE_TEMPERATURE = 400.0
"""Of the softmax weights of candidates: how fast the weight falls with the score."""
REPEATED_SAMPLES = 2000
"""Folds are repeated up to this total weight of the samples."""


# Comparison of candidates.


def mean_and_error(
    values: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class-balanced mean of each row of ``values`` and its standard error."""
    present = [k for k in np.unique(codes) if weight[codes == k].any()]
    mean, square = np.zeros(len(values)), np.zeros(len(values))
    for k in present:
        rows = codes == k
        total = weight[rows].sum()
        fraction = weight[rows] / total
        own = values[:, rows] @ fraction
        mean += own / len(present)
        variance = (values[:, rows] - own[:, None]) ** 2 @ fraction
        square += variance / (total - 1.0) if total > 1.0 else np.inf
    return mean, np.sqrt(square) / len(present)


def within_one_se(values: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return which candidates are worse than the best by at most one standard error."""
    best = values[mean_and_error(values, codes, weight)[0].argmax()]
    behind, error = mean_and_error(best - values, codes, weight)
    return np.asarray(behind <= error)


def softmax_weights(scores: np.ndarray) -> np.ndarray:
    """Return weights of sum one; candidates without a score weigh nothing unless none has one."""
    scores = np.where(np.isnan(scores), -np.inf, scores)
    if not np.isfinite(scores).any():
        scores = np.zeros(len(scores))
    weights = np.exp(INVERSE_TEMPERATURE * (scores - scores.max()))
    return np.asarray(weights / weights.sum())


def log_probabilities(results: FoldResults) -> np.ndarray:
    """Return the log-probability of the true class by candidate and sample; NaN if not evaluated.

    The AUC of each class alone does not see how the decision values of different classes compare,
    which decides what is predicted, and it is close to one for most C.
    """
    scores = np.stack(list(results.pooled), axis=2)
    likelihoods = np.full(scores.shape[:2], np.nan)
    for one, out in zip(scores, likelihoods, strict=True):
        rows = np.isfinite(one[:, 0])
        labels = results.codes[rows], results.weight[rows], len(results.pooled)
        out[rows] = log_likelihoods(one[rows], *labels)
    return likelihoods


def joint_scores(likelihoods: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the class-balanced mean of each candidate over the samples on which it has a value."""
    out = np.empty(len(likelihoods))
    for k, one in enumerate(likelihoods):
        rows = np.isfinite(one)
        out[k] = mean_and_error(one[rows][None], codes[rows], weight[rows])[0][0]
    return out


def joint_weights(
    likelihoods: np.ndarray, codes: np.ndarray, weight: np.ndarray, default: int | None
) -> np.ndarray:
    """Return the weights of candidates evaluated on all samples.

    The default candidate has all weight unless the best one is better by more than one standard
    error.
    """
    complete = np.isfinite(likelihoods).all(axis=1)
    means = np.where(complete, joint_scores(likelihoods, codes, weight), -np.inf)
    if default is not None:
        ahead, error = mean_and_error(
            (likelihoods[means.argmax()] - likelihoods[default])[None], codes, weight
        )
        if not ahead[0] > error[0]:
            return np.asarray(np.arange(len(means)) == default, dtype=np.float64)
        means[default] = -np.inf
    weights = softmax_weights(means)
    weights[weights < 1e-3] = 0.0  # not worth a refit to all samples
    return np.asarray(weights / weights.sum())


# Models of all candidates.


@dataclass(frozen=True)
class Grid:
    """The candidates' values of C and how each model is fitted."""

    Cs: np.ndarray | None
    fit: RegularizedFit
    costs: ClassCosts
    balanced: bool
    """Whether each binary problem balances the costs of its sides."""
    several: bool = False
    """Several binary problems on the same samples: every second default C is enough."""
    default: tuple[int, int, float] | None = None
    """Feature map, position among the Cs, and C of a candidate to keep unless another is better."""

    def values(self, weight: float) -> np.ndarray:
        """Return the values of C for samples of this total weight."""
        grid = TOTAL_COSTS[:: 1 + self.several] / weight if self.Cs is None else self.Cs
        return grid if self.default is None else np.insert(grid, *self.default[1:])

    def directions(self, training: Training, task: BinaryTask, used: np.ndarray) -> list[Any]:
        """Return the model of a binary problem for each C that is used."""
        problem = training.task(task, self.costs)
        if self.balanced:
            problem = problem.balanced()
        values = self.values(sum(task.weights(training.totals)))
        return list(self.fit.directions(problem, values[used].tolist()))


def fit_models(
    part: Training,
    maps: Sequence[RowMapping | None],
    todo: Sequence[BinaryTask],
    grid: Grid,
    used: np.ndarray,
) -> np.ndarray:
    """Fit the candidates that are ``used`` (maps by C); a map of None is the features themselves.

    Returns directions by feature map, binary problem and C; None where a candidate is not used.
    The decision values of one-vs-rest models are compared, so for each C all have the mean of their
    normalizations.
    """
    models = np.full((len(maps), len(todo), used.shape[1]), None, dtype=object)

    def fit_map(k: int) -> None:
        mapping = maps[k]
        mapped = part if mapping is None else part.mapped(mapping)
        by_C = np.empty((len(todo), int(used[k].sum())), dtype=object)
        by_C[:] = part.inner([partial(grid.directions, mapped, task, used[k]) for task in todo])
        if len(todo) > 1 and todo[0].whole:
            for own in by_C.T:
                half = float(np.mean([model.half for model in own]))
                own[:] = [replace(model, width=2 * half) for model in own]
        models[k][:, used[k]] = by_C

    part.inner([partial(fit_map, k) for k in np.flatnonzero(used.any(axis=1)).tolist()])
    return models


def held_out_values(
    data: TrainingFolds,
    split: int,
    maps: Sequence[RowMapping | None],
    models: np.ndarray,
    used: np.ndarray,
) -> Any:
    """Return held-out samples with decision values by sample, feature map, problem and C."""
    linear = []
    for mapping, own, Cs in zip(maps, models, used, strict=True):
        if Cs.any():
            every = own[:, Cs].ravel()
            coef = np.stack([model.beta / model.half for model in every], axis=1)
            intercept = np.array([model.intercept / model.half for model in every])
            linear.append(LinearModels(mapping, coef, intercept))
    held = data.decision_values(split, linear)
    values = np.full((len(held.rows), *models.shape), np.nan)
    values[:, np.broadcast_to(used[:, None], models.shape)] = held.scores
    return replace(held, scores=values)


@dataclass(frozen=True)
class FoldResults:
    """The models of all folds and the pooled out-of-fold decision values of the candidates."""

    models: Sequence[np.ndarray]  # of each fold, by feature map, binary problem and C
    pooled: np.ndarray  # problems by candidates by samples, NaN where one was not evaluated
    rows: np.ndarray  # positions of the samples in the data
    codes: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, models: Sequence[np.ndarray], held: Sequence[Any]) -> FoldResults:
        """Return the results of folds; decision values of repeats are averaged."""
        rows, first, sample = np.unique(
            np.concatenate([fold.rows for fold in held]), return_index=True, return_inverse=True
        )
        scores = np.concatenate([fold.scores for fold in held])
        evaluated = np.isfinite(scores)
        total, count = (np.zeros((len(first), *scores.shape[1:])) for _ in range(2))
        np.add.at(total, sample.reshape(-1), np.where(evaluated, scores, 0.0))
        np.add.at(count, sample.reshape(-1), evaluated)
        pooled = np.divide(total, count, where=count > 0, out=np.full_like(total, np.nan))
        by_problem = np.moveaxis(pooled, 2, 0).reshape(scores.shape[2], len(rows), -1)
        codes = np.concatenate([fold.codes for fold in held])[first]
        weight = np.concatenate([fold.weight for fold in held])[first]
        return cls(models, by_problem.transpose(0, 2, 1), rows, codes, weight)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of feature maps and of values of C."""
        return self.models[0].shape[0], self.models[0].shape[2]

    def averaged(self, weights: np.ndarray) -> np.ndarray:
        """Return the out-of-fold decision values of the ensemble: samples by problems."""
        pairs = zip(weights, self.pooled, strict=True)
        return np.stack([own[own > 0] @ values[own > 0] for own, values in pairs], axis=1)

    def mean_model(
        self, weights: np.ndarray, problem: int, of_map: int, fold: int
    ) -> tuple[np.ndarray, float]:
        """Return the weighted sum over C of the models of a problem, feature map and fold."""
        fraction = weights[problem].reshape(self.shape)[of_map] / len(self.models)
        models = self.models[fold][of_map, problem][fraction > 0]
        scale = fraction[fraction > 0] / np.array([model.half for model in models])
        direction = scale @ np.array([model.beta for model in models])
        return direction, float(scale @ np.array([model.intercept for model in models]))


# The estimators' common part.


@dataclass(eq=False, repr=False)
class FoldEnsemble:
    """Mixin of classifiers that average the models of all folds and candidates.

    Subclasses have the parameters ``Cs`` and ``margin_range``.  They name the candidates' feature
    maps (``_feature_maps``) and set the fitted model (``_set_model``).
    """

    _: KW_ONLY
    cv: Any = None
    scoring: Any = None
    multi_class: Strategy = "ovr"
    probability: Calibrated = "sigmoid"

    _reads_in_place = True
    _searches_folds = True
    _n_repeats: ClassVar[int]
    """Repetitions of the folds, for binary problems of at most ``REPEATED_SAMPLES`` samples."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit all candidates on all folds and average them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples. Also a Dask array or dataframe, or batches, which are read in place about ten
            times: one pass serves all folds, feature maps and C.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights; any nonnegative numbers.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group are never split between folds: `cv` is a splitter that takes
            groups, such as ``GroupKFold()``, or a number of folds, stratified as far as groups
            allow.

        Returns
        -------
        self
            The fitted estimator.
        """
        model: Any = self
        model._fit(X, y, sample_weight, groups)
        return self

    def _feature_maps(self, part: Training, seed: int) -> tuple[list[Any], Any]:
        """Return the map of each candidate (None: the features), and what ``_set_model`` needs."""
        raise NotImplementedError

    def _map_params(self) -> list[dict[str, Any]]:
        """Return the parameters that distinguish the feature maps."""
        return [{}]

    def _set_model(self, results: FoldResults, weights: np.ndarray, made: list[Any]) -> None:
        """Set the fitted attributes.

        ``weights`` are those of the candidates by problem; ``made`` comes from ``_feature_maps`` of
        each fold.
        """
        raise NotImplementedError

    def _default_candidate(self) -> tuple[int, float] | None:
        """Return feature map and C that are kept in joint problems unless another is better."""
        return None

    def _check_params(self: Any) -> None:
        if self.Cs is not None:
            check_grid("Cs", self.Cs)

    def _learn(self: Any, training: Training, fitted: Sequence[FoldFit] = ()) -> None:
        costs = check_class_weight(self.class_weight, training.classes, training.totals)
        seed = int(check_random_state(self.random_state).randint(2**31))
        limits = controls(self, training.began)
        if training.shape[0] * training.shape[1] <= 20_000:
            # A Newton step further: a gap within tol leaves seven digits of a decision value, and
            # duplicated and weighted samples should agree in more.
            limits = replace(limits, tol=1e-3 * limits.tol)
        fit = RegularizedFit(self.margin_range, True, limits, seed)
        todo = binary_tasks(len(training.classes), self.multi_class)
        Cs = None if self.Cs is None else np.sort(check_grid("Cs", self.Cs))
        grid = Grid(Cs, fit, costs, isinstance(self.class_weight, str), len(todo) > 1)
        refitted = len(todo) > 1 and todo[0].whole
        joint = refitted and self.scoring is None
        weight = float(training.totals.sum())
        if joint and (default := self._default_candidate()) is not None:
            position = int(np.searchsorted(grid.values(weight), default[1]))
            grid = replace(grid, default=(default[0], position, default[1]))
        few = len(training.classes) == 2 and weight <= REPEATED_SAMPLES
        n_repeats = self._n_repeats if few and self.cv is None else 1
        data = make_training_folds(training, self.cv, n_repeats, seed)
        models, held, made = self._evaluate_folds(data, todo, grid, seed, joint)
        results = FoldResults.of(models, held)
        weights = self._weigh(results, todo, grid, weight, joint)
        if refitted:
            used = weights[0].reshape(results.shape) > 0
            used = used if joint else np.ones_like(used)

            def refit() -> tuple[np.ndarray, Any]:
                maps, own = self._feature_maps(training, seed)
                return fit_models(training, maps, todo, grid, used), own

            [(final, own)] = training.each([refit], None)
            made = [own]
            results = replace(results, models=[final])
        self._certify(results)
        self._set_model(results, weights, made)
        if self.probability is not None:
            self._calibrate(results, weights, training)

    def _evaluate_folds(
        self: Any, data: TrainingFolds, todo: list[BinaryTask], grid: Grid, seed: int, joint: bool
    ) -> list[list[Any]]:
        """Return models, held-out samples and what made the feature maps, of each fold."""

        def evaluate(split: int, used: np.ndarray | None) -> Any:
            if split and grid.fit.controls.out_of_time():
                return None
            _console.step("search, fold", split, len(data.splits))
            part = data.train(split)
            maps, made = self._feature_maps(part, seed)
            if used is None:
                used = np.ones((len(maps), len(grid.values(1.0))), dtype=bool)
            models = fit_models(part, maps, todo, grid, used)
            return models, held_out_values(data, split, maps, models, used), made

        def prune(first: Any) -> np.ndarray:
            results = FoldResults.of(first[:1], first[1:2])
            used = within_one_se(log_probabilities(results), results.codes, results.weight)
            used = used.reshape(results.shape)
            if grid.default is not None:
                used[grid.default[:2]] = True
            return used

        done = search_folds(
            len(data.splits),
            evaluate,
            lambda jobs: data.training.each(jobs, self.n_jobs),
            prune if joint else None,
        )
        finished = [one for one in done if one is not None]
        if len(finished) < len(done):
            warnings.warn(
                f"time_limit={self.time_limit} s ended the search after {len(finished)} of "
                f"{len(done)} folds. Give a larger time_limit or fewer candidates.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return [list(part) for part in zip(*finished, strict=True)]

    def _weigh(
        self, results: FoldResults, todo: list[BinaryTask], grid: Grid, weight: float, joint: bool
    ) -> np.ndarray:
        """Set the results of the search; return the weights of the candidates by problem."""
        n_Cs = results.shape[1]
        if joint:
            given = log_probabilities(results), results.codes, results.weight
            default = None if grid.default is None else grid.default[0] * n_Cs + grid.default[1]
            scores = [joint_scores(*given)] * len(todo)
            weights = np.array([joint_weights(*given, default)] * len(todo))
        else:
            scores = []
            metric = make_metric(self.scoring, np.array([-1, 1]))
            for pooled, task in zip(results.pooled, todo, strict=True):
                rows = slice(None) if task.whole else task.rows(results.codes)
                positive = task.sign(results.codes[rows]) > 0
                labels = Labels(positive.astype(np.intp), results.weight[rows], 2)
                scores.append(np.array([metric(one[:, None], labels) for one in pooled[:, rows]]))
            weights = np.array([softmax_weights(values) for values in scores])
        Cs = grid.values(weight)
        params = [of_map | {"C": float(C)} for of_map in self._map_params() for C in Cs]
        columns = {}
        if len(todo) > 1 and not joint:
            columns = {f"problem{k}_test_score": one for k, one in enumerate(scores)}
            columns |= {f"problem{k}_weight": one for k, one in enumerate(weights)}
        mean = np.mean(scores, axis=0)
        self.cv_results_ = make_cv_results(params, mean, weight=np.mean(weights, axis=0), **columns)
        best = weights.argmax(axis=1)
        self.best_score_ = float(np.mean([own[k] for k, own in zip(best, scores, strict=True)]))
        self.Cs_ = Cs
        self.C_ = Cs[best % n_Cs][0 if len(todo) == 1 else slice(None)]
        one = joint or len(todo) == 1
        self.best_index_ = int(best[0]) if one else best
        self.best_params_ = params[best[0]] if one else [params[k] for k in best]
        return weights

    def _certify(self: Any, results: FoldResults) -> None:
        """Set the certificates of all models; warn of the largest gap where it is above tol."""
        by_problem = np.moveaxis(np.stack(results.models), 2, 0)
        solutions = [model.solution for model in by_problem.flat if model is not None]
        self.objectives_ = np.array([solution.certificate.objective for solution in solutions])
        gaps, steps = zip(*((one.relative_gap, one.iterations) for one in solutions), strict=True)
        store_gaps(self, gaps, steps, "A cross-validated model")

    def _calibrate(self, results: FoldResults, weights: np.ndarray, training: Training) -> None:
        """Calibrate probabilities on the out-of-fold decision values of the ensemble."""
        scores, kind = results.averaged(weights), (len(training.classes), self.multi_class)
        # Of a class with very many samples some are scored.
        weight = poststratified(results.codes, results.weight, training.totals)
        if not isinstance(training, HostTraining):  # nothing as long as the data is kept here
            labels = results.codes, weight, results.rows
            self._calibration = OutOfFoldScores(scores, *labels, *kind).calibration(1.0)
            return
        whole = np.full((len(training.codes), scores.shape[1]), np.nan)
        counted = np.zeros(len(whole))
        whole[results.rows], counted[results.rows] = scores, weight
        part = calibration_folds(training.X, training.codes, training.weight)
        OutOfFoldScores(whole, training.codes, counted, part, *kind).calibrate(self, 1.0)
