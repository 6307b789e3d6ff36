"""AdditiveLCCCV: AdditiveLCC with C, smoothing and pairs by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lincent.estimators.additive import AdditiveModel
from lincent.estimators.additive_fit import AdditiveProblem
from lincent.estimators.additive_terms import Terms
from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.choices import Calibrated
from lincent.estimators.encoded_model import EncodedModel
from lincent.estimators.joint_fit import search_tolerance, total_costs
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import BlockTraining
from lincent.estimators.validation import check_choice, check_nonnegative
from lincent.model_selection.folds import make_folds, number_of_folds
from lincent.model_selection.scoring import Labels, make_metric

FOLDS = 4
SMOOTHINGS = (0.01, 0.1, 1.0)
MOST_PAIRS = 10
COLUMNS_FOR_PAIRS = 60
"""With more columns no pairs are looked for: there are thousands."""


class AdditiveLCCCV(Probabilities, AdditiveModel, EncodedModel):
    """AdditiveLCC with C, the smoothing of the curves and pairs of columns by cross-validation.

    Parameters
    ----------
    interactions : int or "auto", default="auto"
        How many pairs of columns get a term of their own. "auto" tries half as many pairs as there
        are columns, at most ten, and keeps them if cross-validation is better with them.
    n_knots : int, default=8
        Knots per column, at quantiles.
    monotonic_cst : array-like of int or dict, default=None
        1 for columns whose curve must rise, -1 for those that must fall, 0 for the others.
    scoring : str or callable, default=None
        What is best: any scorer of scikit-learn. None is the area under the ROC curve for two
        classes and the class-balanced log-likelihood for more.
    cv : int, splitter or iterable, default=None
        None is 4 stratified folds, dealt by row values.
    probability : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How ``predict_proba`` is calibrated, on the held-out rows of the folds and at no further
        fit; None leaves it out. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        What the classes cost; "balanced" gives all the same total.
    n_resamples : int, default=20
        Resampled fits behind the bands of ``shape``.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    tol : float, default=1e-9
        Bound on the relative duality gap of the rule.
    max_iter : int, default=200
        Largest number of steps.
    time_limit : float, default=None
        Seconds after which no further setting is tried.
    random_state : int, RandomState instance or None, default=0
        Deals the folds, draws the rows on which knots are placed, and the resamples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    C_, smoothing_ : float
        What was chosen; C is per row.
    cv_results_ : dict of ndarrays
        ``C``, ``smoothing``, ``pairs`` and ``score`` of every setting.
    term_names_ : ndarray of shape (n_terms,)
        The columns, then the pairs.
    objective_, dual_objective_, duality_gap_ : float
        The certificate of the rule.
    n_iter_ : int
        Steps.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has them.

    See Also
    --------
    AdditiveLCC : One setting, fitted once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import AdditiveLCCCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> AdditiveLCCCV(interactions=0).fit(X, y).term_names_.shape
    (30,)
    """

    def __init__(
        self,
        interactions: Any = "auto",
        *,
        n_knots: int = 8,
        monotonic_cst: Any = None,
        scoring: Any = None,
        cv: Any = None,
        probability: Calibrated = "sigmoid",
        margin_range: tuple[float, float] = (-1.0, 3.0),
        class_weight: Any = "balanced",
        n_resamples: int = 20,
        categorical_features: Any = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.interactions = interactions
        self.n_knots = n_knots
        self.monotonic_cst = monotonic_cst
        self.scoring = scoring
        self.cv = cv
        self.probability = probability
        self.margin_range = margin_range
        self.class_weight = class_weight
        self.n_resamples = n_resamples
        self.categorical_features = categorical_features
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        if isinstance(self.interactions, str):
            check_choice("interactions", self.interactions, ("auto",))
        else:
            check_nonnegative("interactions", self.interactions)

    def _pairs(self, columns: int) -> tuple[int, ...]:
        """The numbers of pairs to try after none."""
        if not isinstance(self.interactions, str):
            return (int(self.interactions),) if self.interactions else ()
        most = min(MOST_PAIRS, max(columns // 2, 1)) if columns > 1 else 0
        return (most,) if most and columns <= COLUMNS_FOR_PAIRS else ()

    @property
    def _own_folds(self) -> bool:
        return not (self.cv is None or isinstance(self.cv, int | np.integer))

    def _open_blocks(self, X: Any, y: Any, sample_weight: Any) -> BlockTraining:
        number_of_folds(self.cv, remote=True)
        return super()._open_blocks(X, y, sample_weight)

    def _settle(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, float]:
        # Folds of the user's own name rows by their places; others are dealt to kinds of rows.
        rows = rows if self._own_folds else problem.rows
        cv = FOLDS if self.cv is None else self.cv
        folds = make_folds(cv, rows.Z, rows.codes, rows.weight, 1, seed)
        measure = make_metric(self.scoring, self.classes_)
        labels = Labels(rows.codes, rows.weight, len(self.classes_))
        Cs = total_costs(len(self.classes_)) / rows.weight.sum()
        tol = search_tolerance(len(self.classes_))
        tried: list[tuple[float, float, float, int]] = []
        scores: dict[tuple[float, float, int], np.ndarray] = {}

        def attempt(smoothings: Sequence[float], pairs: int = 0, C: float = 0.0) -> None:
            unseen = problem.unseen(rows, folds, terms, smoothings, Cs.tolist(), tol, pairs, C)
            for smoothing, by_cost in zip(smoothings, unseen, strict=True):
                for cost, found in zip(Cs.tolist(), by_cost, strict=True):
                    there = np.flatnonzero(np.isfinite(found[:, 0]))
                    tried.append(
                        (measure(found[there], labels.subset(there)), cost, smoothing, pairs)
                    )
                    scores[tried[-1][1:]] = found

        attempt(SMOOTHINGS)
        best = max(tried)
        for pairs in self._pairs(int(terms.sources[-1]) + 1):
            if not problem.out_of_time():
                attempt([best[2]], pairs, best[1])
        if not isinstance(self.interactions, str) and self.interactions:
            chosen = max(entry for entry in tried if entry[3])
        else:
            chosen = max(tried)
        self._remember(tried)
        if self.probability is not None:
            self._calibrate(rows, scores[chosen[1:]])
        _, C, smoothing, pairs = chosen
        smooth = replace(terms, smoothing=smoothing)
        if not pairs:
            return smooth, C
        return problem.with_pairs(problem.seen_by(smooth), best[1], pairs), C

    def _remember(self, tried: list[Any]) -> None:
        value, C, smoothing, pairs = (np.array(column) for column in zip(*tried, strict=True))
        self.cv_results_ = {"score": value, "C": C, "smoothing": smoothing, "pairs": pairs}
