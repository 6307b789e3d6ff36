"""AutoLCC: automatic choice of feature maps and C, the best few averaged.

All feature maps and values of C are evaluated on a first fold, the best of them on all others (of
many samples one fold tells enough): for each fold and feature map a warm-started path over C, in
single precision and to a loose gap.  What it decides is which models are fitted to all samples, and
those are certified.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent import _console
from lincent._memory import sample_entries
from lincent.estimators.auto_candidates import (
    BINARY_ONLY,
    COLUMNS,
    LEAST_CLASS,
    FeatureBlocks,
    JointModel,
    SharedFeatures,
    check_feature_maps,
    common_units,
    fit_models,
    is_sparse,
    path_scores,
    scaled_for,
    suitable_maps,
)
from lincent.estimators.base import Classifier, EstimatorMixin, log
from lincent.estimators.calibration import Softmax, warn_if_uninformative
from lincent.estimators.linear import RegularizedFit
from lincent.estimators.problem import HostTraining, RemoteTraining, binary_tasks, run_jobs
from lincent.estimators.tabular import (
    READ_ROWS,
    Costs,
    TableClassifier,
    TrainingRows,
    fit_in_place,
    flat,
    sample_of_remote,
    total_costs,
)
from lincent.estimators.validation import check_class_weight
from lincent.features.pairs import pair_interactions
from lincent.features.transformer import by_blocks
from lincent.model_selection.folds import make_folds
from lincent.model_selection.scoring import Labels, make_metric, scores_labels
from lincent.model_selection.search import search_folds, store_gaps
from lincent.model_selection.selection import (
    Criterion,
    ScoredCandidate,
    Selection,
    best_candidates,
    select,
    select_few,
)
from lincent.solvers.solution import Controls
from lincent.sources.source import is_streamed, namespace_of
from lincent.tables.weighted import Columns, mean_and_deviation, merged

N_SPLITS, N_SPLITS_MANY = 4, 3
"""Folds, and folds for many classes or samples, where a fold costs more and tells more: of many
samples only the first is evaluated."""
SEARCH_ROWS = 3_000
"""Candidates are compared on so many samples; of more, so many fit them and half as many are held
out once: as accurate on development tables as three folds of 3,000, in less time."""
FIT_ROWS = 10_000
"""The ensemble is fitted to so many; of more samples, others choose a few to be fitted to all."""
COMPARED_ROWS = 10_000
"""Samples that choose these few."""
START_ROWS, START_ENTRIES = 100_000, 4_000_000
"""Of more than twice as many samples, so many give the start: the passes over all are fewer."""
START_TOL, ROUGH_TOL = 1e-2, 1e-4
"""Of such starts, which are further from the optimum of all samples than from their own; and of
models on leaves in a search."""
N_FEW = 2
"""Models that are fitted to all samples."""
MIN_DEVIATION = 0.2
"""Features of 0 and 1 are scaled as if they had at least this standard deviation: rare ones are not
blown up."""
N_KEPT, N_KEPT_MANY = 32, 16
"""Candidates that are evaluated on more than one fold, and the same for many classes or samples."""
ENSEMBLE_SIZE, ENSEMBLE_SIZE_MANY = 16, 4
"""Candidates that are averaged: more of them where a choice among them is mostly chance."""
LEAF_COSTS = 10.0 ** np.arange(-2.0, 2.0, 0.75)
"""Candidates for C, per sample, on leaves of trees."""
LEAF_ROWS, LEAF_SHARE, MOST_LEAF_ROWS = 50_000, 5, 200_000
"""Models on leaves are fitted to so many samples at most; of more to one of ``LEAF_SHARE``, up to
``MOST_LEAF_ROWS``, where time allows: of a million that takes a quarter longer."""
MAX_SUM_BYTES = 2**28
"""Where a block would return more, for many classes and features, models stay those of the
sample."""
REFERENCE_ROWS = 32
"""Samples at which ``feature_importances_`` is computed."""


@dataclass(eq=False, repr=False)
class AutoLCC(TableClassifier, EstimatorMixin, Classifier):
    """Classifier with automatic choice of features and regularization, for tables of any kind.

    Centralization (RegularizedLCC) on a candidate set of feature maps: the columns, splines, local
    centers, kernel landmarks of three widths (also with columns weighted by their relevance), and
    combinations; the leaves of a random forest and, for two classes, of boosted trees. All feature
    maps and values of C are cross-validated, and weak candidates are dropped after the first fold.
    Means of the best and the leaves are weighted by a greedy selection on their out-of-fold log
    loss and fitted to all samples. Accepts data frames with missing values and categorical columns;
    columns are scaled inside.

    Parameters
    ----------
    feature_maps : dict or list, default=None
        Candidates beside the built-in feature maps, as a dict from names to transformers; or the
        whole candidate set, as a list of built-in names (``cv_results_["param_feature_map"]``) and
        pairs (name, transformer). A transformer (anything with ``fit`` and ``transform``) is fitted
        to the encoded and standardized columns of the training part of each fold, with class codes
        as ``y`` and with ``sample_weight`` if it takes them; features with a variance of about one
        are best, and a ``TreeLeaves`` stays sparse. None is all built-in feature maps that suit the
        data.
    scoring : str or callable, default=None
        Any scorer of scikit-learn. None is the area under the ROC curve for two classes and the
        class-balanced log-likelihood for more. Where the scorer uses predicted labels
        (``"accuracy"``, ``"f1"``), the decision threshold is chosen by it as well.
    cv : int, splitter or iterable, default=None
        None is 4 hash-based stratified folds, 3 for more than two classes. With more than 3,000
        samples one of 3 is held out where it has ten samples of each class.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        Costs by which a class is predicted, the one with the largest product of probability and
        cost: with None the most probable one, with "balanced" the one whose probability is largest
        relative to its frequency. Costs shift the decision values. Probabilities are the same with
        all costs, up to the four samples that are counted to those of the calibration: their
        frequencies are inverse to the costs. A scorer that uses predicted labels may choose another
        threshold.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    keep_columns : list of str or "all", default=()
        Columns of a frame to use whatever they look like. Identifiers, dates, free text, constant
        columns and those that tell the class of nearly every row are left out with a warning
        otherwise, as by ``lincent fit``; without pyarrow all columns are used. A date becomes its
        number of days.
    tol : float, default=1e-9
        Bound on the relative duality gap of every model of the ensemble.
    max_iter : int, default=200
        Largest number of steps for one model.
    time_limit : float, default=None
        Seconds after which no further fold is begun, no tree is grown and solves end where they
        are. Models are fitted to 100,000 samples, and certified on those, where a fit to all would
        take longer, judged by the time that these take.
    n_jobs : int, default=None
        Feature maps that are cross-validated in parallel, and threads of a pass over all samples.
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
        Decision values of the training samples by ensembles that were fitted and chosen without
        them; NaN where there are none.
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
    With more than 3,000 samples candidates are compared on a stratified sample of 4,500, a third of
    which is held out (on 3,000 and all folds where ``cv`` is given); with more than 10,000 the
    ensemble is fitted, and certified, on a sample of that size. With more than 15,000, other
    samples then choose the best one or two models, and these are fitted to, and certified on, all
    samples. So it is with Dask blocks or batches, sparse matrices and device arrays; there all
    models are fitted to, and certified on, all samples where there are no others to choose, and
    leaves are no candidates. Models on leaves are fitted to at most 50,000 samples (of more than
    250,000 to a fifth, at most 200,000), those that choose not among them.

    The weights are shrunk towards the mean of the best feature maps: half-way at 200 held-out
    samples, by a tenth at 600. Leaves are candidates where every class has ten samples, those of
    boosted trees up to 2,000 encoded columns, splines up to 200, landmarks beside all columns up to
    1,000.

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

    _: KW_ONLY
    feature_maps: Any = None
    scoring: Any = None
    cv: Any = None
    margin_range: tuple[float, float] = (-1.0, 3.0)
    categorical_features: Any = None
    keep_columns: Any = ()

    probability = "sigmoid"  # at no further fit, so it is no parameter

    def _fit_table(self, X: Any, y: Any, sample_weight: Any, seed: int, limits: Controls) -> None:
        names, own = check_feature_maps(self.feature_maps)
        training: RemoteTraining | None = None
        if is_streamed(X):
            training = self._open_remote(X, y, sample_weight)
            drawn = max(
                FIT_ROWS + COMPARED_ROWS,
                min(START_ROWS, sample_entries(START_ENTRIES) // training.shape[1]),
            )
            data = self._set_scaling(*sample_of_remote(training, seed, drawn))
            total = training.totals
        else:
            data = self._open_table(X, y, sample_weight, seed)
            used = data.Z if data.weight.all() else data.Z[data.weight > 0]
            columns = mean_and_deviation(data.Z, data.weight)
            data = self._set_scaling(data, Columns(*columns, used.min(axis=0), used.max(axis=0)))
            total = data.totals
        # Models have balanced costs whatever the frequencies: with few samples of a class and other
        # costs nearly all scores are beyond the threshold. Costs decide what is predicted.
        n_classes = len(self.classes_)
        costs = Costs(np.full(n_classes, 1 / n_classes), self.margin_range)

        # Compare the candidates on a sample.
        # Folds of the user index samples of X: then all are searched.
        everything = np.arange(len(data.codes))
        most = SEARCH_ROWS + SEARCH_ROWS // 2 if self.cv is None else SEARCH_ROWS
        index = everything if self._own_folds else data.sample(most, total)
        searched = self._scaled(data.drawn(index, total))
        names = self._candidate_names(names, own, searched, training is not None)
        criterion = Criterion(
            make_metric(self.scoring, self.classes_),
            check_class_weight(self.class_weight, self.classes_, total).factor,
            scores_labels(self.scoring, self.classes_),
            [name for name in names if is_sparse(name, own)],
        )
        sampled = data.sample(FIT_ROWS, total)
        fitted = self._scaled(data.drawn(sampled, total))
        further = fitted[~np.isin(sampled, index)].merged()
        selection = self._search(searched, further, costs, names, own, seed, criterion, limits)

        # Fit the selected ones, certified, to a larger sample or to all.
        samples = index[selection.samples]
        fitted = fitted.merged()
        blocks = FeatureBlocks(fitted, seed, own, cache=len(fitted.Z) <= SEARCH_ROWS)
        chosen = selection.by_feature_map()
        dense = {name: Cs for name, Cs in chosen.items() if name not in criterion.separate}
        began = time.monotonic()
        models = fit_models(blocks, costs, dense, limits)
        took = time.monotonic() - began

        # Of more samples, others choose a few of the models; these are fitted to all.
        others = None
        if not limits.out_of_time():
            others = np.setdiff1d(data.sample(FIT_ROWS + COMPARED_ROWS, total), sampled)
            n_unique, n_present = (len(np.unique(v[others])) for v in (data.keys, data.codes))
            if n_unique < COMPARED_ROWS // 2 or n_present < len(total):
                others = None
        grown = fitted
        if others is not None and training is None:
            most = max(LEAF_ROWS, min(data.shape[0] // LEAF_SHARE, MOST_LEAF_ROWS))
            most = LEAF_ROWS if limits.out_of_time(took * most / FIT_ROWS) else most
            rest = np.setdiff1d(data.sample(most + len(others), total), others)
            grown = self._scaled(data.drawn(rest, total)).merged()

        def fit_leaves(name: str, Cs: list[float]) -> list[JointModel]:
            _console.step("fit to all rows, map", 0, 1, f"{name}, {len(Cs)} of its C")
            blocks.fitted[name] = blocks.grow(name, grown)
            return self._fit_leaves(blocks.fitted[name], name, grown, Cs, limits)

        jobs = [partial(fit_leaves, *one) for one in chosen.items() if one[0] in criterion.separate]
        leaves = [model for path in run_jobs(jobs, self.n_jobs) for model in path]
        if others is not None:
            held_out = self._scaled(data.drawn(others, total))
            part = np.unique(held_out.keys, return_inverse=True)[1].reshape(-1) % 4
            selection = select_few(
                selection,
                [_scored(model, blocks, held_out) for model in (*models, *leaves)],
                [np.flatnonzero(part == k) for k in range(4)],
                Labels(held_out.codes, held_out.weight, len(self.classes_)),
                criterion,
                N_FEW,
            )
            members = selection.members()
            models, leaves = (
                [model for model in part if (model.feature_map, model.C) in members]
                for part in (models, leaves)
            )
            samples = others
        if (training is not None or others is not None) and not limits.out_of_time():
            source = some = data if training is None else training
            ahead = 0.0
            if source.shape[0] > 2 * START_ROWS:
                some = data.drawn(data.sample(START_ROWS, total), total)
                loose, began = replace(limits, tol=max(self.tol, START_TOL)), time.monotonic()
                models = self._refit(models, blocks, some, costs, loose)
                ahead = (time.monotonic() - began) * source.shape[0] / START_ROWS
            if limits.out_of_time(ahead):  # one pass over all samples would not change the models
                self._log(f"time is up before a fit to all samples: {START_ROWS} have to do")
                source = some
            models = self._refit(models, blocks, source, costs, limits)
        self._set_interactions(searched)
        self._set_results(selection)
        if training is None:  # the sample of blocks has no positions
            scores = np.full((len(data.codes), len(selection.shift)), np.nan)
            scores[samples] = selection.nested
            probabilities = self._calibration.probability(scores)
            self.out_of_fold_scores_ = flat(scores + selection.shift)
            self.out_of_fold_probabilities_ = probabilities
            scored = data.drawn(samples, total)
            warn_if_uninformative(self, probabilities[samples], scored.codes, scored.weight)
        self._set_model([*models, *leaves], selection, blocks)

    def _refit(
        self,
        models: Sequence[JointModel],
        blocks: FeatureBlocks,
        samples: TrainingRows | RemoteTraining,
        costs: Costs,
        limits: Controls,
    ) -> list[JointModel]:
        """Fit models of fewer samples to these; all feature maps share the passes over them."""
        n_classes = len(self.classes_)
        n_pairs = 1 if n_classes == 2 else n_classes * (n_classes - 1) // 2

        def refit(name: str) -> list[JointModel]:
            own = [model for model in models if model.feature_map == name]
            mapping = blocks.mapping(name, self._center, self._scale)
            if 8 * len(own) * n_pairs * (mapping.width + 1) ** 2 > MAX_SUM_BYTES:
                return own
            Cs, starts = [model.C for model in own], [model.rules for model in own]
            path = fit_in_place(samples, costs, limits, mapping, Cs, starts, mapping.basis)
            return [JointModel.of(name, *pair) for pair in zip(Cs, path, strict=True)]

        names = dict.fromkeys(model.feature_map for model in models)
        jobs = [partial(refit, name) for name in names]
        if isinstance(samples, TrainingRows):
            return [model for job in jobs for model in job()]
        return [model for own in samples.each(jobs, None) for model in own]

    def _fit_leaves(
        self, block: Any, name: str, rows: TrainingRows, Cs: Sequence[float], limits: Controls
    ) -> list[JointModel]:
        """Fit linear models on the leaves of grown trees, of many classes one against the rest."""
        training = HostTraining(block._transform(rows.Z), rows.codes, rows.weight, self.classes_)
        costs = check_class_weight("balanced", self.classes_, training.totals)
        fit = RegularizedFit(self.margin_range, True, limits, 0)
        tasks = binary_tasks(len(self.classes_), "ovr")
        paths = [fit.directions(training.task(task, costs).balanced(), Cs) for task in tasks]
        models = []
        for C, parts in zip(Cs, zip(*paths, strict=True), strict=True):
            rules = np.stack([np.append(part.beta, part.intercept) for part in parts], axis=1)
            certificates = [part.solution.certificate for part in parts]
            objective = np.array([one.objective for one in certificates])
            gap = max(one.relative_gap for one in certificates)
            steps = sum(part.solution.iterations for part in parts)
            models.append(JointModel(name, C, rules, objective, gap, steps))
        return models

    def _candidate_names(
        self, names: list[str] | None, own: dict[str, Any], searched: TrainingRows, remote: bool
    ) -> list[str]:
        """Return the names of the feature maps to compare."""
        sizes = _class_sizes(searched, len(self.classes_))
        suitable = suitable_maps(searched.units, len(self._scale), None if remote else sizes)
        if remote:
            own = {name: one for name, one in own.items() if not is_sparse(name, own)}
            self._log("feature maps of leaves are left out: trees need X in memory")
        if names is None:
            joint = len(self.classes_) > 2
            wanted = [name for name in suitable if not (joint and name in BINARY_ONLY)]
            return [*wanted, *own]
        wanted = [name for name in (*suitable, *own) if name in names]
        if not wanted:
            raise ValueError(
                f"feature_maps={self.feature_maps!r} is not usable here: even maps are for columns "
                "that have one unit, relevant ones for more than one column, splines for up to 200 "
                "columns, leaves for X in memory and ten rows of each class."
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
        further: TrainingRows,
        costs: Costs,
        names: list[str],
        own: dict[str, Any],
        seed: int,
        criterion: Criterion,
        limits: Controls,
    ) -> Selection:
        """Evaluate all candidates on the first fold and the best of them on the others.

        Trees are grown on ``further`` samples as well, so that their leaves have the scale of those
        of the final fit; then a forest has fewer of them (with fewer samples, accuracy is lost by
        it).
        """
        n_classes = len(self.classes_)
        large = len(np.unique(np.append(data.keys, further.keys))) > SEARCH_ROWS
        many = n_classes > 2 or large
        cv = self.cv
        if cv is None:
            cv = N_SPLITS_MANY if many else N_SPLITS
        shared = SharedFeatures(data, seed)
        folds = make_folds(cv, data.Z, data.codes, data.weight, 1, seed)
        parts = [test for _, test in folds]
        held = data[parts[0]]
        if self.cv is None and large and _class_sizes(held, n_classes).min() >= LEAST_CLASS:
            # One fold is enough; the ensemble is chosen and evaluated on parts of it.
            folds = folds[:1]
            inner = make_folds(cv, held.Z, held.codes, held.weight, 1, seed + 1)
            parts = [parts[0][part] for _, part in inner]
        labels = Labels(data.codes, data.weight, n_classes)
        total = float(data.weight.sum())
        leaves = criterion.separate
        Cs = total_costs(n_classes) / total
        candidates = [
            (name, float(C)) for name in names for C in (LEAF_COSTS if name in leaves else Cs)
        ]
        maps = np.array([name for name, _ in candidates])
        shape = (len(data.Z), n_classes if n_classes > 2 else 1)
        scores = np.full((len(candidates), *shape), np.nan)
        n_folds = np.zeros(len(candidates), dtype=np.intp)
        rough = replace(limits, tol=ROUGH_TOL)

        def spared() -> bool:
            """Return whether trees, which cannot stop half-way, are left out for lack of time."""
            return limits.out_of_time() and len(leaves) < len(names)

        def evaluate(split: int, kept: np.ndarray | None) -> None:
            if split and limits.out_of_time():
                self._log(f"time is up before fold {split + 1} of {len(folds)}")
                return
            train, test = folds[split]
            kept = np.arange(len(candidates)) if kept is None else kept
            by_map = {name: kept[maps[kept] == name] for name in dict.fromkeys(maps[kept].tolist())}
            index, weight = merged(train, data.keys, data.codes, data.weight)
            rows = replace(data[index], weight=weight)
            blocks = FeatureBlocks(rows, seed, own, searching=True, shared=shared)
            loss = costs.loss(rows.codes, weight.astype(np.float32))
            held_out = data.Z[test]

            def of_map(number: int, name: str, positions: np.ndarray) -> np.ndarray:
                done, where = split * len(by_map) + number, f"fold {split + 1} of {len(folds)}"
                _console.step("search, step", done, len(folds) * len(by_map), f"{where}, {name}")
                own_Cs = np.array([candidates[k][1] for k in positions])
                if name not in leaves:
                    inner = blocks.features(name, blocks.Z, np.float32, index)
                    outer = blocks.features(name, held_out, np.float32, test)
                    return path_scores(inner, outer, loss, own_Cs * total)
                grown = rows.joined(further)
                # Folds of the user may lack a class.
                if spared() or len(np.unique(grown.codes)) < n_classes:
                    return np.zeros((len(positions), len(test), shape[1]))
                block = blocks.grow(name, grown, fewer=large)
                models = self._fit_leaves(block, name, grown, own_Cs.tolist(), rough)
                features = block._transform(held_out)
                return np.stack([features @ one.rules[:-1] + one.rules[-1] for one in models])

            jobs = [partial(of_map, number, *item) for number, item in enumerate(by_map.items())]
            values = run_jobs(jobs, self.n_jobs)
            for positions, own_scores in zip(by_map.values(), values, strict=True):
                scores[np.ix_(positions, test)] = own_scores
            n_folds[kept] += 1
            self._log(f"fold {split + 1} of {len(folds)}: {len(kept)} candidates")

        def prune(_: Any) -> np.ndarray:
            test = folds[0][1]
            own_labels = labels.subset(test)
            values = np.array([criterion.metric(one[test], own_labels) for one in scores])
            ordinary = np.flatnonzero(~np.isin(maps, leaves))
            count = N_KEPT_MANY if many else N_KEPT
            best = ordinary[best_candidates(values[ordinary], count)]
            return np.sort(np.append(best, np.flatnonzero(np.isin(maps, leaves))))

        search_folds(len(folds), evaluate, lambda jobs: [job() for job in jobs], prune)
        usable = np.arange(len(candidates))
        if spared():
            self._log("time is up: feature maps of leaves are left out")
            usable = np.flatnonzero(~np.isin(maps, leaves))
        scored = [ScoredCandidate.of(*candidates[k], scores[k], labels.weight) for k in usable]
        count = ENSEMBLE_SIZE_MANY if many else ENSEMBLE_SIZE
        return select(scored, n_folds[usable], parts, labels, criterion, count)

    def _set_interactions(self, rows: TrainingRows) -> None:
        """Set which pairs of input columns matter together, each by its largest encoded pair."""
        information = pair_interactions(rows.Z, rows.codes, rows.weight)
        sources = self._sources
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
        self._calibration: Softmax = selection.calibrator
        self.cv_results_ = selection.cv_results()
        complete = selection.n_folds == selection.n_folds.max()
        self.best_index_ = int(np.where(complete, selection.values, -np.inf).argmax())
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(selection.values[self.best_index_])

    def _set_model(
        self, models: list[JointModel], selection: Selection, blocks: FeatureBlocks
    ) -> None:
        """Add the models up, block by block: one linear model on the union of the blocks."""
        members = selection.members()
        self.ensemble_ = []
        self._coef: dict[str, Any] = {}
        self._intercept = np.zeros(len(selection.shift))
        for model in models:
            weight, factor, score = members[model.feature_map, model.C]
            self._intercept += factor * model.rules[-1]
            start = 0
            for name in blocks.names(model.feature_map):
                end = start + blocks.width(name)
                self._coef[name] = self._coef.get(name, 0.0) + factor * model.rules[start:end]
                start = end
            self.ensemble_.append(
                {
                    "feature_map": model.feature_map,
                    "C": model.C,
                    "weight": weight,
                    "score": score,
                    "objective": float(model.objective.sum()),
                    "duality_gap": model.gap,
                }
            )
        self._factors = blocks.factors
        self._blocks = {name: blocks.block(name) for name in self._coef if name != COLUMNS}
        self._reference = blocks.Z[:REFERENCE_ROWS] * self._scale + self._center
        gaps, steps = zip(*((model.gap, model.iterations) for model in models), strict=True)
        store_gaps(self, gaps, steps, "A model of the ensemble")
        self._log(f"{len(models)} models, largest relative duality gap {self.duality_gap_:.1e}")

    def _log(self, text: str) -> None:
        if self.verbose:
            log(text)

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
        total = np.bincount(self._sources, change, self.n_features_in_)
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

    def _decision(self, X: Any) -> np.ndarray:
        return flat(self._rows_scores(X) + self._shift)


def _class_sizes(rows: TrainingRows, n_classes: int) -> np.ndarray:
    """Return the number of unique samples of each class."""
    return np.array([len(np.unique(rows.keys[rows.codes == k])) for k in range(n_classes)])


def _scored(model: JointModel, blocks: FeatureBlocks, held_out: TrainingRows) -> ScoredCandidate:
    """Return a model with its decision values of held-out samples."""
    name, rules = model.feature_map, model.rules
    values = by_blocks(lambda Z: blocks.scores(name, Z, rules), held_out.Z, READ_ROWS)
    return ScoredCandidate.of(name, model.C, values, held_out.weight)
