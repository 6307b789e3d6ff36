"""AutoLCC: a portfolio of maps, the best few rules averaged."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lincent._lazy import public
from lincent.estimators.auto_choice import Rows, judges_labels, measure_of
from lincent.estimators.auto_large import JUDGES, best_few, judges_of, refit_in_memory
from lincent.estimators.auto_members import Member, fit_members, refit_members
from lincent.estimators.auto_search import Costs, run_search
from lincent.estimators.auto_verdict import Verdict, judge
from lincent.estimators.encoded_model import EncodedModel, flat
from lincent.estimators.joint_blocks import Limits, sample_of_blocks
from lincent.estimators.portfolio import (
    COLUMNS,
    MAPS,
    TWO_CLASSES,
    Blocks,
    Common,
    TrainingRows,
    common_units,
    seen_by,
    usable_maps,
)
from lincent.estimators.probabilities import Calibration, Probabilities
from lincent.estimators.problem import BlockTraining, in_blocks, in_parts
from lincent.estimators.regularized import check_hinge_range
from lincent.estimators.validation import check_class_weight, check_count
from lincent.model_selection.folds import make_folds, number_of_folds
from lincent.solvers.solution import silent
from lincent.sources.source import Kind, kind_of, namespace_of
from lincent.tables.weighted import Columns, mean_and_deviation

FOLDS = 4
FOLDS_MANY = 3
"""For more than two classes, where a fold costs more and says more."""
SEARCH_ROWS = 3_000
"""Maps and C are chosen on so many rows; a choice among a few settings needs no more."""
FIT_ROWS = 10_000
"""All members are fitted to so many; of more rows, the others say which few are fitted to all."""
LEAST_SPREAD = 0.2
"""Columns of 0 and 1, whoever made them, are scaled as if they had at least this deviation: rare
ones are not blown up."""
KEPT = 32
KEPT_MANY = 16
"""Settings (a map and a C) that are tried on more than one fold."""
MEMBERS = 16
MEMBERS_MANY = 4


@public
class AutoLCC(Probabilities, EncodedModel):
    """The estimator to use when the best answer is wanted and little is known about the data.

    Centralization (RegularizedLCC) on a portfolio of maps: the columns, splines, local centers,
    kernel landmarks of three widths (also with columns the longer, the more they say about the
    class), and combinations. All maps and values of C are cross-validated, weak settings are
    dropped after the first fold, and the best are fitted to all rows and averaged. Takes frames
    with missing values, text and categories; columns are scaled inside.

    Parameters
    ----------
    n_members : int, default=None
        How many of the best settings (map and C) are averaged; None is 16 for two classes and 4
        for more.
    maps : list of str, default=None
        The maps to try, by the names in ``cv_results_["map"]``; None is all that suit the data.
    scoring : str or callable, default=None
        What is best: any scorer of scikit-learn. None is the area under the ROC curve for two
        classes and the class-balanced log-likelihood for more. Where the scorer judges hard labels
        (``"accuracy"``, ``"f1"``), the cut is chosen by it as well.
    cv : int, splitter or iterable, default=None
        None is 4 stratified folds, dealt by row values.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        What the classes cost; "balanced" gives all the same total.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    tol : float, default=1e-9
        Bound on the relative duality gap of every member.
    max_iter : int, default=200
        Largest number of steps for one member.
    time_limit : float, default=None
        Seconds after which no further fold is begun and members are taken as they are.
    n_jobs : int, default=None
        Maps that are cross-validated side by side.
    random_state : int, RandomState instance or None, default=0
        Deals the folds, draws landmarks, starts k-means.
    verbose : int, default=0
        1 prints a line for each fold and what is kept, 2 every step of the search.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    members_ : list of dict
        ``map``, ``C`` (per row), ``weight``, ``score``, ``objective`` and ``duality_gap`` of each
        member.
    cv_results_ : dict of ndarrays
        ``map``, ``C``, ``score``, ``rank`` and ``weight`` of every setting, and ``folds``, on how
        many it was tried; the score of a setting that was dropped is over those.
    honest_score_ : float
        The measure on folds that took no part in choosing members and cut for them.
    shift_ : ndarray of shape (1,) or (n_classes,)
        What was added to the scores to move the cut.
    out_of_fold_scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision values of the training rows from rules that have not seen them; NaN where there
        are none.
    out_of_fold_probabilities_ : ndarray of shape (n_samples, n_classes)
        The same as probabilities.
    duality_gap_ : float
        The largest relative duality gap among the members.
    n_iter_ : int
        Steps of all members together.
    blocks_ : dict
        The fitted maps (transformers of ``lincent.features``) that the members use.
    views_ : dict
        The factors on the columns in which blocks of other units ("even", "relevant") see them.
    coef_ : dict
        For each block, the coefficients of its features in the score of each rule.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    StructuredLCCCV : Local centers alone.
    AdditiveLCCCV : A model that can be read curve by curve.

    Notes
    -----
    With more than 3,000 rows maps and C are chosen on a stratified sample of that size; with more
    than 10,000 the members are fitted, and certified, on a sample of that size. With more than
    15,000, other rows then say which one or two of them are best, and these are fitted to, and
    certified on, all rows. So it is with rows in blocks or batches, sparse ones and those on a
    device; there all members are fitted to, and certified on, all rows where others cannot say it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import AutoLCC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoLCC().fit(X, y)
    >>> bool(model.honest_score_ > 0.98)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    probability = "sigmoid"  # at no further fit, so it is not asked for

    def __init__(
        self,
        n_members: int | None = None,
        *,
        maps: Any = None,
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
        self.n_members = n_members
        self.maps = maps
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

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> AutoLCC:
        self._check_params()
        ends = time.monotonic() + (np.inf if self.time_limit is None else self.time_limit)
        limits = Limits(self.tol, self.max_iter, lambda: time.monotonic() >= ends)
        seed = int(check_random_state(self.random_state).randint(2**31))
        # Folds of the user's own name rows of X by their places: then all are searched, in memory.
        own = not (self.cv is None or isinstance(self.cv, int | np.integer))
        if own and kind_of(X) is Kind.SPARSE:
            X = X.toarray()
        X, y, sample_weight = in_parts(self, X, y, sample_weight)
        if in_blocks(X):
            training, data = self._sampled_rows(X, y, sample_weight, seed)
            total = training.totals
        else:
            training, data = None, self._table_rows(X, y, sample_weight, seed)
            total = np.bincount(data.codes, weights=data.weight)
        shares = total * check_class_weight(self.class_weight, self.classes_, total).factor
        costs = Costs(shares / shares.sum(), check_hinge_range(self.margin_range))
        totals = total.tolist()
        index = np.arange(len(data.codes)) if own else data.sample(SEARCH_ROWS, totals)
        searched = self._scaled(data[index])
        common = Common(searched, seed)
        chosen = self._search(searched, costs, common, limits.out_of_time)
        sampled, places = data.sample(FIT_ROWS, totals), index[chosen.judged]
        fitted = self._scaled(data[sampled]).merged()
        blocks = Blocks.of(fitted, seed, remember=len(fitted.Z) <= SEARCH_ROWS)
        if len(sampled) == len(index):
            common.known_to(blocks)
        members = fit_members(blocks, costs, chosen.by_map(), *limits)
        unit, unseen = (self.center_, self.scale_), None
        if not limits.out_of_time():
            unseen = judges_of(data, sampled, FIT_ROWS, totals)
        if unseen is not None:
            judges, measure = self._scaled(data[unseen]), measure_of(self.scoring, self.classes_)
            by_labels = judges_labels(self.scoring, self.classes_)
            chosen, members = best_few(chosen, members, blocks, judges, measure, by_labels)
            places = unseen
        if training is not None:
            members = refit_members(training, blocks, unit, costs, members, limits)
        elif unseen is not None:
            members = refit_in_memory(data, blocks, unit, costs, members, limits)
        self._remember(chosen, places, len(data.codes))
        if training is not None:
            del (
                self.out_of_fold_scores_,
                self.out_of_fold_probabilities_,
            )  # of a sample without places
        self._keep(members, chosen, blocks)
        return self

    def _table_rows(self, X: Any, y: Any, sample_weight: Any, seed: int) -> TrainingRows:
        rows = self._open_table(X, y, sample_weight, seed)
        counted = rows.Z if rows.weight.all() else rows.Z[rows.weight > 0]
        low, high = counted.min(axis=0), counted.max(axis=0)
        center, spread = mean_and_deviation(rows.Z, rows.weight)
        return self._with_units(rows, Columns(center, spread, low, high))

    def _sampled_rows(
        self, X: Any, y: Any, sample_weight: Any, seed: int
    ) -> tuple[BlockTraining, TrainingRows]:
        """Rows that are read in place, and a sample of them here."""
        number_of_folds(self.cv, remote=True)
        training = self._open_blocks(X, y, sample_weight)
        found = sample_of_blocks(training, seed, FIT_ROWS + JUDGES)
        return training, self._with_units(found.rows, found.columns)

    def _check_params(self) -> None:
        if self.n_members is not None:
            check_count("n_members", self.n_members)
        self._check_limits()
        check_hinge_range(self.margin_range)
        if self.maps is not None and not (len(self.maps) and set(self.maps) <= set(MAPS)):
            raise ValueError(
                f"maps={self.maps!r} is not usable: choose among {', '.join(map(repr, MAPS))}."
            )

    def _maps(self, units: np.ndarray | None) -> list[str]:
        asked = [name for name in MAPS if not (self._many and name in TWO_CLASSES)]
        if self.maps is not None:
            asked = self.maps
        wanted = [name for name in usable_maps(units, len(self.scale_)) if name in asked]
        if not wanted:
            raise ValueError(
                f"maps={self.maps!r} is not usable here: even maps are for columns that have one "
                "unit, relevant ones for more than one column."
            )
        return wanted

    @property
    def _many(self) -> bool:
        return len(self.classes_) > 2

    def _count(self) -> int:
        if self.n_members is not None:
            return int(self.n_members)
        return MEMBERS_MANY if self._many else MEMBERS

    def _with_units(self, rows: TrainingRows, columns: Columns) -> TrainingRows:
        """Learn center and scale of the columns, and whether they have a unit in common.

        Center and scale are rounded: sums in another order must not show in the rows.
        """
        center, spread = columns.mean, columns.deviation
        spread = np.where(columns.of_zero_and_one, np.maximum(spread, LEAST_SPREAD), spread)
        digits, power = np.frexp(spread)  # single digits at any size: 1e-150 has no float32
        self.scale_ = np.ldexp(digits.astype(np.float32).astype(np.float64), power)
        self.center_ = self.scale_ * np.round(center / self.scale_, 6)
        return replace(rows, units=common_units(columns.high - columns.low, self.scale_))

    def _scaled(self, rows: TrainingRows) -> TrainingRows:
        """Encoded rows with each column of mean zero and, as a rule, deviation one."""
        Z = rows.Z - self.center_
        Z /= self.scale_
        return replace(rows, Z=Z)

    def _search(
        self, data: TrainingRows, costs: Costs, common: Common, out_of_time: Any
    ) -> Verdict:
        cv = (FOLDS_MANY if self._many else FOLDS) if self.cv is None else self.cv
        folds = make_folds(cv, data.Z, data.codes, data.weight, 1, common.seed)
        measure = measure_of(self.scoring, self.classes_)
        labels = Rows(data.codes, data.weight, len(self.classes_))

        def value(scores: np.ndarray, places: np.ndarray) -> float:
            return measure(scores, labels[places])

        tell = print if self.verbose else silent
        kept = KEPT_MANY if self._many else KEPT
        maps = self._maps(data.units)
        search = run_search(
            data, folds, costs, maps, common, value, kept, self.n_jobs, out_of_time, tell
        )
        by_labels = judges_labels(self.scoring, self.classes_)
        return judge(search, labels, measure, self._count(), by_labels)

    def _remember(self, verdict: Verdict, places: np.ndarray, n_samples: int) -> None:
        """What unseen rows, in these places, say, for users."""
        self.shift_, self.honest_score_ = verdict.shift, verdict.honest
        self.calibrator_ = verdict.calibrator
        self.cv_results_ = verdict.table()
        scores = np.full((n_samples, len(verdict.shift)), np.nan)
        scores[places] = verdict.blended
        self.out_of_fold_probabilities_ = self._chances().probability(scores)
        self.out_of_fold_scores_ = flat(self._moved(scores))

    def _keep(self, members: list[Member], verdict: Verdict, blocks: Blocks) -> None:
        """The members added up, block by block: one linear rule on the union of the blocks."""
        table, count = self.cv_results_, len(members)
        self.members_ = []
        self.coef_: dict[str, np.ndarray] = {}
        self.intercept_ = np.zeros(len(verdict.shift))
        for member in members:
            k = int(np.flatnonzero((table["map"] == member.map) & (table["C"] == member.C))[0])
            share = 1.0 / (count * verdict.settings[k].deviation)
            self.intercept_ += share * member.rules[-1]
            start = 0
            for name in MAPS[member.map]:
                width = blocks.width(name)
                part = share * member.rules[start : start + width]
                self.coef_[name] = self.coef_.get(name, 0.0) + part
                start += width
            self.members_.append(
                {
                    "map": member.map,
                    "C": member.C,
                    "weight": 1.0 / count,
                    "score": float(table["score"][k]),
                    "objective": float(member.objective.sum()),
                    "duality_gap": member.gap,
                }
            )
        self.views_ = blocks.views
        self.blocks_ = {name: blocks.block(name) for name in self.coef_ if name != COLUMNS}
        self.n_iter_ = sum(member.iterations for member in members)
        self.duality_gap_ = max(member.gap for member in members)
        tell = print if self.verbose else silent
        tell(f"{count} members, largest relative duality gap {self.duality_gap_:.1e}")
        if self.duality_gap_ > self.tol:
            warnings.warn(
                "Some members are not certified: the worst relative duality gap is "
                f"{self.duality_gap_:.1e} (tol {self.tol:g}). Raise max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _block_scores(self, encoded: Any) -> Any:
        send = namespace_of(encoded).send
        Z = (encoded - send(self.center_)) / send(self.scale_)
        out = send(self.intercept_)
        for name, coef in self.coef_.items():
            seen = seen_by(name, Z, self.views_)
            block = seen @ send(coef) if name == COLUMNS else self.blocks_[name].scores(seen, coef)
            out = out + block
        return out

    def _moved(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores + self.shift_)

    def _chances(self) -> Calibration:
        found: Calibration = self.calibrator_
        return found
