"""AutoLCC: automatic choice of feature maps and C, the best few averaged.

All feature maps and values of C are evaluated on a first fold, the best of them on all others: for
each fold and feature map a warm-started path over C, in single precision and to a loose gap.  What
it decides is which models are fitted to all samples, and those are certified.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from lincent import _console, _threads
from lincent.estimators.auto_candidates import (
    BINARY_ONLY,
    COLUMNS,
    SPLINES,
    FeatureBlocks,
    SharedFeatures,
    TrainingRows,
    check_feature_maps,
    common_units,
    scaled_for,
    suitable_maps,
)
from lincent.estimators.base import Classifier, ProbabilityMixin
from lincent.estimators.calibration import Softmax
from lincent.estimators.joint_fit import (
    READ_ROWS,
    Costs,
    JointModel,
    fit_in_memory,
    fit_models,
    refit_models,
    search_tolerance,
    total_costs,
)
from lincent.estimators.problem import is_streamed, sparse_to_batches
from lincent.estimators.regularized import check_hinge_range
from lincent.estimators.remote import RemoteTraining
from lincent.estimators.tabular import Limits, TableClassifier, fit_remote, flat, sample_of_remote
from lincent.estimators.validation import check_class_weight
from lincent.features.relevance import pair_interactions
from lincent.features.transformer import FeatureMap, by_blocks
from lincent.model_selection.folds import make_folds, number_of_folds
from lincent.model_selection.scoring import Labels, Metric, make_metric, scores_labels
from lincent.model_selection.search import search_folds
from lincent.model_selection.selection import (
    ScoredCandidate,
    Selection,
    best_candidates,
    select,
    select_few,
)
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import Design, solve_path
from lincent.solvers.solution import silent
from lincent.sources.hashing import row_hashes
from lincent.sources.source import Kind, kind_of, namespace_of
from lincent.tables.weighted import Columns, mean_and_deviation, merged

N_SPLITS, N_SPLITS_JOINT = 4, 3
"""Folds for two classes and for more, where a fold costs more and tells more."""
SEARCH_ROWS = 3_000
"""Candidates are compared on so many samples; a choice among a few needs no more."""
FIT_ROWS = 10_000
"""The ensemble is fitted to so many; of more samples, others choose a few to be fitted to all."""
COMPARED_ROWS = 10_000
"""Samples that choose these few."""
N_FEW = 2
"""Models that are fitted to all samples."""
MIN_DEVIATION = 0.2
"""Features of 0 and 1 are scaled as if they had at least this standard deviation: rare ones are not
blown up."""
N_KEPT, N_KEPT_JOINT = 32, 16
"""Candidates that are evaluated on more than one fold, for two classes and for more."""
ENSEMBLE_SIZE, ENSEMBLE_SIZE_JOINT = 16, 4
"""Candidates that are averaged, for two classes and for more."""
SEARCH_STEPS = 12
REFERENCE_ROWS = 32
"""Samples at which ``feature_importances_`` is computed."""


class AutoLCC(ProbabilityMixin, TableClassifier, Classifier):
    """Classifier with automatic choice of features and regularization, for tables of any kind.

    Centralization (RegularizedLCC) on a candidate set of feature maps: the columns, splines, local
    centers, kernel landmarks of three widths (also with columns weighted by their relevance), and
    combinations. All feature maps and values of C are cross-validated, weak candidates are dropped
    after the first fold, and the best are fitted to all samples and averaged. Accepts data frames
    with missing values and categorical columns; columns are scaled inside.

    Parameters
    ----------
    feature_maps : dict or list, default=None
        Candidates beside the built-in feature maps, as a dict from names to transformers; or the
        whole candidate set, as a list of built-in names (``cv_results_["param_feature_map"]``) and
        pairs (name, transformer). A transformer (anything with ``fit`` and ``transform``) is fitted
        to the encoded and standardized columns of the training part of each fold, with class codes
        as ``y`` and with ``sample_weight`` if it takes them; features with a variance of about one
        are best. None is all built-in feature maps that suit the data.
    scoring : str or callable, default=None
        Any scorer of scikit-learn. None is the area under the ROC curve for two classes and the
        class-balanced log-likelihood for more. Where the scorer uses predicted labels
        (``"accuracy"``, ``"f1"``), the decision threshold is chosen by it as well.
    cv : int, splitter or iterable, default=None
        None is 4 hash-based stratified folds, 3 for more than two classes.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        Costs of the classes; "balanced" gives all the same total.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    tol : float, default=1e-9
        Bound on the relative duality gap of every model of the ensemble.
    max_iter : int, default=200
        Largest number of steps for one model.
    time_limit : float, default=None
        Seconds after which no further fold is begun and solves end where they are.
    n_jobs : int, default=None
        Feature maps that are cross-validated in parallel.
    random_state : int, RandomState instance or None, default=0
        Seeds folds, landmarks and k-means.
    verbose : int, default=0
        1 prints a line for each fold and what is kept, 2 every step of the search.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    ensemble_ : list of dict
        ``feature_map``, ``C`` (per sample), ``weight``, ``score``, ``objective`` and
        ``duality_gap`` of each model.
    cv_results_ : dict of ndarrays
        ``params``, ``mean_test_score`` (of the pooled out-of-fold decision values),
        ``rank_test_score`` and ``weight`` of every candidate, and ``n_folds``, on how many it was
        evaluated; the score of a candidate that was dropped is over those.
    best_index_, best_params_, best_score_ : int, dict, float
        The best candidate among those that were evaluated on all folds.
    nested_score_ : float
        The nested-CV score: on folds that took no part in choosing ensemble and threshold for them.
    out_of_fold_scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision values of the training samples by models that have not seen them; NaN where there
        are none.
    out_of_fold_probabilities_ : ndarray of shape (n_samples, n_classes)
        The same as probabilities.
    feature_importances_ : ndarray of shape (n_features,)
        How much the decision values change with each column, of sum one: the mean absolute
        difference when its encoded values move by one standard deviation up and down, at 32
        training samples. Computed when it is asked for.
    interactions_ : list of dict
        Pairs of columns that tell more about the class together than one by one: ``columns``, two
        names (indices where columns have none), and ``information``, the interaction information
        in nats on the samples that compared the candidates, largest first. Empty where no pair is
        beyond chance, and where more than 120 encoded columns (fewer with more than two classes)
        make too many pairs.
    duality_gap_ : float
        The largest relative duality gap in the ensemble.
    n_iter_ : int
        Steps of all models together.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    StructuredLCCCV : Local centers alone.
    AdditiveLCCCV : An additive model with shape functions.

    Notes
    -----
    With more than 3,000 samples candidates are compared on a stratified sample of that size; with
    more than 10,000 the ensemble is fitted, and certified, on a sample of that size. With more than
    15,000, other samples then choose the best one or two models, and these are fitted to, and
    certified on, all samples. So it is with Dask blocks or batches, sparse matrices and device
    arrays; there all models are fitted to, and certified on, all samples where there are no others
    to choose.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import AutoLCC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoLCC().fit(X, y)
    >>> bool(model.nested_score_ > 0.98)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    probability = "sigmoid"  # at no further fit, so it is no parameter
    _blocks: dict[str, FeatureMap]
    _calibration: Softmax
    _center: np.ndarray
    _coef: dict[str, np.ndarray]
    _factors: dict[str, np.ndarray]
    _intercept: np.ndarray
    _reference: np.ndarray
    _scale: np.ndarray
    _shift: np.ndarray

    def __init__(
        self,
        *,
        feature_maps: Any = None,
        scoring: Any = None,
        cv: Any = None,
        margin_range: tuple[float, float] = (-1.0, 3.0),
        class_weight: Any = "balanced",
        categorical_features: Any = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.feature_maps = feature_maps
        self.scoring = scoring
        self.cv = cv
        self.margin_range = margin_range
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self) -> None:
        self._check_limits()
        check_hinge_range(self.margin_range)
        check_feature_maps(self.feature_maps)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> AutoLCC:
        self._check_params()
        names, own = check_feature_maps(self.feature_maps)
        ends = time.monotonic() + (np.inf if self.time_limit is None else self.time_limit)
        limits = Limits(self.tol, self.max_iter, lambda: time.monotonic() >= ends)
        seed = int(check_random_state(self.random_state).randint(2**31))
        # Folds of the user index samples of X: then all are searched, in memory.
        indexed = not (self.cv is None or isinstance(self.cv, int | np.integer))
        if indexed and kind_of(X) is Kind.SPARSE:
            X = X.toarray()
        X, y, sample_weight = sparse_to_batches(self, X, y, sample_weight)
        training: RemoteTraining | None = None
        if is_streamed(X):
            number_of_folds(self.cv, remote=True)
            training = self._open_remote(X, y, sample_weight)
            found = sample_of_remote(training, seed, FIT_ROWS + COMPARED_ROWS)
            data, total = self._set_scaling(found.rows, found.columns), training.totals
        else:
            data = self._open_table(X, y, sample_weight, seed)
            used = data.Z if data.weight.all() else data.Z[data.weight > 0]
            columns = mean_and_deviation(data.Z, data.weight)
            data = self._set_scaling(data, Columns(*columns, used.min(axis=0), used.max(axis=0)))
            total = np.bincount(data.codes, weights=data.weight)
        by_class = total * check_class_weight(self.class_weight, self.classes_, total).factor
        costs = Costs(by_class / by_class.sum(), check_hinge_range(self.margin_range))
        totals = total.tolist()
        metric = make_metric(self.scoring, self.classes_)
        shift = scores_labels(self.scoring, self.classes_)

        # Compare the candidates on a sample.
        index = np.arange(len(data.codes)) if indexed else data.sample(SEARCH_ROWS, totals)
        searched = self._scaled(data[index])
        shared = SharedFeatures(searched, seed)
        names = self._candidate_names(names, own, searched.units)
        args = searched, costs, names, own, shared, metric, shift, limits.out_of_time
        selection = self._search(*args)

        # Fit the selected ones, certified, to a larger sample or to all.
        sampled, samples = data.sample(FIT_ROWS, totals), index[selection.samples]
        fitted = self._scaled(data[sampled]).merged()
        blocks = FeatureBlocks(fitted, seed, own, cache=len(fitted.Z) <= SEARCH_ROWS)
        if len(sampled) == len(index) and SPLINES in shared.blocks.fitted:
            # Splines of a search have the full size: these samples need not fit them again.
            blocks.fitted[SPLINES] = shared.blocks.fitted[SPLINES]
        models = fit_models(blocks, costs, selection.by_feature_map(), *limits)

        # Of more samples, others choose a few of the models; these are fitted to all.
        others = None
        if not limits.out_of_time():
            others = np.setdiff1d(data.sample(FIT_ROWS + COMPARED_ROWS, totals), sampled)
            n_unique, n_present = (len(np.unique(v[others])) for v in (data.keys, data.codes))
            if n_unique < COMPARED_ROWS // 2 or n_present < len(totals):
                others = None
        if others is not None:
            held_out = self._scaled(data[others])
            selection, models = _choose_few(selection, models, blocks, held_out, metric, shift)
            samples = others
        n_classes, scaling = len(self.classes_), (self._center, self._scale)
        if training is not None:

            def solve(mapping: Any, Cs: Any, starts: Any) -> Any:
                assert training is not None
                return fit_remote(training, mapping, costs, Cs, starts, limits)

            run = partial(training.each, n_jobs=None)
            models = refit_models(models, blocks, scaling, n_classes, solve, run)
        elif others is not None:
            here = partial(fit_in_memory, data, costs, *limits)
            models = refit_models(
                models, blocks, scaling, n_classes, here, lambda jobs: [job() for job in jobs]
            )
        self._set_interactions(searched)
        self._set_results(selection)
        if training is None:  # the sample of blocks has no positions
            self._set_out_of_fold(selection, samples, len(data.codes))
        self._set_model(models, selection, blocks)
        return self

    def _candidate_names(
        self, names: list[str] | None, own: dict[str, Any], units: np.ndarray | None
    ) -> list[str]:
        """Return the names of the feature maps to compare."""
        suitable = suitable_maps(units, len(self._scale))
        if names is None:
            joint = len(self.classes_) > 2
            wanted = [name for name in suitable if not (joint and name in BINARY_ONLY)]
            return [*wanted, *own]
        wanted = [name for name in (*suitable, *own) if name in names]
        if not wanted:
            raise ValueError(
                f"feature_maps={self.feature_maps!r} is not usable here: even maps are for columns "
                "that have one unit, relevant ones for more than one column."
            )
        return wanted

    def _set_scaling(self, rows: TrainingRows, columns: Columns) -> TrainingRows:
        """Set center and scale of the columns; find whether they have a unit in common.

        Center and scale are rounded: sums in another order must not show in the samples.
        """
        center, deviation = columns.mean, columns.deviation
        floored = np.maximum(deviation, MIN_DEVIATION)
        deviation = np.where(columns.of_zero_and_one, floored, deviation)
        digits, power = np.frexp(deviation)  # single precision at any size: 1e-150 has no float32
        self._scale = np.ldexp(digits.astype(np.float32).astype(np.float64), power)
        self._center = self._scale * np.round(center / self._scale, 6)
        return replace(rows, units=common_units(columns.high - columns.low, self._scale))

    def _scaled(self, rows: TrainingRows) -> TrainingRows:
        """Return encoded samples with columns of mean zero and, as a rule, unit variance."""
        Z = rows.Z - self._center
        Z /= self._scale
        return replace(rows, Z=Z)

    def _search(
        self,
        data: TrainingRows,
        costs: Costs,
        names: list[str],
        own: dict[str, Any],
        shared: SharedFeatures,
        metric: Metric,
        shift: bool,
        out_of_time: Callable[[], bool],
    ) -> Selection:
        """Evaluate all candidates on the first fold and the best of them on the others."""
        n_classes = len(self.classes_)
        joint = n_classes > 2
        cv = (N_SPLITS_JOINT if joint else N_SPLITS) if self.cv is None else self.cv
        hashes = row_hashes(data.Z, shared.seed)
        folds = make_folds(cv, data.Z, data.codes, data.weight, 1, shared.seed, hashes)
        labels = Labels(data.codes, data.weight, n_classes)
        totals, log = total_costs(n_classes), print if self.verbose else silent
        shape = (len(totals), len(data.Z), n_classes if joint else 1)
        scores = {name: np.full(shape, np.nan) for name in names}
        n_folds = {name: np.zeros(len(totals), dtype=np.intp) for name in names}
        everything = {name: np.arange(len(totals)) for name in names}

        def evaluate(split: int, kept: dict[str, np.ndarray] | None) -> None:
            if split and out_of_time():
                log(f"time is up before fold {split + 1} of {len(folds)}")
                return
            train, test = folds[split]
            kept = everything if kept is None else kept
            index, weight = merged(train, data.keys, data.codes, data.weight)
            rows = replace(data[index], weight=weight)
            common = {"searching": True, "shared": shared, "hashes": hashes[index]}
            blocks = FeatureBlocks(rows, shared.seed, own, **common)
            loss = costs.loss(rows.codes, weight.astype(np.float32))
            held_out = data.Z[test]

            def of_map(number: int, name: str, positions: np.ndarray) -> np.ndarray:
                done, which = (
                    split * len(kept) + number,
                    f"fold {split + 1} of {len(folds)}, {name}",
                )
                _console.step("search, step", done, len(folds) * len(kept), which)
                inner = blocks.features(name, blocks.Z, np.float32, index)
                outer = blocks.features(name, held_out, np.float32, test)
                return path_scores(inner, outer, loss, totals[positions])

            with _threads.share_cores(self.n_jobs, len(kept)):
                items = enumerate(kept.items())
                jobs = (delayed(of_map)(number, *item) for number, item in items)
                values = list(Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs))
            for (name, positions), own_scores in zip(kept.items(), values, strict=True):
                scores[name][np.ix_(positions, test)] = own_scores
                n_folds[name][positions] += 1
            log(f"fold {split + 1} of {len(folds)}: {sum(map(len, kept.values()))} candidates")

        def prune(_: Any) -> dict[str, np.ndarray]:
            test = folds[0][1]
            own_labels = labels.subset(test)
            pairs = [(name, k) for name in names for k in range(len(totals))]
            values = np.array([metric(scores[name][k, test], own_labels) for name, k in pairs])
            count = N_KEPT_JOINT if joint else N_KEPT
            best = [pairs[k] for k in best_candidates(values, count)]
            kept = {name: np.sort([k for other, k in best if other == name]) for name in names}
            return {name: positions for name, positions in kept.items() if len(positions)}

        search_folds(len(folds), evaluate, lambda jobs: [job() for job in jobs], prune)
        per_sample = totals / labels.weight.sum()
        candidates = [
            ScoredCandidate.of(name, float(C), own_scores, labels.weight)
            for name in names
            for C, own_scores in zip(per_sample, scores[name], strict=True)
        ]
        count = ENSEMBLE_SIZE_JOINT if joint else ENSEMBLE_SIZE
        evaluated, tests = np.concatenate(list(n_folds.values())), [test for _, test in folds]
        return select(candidates, evaluated, tests, labels, metric, count, shift)

    def _set_interactions(self, rows: TrainingRows) -> None:
        """Set which pairs of input columns matter together, each by its largest encoded pair."""
        information = pair_interactions(rows.Z, rows.codes, rows.weight)
        sources = self._encoder.sources
        largest: dict[tuple[int, int], float] = {}
        for j, k in np.argwhere(np.triu(information) > 0):
            first, second = sorted((int(sources[j]), int(sources[k])))
            if first != second:
                value = round(float(information[j, k]), 6)  # sums in another order must not show
                largest[first, second] = max(value, largest.get((first, second), 0.0))
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        self.interactions_ = [
            {"columns": [names[first], names[second]], "information": value}
            for (first, second), value in sorted(largest.items(), key=lambda one: (-one[1], one[0]))
        ]

    def _set_results(self, selection: Selection) -> None:
        """Set the results of the search."""
        self._shift, self.nested_score_ = selection.shift, selection.nested_score
        self._calibration = selection.calibrator
        self.cv_results_ = selection.cv_results()
        complete = selection.n_folds == selection.n_folds.max()
        self.best_index_ = int(np.where(complete, selection.values, -np.inf).argmax())
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(selection.values[self.best_index_])

    def _set_out_of_fold(self, selection: Selection, samples: np.ndarray, n_samples: int) -> None:
        scores = np.full((n_samples, len(selection.shift)), np.nan)
        scores[samples] = selection.scores
        self.out_of_fold_probabilities_ = self._calibration.probability(scores)
        self.out_of_fold_scores_ = flat(self._shifted(scores))

    def _set_model(
        self, models: list[JointModel], selection: Selection, blocks: FeatureBlocks
    ) -> None:
        """Add the models up, block by block: one linear model on the union of the blocks."""
        deviations = {(one.feature_map, one.C): one for one in selection.candidates}
        table = self.cv_results_
        scores = {
            (p["feature_map"], p["C"]): s
            for p, s in zip(table["params"], table["mean_test_score"], strict=True)
        }
        self.ensemble_ = []
        self._coef = {}
        self._intercept = np.zeros(len(selection.shift))
        for model in models:
            key = model.feature_map, model.C
            weight = 1.0 / (len(models) * deviations[key].deviation)
            self._intercept += weight * model.rules[-1]
            start = 0
            for name in blocks.names(model.feature_map):
                end = start + blocks.width(name)
                self._coef[name] = self._coef.get(name, 0.0) + weight * model.rules[start:end]
                start = end
            self.ensemble_.append(
                {
                    "feature_map": model.feature_map,
                    "C": model.C,
                    "weight": 1.0 / len(models),
                    "score": float(scores[key]),
                    "objective": float(model.objective.sum()),
                    "duality_gap": model.gap,
                }
            )
        self._factors = blocks.factors
        self._blocks = {name: blocks.block(name) for name in self._coef if name != COLUMNS}
        self._reference = blocks.Z[:REFERENCE_ROWS] * self._scale + self._center
        self.n_iter_ = sum(model.iterations for model in models)
        self.duality_gap_ = max(model.gap for model in models)
        log = print if self.verbose else silent
        log(f"{len(models)} models, largest relative duality gap {self.duality_gap_:.1e}")
        if not self.duality_gap_ <= self.tol:
            warnings.warn(
                "Some models are not certified: the worst relative duality gap is "
                f"{self.duality_gap_:.1e} (tol {self.tol:g}). Raise max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def feature_importances_(self) -> np.ndarray:
        """Return the importance of each column; see the attributes of the class."""
        check_is_fitted(self)
        n_columns = self._reference.shape[1]
        change = np.empty(n_columns)
        for j in range(n_columns):
            moved = np.stack([self._reference, self._reference])
            moved[0, :, j] += self._scale[j]
            moved[1, :, j] -= self._scale[j]
            up, down = (np.asarray(self._block_scores(rows)) for rows in moved)
            change[j] = np.abs(up - down).mean()
        total = np.bincount(self._encoder.sources, change, self.n_features_in_)
        return total / total.sum() if total.any() else np.full(len(total), 1 / len(total))

    def _block_scores(self, encoded: Any) -> Any:
        send = namespace_of(encoded).send
        Z = (encoded - send(self._center)) / send(self._scale)
        out = send(self._intercept)
        for name, coef in self._coef.items():
            own = scaled_for(name, Z, self._factors)
            block = own @ send(coef) if name == COLUMNS else self._blocks[name]._scores(own, coef)
            out = out + block
        return out

    def _shifted(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores + self._shift)


def path_scores(
    features: np.ndarray,
    held_out: np.ndarray,
    loss: SeparateLoss | JointLoss,
    totals: np.ndarray,
) -> np.ndarray:
    """Return decision values of held-out samples for each C: (C, samples, outputs)."""
    if features.shape[1] > features.shape[0]:
        # More features than samples: models are combinations of the samples.
        basis, turned = np.linalg.qr(features.T)
        features, held_out = np.ascontiguousarray(turned.T), held_out @ basis
    design = Design(features, loss.codes, loss.weight)
    tol = search_tolerance(3 if isinstance(loss, JointLoss) else 2)
    path = solve_path(
        design, loss, totals.tolist(), tol, SEARCH_STEPS, certify=False, least_steps=1
    )
    models = [solution.rules.astype(held_out.dtype) for solution in path]
    return np.stack([held_out @ model[:-1] + model[-1] for model in models])


def _choose_few(
    selection: Selection,
    models: list[JointModel],
    blocks: FeatureBlocks,
    held_out: TrainingRows,
    metric: Metric,
    shift: bool,
) -> tuple[Selection, list[JointModel]]:
    """Return the models that are best on held-out samples, and the selection narrowed to them."""

    def scored(model: JointModel) -> ScoredCandidate:
        def scores(Z: np.ndarray) -> np.ndarray:
            return blocks.features(model.feature_map, Z) @ model.rules[:-1] + model.rules[-1]

        values = by_blocks(scores, held_out.Z, READ_ROWS)
        return ScoredCandidate.of(model.feature_map, model.C, values, held_out.weight)

    labels = Labels(held_out.codes, held_out.weight, len(selection.calibrator.offset))
    part = np.unique(held_out.keys, return_inverse=True)[1].reshape(-1) % 4
    parts = [np.flatnonzero(part == k) for k in range(4)]
    candidates = [scored(model) for model in models]
    selection, chosen = select_few(selection, candidates, parts, labels, metric, N_FEW, shift)
    return selection, [models[k] for k in chosen]
